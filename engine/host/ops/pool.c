/* Geometry from a node's attributes; reorders around pooling. */
#include "engine/host/ops/pool.h"

struct mgb_pool2d mgb_host_pool2d_make(const struct mgb_kernel *kernel, int layout)
{
    const union mgb_attributes *a = &kernel->use.a;
    struct mgb_image image = {kernel->use.rows, 1, a->pool2d.x.dim[2]};
    struct mgb_form form = mgb_layout_form(image, layout);
    struct mgb_pool2d pool = {
        .outer = form.outer, .inner = form.inner, .count_padding = a->pool2d.count_padding};
    for (int i = 0; i < 2; i++) {
        pool.in[i] = a->pool2d.x.dim[i];
        pool.out[i] = a->pool2d.y.dim[i];
        pool.size[i] = a->pool2d.window.size[i];
        pool.stride[i] = a->pool2d.window.stride[i];
        pool.before[i] = a->pool2d.pad_before[i];
    }
    return pool;
}

void mgb_pool2d_plan(struct mgb_kernel *kernel, int layout)
{
    const struct mgb_host_tensor *in = &kernel->use.in[0], *out = &kernel->use.out[0];
    kernel->part[0] = kernel->part[MGB_PART_OUTPUT] = -1;
    if (in->layout != layout)
        kernel->part[0] = mgb_host_take_workspace(
            kernel, 4 * mgb_layout_count(mgb_host_image(in, kernel->use.rows), layout));
    int64_t bytes = 4 * mgb_layout_count(mgb_host_image(out, kernel->use.rows), layout);
    if (kernel->use.plain[0] && layout != MGB_LAYOUT_PLAIN) {
        kernel->part[MGB_PART_OUTPUT] = mgb_host_take_workspace(kernel, bytes);
    } else {
        kernel->facts.out_layout[0] = layout;
        kernel->facts.out_bytes[0] = bytes;
    }
}

const float *mgb_pool2d_input(struct mgb_kernel *kernel, const struct mgb_launch *launch,
                              int layout)
{
    if (kernel->part[0] < 0)
        return launch->inputs[0];
    const struct mgb_host_tensor *in = &kernel->use.in[0];
    float *copy = mgb_part(kernel, launch, 0);
    mgb_layout_convert(copy, layout, launch->inputs[0], in->layout,
                       mgb_host_image(in, kernel->use.rows));
    return copy;
}

float *mgb_pool2d_output(struct mgb_kernel *kernel, const struct mgb_launch *launch)
{
    return kernel->part[MGB_PART_OUTPUT] < 0 ? launch->outputs[0]
                                             : mgb_part(kernel, launch, MGB_PART_OUTPUT);
}

void mgb_pool2d_finish(struct mgb_kernel *kernel, const struct mgb_launch *launch, int layout)
{
    if (kernel->part[MGB_PART_OUTPUT] >= 0)
        mgb_layout_convert(launch->outputs[0], MGB_LAYOUT_PLAIN,
                           mgb_part(kernel, launch, MGB_PART_OUTPUT), layout,
                           mgb_host_image(&kernel->use.out[0], kernel->use.rows));
}
