/* Between cublas.c, which takes the calls, and gemm.c, which plays them. */
#ifndef FAKE_GEMM_H
#define FAKE_GEMM_H

#include "tests/fake_cuda/fake.h"

#include <cublas_v2.h>

struct fake_matrix { /* column major, as cuBLAS */
    const void *data;
    cudaDataType type;
    long long ld, stride;    /* in elements; stride from one batch member to the next */
    long long rows, columns; /* as stored */
    bool transposed;
};

struct fake_gemm {
    struct fake_op op;
    struct fake_matrix a, b, c; /* c is written */
    long long m, n, k, batch;
    float alpha, beta;
    bool tf32;       /* inputs are rounded to 10 bits of mantissa */
    void *workspace; /* left as NaN */
    size_t workspace_bytes;
};

float fake_tf32_round(float value);
size_t fake_element_size(cudaDataType type); /* 0: the fake does not take it */
void fake_gemm_run(struct fake_op *op);

#endif
