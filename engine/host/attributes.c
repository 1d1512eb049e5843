/* Attributes of nodes, copied field by field: one function a family, and a table that names every kind, so that none is
 * forgotten (tests/engine/host/test_operators.c: a kernel that lacks an attribute computes something else). */
#include "engine/host/attributes.h"

#include <string.h>

typedef void copy_function(union mgb_attributes *to, const union mgb_attributes *from);

void mgb_host_shape_copy(struct mgb_shape *to, const struct mgb_shape *from)
{
    to->rank = from->rank;
    for (int i = 0; i < from->rank; i++)
        to->dim[i] = from->dim[i];
}

static void window_copy(struct mgb_window *to, const struct mgb_window *from)
{
    for (int i = 0; i < 2; i++) {
        to->size[i] = from->size[i];
        to->stride[i] = from->stride[i];
        to->dilation[i] = from->dilation[i];
    }
    to->groups = from->groups;
}

static void nothing(union mgb_attributes *to, const union mgb_attributes *from)
{
    (void)to;
    (void)from;
}

static void conv2d(union mgb_attributes *to, const union mgb_attributes *from)
{
    window_copy(&to->conv2d.window, &from->conv2d.window);
    memcpy(to->conv2d.pad_before, from->conv2d.pad_before, sizeof to->conv2d.pad_before);
    memcpy(to->conv2d.pad_after, from->conv2d.pad_after, sizeof to->conv2d.pad_after);
    to->conv2d.activation = from->conv2d.activation;
    mgb_host_shape_copy(&to->conv2d.x, &from->conv2d.x);
    mgb_host_shape_copy(&to->conv2d.y, &from->conv2d.y);
}

static void pool2d(union mgb_attributes *to, const union mgb_attributes *from)
{
    window_copy(&to->pool2d.window, &from->pool2d.window);
    memcpy(to->pool2d.pad_before, from->pool2d.pad_before, sizeof to->pool2d.pad_before);
    memcpy(to->pool2d.pad_after, from->pool2d.pad_after, sizeof to->pool2d.pad_after);
    to->pool2d.count_padding = from->pool2d.count_padding;
    mgb_host_shape_copy(&to->pool2d.x, &from->pool2d.x);
    mgb_host_shape_copy(&to->pool2d.y, &from->pool2d.y);
}

static void dense(union mgb_attributes *to, const union mgb_attributes *from)
{
    to->dense.transposed = from->dense.transposed;
    to->dense.activation = from->dense.activation;
}

static void activation(union mgb_attributes *to, const union mgb_attributes *from)
{
    to->activation.activation = from->activation.activation;
}

static void attention(union mgb_attributes *to, const union mgb_attributes *from)
{
    to->attention.heads = from->attention.heads;
    to->attention.causal = from->attention.causal;
    to->attention.scale = from->attention.scale;
    to->attention.dropout = from->attention.dropout;
    to->attention.key = from->attention.key;
}

static void matmul(union mgb_attributes *to, const union mgb_attributes *from)
{
    to->matmul.transpose_a = from->matmul.transpose_a;
    to->matmul.transpose_b = from->matmul.transpose_b;
}

static void transpose(union mgb_attributes *to, const union mgb_attributes *from)
{
    memcpy(to->transpose.axes, from->transpose.axes, sizeof to->transpose.axes);
}

static void softmax(union mgb_attributes *to, const union mgb_attributes *from)
{
    to->softmax.log = from->softmax.log;
}

static void gelu(union mgb_attributes *to, const union mgb_attributes *from)
{
    to->gelu.approximate = from->gelu.approximate;
}

static void dropout(union mgb_attributes *to, const union mgb_attributes *from)
{
    to->dropout.rate = from->dropout.rate;
    to->dropout.key = from->dropout.key;
}

static void concat(union mgb_attributes *to, const union mgb_attributes *from)
{
    to->slice.axis = from->slice.axis;
}

static void slice(union mgb_attributes *to, const union mgb_attributes *from)
{
    to->slice.axis = from->slice.axis;
    to->slice.begin = from->slice.begin;
    to->slice.count = from->slice.count;
}

static void recurrent(union mgb_attributes *to, const union mgb_attributes *from)
{
    to->recurrent.steps = from->recurrent.steps;
    to->recurrent.in = from->recurrent.in;
    to->recurrent.units = from->recurrent.units;
    to->recurrent.sequences = from->recurrent.sequences;
    to->recurrent.cell = from->recurrent.cell;
    to->recurrent.reverse = from->recurrent.reverse;
    to->recurrent.bias = from->recurrent.bias;
    to->recurrent.mask = from->recurrent.mask;
    to->recurrent.state = from->recurrent.state;
    to->recurrent.reset_after = from->recurrent.reset_after;
}

static void mask(union mgb_attributes *to, const union mgb_attributes *from)
{
    to->mask.value = from->mask.value;
}

static void pad(union mgb_attributes *to, const union mgb_attributes *from)
{
    to->pad.axis = from->pad.axis;
    to->pad.before = from->pad.before;
    to->pad.after = from->pad.after;
}

static void affine(union mgb_attributes *to, const union mgb_attributes *from)
{
    to->affine.factor = from->affine.factor;
    to->affine.shift = from->affine.shift;
}

static void reduce(union mgb_attributes *to, const union mgb_attributes *from)
{
    to->reduce.axis = from->reduce.axis;
    to->reduce.factor = from->reduce.factor;
}

static void squares(union mgb_attributes *to, const union mgb_attributes *from)
{
    to->squares.strength = from->squares.strength;
}

static void norm(union mgb_attributes *to, const union mgb_attributes *from)
{
    to->norm.epsilon = from->norm.epsilon;
    to->norm.activation = from->norm.activation;
    to->norm.scale = from->norm.scale;
    to->norm.center = from->norm.center;
}

static void packed(union mgb_attributes *to, const union mgb_attributes *from)
{
    to->packed.vocabulary = from->packed.vocabulary;
}

static copy_function *const copies[MGB_OP_COUNT] = {
    [MGB_OP_INPUT] = nothing,
    [MGB_OP_READ] = nothing,
    [MGB_OP_DENSE] = dense,
    [MGB_OP_DENSE_GRAD_X] = dense,
    [MGB_OP_DENSE_GRAD_W] = dense,
    [MGB_OP_CONV2D] = conv2d,
    [MGB_OP_CONV2D_GRAD_X] = conv2d,
    [MGB_OP_CONV2D_GRAD_W] = conv2d,
    [MGB_OP_MAX_POOL2D] = pool2d,
    [MGB_OP_MAX_POOL2D_GRAD] = pool2d,
    [MGB_OP_AVG_POOL2D] = pool2d,
    [MGB_OP_AVG_POOL2D_GRAD] = pool2d,
    [MGB_OP_ACTIVATION] = activation,
    [MGB_OP_ACTIVATION_GRAD] = activation,
    [MGB_OP_RESHAPE] = nothing,
    [MGB_OP_DROPOUT] = dropout,
    [MGB_OP_ADD] = nothing,
    [MGB_OP_ADD_VALUE] = nothing,
    [MGB_OP_ADD_VALUE_GRAD] = nothing,
    [MGB_OP_CONCAT] = concat,
    [MGB_OP_SLICE] = slice,
    [MGB_OP_SOFTMAX_XENT] = nothing,
    [MGB_OP_SOFTMAX_XENT_GRAD] = nothing,
    [MGB_OP_MSE] = nothing,
    [MGB_OP_MSE_GRAD] = nothing,
    [MGB_OP_ACCURACY] = nothing,
    /* attention, products of matrices */
    [MGB_OP_ATTENTION] = attention,
    [MGB_OP_ATTENTION_GRAD] = attention,
    [MGB_OP_MATMUL] = matmul,
    [MGB_OP_TRANSPOSE] = transpose,
    [MGB_OP_SOFTMAX] = softmax,
    [MGB_OP_SOFTMAX_GRAD] = softmax,
    [MGB_OP_GELU] = gelu,
    [MGB_OP_GELU_GRAD] = gelu,
    /* sequences */
    [MGB_OP_EMBEDDING] = nothing,
    [MGB_OP_EMBEDDING_GRAD] = nothing,
    [MGB_OP_EMBEDDING_ROWS] = packed,
    [MGB_OP_EMBEDDING_UNPACK] = nothing,
    [MGB_OP_MASK] = mask,
    [MGB_OP_LSTM] = recurrent,
    [MGB_OP_LSTM_GRAD] = recurrent,
    [MGB_OP_GRU] = recurrent,
    [MGB_OP_GRU_GRAD] = recurrent,
    /* arithmetic, reductions */
    [MGB_OP_ADD_WIDE] = nothing,
    [MGB_OP_SUB] = nothing,
    [MGB_OP_MUL] = nothing,
    [MGB_OP_DIV] = nothing,
    [MGB_OP_SUM_TO] = nothing,
    [MGB_OP_EXPAND] = nothing,
    [MGB_OP_AFFINE] = affine,
    [MGB_OP_ABS] = nothing,
    [MGB_OP_ABS_GRAD] = nothing,
    [MGB_OP_PAD] = pad,
    [MGB_OP_SUM] = reduce,
    [MGB_OP_MEAN] = reduce,
    [MGB_OP_MAX] = reduce,
    [MGB_OP_SPREAD] = reduce,
    [MGB_OP_MAX_GRAD] = reduce,
    [MGB_OP_BCE] = nothing,
    [MGB_OP_BCE_GRAD] = nothing,
    [MGB_OP_SQUARES] = squares,
    [MGB_OP_SQUARES_GRAD] = squares,
    [MGB_OP_TOTAL] = nothing,
    [MGB_OP_TOTAL_GRAD] = nothing,
    /* normalisation */
    [MGB_OP_BATCH_STATS] = nothing,
    [MGB_OP_BATCH_NORM] = norm,
    [MGB_OP_BATCH_NORM_SUMS] = norm,
    [MGB_OP_BATCH_NORM_GRAD] = norm,
    [MGB_OP_BATCH_MOVING] = nothing,
    [MGB_OP_LAYER_NORM] = norm,
    [MGB_OP_LAYER_NORM_GRAD_X] = norm,
    [MGB_OP_LAYER_NORM_GRAD_W] = norm,
};

bool mgb_host_attributes_known(enum mgb_op_kind kind)
{
    return (unsigned)kind < MGB_OP_COUNT && copies[kind];
}

void mgb_host_attributes_copy(union mgb_attributes *to, const struct mgb_node *node)
{
    if (mgb_host_attributes_known(node->kind))
        copies[node->kind](to, &node->a);
}
