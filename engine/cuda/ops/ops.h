/* The operators that GPUs have. One line here enters one into the table by kind. */
#ifndef MGB_CUDA_OPS_OPS_H
#define MGB_CUDA_OPS_OPS_H

#include "engine/cuda/kernel.h"

/* Kind, and the record mgb_cuda_<name> that an ops/<op>.c defines; several kinds may share one. */
#define MGB_CUDA_OPS(X)                                                                            \
    X(DENSE, dense)                                                                                \
    X(DENSE_GRAD_X, dense_grad_x)                                                                  \
    X(DENSE_GRAD_W, dense_grad_w)                                                                  \
    X(ACTIVATION, activation)                                                                      \
    X(ACTIVATION_GRAD, activation_grad)                                                            \
    X(ADD, add)                                                                                    \
    X(EMBEDDING, embedding)                                                                        \
    X(EMBEDDING_GRAD, embedding_grad)                                                              \
    X(EMBEDDING_ROWS, embedding_rows)                                                              \
    X(EMBEDDING_UNPACK, embedding_unpack)                                                          \
    X(MASK, mask)                                                                                  \
    X(LSTM, lstm)                                                                                  \
    X(LSTM_GRAD, lstm_grad)                                                                        \
    X(GRU, gru)                                                                                    \
    X(GRU_GRAD, gru_grad)                                                                          \
    X(ATTENTION, attention)                                                                        \
    X(ATTENTION_GRAD, attention)                                                                   \
    X(MATMUL, matmul)                                                                              \
    X(TRANSPOSE, transpose)                                                                        \
    X(SOFTMAX, softmax)                                                                            \
    X(SOFTMAX_GRAD, softmax)                                                                       \
    X(GELU, gelu)                                                                                  \
    X(GELU_GRAD, gelu)                                                                             \
    X(LAYER_NORM, layer_norm)                                                                      \
    X(LAYER_NORM_GRAD_X, layer_norm_grad_x)                                                        \
    X(LAYER_NORM_GRAD_W, layer_norm_grad_w)                                                        \
    X(ADD_VALUE, repeat)                                                                           \
    X(ADD_VALUE_GRAD, sum_to)                                                                      \
    X(ADD_WIDE, arithmetic)                                                                        \
    X(SUB, arithmetic)                                                                             \
    X(MUL, arithmetic)                                                                             \
    X(DIV, arithmetic)                                                                             \
    X(SUM_TO, sum_to)                                                                              \
    X(EXPAND, repeat)                                                                              \
    X(AFFINE, affine)                                                                              \
    X(ABS, affine)                                                                                 \
    X(ABS_GRAD, affine)                                                                            \
    X(SUM, sum)                                                                                    \
    X(MEAN, sum)                                                                                   \
    X(MAX, max)                                                                                    \
    X(SPREAD, spread_grad)                                                                         \
    X(MAX_GRAD, max_grad)                                                                          \
    X(BCE, row_loss)                                                                               \
    X(BCE_GRAD, row_loss_grad)                                                                     \
    X(MSE, row_loss)                                                                               \
    X(MSE_GRAD, row_loss_grad)                                                                     \
    X(TOTAL, row_loss)                                                                             \
    X(TOTAL_GRAD, row_loss_grad)                                                                   \
    X(SQUARES, squares)                                                                            \
    X(SQUARES_GRAD, squares_grad)                                                                  \
    X(RESHAPE, reshape)                                                                            \
    X(CONV2D, conv2d)                                                                              \
    X(CONV2D_GRAD_X, conv2d)                                                                       \
    X(CONV2D_GRAD_W, conv2d)                                                                       \
    X(MAX_POOL2D, max_pool2d)                                                                      \
    X(MAX_POOL2D_GRAD, max_pool2d_grad)                                                            \
    X(AVG_POOL2D, avg_pool2d)                                                                      \
    X(AVG_POOL2D_GRAD, avg_pool2d_grad)                                                            \
    X(BATCH_STATS, batch_stats)                                                                    \
    X(BATCH_NORM, batch_norm)                                                                      \
    X(BATCH_NORM_SUMS, batch_norm_sums)                                                            \
    X(BATCH_NORM_GRAD, batch_norm_grad)                                                            \
    X(BATCH_MOVING, batch_moving)                                                                  \
    X(DROPOUT, dropout)                                                                            \
    X(CONCAT, concat)                                                                              \
    X(SLICE, slice)                                                                                \
    X(PAD, pad)                                                                                    \
    X(SOFTMAX_XENT, softmax_xent)                                                                  \
    X(SOFTMAX_XENT_GRAD, softmax_xent_grad)                                                        \
    X(ACCURACY, accuracy)

#define X(kind, name) extern const struct mgb_cuda_op mgb_cuda_##name;
MGB_CUDA_OPS(X)
#undef X
extern const struct mgb_cuda_op *const mgb_cuda_ops[MGB_OP_COUNT]; /* NULL: GPUs lack it */

#endif
