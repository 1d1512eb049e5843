/* Layer normalisation over the last axis and its gradients: dx row by row, dgamma and dbeta over all rows. */
#include "engine/cuda/kernel.h"
#include "engine/cuda/ops/rows.h"

#define CHUNK 64  /* rows summed at once, at least */
#define CHUNKS 64 /* at most */

static enum mgb_status layer_facts(struct mgb_operator_facts *facts, const struct mgb_cuda_use *use)
{
    (void)use;
    facts->in_place = 0; /* the gradient overwrites dy */
    return MGB_OK;
}

static enum mgb_status layer_norm_start(struct mgb_queue *queue, const struct mgb_kernel *kernel,
                                        const struct mgb_launch *launch)
{
    const struct mgb_cuda_use *use = &kernel->use;
    struct mgb_gpu_layer_norm_args args = {.to = launch->outputs[0],
                                           .mean = use->out[1].wanted ? launch->outputs[1] : NULL,
                                           .rstd = use->out[2].wanted ? launch->outputs[2] : NULL,
                                           .x = launch->inputs[0],
                                           .rows = use->in[0].count / use->in[0].last,
                                           .width = use->in[0].last,
                                           .epsilon = use->a.norm.epsilon};
    int next = 1;
    if (use->a.norm.scale)
        args.gamma = launch->inputs[next++];
    if (use->a.norm.center)
        args.beta = launch->inputs[next];
    return mgb_cuda_rows_start(queue, (const void *)mgb_gpu_layer_norm, args.rows, args.width,
                               &args);
}

static enum mgb_status grad_x_start(struct mgb_queue *queue, const struct mgb_kernel *kernel,
                                    const struct mgb_launch *launch)
{
    const struct mgb_cuda_use *use = &kernel->use;
    struct mgb_gpu_layer_norm_args args = {.to = launch->outputs[0],
                                           .dy = launch->inputs[0],
                                           .x = launch->inputs[1],
                                           .means = launch->inputs[2],
                                           .rstds = launch->inputs[3],
                                           .gamma = use->a.norm.scale ? launch->inputs[4] : NULL,
                                           .rows = use->in[1].count / use->in[1].last,
                                           .width = use->in[1].last};
    return mgb_cuda_rows_start(queue, (const void *)mgb_gpu_layer_norm_grad, args.rows, args.width,
                               &args);
}

static int64_t chunk_rows(int64_t rows)
{
    int64_t even = (rows + CHUNKS - 1) / CHUNKS;
    return even > CHUNK ? even : CHUNK;
}

static int64_t chunk_count(const struct mgb_cuda_use *use)
{
    int64_t rows = use->in[1].count / use->in[1].last, chunk = chunk_rows(rows);
    return (rows + chunk - 1) / chunk;
}

static enum mgb_status grad_w_facts(struct mgb_operator_facts *facts,
                                    const struct mgb_cuda_use *use)
{
    facts->workspace_bytes = chunk_count(use) * 2 * use->in[1].last * (int64_t)sizeof(float);
    return MGB_OK;
}

static enum mgb_status grad_w_start(struct mgb_queue *queue, const struct mgb_kernel *kernel,
                                    const struct mgb_launch *launch)
{
    const struct mgb_cuda_use *use = &kernel->use;
    int64_t width = use->in[1].last, rows = use->in[1].count / width, chunks = chunk_count(use);
    struct mgb_gpu_layer_sums_args sums = {.parts = launch->workspace,
                                           .dy = launch->inputs[0],
                                           .x = launch->inputs[1],
                                           .means = launch->inputs[2],
                                           .rstds = launch->inputs[3],
                                           .rows = rows,
                                           .width = width,
                                           .chunk = chunk_rows(rows),
                                           .columns = (int)((width + 31) / 32)};
    struct mgb_gpu_layer_total_args total = {.dgamma = launch->outputs[0],
                                             .dbeta = launch->outputs[1],
                                             .parts = launch->workspace,
                                             .width = width,
                                             .chunks = (int)chunks};
    MGB_TRY(mgb_cuda_start(queue, (const void *)mgb_gpu_layer_sums,
                           (unsigned)(chunks * sums.columns), 256, &sums));
    return mgb_cuda_start(queue, (const void *)mgb_gpu_layer_total, (unsigned)((width + 127) / 128),
                          128, &total);
}

const struct mgb_cuda_op mgb_cuda_layer_norm = {.facts = layer_facts, .start = layer_norm_start};
const struct mgb_cuda_op mgb_cuda_layer_norm_grad_x = {.facts = layer_facts, .start = grad_x_start};
const struct mgb_cuda_op mgb_cuda_layer_norm_grad_w = {.facts = grad_w_facts,
                                                       .start = grad_w_start};
