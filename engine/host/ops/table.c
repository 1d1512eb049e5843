/* Which file serves which operator. INPUT and READ are tensors that are simply there: nothing runs. */
#include "engine/host/ops/ops.h"

static enum mgb_status nothing_make(struct mgb_kernel *kernel)
{
    (void)kernel;
    return MGB_OK;
}

static enum mgb_status nothing_run(struct mgb_kernel *kernel, const struct mgb_launch *launch)
{
    (void)kernel;
    (void)launch;
    return MGB_OK;
}

static const struct mgb_host_op nothing = {.make = nothing_make, .run = nothing_run};

static const struct mgb_host_op *const table[MGB_OP_COUNT] = {
    [MGB_OP_INPUT] = &nothing,
    [MGB_OP_READ] = &nothing,
    [MGB_OP_DENSE] = &mgb_host_dense,
    [MGB_OP_DENSE_GRAD_X] = &mgb_host_dense_grad_x,
    [MGB_OP_DENSE_GRAD_W] = &mgb_host_dense_grad_w,
    [MGB_OP_CONV2D] = &mgb_host_conv2d,
    [MGB_OP_CONV2D_GRAD_X] = &mgb_host_conv2d_grad_x,
    [MGB_OP_CONV2D_GRAD_W] = &mgb_host_conv2d_grad_w,
    [MGB_OP_MAX_POOL2D] = &mgb_host_max_pool2d,
    [MGB_OP_MAX_POOL2D_GRAD] = &mgb_host_max_pool2d_grad,
    [MGB_OP_AVG_POOL2D] = &mgb_host_avg_pool2d,
    [MGB_OP_AVG_POOL2D_GRAD] = &mgb_host_avg_pool2d_grad,
    [MGB_OP_ACTIVATION] = &mgb_host_activation,
    [MGB_OP_ACTIVATION_GRAD] = &mgb_host_activation_grad,
    [MGB_OP_RESHAPE] = &mgb_host_reshape,
    [MGB_OP_DROPOUT] = &mgb_host_dropout,
    [MGB_OP_ADD] = &mgb_host_add,
    [MGB_OP_ADD_VALUE] = &mgb_host_add_value,
    [MGB_OP_ADD_VALUE_GRAD] = &mgb_host_add_value_grad,
    [MGB_OP_BATCH_STATS] = &mgb_host_batch_stats,
    [MGB_OP_BATCH_NORM] = &mgb_host_batch_norm,
    [MGB_OP_BATCH_NORM_SUMS] = &mgb_host_batch_norm_sums,
    [MGB_OP_BATCH_NORM_GRAD] = &mgb_host_batch_norm_grad,
    [MGB_OP_BATCH_MOVING] = &mgb_host_batch_moving,
    [MGB_OP_LAYER_NORM] = &mgb_host_layer_norm,
    [MGB_OP_LAYER_NORM_GRAD_X] = &mgb_host_layer_norm_grad_x,
    [MGB_OP_LAYER_NORM_GRAD_W] = &mgb_host_layer_norm_grad_w,
    [MGB_OP_CONCAT] = &mgb_host_concat,
    [MGB_OP_SLICE] = &mgb_host_slice,
    [MGB_OP_EMBEDDING] = &mgb_host_embedding,
    [MGB_OP_EMBEDDING_GRAD] = &mgb_host_embedding_grad,
    [MGB_OP_EMBEDDING_ROWS] = &mgb_host_embedding_rows,
    [MGB_OP_EMBEDDING_UNPACK] = &mgb_host_embedding_unpack,
    [MGB_OP_MASK] = &mgb_host_mask,
    [MGB_OP_LSTM] = &mgb_host_lstm,
    [MGB_OP_LSTM_GRAD] = &mgb_host_lstm_grad,
    [MGB_OP_GRU] = &mgb_host_gru,
    [MGB_OP_GRU_GRAD] = &mgb_host_gru_grad,
    [MGB_OP_ADD_WIDE] = &mgb_host_arithmetic,
    [MGB_OP_SUB] = &mgb_host_arithmetic,
    [MGB_OP_MUL] = &mgb_host_arithmetic,
    [MGB_OP_DIV] = &mgb_host_arithmetic,
    [MGB_OP_SUM_TO] = &mgb_host_sum_to,
    [MGB_OP_EXPAND] = &mgb_host_expand,
    [MGB_OP_AFFINE] = &mgb_host_affine,
    [MGB_OP_ABS] = &mgb_host_abs,
    [MGB_OP_ABS_GRAD] = &mgb_host_abs_grad,
    [MGB_OP_PAD] = &mgb_host_pad,
    [MGB_OP_SUM] = &mgb_host_reduce,
    [MGB_OP_MEAN] = &mgb_host_reduce,
    [MGB_OP_MAX] = &mgb_host_reduce,
    [MGB_OP_SPREAD] = &mgb_host_reduce_grad,
    [MGB_OP_MAX_GRAD] = &mgb_host_reduce_grad,
    [MGB_OP_BCE] = &mgb_host_bce,
    [MGB_OP_BCE_GRAD] = &mgb_host_bce_grad,
    [MGB_OP_SQUARES] = &mgb_host_squares,
    [MGB_OP_SQUARES_GRAD] = &mgb_host_squares_grad,
    [MGB_OP_TOTAL] = &mgb_host_total,
    [MGB_OP_TOTAL_GRAD] = &mgb_host_total_grad,
    [MGB_OP_SOFTMAX_XENT] = &mgb_host_softmax_xent,
    [MGB_OP_SOFTMAX_XENT_GRAD] = &mgb_host_softmax_xent_grad,
    [MGB_OP_MSE] = &mgb_host_mse,
    [MGB_OP_MSE_GRAD] = &mgb_host_mse_grad,
    [MGB_OP_ACCURACY] = &mgb_host_accuracy,
    [MGB_OP_ATTENTION] = &mgb_host_attention,
    [MGB_OP_ATTENTION_GRAD] = &mgb_host_attention_grad,
    [MGB_OP_MATMUL] = &mgb_host_matmul,
    [MGB_OP_TRANSPOSE] = &mgb_host_transpose,
    [MGB_OP_SOFTMAX] = &mgb_host_softmax,
    [MGB_OP_SOFTMAX_GRAD] = &mgb_host_softmax_grad,
    [MGB_OP_GELU] = &mgb_host_gelu,
    [MGB_OP_GELU_GRAD] = &mgb_host_gelu_grad,
};

const struct mgb_host_op *mgb_host_op_find(enum mgb_op_kind kind)
{
    return (unsigned)kind < MGB_OP_COUNT ? table[kind] : NULL;
}
