/* Pooling over windows of the two spatial axes: shape and cost, whatever is taken of a window. */
#include "engine/graph/ops/pool2d.h"

/* The place of a window's maximum is kept in a byte. */
#define MAX_WINDOW_MOST 256

enum mgb_status mgb_pool2d_make(struct mgb_graph *graph, int *out, enum mgb_op_kind kind,
                                const char *name, int x, const struct mgb_window *window,
                                bool count_padding)
{
    struct mgb_op_call call;
    struct mgb_shape in;
    int64_t size[2];
    MGB_TRY(mgb_op_begin(&call, graph, kind, name));
    MGB_TRY(mgb_op_take(&call, "input", x, MGB_F32, &in));
    struct mgb_pool2d_attributes *a = &call.a.pool2d;
    a->window = *window;
    a->window.groups = 1;
    a->count_padding = count_padding;
    MGB_TRY(
        mgb_window_resolve(&call, "window", &a->window, a->pad_before, a->pad_after, &in, size));
    if (kind == MGB_OP_MAX_POOL2D &&
        (int64_t)a->window.size[0] * a->window.size[1] > MAX_WINDOW_MOST)
        return mgb_op_fail(&call, "a window of %dx%d has more than %d elements", a->window.size[0],
                           a->window.size[1], MAX_WINDOW_MOST);
    a->x = in;
    a->y = (struct mgb_shape){3, {size[0], size[1], in.dim[2]}};
    struct mgb_shape y = a->y;
    return mgb_op_end(&call, out, &y, MGB_F32);
}

double mgb_pool2d_flops(const struct mgb_graph *graph, const struct mgb_node *node)
{
    const struct mgb_pool2d_attributes *a = &node->a.pool2d;
    (void)graph;
    return (double)mgb_shape_count(&a->y) * a->window.size[0] * a->window.size[1];
}

void mgb_pool2d_text(struct mgb_text *text, const struct mgb_node *node)
{
    mgb_window_text(text, &node->a.pool2d.window);
    if (node->a.pool2d.count_padding)
        mgb_text_add(text, " count_padding");
}
