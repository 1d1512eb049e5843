/* Concatenation along an axis of the per-example shape: copies of stretches. Blocked images are joined as they are where
 * the channels fall on whole blocks. */
#include "engine/host/ops/ops.h"

#include "engine/base/parallel.h"
#include <string.h>

/* A tensor as [outer][stretch]: the elements from the axis on lie together. */
static int64_t stretch_of(const struct mgb_host_tensor *tensor, int axis)
{
    int64_t stretch = 1;
    for (int i = axis; i < tensor->shape.rank; i++)
        stretch *= tensor->shape.dim[i];
    return stretch;
}

static bool axis_is_channels(const struct mgb_host_tensor *tensor, int axis)
{
    return tensor->batched && tensor->shape.rank == 3 && axis == 2;
}

static int64_t block_of(const struct mgb_host_tensor *tensor, int64_t rows, int layout)
{
    struct mgb_image image = mgb_host_image(tensor, rows);
    return layout == MGB_LAYOUT_PLAIN ? 1 : mgb_layout_form(image, layout).inner;
}

/* In a blocked layout all channels of a row are one stretch. */
static int64_t outer_of(const struct mgb_kernel *kernel, const struct mgb_host_tensor *tensor,
                        int layout)
{
    int axis = kernel->use.a.slice.axis;
    return layout == MGB_LAYOUT_PLAIN ? tensor->count / stretch_of(tensor, axis) : kernel->use.rows;
}

static void blocked_output(struct mgb_kernel *kernel, int layout)
{
    kernel->facts.out_layout[0] = layout;
    kernel->facts.out_bytes[0] =
        4 * mgb_layout_count(mgb_host_image(&kernel->use.out[0], kernel->use.rows), layout);
}

static enum mgb_status f32_check(const struct mgb_kernel *kernel)
{
    if (kernel->use.out[0].type == MGB_F32)
        return MGB_OK;
    return mgb_fail(MGB_UNSUPPORTED, "its elements are %s; a CPU device joins and cuts f32",
                    mgb_type_name(kernel->use.out[0].type));
}

static enum mgb_status concat_make(struct mgb_kernel *kernel)
{
    const struct mgb_host_use *use = &kernel->use;
    MGB_TRY(f32_check(kernel));
    int layout = use->in[0].layout;
    bool direct = layout != MGB_LAYOUT_PLAIN && !use->plain[0] &&
                  axis_is_channels(&use->out[0], use->a.slice.axis);
    for (int i = 0; direct && i < use->input_count; i++)
        direct = use->in[i].layout == layout &&
                 use->in[i].shape.dim[2] % block_of(&use->in[i], use->rows, layout) == 0;
    if (!direct) {
        mgb_plain_plan(kernel);
        return MGB_OK;
    }
    for (int i = 0; i < use->input_count; i++)
        kernel->part[i] = -1;
    blocked_output(kernel, layout);
    return MGB_OK;
}

struct concat_work {
    struct mgb_kernel *kernel;
    const float *from[MGB_MAX_INPUTS];
    int64_t stretch[MGB_MAX_INPUTS], total;
    float *to;
};

static void concat_range(void *context, long long begin, long long end)
{
    struct concat_work *work = context;
    for (long long outer = begin; outer < end; outer++) {
        float *to = work->to + outer * work->total;
        for (int i = 0; i < work->kernel->use.input_count; i++) {
            memcpy(to, work->from[i] + outer * work->stretch[i],
                   sizeof(float) * (size_t)work->stretch[i]);
            to += work->stretch[i];
        }
    }
}

static enum mgb_status concat_run(struct mgb_kernel *kernel, const struct mgb_launch *launch)
{
    struct concat_work work = {.kernel = kernel, .to = launch->outputs[0]};
    int layout = kernel->facts.out_layout[0];
    int64_t outer = outer_of(kernel, &kernel->use.out[0], layout);
    for (int i = 0; i < kernel->use.input_count; i++) {
        work.from[i] = mgb_flat_input(kernel, launch, i);
        work.stretch[i] = kernel->use.in[i].count / outer;
        work.total += work.stretch[i];
    }
    mgb_parallel_for(outer, 1, concat_range, &work);
    return MGB_OK;
}

const struct mgb_host_op mgb_host_concat = {.make = concat_make, .run = concat_run};
