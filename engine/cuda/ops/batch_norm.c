/* Batch statistics, the normalisation, its gradients and the tower's share of the moving statistics. The formulas are those
 * of CPU devices (host/ops/batch_norm.c, batch_norm_grad.c); the mask of relu is computed again from x. */
#include "engine/cuda/ops/batch_norm.h"

#include "engine/cuda/dnn/dnn.h"
#include "engine/cuda/ops/channels_host.h"
#include "engine/cuda/queue.h"

enum { DY, X, MEAN, VARIANCE, SUMS, AFTER_SUMS = 6 }; /* inputs of the gradients */

static struct mgb_cuda_channels channels_of(const struct mgb_cuda_tensor *tensor)
{
    return mgb_cuda_channels_make(tensor->count / tensor->last, tensor->last);
}

static enum mgb_status stats_facts(struct mgb_operator_facts *facts, const struct mgb_cuda_use *use)
{
    struct mgb_cuda_channels c = channels_of(&use->in[0]);
    if (use->training)
        facts->workspace_bytes = mgb_cuda_channels_bytes(&c, 2);
    else
        facts->alias = 1;
    return MGB_OK;
}

/* The moving ones, where they could not be made a view. */
static enum mgb_status stats_pass(struct mgb_queue *queue, const struct mgb_kernel *kernel,
                                  const struct mgb_launch *launch)
{
    for (int k = 0; k < 2; k++)
        if (launch->outputs[k] != launch->inputs[1 + k])
            MGB_TRY(mgb_cuda_copy(queue, launch->outputs[k], launch->inputs[1 + k],
                                  kernel->facts.out_bytes[k]));
    return MGB_OK;
}

static enum mgb_status stats_start(struct mgb_queue *queue, const struct mgb_kernel *kernel,
                                   const struct mgb_launch *launch)
{
    struct mgb_cuda_channels c = channels_of(&kernel->use.in[0]);
    struct mgb_gpu_channel_sums_args args = mgb_cuda_channels_args(&c, launch->workspace);
    struct mgb_gpu_channel_finish_args end = {.x = launch->inputs[0],
                                              .to = {launch->outputs[0], launch->outputs[1]}};
    if (!kernel->use.training)
        return stats_pass(queue, kernel, launch);
    args.x = launch->inputs[0];
    return mgb_cuda_channels_start(queue, (const void *)mgb_gpu_batch_stats, &args,
                                   (const void *)mgb_gpu_batch_stats_finish, &end);
}

/* gamma and beta from input `at` on. */
static const float *gamma_of(const struct mgb_kernel *kernel, const struct mgb_launch *launch,
                             int at)
{
    return kernel->use.a.norm.scale ? launch->inputs[at] : NULL;
}

static const float *beta_of(const struct mgb_kernel *kernel, const struct mgb_launch *launch,
                            int at)
{
    return kernel->use.a.norm.center ? launch->inputs[at + (kernel->use.a.norm.scale ? 1 : 0)]
                                     : NULL;
}

static enum mgb_status lines_start(struct mgb_queue *queue, struct mgb_gpu_norm_lines_args *args)
{
    return mgb_cuda_start(queue, (const void *)mgb_gpu_norm_lines,
                          (unsigned)((args->channels + 63) / 64), 64, args);
}

static enum mgb_status apply_start(struct mgb_queue *queue, const struct mgb_kernel *kernel,
                                   const void *function, struct mgb_gpu_batch_norm_args *args)
{
    args->count = kernel->use.out[0].count;
    args->channels = kernel->use.out[0].last;
    args->relu = kernel->use.a.norm.activation == MGB_RELU;
    args->wide = args->channels % 4 == 0;
    return mgb_cuda_start(queue, function, mgb_cuda_blocks(args->count / (args->wide ? 4 : 1), 256),
                          256, args);
}

static enum mgb_status norm_facts(struct mgb_operator_facts *facts, const struct mgb_cuda_use *use)
{
    facts->workspace_bytes = 3 * use->in[0].last * (int64_t)sizeof(float);
    facts->in_place = 0;
    return MGB_OK;
}

static enum mgb_status norm_start(struct mgb_queue *queue, const struct mgb_kernel *kernel,
                                  const struct mgb_launch *launch)
{
    struct mgb_gpu_norm_lines_args lines = {.lines = launch->workspace,
                                            .mean = launch->inputs[1],
                                            .variance = launch->inputs[2],
                                            .gamma = gamma_of(kernel, launch, 3),
                                            .beta = beta_of(kernel, launch, 3),
                                            .channels = kernel->use.in[0].last,
                                            .epsilon = kernel->use.a.norm.epsilon};
    struct mgb_gpu_batch_norm_args args = {
        .to = launch->outputs[0], .x = launch->inputs[0], .lines = launch->workspace};
    MGB_TRY(lines_start(queue, &lines));
    return apply_start(queue, kernel, (const void *)mgb_gpu_batch_norm, &args);
}

static enum mgb_status sums_facts(struct mgb_operator_facts *facts, const struct mgb_cuda_use *use)
{
    struct mgb_cuda_channels c = channels_of(&use->in[X]);
    facts->workspace_bytes = mgb_cuda_channels_bytes(&c, 2);
    return MGB_OK;
}

static enum mgb_status sums_start(struct mgb_queue *queue, const struct mgb_kernel *kernel,
                                  const struct mgb_launch *launch)
{
    struct mgb_cuda_channels c = channels_of(&kernel->use.in[X]);
    struct mgb_gpu_channel_sums_args args = mgb_cuda_channels_args(&c, launch->workspace);
    struct mgb_gpu_channel_finish_args end = {.variance = launch->inputs[VARIANCE],
                                              .epsilon = kernel->use.a.norm.epsilon};
    args.x = launch->inputs[X];
    args.dy = launch->inputs[DY];
    args.mean = launch->inputs[MEAN];
    args.variance = launch->inputs[VARIANCE];
    args.gamma = gamma_of(kernel, launch, VARIANCE + 1);
    args.beta = beta_of(kernel, launch, VARIANCE + 1);
    args.epsilon = end.epsilon;
    args.relu = kernel->use.a.norm.activation == MGB_RELU;
    for (int k = 0; k < 4; k++)
        end.to[k] = kernel->use.out[k].wanted ? launch->outputs[k] : NULL;
    return mgb_cuda_channels_start(queue, (const void *)mgb_gpu_batch_norm_sums, &args,
                                   (const void *)mgb_gpu_batch_norm_sums_finish, &end);
}

static enum mgb_status grad_facts(struct mgb_operator_facts *facts, const struct mgb_cuda_use *use)
{
    facts->workspace_bytes = 5 * use->in[X].last * (int64_t)sizeof(float);
    facts->in_place = DY;
    return MGB_OK;
}

/* launch->scale is the share that this tower has of the values that the statistics were taken of. */
static enum mgb_status grad_start(struct mgb_queue *queue, const struct mgb_kernel *kernel,
                                  const struct mgb_launch *launch)
{
    const struct mgb_cuda_tensor *x = &kernel->use.in[X];
    struct mgb_gpu_norm_lines_args lines = {
        .lines = launch->workspace,
        .mean = launch->inputs[MEAN],
        .variance = launch->inputs[VARIANCE],
        .gamma = gamma_of(kernel, launch, AFTER_SUMS),
        .beta = beta_of(kernel, launch, AFTER_SUMS),
        .dgamma = launch->inputs[SUMS],
        .dbeta = launch->inputs[SUMS + 1],
        .channels = x->last,
        .epsilon = kernel->use.a.norm.epsilon,
        .share = kernel->use.training ? (double)launch->scale / (double)(x->count / x->last) : 0.0};
    struct mgb_gpu_batch_norm_args args = {.to = launch->outputs[0],
                                           .x = launch->inputs[X],
                                           .dy = launch->inputs[DY],
                                           .lines = launch->workspace};
    MGB_TRY(lines_start(queue, &lines));
    return apply_start(queue, kernel, (const void *)mgb_gpu_batch_norm_grad, &args);
}

/* The mean over the uses of a layer, times the share that the planner gives the tower. */
static enum mgb_status moving_start(struct mgb_queue *queue, const struct mgb_kernel *kernel,
                                    const struct mgb_launch *launch)
{
    for (int k = 0; k < 2; k++) {
        struct mgb_gpu_batch_moving_args args = {.to = launch->outputs[k],
                                                 .uses = kernel->use.input_count / 2,
                                                 .count = kernel->use.in[k].count,
                                                 .scale = (double)launch->scale};
        for (int use = 0; use < args.uses; use++)
            args.from[use] = launch->inputs[2 * use + k];
        if (args.to)
            MGB_TRY(mgb_cuda_start(queue, (const void *)mgb_gpu_batch_moving,
                                   (unsigned)((args.count + 63) / 64), 64, &args));
    }
    return MGB_OK;
}

const struct mgb_cuda_op mgb_cuda_batch_stats = {.facts = stats_facts, .start = stats_start};
const struct mgb_cuda_op mgb_cuda_batch_norm = {
    .facts = norm_facts, .start = norm_start, .second = MGB_CUDA_SECOND(mgb_cuda_dnn_batch_norm)};
const struct mgb_cuda_op mgb_cuda_batch_norm_sums = {.facts = sums_facts, .start = sums_start};
const struct mgb_cuda_op mgb_cuda_batch_norm_grad = {.facts = grad_facts, .start = grad_start};
const struct mgb_cuda_op mgb_cuda_batch_moving = {.start = moving_start};
