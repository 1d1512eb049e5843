/* Products of matrices for the operators: rows outermost, as tensors are, on cuBLAS, which has columns outermost. */
#ifndef MGB_CUDA_PRODUCT_H
#define MGB_CUDA_PRODUCT_H

#include "engine/cuda/cuda.h"

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
};

/* On the queue's stream; its GPU is current (mgb_cuda_begin). MGB_UNSUPPORTED when a size is beyond cuBLAS. */
enum mgb_status mgb_cuda_multiply(struct mgb_queue *queue, const struct mgb_cuda_product *product);

#endif
