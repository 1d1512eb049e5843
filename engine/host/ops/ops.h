/* The operators of the CPU devices, one file each, and what they share: element-wise work on whatever layout arrives. */
#ifndef MGB_HOST_OPS_OPS_H
#define MGB_HOST_OPS_OPS_H

#include "engine/backend/backend.h"
#include "engine/host/kernel.h"

extern const struct mgb_host_op mgb_host_dense, mgb_host_dense_grad_x, mgb_host_dense_grad_w;
extern const struct mgb_host_op mgb_host_conv2d, mgb_host_conv2d_grad_x, mgb_host_conv2d_grad_w;
extern const struct mgb_host_op mgb_host_max_pool2d, mgb_host_max_pool2d_grad;
extern const struct mgb_host_op mgb_host_avg_pool2d, mgb_host_avg_pool2d_grad;
extern const struct mgb_host_op mgb_host_activation, mgb_host_activation_grad;
extern const struct mgb_host_op mgb_host_reshape, mgb_host_dropout, mgb_host_add,
    mgb_host_add_value, mgb_host_add_value_grad, mgb_host_concat, mgb_host_slice;
extern const struct mgb_host_op mgb_host_embedding, mgb_host_embedding_grad,
    mgb_host_embedding_rows, mgb_host_embedding_unpack, mgb_host_mask;
extern const struct mgb_host_op mgb_host_lstm, mgb_host_lstm_grad, mgb_host_gru, mgb_host_gru_grad;
extern const struct mgb_host_op mgb_host_arithmetic, mgb_host_sum_to, mgb_host_expand,
    mgb_host_affine, mgb_host_abs, mgb_host_abs_grad, mgb_host_pad, mgb_host_reduce,
    mgb_host_reduce_grad;
extern const struct mgb_host_op mgb_host_bce, mgb_host_bce_grad, mgb_host_squares,
    mgb_host_squares_grad, mgb_host_total, mgb_host_total_grad;
extern const struct mgb_host_op mgb_host_batch_stats, mgb_host_batch_norm, mgb_host_batch_norm_sums,
    mgb_host_batch_norm_grad, mgb_host_batch_moving;
extern const struct mgb_host_op mgb_host_layer_norm, mgb_host_layer_norm_grad_x,
    mgb_host_layer_norm_grad_w;
extern const struct mgb_host_op mgb_host_softmax_xent, mgb_host_softmax_xent_grad;
extern const struct mgb_host_op mgb_host_mse, mgb_host_mse_grad, mgb_host_accuracy;
extern const struct mgb_host_op mgb_host_attention, mgb_host_attention_grad, mgb_host_matmul,
    mgb_host_transpose, mgb_host_softmax, mgb_host_softmax_grad, mgb_host_gelu, mgb_host_gelu_grad;

/* kernel->part[]: plain copies of the inputs first (-1: none), then these. */
enum {
    MGB_PART_COUNT = MGB_MAX_INPUTS, /* elements that an element-wise operator runs over */
    MGB_PART_SCRATCH,
    MGB_PART_WEIGHTS, /* a weight gradient that is made along and not wanted */
    MGB_PART_OUTPUT,  /* the result before it is reordered */
};
/* Where a part begins in this launch's workspace; NULL without a workspace. */
void *mgb_part(const struct mgb_kernel *kernel, const struct mgb_launch *launch, int part);

/* Element-wise operators. They run on the layout of their inputs, which is that of those that are not plain when these
 * have the same one, on copies where an input has another. `zero_stays`: f(0, ...) = 0, so filled-up channels may be
 * computed along. Input `over` may be overwritten: its copy, if it needs one, is made in the output, other copies in the
 * workspace. Sets the facts of output 0; the operator then runs over `mgb_flat_count` elements. */
void mgb_flat_plan(struct mgb_kernel *kernel, bool zero_stays, int over);
/* Plain copies for all inputs that are not plain; the output stays plain. For operators that look at rows. */
void mgb_plain_plan(struct mgb_kernel *kernel);
int64_t mgb_flat_count(const struct mgb_kernel *kernel);
bool mgb_flat_direct(const struct mgb_kernel *kernel,
                     int input); /* read where it is, not as a copy */
/* The elements of an input in the layout of the output, reordered if need be. */
const float *mgb_flat_input(struct mgb_kernel *kernel, const struct mgb_launch *launch, int input);

/* y = f(x) in place or not, over `count` elements; dx = f'(x) dy expressed in y. */
void mgb_activate(float *y, const float *x, int64_t count, enum mgb_activation activation);
void mgb_activate_grad(float *dx, const float *y, const float *dy, int64_t count,
                       enum mgb_activation activation);

/* The mask of a dropout layer (engine/backend/dropout.h) over tensors of `row` elements an example. */
struct mgb_host_mask {
    uint64_t seed, high, first; /* first: global index of element 0 */
    uint32_t threshold;
    float scale;
};
struct mgb_host_mask mgb_host_mask_make(const struct mgb_launch *launch, float rate, int key,
                                        int64_t row);
/* y = x scale where the mask keeps elements [first, first + count), else 0; y may be x. */
void mgb_host_mask_apply(const struct mgb_host_mask *mask, float *y, const float *x, uint64_t first,
                         int64_t count);

/* Sums over rows with the same bits for any team: each chunk of rows in order in double, chunks in order. `f` adds up
 * rows [begin, end). Rows of few elements (`width`) are not worth a team. */
#define MGB_ROW_CHUNK 64
typedef double mgb_rows_function(const void *context, int64_t begin, int64_t end);
double mgb_rows_sum(int64_t rows, int64_t width, mgb_rows_function *f, const void *context);
/* Rows that are worth a thread of a team: a multiple of MGB_ROW_CHUNK. */
int64_t mgb_rows_grain(int64_t width);

#endif
