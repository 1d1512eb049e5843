/* The only door to oneDNN: convolution and dense layers, forward and both gradients, on plain f32 master weights. Which
 * version of the library stands behind it shows in dnnl/v2.c and dnnl/v3.c alone.
 *
 * Activations have the layouts of layout.h, weights are plain ([in, out]; [height, width, in / groups, out]). Primitives
 * are made for the team size of the calling thread and must run with the same. One call at a time a primitive. */
#ifndef MGB_HOST_DNNL_SHIM_H
#define MGB_HOST_DNNL_SHIM_H

#include <mgb/model.h>
#include <stdbool.h>
#include <stdint.h>

enum mgb_dnnl_pass { MGB_DNNL_FORWARD, MGB_DNNL_DATA, MGB_DNNL_WEIGHTS };

struct mgb_dnnl_conv { /* what is asked */
    enum mgb_dnnl_pass pass;
    int64_t rows, groups, in, height, width, out, out_height, out_width, kernel[2];
    int64_t stride[2], dilation[2] /* 1: none */, pad_before[2], pad_after[2];
    bool bias;
    enum mgb_activation activation; /* forward only; applied where mgb_dnnl_fuses it */
};

struct mgb_dnnl_dense {
    enum mgb_dnnl_pass pass;
    int64_t rows, in, out;
    bool bias, transposed;          /* transposed: the weights are [out, in] */
    enum mgb_activation activation; /* as above */
};

struct mgb_dnnl; /* a prepared primitive */

struct mgb_dnnl_needs {
    int x_layout, y_layout; /* convolution: of x or dx, and of y or dy */
    int64_t scratch_bytes;  /* scratchpads and packed weights */
};

/* x, y, weights and bias are what the pass reads or writes: its own gradient where it makes one. */
struct mgb_dnnl_operands {
    void *x, *weights, *bias, *y, *scratch;
};

enum mgb_status mgb_dnnl_conv_make(struct mgb_dnnl **out, struct mgb_dnnl_needs *needs,
                                   const struct mgb_dnnl_conv *conv);
enum mgb_status mgb_dnnl_dense_make(struct mgb_dnnl **out, struct mgb_dnnl_needs *needs,
                                    const struct mgb_dnnl_dense *dense);
enum mgb_status mgb_dnnl_run(struct mgb_dnnl *primitive, const struct mgb_dnnl_operands *operands);
void mgb_dnnl_free(struct mgb_dnnl *primitive); /* NULL is fine */

/* Linear, or applied by the primitive itself. */
static inline bool mgb_dnnl_fuses(enum mgb_activation activation)
{
    return activation != MGB_TANH && activation != MGB_SIGMOID;
}

/* c = alpha op(a) op(b) + beta c for matrices whose rows lie `row` elements apart: op(a) m x k, op(b) k x n, c m x n. Runs in the calling
 * thread alone when that is a member of a team. */
struct mgb_matrix {
    const float *at;
    int64_t row;
    bool transposed;
};
struct mgb_product {
    int64_t m, n, k;
    float alpha, beta;
};
enum mgb_status mgb_dnnl_product(float *c, int64_t c_row, struct mgb_matrix a, struct mgb_matrix b,
                                 struct mgb_product product);

int mgb_dnnl_team(void); /* the team size of the calling thread */

#endif
