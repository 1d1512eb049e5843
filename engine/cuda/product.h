/* Products of matrices for the operators: rows outermost, as tensors are, on cuBLAS, which has columns outermost. In the
 * precision of the operator that the queue is at (mgb_cuda_launch). In 16 bits both operands are narrowed into its scratch, each
 * matrix with rows of a multiple of MGB_CUDA_NARROW_ROW, and sums and results are f32. */
#ifndef MGB_CUDA_PRODUCT_H
#define MGB_CUDA_PRODUCT_H

#include "engine/cuda/cuda.h"

#define MGB_CUDA_NARROW_ROW 8 /* elements: rows begin at 16 bytes, as tensor cores like them */

struct mgb_cuda_matrix {
    const float *data;
    int64_t ld;      /* elements from one row to the next, as stored */
    int64_t stride;  /* elements from one matrix of a batch to the next; 0: all the same */
    bool transposed; /* taken as its transpose */
};

/* c = alpha a b + beta c. After transposition a is [m, k], b [k, n]; c is [m, n]. With beta 0, c is not read. */
struct mgb_cuda_product {
    struct mgb_cuda_matrix a, b;
    float *c;
    int64_t ldc, stride_c;
    int64_t m, n, k;
    int64_t batch; /* 0 counts as 1; beyond 1 the strides count */
    float alpha;   /* 0 counts as 1 */
    float beta;
    bool
        b_stays; /* nothing writes b while the operator runs: narrowed once for products in a row with the same */
};

/* On the queue's stream; its GPU is current (mgb_cuda_begin). MGB_UNSUPPORTED when a size is beyond cuBLAS. */
enum mgb_status mgb_cuda_multiply(struct mgb_queue *queue, const struct mgb_cuda_product *product);

/* Bytes of scratch that `matrices` matrices of [rows, columns], as stored, take when narrowed. */
static inline int64_t mgb_cuda_narrow_bytes(int64_t matrices, int64_t rows, int64_t columns)
{
    int64_t row = (columns + MGB_CUDA_NARROW_ROW - 1) / MGB_CUDA_NARROW_ROW * MGB_CUDA_NARROW_ROW;
    return (matrices * rows * row * 2 + 63) / 64 * 64;
}

/* Room for cuBLAS in the workspace of an operator whose largest product has operands of `narrow` bytes in 16 bits, on a device
 * of that compute capability. A multiple of 64. */
int64_t mgb_cuda_blas_room(const char *capability, int64_t narrow);
/* Gives such a room of the queue's device to cuBLAS until the next is given. */
enum mgb_status mgb_cuda_blas_room_set(struct mgb_queue *queue, char *room, int64_t bytes);

static inline bool mgb_precision_narrow(enum mgb_precision precision)
{
    return precision == MGB_PRECISION_BF16 || precision == MGB_PRECISION_F16;
}

#endif
