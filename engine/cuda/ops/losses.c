/* Mean squared error, binary cross-entropy of logits and plain totals: the sum over rows of the mean over elements, rows in
 * the order of the contract; and their gradients. Formulas as in engine/host/ops/{mse,bce,squares}.c. */
#include "engine/cuda/ops/losses.h"

#include "engine/cuda/ops/spread.h"
#include "engine/cuda/queue.h"

static enum mgb_status target_check(const struct mgb_cuda_use *use)
{
    if (use->input_count > 1 && use->in[1].type != MGB_F32)
        return mgb_fail(MGB_UNSUPPORTED, "the target is %s; a GPU takes f32",
                        mgb_type_name(use->in[1].type));
    return MGB_OK;
}

static int64_t rows_of(const struct mgb_cuda_use *use)
{
    return use->in[0].count / use->in[0].positions;
}

static enum mgb_status loss_facts(struct mgb_operator_facts *facts, const struct mgb_cuda_use *use)
{
    facts->workspace_bytes = rows_of(use) * (int64_t)sizeof(double);
    return target_check(use);
}

static enum mgb_status grad_facts(struct mgb_operator_facts *facts, const struct mgb_cuda_use *use)
{
    facts->in_place = use->kind == MGB_OP_TOTAL_GRAD ? -1 : 0;
    return target_check(use);
}

static enum mgb_status loss_start(struct mgb_queue *queue, const struct mgb_kernel *kernel,
                                  const struct mgb_launch *launch)
{
    const struct mgb_cuda_use *use = &kernel->use;
    struct mgb_gpu_loss_args args = {.rows = launch->workspace,
                                     .a = launch->inputs[0],
                                     .b = use->input_count > 1 ? launch->inputs[1] : NULL,
                                     .count = rows_of(use),
                                     .elements = use->in[0].positions,
                                     .what = use->kind == MGB_OP_MSE   ? MGB_GPU_MSE
                                             : use->kind == MGB_OP_BCE ? MGB_GPU_BCE
                                                                       : MGB_GPU_TOTAL};
    args.lanes = args.elements <= 4 ? 1 : args.elements <= 512 ? 32 : 256;
    int64_t each = 256 / args.lanes;
    MGB_TRY(mgb_cuda_start(queue, (const void *)mgb_gpu_loss_rows,
                           (unsigned)((args.count + each - 1) / each), 256, &args));
    return mgb_cuda_row_sum(queue, launch->outputs[0], args.rows, args.count, args.elements);
}

static enum mgb_status grad_start(struct mgb_queue *queue, const struct mgb_kernel *kernel,
                                  const struct mgb_launch *launch)
{
    const struct mgb_cuda_use *use = &kernel->use;
    bool total = use->kind == MGB_OP_TOTAL_GRAD;
    float scale = use->kind == MGB_OP_MSE_GRAD ? 2.0f * launch->scale : launch->scale;
    struct mgb_gpu_elements_args args = {.y = launch->outputs[0],
                                         .a = total ? NULL : launch->inputs[0],
                                         .b = total ? NULL : launch->inputs[1],
                                         .count = use->out[0].count,
                                         .what = total                          ? MGB_GPU_FILL
                                                 : use->kind == MGB_OP_MSE_GRAD ? MGB_GPU_DIFFER
                                                                                : MGB_GPU_BCE_GRAD,
                                         .factor = scale / (float)use->in[0].positions};
    return mgb_cuda_start_elements(queue, &args);
}

const struct mgb_cuda_op mgb_cuda_row_loss = {.facts = loss_facts, .start = loss_start};
const struct mgb_cuda_op mgb_cuda_row_loss_grad = {.facts = grad_facts, .start = grad_start};
