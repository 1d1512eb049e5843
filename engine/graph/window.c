/* Where a window fits: padding rules and output sizes of convolution and pooling.
 *
 * "same" is TensorFlow's: out = ceil(in / stride), what is missing is padded, the odd element at
 * the bottom and right (https://www.tensorflow.org/api_docs/python/tf/nn, notes on padding). */
#include "engine/graph/op.h"

#define REACH_MOST (1 << 24)

static const char *padding_name(const struct mgb_window *window, char out[48])
{
    switch (window->padding) {
    case MGB_VALID:
        return "\"valid\"";
    case MGB_SAME:
        return "\"same\"";
    case MGB_EXPLICIT:
        mgb_format(out, 48, "%dx%d", window->pad[0], window->pad[1]);
        return out;
    }
    return "?";
}

/* Positions are computed in int: none may come near its end. */
static enum mgb_status window_limit(const struct mgb_op_call *call, const char *word,
                                    const struct mgb_window *window)
{
    for (int i = 0; i < 2; i++) {
        int64_t reach = (int64_t)(window->size[i] - 1) * window->dilation[i] + 1;
        if (reach > REACH_MOST || window->stride[i] > REACH_MOST || window->pad[i] > REACH_MOST)
            return mgb_op_fail(call,
                               "a %s of %dx%d with stride %dx%d, dilation %dx%d, padding %dx%d; "
                               "none may reach over more than %d elements",
                               word, window->size[0], window->size[1], window->stride[0],
                               window->stride[1], window->dilation[0], window->dilation[1],
                               window->pad[0], window->pad[1], REACH_MOST);
    }
    return MGB_OK;
}

static enum mgb_status window_fill(const struct mgb_op_call *call, const char *word,
                                   struct mgb_window *window)
{
    bool pools = call->kind != MGB_OP_CONV2D;
    for (int i = 0; i < 2; i++) {
        if (window->stride[i] == 0)
            window->stride[i] = pools ? window->size[i] : 1;
        if (window->dilation[i] == 0)
            window->dilation[i] = 1;
        if (window->padding != MGB_EXPLICIT)
            window->pad[i] = 0;
        if (window->size[i] < 1)
            return mgb_op_fail(call, "a %s of %dx%d", word, window->size[0], window->size[1]);
        if (window->stride[i] < 1)
            return mgb_op_fail(call, "a stride of %dx%d; give at least 1", window->stride[0],
                               window->stride[1]);
        if (window->dilation[i] < 1 || (pools && window->dilation[i] != 1))
            return mgb_op_fail(call, "a dilation of %dx%d", window->dilation[0],
                               window->dilation[1]);
        if (window->pad[i] < 0 || (pools && window->pad[i] >= window->size[i]))
            return mgb_op_fail(call, "a padding of %dx%d with a %s of %dx%d", window->pad[0],
                               window->pad[1], word, window->size[0], window->size[1]);
    }
    MGB_TRY(window_limit(call, word, window));
    if (window->padding != MGB_VALID && window->padding != MGB_SAME &&
        window->padding != MGB_EXPLICIT)
        return mgb_op_fail(call, "no padding rule has number %d", (int)window->padding);
    if (window->groups == 0)
        window->groups = 1;
    return MGB_OK;
}

/* One axis; 0 when the window does not fit. */
static int64_t axis_resolve(const struct mgb_window *window, int axis, int64_t in, int *before,
                            int *after)
{
    int64_t reach = (int64_t)(window->size[axis] - 1) * window->dilation[axis] + 1;
    int64_t stride = window->stride[axis], out, total;
    *before = *after = window->pad[axis];
    switch (window->padding) {
    case MGB_SAME:
        out = (in + stride - 1) / stride;
        total = (out - 1) * stride + reach - in;
        if (total < 0)
            total = 0;
        *before = (int)(total / 2);
        *after = (int)(total - total / 2);
        return out;
    case MGB_VALID:
    case MGB_EXPLICIT:
        total = in + 2 * (int64_t)window->pad[axis] - reach;
        return total < 0 ? 0 : total / stride + 1;
    }
    return 0;
}

enum mgb_status mgb_window_resolve(const struct mgb_op_call *call, const char *word,
                                   struct mgb_window *window, int pad_before[2], int pad_after[2],
                                   const struct mgb_shape *x, int64_t out[2])
{
    char shape[96], padding[48], dilation[48] = "";
    if (x->rank != 3)
        return mgb_op_fail(call, "its input is %s, it takes height x width x channels",
                           mgb_shape_format(shape, sizeof shape, x));
    MGB_TRY(window_fill(call, word, window));
    out[0] = axis_resolve(window, 0, x->dim[0], &pad_before[0], &pad_after[0]);
    out[1] = axis_resolve(window, 1, x->dim[1], &pad_before[1], &pad_after[1]);
    if (out[0] > 0 && out[1] > 0)
        return MGB_OK;
    if (window->dilation[0] > 1 || window->dilation[1] > 1)
        mgb_format(dilation, sizeof dilation, " with dilation %dx%d", window->dilation[0],
                   window->dilation[1]);
    return mgb_op_fail(call, "%s %dx%d%s does not fit input %s with padding %s", word,
                       window->size[0], window->size[1], dilation,
                       mgb_shape_format(shape, sizeof shape, x), padding_name(window, padding));
}

void mgb_window_text(struct mgb_text *text, const struct mgb_window *window)
{
    char padding[48];
    mgb_text_add(text, " %dx%d", window->size[0], window->size[1]);
    mgb_text_add(text, " stride=%dx%d", window->stride[0], window->stride[1]);
    mgb_text_add(text, " padding=%s", padding_name(window, padding));
    if (window->dilation[0] > 1 || window->dilation[1] > 1)
        mgb_text_add(text, " dilation=%dx%d", window->dilation[0], window->dilation[1]);
    if (window->groups > 1)
        mgb_text_add(text, " groups=%d", window->groups);
}
