/* concat, slice and pad: the elements from an axis on lie together, so each is copies of stretches. */
#include "engine/cuda/ops/cut.h"

#include "engine/cuda/kernel.h"
#include "engine/cuda/queue.h"

/* Elements of one position of the axis. */
static int64_t unit_of(const struct mgb_cuda_tensor *tensor, int axis)
{
    int64_t unit = 1;
    for (int i = axis + 1; i < tensor->shape.rank; i++)
        unit *= tensor->shape.dim[i];
    return unit;
}

static enum mgb_status cut_start(struct mgb_queue *queue, struct mgb_gpu_cut_args *args)
{
    int64_t all = args->length | args->before | args->inside | args->to_stretch | args->to_begin |
                  args->from_stretch | args->from_begin;
    args->wide = all % 4 == 0;
    return mgb_cuda_start(queue, (const void *)mgb_gpu_cut,
                          mgb_cuda_blocks(args->outer * args->length / (args->wide ? 4 : 1), 256),
                          256, args);
}

static enum mgb_status type_facts(struct mgb_operator_facts *facts, const struct mgb_cuda_use *use)
{
    (void)facts;
    if (use->out[0].type == MGB_F32 || use->out[0].type == MGB_I32)
        return MGB_OK;
    return mgb_fail(MGB_UNSUPPORTED, "its elements are %s; a GPU joins and cuts f32 and i32",
                    mgb_type_name(use->out[0].type));
}

static enum mgb_status concat_start(struct mgb_queue *queue, const struct mgb_kernel *kernel,
                                    const struct mgb_launch *launch)
{
    const struct mgb_cuda_use *use = &kernel->use;
    int axis = use->a.slice.axis;
    int64_t unit = unit_of(&use->out[0], axis), stretch = use->out[0].shape.dim[axis] * unit,
            begin = 0;
    for (int i = 0; i < use->input_count; i++) {
        int64_t length = use->in[i].shape.dim[axis] * unit;
        struct mgb_gpu_cut_args args = {.to = launch->outputs[0],
                                        .from = launch->inputs[i],
                                        .outer = use->out[0].count / stretch,
                                        .length = length,
                                        .inside = length,
                                        .to_stretch = stretch,
                                        .to_begin = begin,
                                        .from_stretch = length};
        MGB_TRY(cut_start(queue, &args));
        begin += length;
    }
    return MGB_OK;
}

static enum mgb_status slice_start(struct mgb_queue *queue, const struct mgb_kernel *kernel,
                                   const struct mgb_launch *launch)
{
    const struct mgb_cuda_use *use = &kernel->use;
    int axis = use->a.slice.axis;
    int64_t unit = unit_of(&use->out[0], axis), length = use->out[0].shape.dim[axis] * unit;
    struct mgb_gpu_cut_args args = {.to = launch->outputs[0],
                                    .from = launch->inputs[0],
                                    .outer = use->out[0].count / length,
                                    .length = length,
                                    .inside = length,
                                    .to_stretch = length,
                                    .from_stretch = use->in[0].shape.dim[axis] * unit,
                                    .from_begin = use->a.slice.begin * unit};
    return cut_start(queue, &args);
}

static enum mgb_status pad_start(struct mgb_queue *queue, const struct mgb_kernel *kernel,
                                 const struct mgb_launch *launch)
{
    const struct mgb_cuda_use *use = &kernel->use;
    int axis = use->a.pad.axis;
    int64_t unit = unit_of(&use->out[0], axis), length = use->out[0].shape.dim[axis] * unit;
    struct mgb_gpu_cut_args args = {.to = launch->outputs[0],
                                    .from = launch->inputs[0],
                                    .outer = use->out[0].count / length,
                                    .length = length,
                                    .before = use->a.pad.before * unit,
                                    .inside = use->in[0].shape.dim[axis] * unit,
                                    .to_stretch = length,
                                    .from_stretch = use->in[0].shape.dim[axis] * unit};
    return cut_start(queue, &args);
}

const struct mgb_cuda_op mgb_cuda_concat = {.facts = type_facts, .start = concat_start};
const struct mgb_cuda_op mgb_cuda_slice = {.facts = type_facts, .start = slice_start};
const struct mgb_cuda_op mgb_cuda_pad = {.facts = type_facts, .start = pad_start};
