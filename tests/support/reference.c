/* The naive interpreter: loops as in the textbook. */
#include "tests/support/reference.h"

#include "tests/support/check.h"
#include "tests/support/reference_attention.h"
#include "tests/support/reference_sequence.h"
#include "tests/support/reference_norm.h"

#include "engine/backend/dropout.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct reference reference_make(const struct mgb_graph *graph, int64_t rows)
{
    struct reference r = {.graph = graph, .rows = rows, .scale = 1, .training = true, .seed = 7};
    r.value = calloc((size_t)graph->tensor_count, sizeof *r.value);
    r.counts = calloc((size_t)graph->tensor_count, sizeof *r.counts);
    assert_true(r.value && r.counts);
    for (int i = 0; i < graph->tensor_count; i++) {
        const struct mgb_tensor *tensor = &graph->tensors[i];
        r.counts[i] = mgb_shape_count(&tensor->shape) * (tensor->batched ? rows : 1);
        r.value[i] = calloc((size_t)r.counts[i], sizeof **r.value);
        assert_non_null(r.value[i]);
    }
    return r;
}

void reference_free(struct reference *reference)
{
    for (int i = 0; i < reference->graph->tensor_count; i++)
        free(reference->value[i]);
    free(reference->value);
    free(reference->counts);
}

/* Classes of the logits that are compared with this label; rows of the table that these numbers are looked up in: the fewest. */
static int64_t label_classes(const struct mgb_graph *graph, int tensor)
{
    int64_t fewest = 0;
    for (int i = 0; i < graph->node_count; i++) {
        const struct mgb_node *node = &graph->nodes[i];
        int64_t own = 0;
        if (node->kind == MGB_OP_EMBEDDING && node->inputs[0] == tensor)
            own = graph->tensors[node->inputs[1]].shape.dim[0];
        bool compares = node->kind == MGB_OP_SOFTMAX_XENT || node->kind == MGB_OP_ACCURACY;
        if (compares && node->inputs[1] == tensor) {
            const struct mgb_shape *shape = &graph->tensors[node->inputs[0]].shape;
            own = shape->dim[shape->rank - 1];
        }
        if (own > 0 && (fewest == 0 || own < fewest))
            fewest = own;
    }
    return fewest > 0 ? fewest : 2;
}

void reference_fill(struct reference *r, unsigned seed)
{
    const struct mgb_graph *graph = r->graph;
    for (int i = 0; i < graph->node_count; i++) {
        const struct mgb_node *node = &graph->nodes[i];
        if (node->kind != MGB_OP_INPUT && node->kind != MGB_OP_READ)
            continue;
        int tensor = node->outputs[0];
        int64_t classes = label_classes(graph, tensor), count = r->counts[tensor];
        double size = node->kind == MGB_OP_INPUT ? 1 : 1 / sqrt(1 + sqrt((double)count));
        for (int64_t k = 0; k < count; k++) {
            uint32_t bits = mgb_random_at(seed, (uint64_t)k, (uint64_t)tensor).v[0];
            if (graph->tensors[tensor].type == MGB_I32)
                r->value[tensor][k] = mgb_random_below(bits, (uint32_t)classes);
            else
                r->value[tensor][k] = (float)((2.0 * mgb_random_unit(bits) - 1.0) * size);
        }
    }
}

struct operands {
    double *in[16], *out[MGB_MAX_OUTPUTS];
};

static double activate(double x, enum mgb_activation activation)
{
    switch (activation) {
    case MGB_LINEAR:
        return x;
    case MGB_RELU:
        return x > 0 ? x : 0;
    case MGB_TANH:
        return tanh(x);
    case MGB_SIGMOID:
        return 1 / (1 + exp(-x));
    case MGB_RELU6:
        return x > 0 ? fmin(x, 6) : 0;
    }
    return x;
}

static double slope(double y, enum mgb_activation activation)
{
    switch (activation) {
    case MGB_LINEAR:
        return 1;
    case MGB_RELU:
        return y > 0;
    case MGB_TANH:
        return 1 - y * y;
    case MGB_SIGMOID:
        return y * (1 - y);
    case MGB_RELU6:
        return y > 0 && y < 6;
    }
    return 1;
}

static void dense(struct reference *r, const struct mgb_node *node, struct operands o)
{
    bool forward = node->kind == MGB_OP_DENSE, data = node->kind == MGB_OP_DENSE_GRAD_X;
    int w = node->kind == MGB_OP_DENSE_GRAD_W ? node->outputs[0] : node->inputs[1];
    const struct mgb_shape *shape = &r->graph->tensors[w].shape;
    bool tied = node->a.dense.transposed;
    int64_t in = shape->dim[tied ? 1 : 0], out = shape->dim[tied ? 0 : 1],
            rows = r->counts[node->inputs[0]] / (data ? out : in);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t b = 0; b < out; b++) {
            double sum = forward && node->input_count > 2 ? o.in[2][b] : 0;
            for (int64_t a = 0; a < in; a++) {
                int64_t weight = tied ? b * in + a : a * out + b;
                if (forward)
                    sum += o.in[0][i * in + a] * o.in[1][weight];
                else if (data)
                    o.out[0][i * in + a] += o.in[0][i * out + b] * o.in[1][weight];
                else
                    o.out[0][weight] += o.in[0][i * in + a] * o.in[1][i * out + b];
            }
            if (forward)
                o.out[0][i * out + b] = activate(sum, node->a.dense.activation);
            else if (!data && o.out[1])
                o.out[1][b] += o.in[1][i * out + b];
        }
}

struct tap { /* one cell of one window */
    int64_t row, y, x, iy, ix, ky, kx;
};
typedef void tap_function(const struct mgb_node *node, struct operands o, const struct tap *tap);

/* Calls f for every cell that lies inside x, windows in order, cells in order. */
static void taps(const struct mgb_node *node, struct operands o, int64_t rows,
                 const struct mgb_window *window, const int before[2], const struct mgb_shape *x,
                 const struct mgb_shape *y, tap_function *f)
{
    struct tap t;
    for (t.row = 0; t.row < rows; t.row++)
        for (t.y = 0; t.y < y->dim[0]; t.y++)
            for (t.x = 0; t.x < y->dim[1]; t.x++)
                for (t.ky = 0; t.ky < window->size[0]; t.ky++)
                    for (t.kx = 0; t.kx < window->size[1]; t.kx++) {
                        t.iy = t.y * window->stride[0] - before[0] + t.ky * window->dilation[0];
                        t.ix = t.x * window->stride[1] - before[1] + t.kx * window->dilation[1];
                        if (t.iy >= 0 && t.iy < x->dim[0] && t.ix >= 0 && t.ix < x->dim[1])
                            f(node, o, &t);
                    }
}

static void conv_tap(const struct mgb_node *node, struct operands o, const struct tap *t)
{
    const struct mgb_conv2d_attributes *a = &node->a.conv2d;
    int64_t in = a->x.dim[2], out = a->y.dim[2], groups = a->window.groups, part = in / groups;
    for (int64_t f = 0; f < out; f++)
        for (int64_t c = 0; c < part; c++) {
            int64_t x = ((t->row * a->x.dim[0] + t->iy) * a->x.dim[1] + t->ix) * in +
                        f / (out / groups) * part + c;
            int64_t w = ((t->ky * a->window.size[1] + t->kx) * part + c) * out + f;
            int64_t y = ((t->row * a->y.dim[0] + t->y) * a->y.dim[1] + t->x) * out + f;
            if (node->kind == MGB_OP_CONV2D)
                o.out[0][y] += o.in[0][x] * o.in[1][w];
            else if (node->kind == MGB_OP_CONV2D_GRAD_X)
                o.out[0][x] += o.in[0][y] * o.in[1][w];
            else
                o.out[0][w] += o.in[0][x] * o.in[1][y];
        }
}

static void conv(struct reference *r, const struct mgb_node *node, struct operands o)
{
    const struct mgb_conv2d_attributes *a = &node->a.conv2d;
    int64_t filters = a->y.dim[2], pixels = r->rows * a->y.dim[0] * a->y.dim[1];
    taps(node, o, r->rows, &a->window, a->pad_before, &a->x, &a->y, conv_tap);
    if (node->kind == MGB_OP_CONV2D)
        for (int64_t i = 0; i < pixels * filters; i++)
            o.out[0][i] = activate(o.out[0][i] + (node->input_count > 2 ? o.in[2][i % filters] : 0),
                                   a->activation);
    if (node->kind == MGB_OP_CONV2D_GRAD_W && o.out[1])
        for (int64_t i = 0; i < pixels * filters; i++)
            o.out[1][i % filters] += o.in[1][i];
}

/* Averages need the number of cells inside, maxima the first of the largest. */
static void pool_tap(const struct mgb_node *node, struct operands o, const struct tap *t)
{
    const struct mgb_shape *xs = &node->a.pool2d.x, *ys = &node->a.pool2d.y;
    const struct mgb_window *w = &node->a.pool2d.window;
    int64_t channels = xs->dim[2], cells[2] = {0, 0}, at[2] = {t->y, t->x};
    for (int axis = 0; axis < 2; axis++)
        for (int64_t k = 0; k < w->size[axis]; k++) {
            int64_t i = at[axis] * w->stride[axis] - node->a.pool2d.pad_before[axis] +
                        k * w->dilation[axis];
            cells[axis] += i >= 0 && i < xs->dim[axis];
        }
    bool all = node->a.pool2d.count_padding;
    double count = all ? (double)w->size[0] * w->size[1] : (double)(cells[0] * cells[1]);
    int64_t cell = t->ky * w->size[1] + t->kx;
    for (int64_t c = 0; c < channels; c++) {
        int64_t x = ((t->row * xs->dim[0] + t->iy) * xs->dim[1] + t->ix) * channels + c;
        int64_t y = ((t->row * ys->dim[0] + t->y) * ys->dim[1] + t->x) * channels + c;
        if (node->kind == MGB_OP_AVG_POOL2D)
            o.out[0][y] += o.in[0][x] / count;
        else if (node->kind == MGB_OP_AVG_POOL2D_GRAD)
            o.out[0][x] += o.in[0][y] / count;
        else if (node->kind == MGB_OP_MAX_POOL2D_GRAD)
            o.out[0][x] += o.in[1][y] == (double)cell ? o.in[0][y] : 0;
        else if (o.in[0][x] > o.out[0][y]) {
            o.out[0][y] = o.in[0][x];
            if (o.out[1])
                o.out[1][y] = (double)cell;
        }
    }
}

static void pool(struct reference *r, const struct mgb_node *node, struct operands o)
{
    if (node->kind == MGB_OP_MAX_POOL2D)
        for (int64_t i = 0; i < r->counts[node->outputs[0]]; i++)
            o.out[0][i] = -INFINITY;
    taps(node, o, r->rows, &node->a.pool2d.window, node->a.pool2d.pad_before, &node->a.pool2d.x,
         &node->a.pool2d.y, pool_tap);
}

/* concat and slice: element i of the joined tensor belongs to a part by its place along the axis. */
static void join(struct reference *r, const struct mgb_node *node, struct operands o)
{
    bool cuts = node->kind == MGB_OP_SLICE;
    const struct mgb_shape *whole =
        &r->graph->tensors[cuts ? node->inputs[0] : node->outputs[0]].shape;
    int64_t behind = 1, begin = node->a.slice.begin, parts = cuts ? 1 : node->input_count;
    for (int i = node->a.slice.axis + 1; i < whole->rank; i++)
        behind *= whole->dim[i];
    int64_t length = whole->dim[node->a.slice.axis];
    if (!cuts)
        begin = 0;
    for (int64_t part = 0; part < parts; part++) {
        int tensor = cuts ? node->outputs[0] : node->inputs[part];
        int64_t mine = r->graph->tensors[tensor].shape.dim[node->a.slice.axis];
        for (int64_t i = 0; i < r->counts[tensor]; i++) {
            int64_t outer = i / behind / mine, place = i / behind % mine + begin,
                    inner = i % behind;
            int64_t at = (outer * length + place) * behind + inner;
            if (cuts)
                o.out[0][i] = o.in[0][at];
            else
                o.out[0][at] = o.in[part][i];
        }
        begin += mine;
    }
}

static void classes(struct reference *r, const struct mgb_node *node, struct operands o)
{
    int64_t rows = r->counts[node->inputs[1]], n = r->counts[node->inputs[0]] / rows;
    double positions = (double)mgb_shape_count(&r->graph->tensors[node->inputs[1]].shape);
    for (int64_t row = 0; row < rows; row++) {
        const double *x = o.in[0] + row * n;
        int64_t label = (int64_t)o.in[1][row], best = 0;
        double sum = 0;
        for (int64_t i = 0; i < n; i++) {
            best = x[i] > x[best] ? i : best;
            sum += exp(x[i]);
        }
        if (node->kind == MGB_OP_ACCURACY)
            o.out[0][0] += (best == label) / positions;
        else if (node->kind == MGB_OP_SOFTMAX_XENT)
            o.out[0][0] += (log(sum) - x[label]) / positions;
        else
            for (int64_t i = 0; i < n; i++)
                o.out[0][row * n + i] =
                    (exp(x[i]) / sum - (i == label)) * (double)r->scale / positions;
    }
}

static void elements(struct reference *r, const struct mgb_node *node, struct operands o)
{
    int64_t count = r->counts[node->inputs[0]],
            a_row = mgb_shape_count(&r->graph->tensors[node->inputs[0]].shape);
    for (int64_t i = 0; i < count; i++) {
        double x = o.in[0][i], second = node->input_count > 1 ? o.in[1][i] : 0;
        if (node->kind == MGB_OP_ACTIVATION)
            o.out[0][i] = activate(x, node->a.activation.activation);
        else if (node->kind == MGB_OP_ACTIVATION_GRAD)
            o.out[0][i] = second * slope(x, node->a.activation.activation);
        else if (node->kind == MGB_OP_ADD)
            o.out[0][i] = x + second;
        else if (node->kind == MGB_OP_MSE)
            o.out[0][0] += (x - second) * (x - second) / (double)a_row;
        else if (node->kind == MGB_OP_MSE_GRAD)
            o.out[0][i] = 2 * (x - second) * (double)r->scale / (double)a_row;
        else
            o.out[0][i] = x;
    }
}

static void dropout(struct reference *r, const struct mgb_node *node, struct operands o)
{
    int64_t count = r->counts[node->inputs[0]];
    double rate = (double)node->a.dropout.rate;
    uint64_t high = mgb_dropout_high(r->step, node->a.dropout.key);
    for (int64_t i = 0; i < count; i++) {
        uint64_t index = (uint64_t)(r->first_row * (count / r->rows) + i);
        double unit = (double)mgb_random_unit(mgb_random_at(r->seed, index / 4, high).v[index % 4]);
        o.out[0][i] = !r->training ? o.in[0][i] : unit >= rate ? o.in[0][i] / (1 - rate) : 0;
    }
}

/* A variable to every row, and the sum over the rows. */
static void values(struct reference *r, const struct mgb_node *node, struct operands o)
{
    bool back = node->kind == MGB_OP_ADD_VALUE_GRAD;
    int64_t count = r->counts[back ? node->outputs[0] : node->inputs[1]];
    for (int64_t row = 0; row < r->rows; row++)
        for (int64_t i = 0; i < count; i++)
            if (back)
                o.out[0][i] += o.in[0][row * count + i];
            else
                o.out[0][row * count + i] = o.in[0][row * count + i] + o.in[1][i];
}

typedef void family_function(struct reference *r, const struct mgb_node *node, struct operands o);

static void sequence_family(struct reference *r, const struct mgb_node *node, struct operands o)
{
    reference_sequence(r, node, o.in, o.out);
}

static void math_family(struct reference *r, const struct mgb_node *node, struct operands o)
{
    (void)o;
    reference_math(r, node);
}

static void norm_family(struct reference *r, const struct mgb_node *node, struct operands o)
{
    reference_norm(r, node, o.in, o.out);
}

static void attention_family(struct reference *r, const struct mgb_node *node, struct operands o)
{
    reference_attention(r, node, o.in, o.out);
}

static void matmul_family(struct reference *r, const struct mgb_node *node, struct operands o)
{
    reference_matmul(r, node, o.in, o.out);
}

static void transpose_family(struct reference *r, const struct mgb_node *node, struct operands o)
{
    reference_transpose(r, node, o.in, o.out);
}

static void softmax_family(struct reference *r, const struct mgb_node *node, struct operands o)
{
    reference_softmax(r, node, o.in, o.out);
}

static void gelu_family(struct reference *r, const struct mgb_node *node, struct operands o)
{
    reference_gelu(r, node, o.in, o.out);
}

/* INPUT and READ have none. */
static family_function *const families[MGB_OP_COUNT] = {
    [MGB_OP_DENSE] = dense,
    [MGB_OP_DENSE_GRAD_X] = dense,
    [MGB_OP_DENSE_GRAD_W] = dense,
    [MGB_OP_CONV2D] = conv,
    [MGB_OP_CONV2D_GRAD_X] = conv,
    [MGB_OP_CONV2D_GRAD_W] = conv,
    [MGB_OP_MAX_POOL2D] = pool,
    [MGB_OP_MAX_POOL2D_GRAD] = pool,
    [MGB_OP_AVG_POOL2D] = pool,
    [MGB_OP_AVG_POOL2D_GRAD] = pool,
    [MGB_OP_CONCAT] = join,
    [MGB_OP_SLICE] = join,
    [MGB_OP_EMBEDDING] = sequence_family,
    [MGB_OP_EMBEDDING_GRAD] = sequence_family,
    [MGB_OP_EMBEDDING_ROWS] = sequence_family,
    [MGB_OP_EMBEDDING_UNPACK] = sequence_family,
    [MGB_OP_MASK] = sequence_family,
    [MGB_OP_LSTM] = sequence_family,
    [MGB_OP_LSTM_GRAD] = sequence_family,
    [MGB_OP_GRU] = sequence_family,
    [MGB_OP_GRU_GRAD] = sequence_family,
    [MGB_OP_SOFTMAX_XENT] = classes,
    [MGB_OP_SOFTMAX_XENT_GRAD] = classes,
    [MGB_OP_ACCURACY] = classes,
    [MGB_OP_DROPOUT] = dropout,
    [MGB_OP_ADD_VALUE] = values,
    [MGB_OP_ADD_VALUE_GRAD] = values,
    [MGB_OP_ADD_WIDE] = math_family,
    [MGB_OP_SUB] = math_family,
    [MGB_OP_MUL] = math_family,
    [MGB_OP_DIV] = math_family,
    [MGB_OP_SUM_TO] = math_family,
    [MGB_OP_EXPAND] = math_family,
    [MGB_OP_AFFINE] = math_family,
    [MGB_OP_ABS] = math_family,
    [MGB_OP_ABS_GRAD] = math_family,
    [MGB_OP_PAD] = math_family,
    [MGB_OP_SUM] = math_family,
    [MGB_OP_MEAN] = math_family,
    [MGB_OP_MAX] = math_family,
    [MGB_OP_SPREAD] = math_family,
    [MGB_OP_MAX_GRAD] = math_family,
    [MGB_OP_BCE] = math_family,
    [MGB_OP_BCE_GRAD] = math_family,
    [MGB_OP_SQUARES] = math_family,
    [MGB_OP_SQUARES_GRAD] = math_family,
    [MGB_OP_TOTAL] = math_family,
    [MGB_OP_TOTAL_GRAD] = math_family,
    [MGB_OP_BATCH_STATS] = norm_family,
    [MGB_OP_BATCH_NORM] = norm_family,
    [MGB_OP_BATCH_NORM_SUMS] = norm_family,
    [MGB_OP_BATCH_NORM_GRAD] = norm_family,
    [MGB_OP_BATCH_MOVING] = norm_family,
    [MGB_OP_LAYER_NORM] = norm_family,
    [MGB_OP_LAYER_NORM_GRAD_X] = norm_family,
    [MGB_OP_LAYER_NORM_GRAD_W] = norm_family,
    [MGB_OP_ACTIVATION] = elements,
    [MGB_OP_ACTIVATION_GRAD] = elements,
    [MGB_OP_ADD] = elements,
    [MGB_OP_RESHAPE] = elements,
    [MGB_OP_MSE] = elements,
    [MGB_OP_MSE_GRAD] = elements,
    [MGB_OP_ATTENTION] = attention_family,
    [MGB_OP_ATTENTION_GRAD] = attention_family,
    [MGB_OP_MATMUL] = matmul_family,
    [MGB_OP_TRANSPOSE] = transpose_family,
    [MGB_OP_SOFTMAX] = softmax_family,
    [MGB_OP_SOFTMAX_GRAD] = softmax_family,
    [MGB_OP_GELU] = gelu_family,
    [MGB_OP_GELU_GRAD] = gelu_family,
};

void reference_node(struct reference *r, const struct mgb_node *node)
{
    struct operands o = {{0}, {0}};
    for (int i = 0; i < node->input_count; i++)
        o.in[i] = r->value[node->inputs[i]];
    for (int i = 0; i < node->output_count; i++)
        if (node->outputs[i] >= 0) {
            o.out[i] = r->value[node->outputs[i]];
            memset(o.out[i], 0, sizeof(double) * (size_t)r->counts[node->outputs[i]]);
        }
    family_function *family = families[node->kind];
    if (!family)
        fail_msg("%s has no reference", mgb_op_name(node->kind));
    else
        family(r, node, o);
}

void reference_play(struct reference *reference, int end)
{
    for (int i = 0; i < end; i++)
        if (reference->graph->nodes[i].kind != MGB_OP_INPUT &&
            reference->graph->nodes[i].kind != MGB_OP_READ)
            reference_node(reference, &reference->graph->nodes[i]);
}
