/* A part of an axis, and zeros around one: copies of stretches. Images in blocks are cut and padded as they are along
 * height and width, and along the channels where whole blocks are cut. */
#include "engine/host/ops/ops.h"

#include "engine/base/parallel.h"
#include <string.h>

#define GRAIN 16384 /* elements */

/* A tensor as [outer][positions of the axis][unit]; everything in units of four bytes. */
struct axis_view {
    int64_t outer, unit, block; /* block: positions of the axis that make one unit */
};

static bool is_image(const struct mgb_host_tensor *tensor)
{
    return tensor->batched && tensor->shape.rank == 3;
}

static struct axis_view view_of(const struct mgb_host_tensor *tensor, int64_t rows, int layout,
                                int axis)
{
    struct axis_view view = {1, 1, 1};
    if (layout == MGB_LAYOUT_PLAIN) {
        for (int i = axis + 1; i < tensor->shape.rank; i++)
            view.unit *= tensor->shape.dim[i];
        view.outer = tensor->count / tensor->shape.dim[axis] / view.unit;
        return view;
    }
    struct mgb_form form = mgb_layout_form(mgb_host_image(tensor, rows), layout);
    if (axis == 2)
        return (struct axis_view){rows, form.pixels * form.inner, form.inner};
    view.outer = form.outer * (axis == 1 ? tensor->shape.dim[0] : 1);
    view.unit = form.inner * (axis == 0 ? tensor->shape.dim[1] : 1);
    return view;
}

/* May it work on the layout that arrives? `first` and `count` are cut along the axis. */
static bool direct(const struct mgb_kernel *kernel, int axis, int64_t first, int64_t count)
{
    const struct mgb_host_tensor *in = &kernel->use.in[0];
    if (in->layout == MGB_LAYOUT_PLAIN || kernel->use.plain[0] || !is_image(in))
        return false;
    struct axis_view view = view_of(in, kernel->use.rows, in->layout, axis);
    return axis < 2 || (first % view.block == 0 && count % view.block == 0);
}

static void layout_plan(struct mgb_kernel *kernel, bool as_it_is)
{
    const struct mgb_host_tensor *in = &kernel->use.in[0];
    if (!as_it_is) {
        mgb_plain_plan(kernel);
        return;
    }
    kernel->part[0] = -1;
    kernel->facts.out_layout[0] = in->layout;
    kernel->facts.out_bytes[0] =
        4 * mgb_layout_count(mgb_host_image(&kernel->use.out[0], kernel->use.rows), in->layout);
}

static enum mgb_status slice_make(struct mgb_kernel *kernel)
{
    const struct mgb_host_use *use = &kernel->use;
    if (use->out[0].type != MGB_F32 && use->out[0].type != MGB_I32)
        return mgb_fail(MGB_UNSUPPORTED, "its elements are %s; a CPU device cuts f32 and i32",
                        mgb_type_name(use->out[0].type));
    layout_plan(kernel, direct(kernel, use->a.slice.axis, use->a.slice.begin, use->a.slice.count));
    return MGB_OK;
}

static enum mgb_status pad_make(struct mgb_kernel *kernel)
{
    const struct mgb_host_use *use = &kernel->use;
    int64_t whole = use->in[0].shape.dim[use->a.pad.axis];
    layout_plan(kernel, direct(kernel, use->a.pad.axis, use->a.pad.before, whole));
    return MGB_OK;
}

struct cut_work {
    const float *from;
    float *to;
    int64_t from_stretch, to_stretch, skip, before, count;
};

static void slice_range(void *context, long long begin, long long end)
{
    const struct cut_work *work = context;
    for (long long outer = begin; outer < end; outer++)
        memcpy(work->to + outer * work->to_stretch,
               work->from + outer * work->from_stretch + work->skip,
               sizeof(float) * (size_t)work->to_stretch);
}

static void pad_range(void *context, long long begin, long long end)
{
    const struct cut_work *work = context;
    int64_t after = work->to_stretch - work->before - work->from_stretch;
    for (long long outer = begin; outer < end; outer++) {
        float *to = work->to + outer * work->to_stretch;
        memset(to, 0, sizeof(float) * (size_t)work->before);
        memcpy(to + work->before, work->from + outer * work->from_stretch,
               sizeof(float) * (size_t)work->from_stretch);
        memset(to + work->before + work->from_stretch, 0, sizeof(float) * (size_t)after);
    }
}

static struct cut_work cut_begin(struct mgb_kernel *kernel, const struct mgb_launch *launch,
                                 int axis, struct axis_view *view)
{
    const struct mgb_host_use *use = &kernel->use;
    int layout = kernel->facts.out_layout[0];
    *view = view_of(&use->in[0], use->rows, layout, axis);
    struct cut_work work = {.from = mgb_flat_input(kernel, launch, 0), .to = launch->outputs[0]};
    int64_t from = (use->in[0].shape.dim[axis] + view->block - 1) / view->block,
            to = (use->out[0].shape.dim[axis] + view->block - 1) / view->block;
    work.from_stretch = from * view->unit;
    work.to_stretch = to * view->unit;
    return work;
}

static enum mgb_status slice_run(struct mgb_kernel *kernel, const struct mgb_launch *launch)
{
    struct axis_view view;
    struct cut_work work = cut_begin(kernel, launch, kernel->use.a.slice.axis, &view);
    work.skip = kernel->use.a.slice.begin / view.block * view.unit;
    mgb_parallel_for(view.outer, GRAIN / work.to_stretch + 1, slice_range, &work);
    return MGB_OK;
}

static enum mgb_status pad_run(struct mgb_kernel *kernel, const struct mgb_launch *launch)
{
    struct axis_view view;
    struct cut_work work = cut_begin(kernel, launch, kernel->use.a.pad.axis, &view);
    work.before = kernel->use.a.pad.before / view.block * view.unit;
    mgb_parallel_for(view.outer, GRAIN / work.to_stretch + 1, pad_range, &work);
    return MGB_OK;
}

const struct mgb_host_op mgb_host_slice = {.make = slice_make, .run = slice_run};
const struct mgb_host_op mgb_host_pad = {.make = pad_make, .run = pad_run};
