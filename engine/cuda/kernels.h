/* Kernels as the C files see them: a name and one argument struct each. The .cu files are the common subset of C11 and
 * CUDA C++, so that a C compiler can take them too when a test provides what nvcc does; this header is read by both. */
#ifndef MGB_CUDA_KERNELS_H
#define MGB_CUDA_KERNELS_H

#include "engine/cuda/fault.h"
#include <stdint.h>

#ifdef __CUDACC__
#define MGB_CUDA_DECLARE(name, type) extern "C" __global__ void name(type a);
#define MGB_ANYWHERE static inline __host__ __device__ /* for engine/base/random.h */
#else
#define MGB_CUDA_DECLARE(name, type) void name(type a);
#endif
#ifndef MGB_CUDA_KERNEL
#define MGB_CUDA_KERNEL(name, type) extern "C" __global__ void name(type a)
#endif

/* Activations by number: engine/include/mgb/model.h is no C++. 0 linear, 1 relu, 2 tanh, 3 sigmoid, checked in C. */
struct mgb_gpu_bias_args { /* y = f(y + b), b may be NULL; y is [rows, columns] */
    float *y;
    const float *b;
    int64_t count, columns;
    int activation;
};
struct
    mgb_gpu_column_sum_args { /* to[c] = sum of x[r][c] over rows; blocks of 256 threads take 32 columns each */
    float *to;
    const float *x;
    int64_t rows, columns;
};
struct mgb_gpu_activate_args {
    float *y;
    const float *x;
    int64_t count;
    int activation;
};
struct mgb_gpu_activate_grad_args { /* dx = dy f'(x), expressed in y = f(x) */
    float *dx;
    const float *y, *dy;
    int64_t count;
    int activation;
};
struct mgb_gpu_sum_args { /* to = from[0] + from[1] + ... in that order; `to` may be any of them */
    float *to;
    const float *from[16];
    int sources;
    int64_t count;
};
struct mgb_gpu_xent_args { /* a warp a row */
    const float *logits;
    const int32_t *labels;
    double *losses;  /* forward: one a row */
    float *gradient; /* backward */
    int64_t rows, classes, first_row, positions;
    float scale;
    struct mgb_cuda_fault *fault;
};
struct mgb_gpu_right_args { /* a warp a row: 1 where the largest logit is at the label */
    const float *logits;
    const int32_t *labels;
    double *right;
    int64_t rows, classes;
};
struct mgb_gpu_row_sum_args { /* one block of 256 threads */
    float *to;
    const double *rows;
    int64_t count, divisor;
};
struct mgb_gpu_cast_args { /* narrow: to 16 bits; widen: back; both: rounded, kept as f32 */
    void *to;
    const void *from;
    int64_t count;
    int brain, narrow, widen;
};
struct
    mgb_gpu_narrow_args { /* [matrices][rows][columns] to 16 bits, rows to_ld apart; a thread takes four of a row */
    uint16_t *to;
    const float *from;
    int64_t matrices, rows, columns;
    int64_t ld, stride,
        to_ld; /* elements between rows, between matrices; between rows of `to`, which has no gaps else */
    int brain, wide;
};

MGB_CUDA_DECLARE(mgb_gpu_bias, struct mgb_gpu_bias_args)
MGB_CUDA_DECLARE(mgb_gpu_column_sum, struct mgb_gpu_column_sum_args)
MGB_CUDA_DECLARE(mgb_gpu_activate, struct mgb_gpu_activate_args)
MGB_CUDA_DECLARE(mgb_gpu_activate_grad, struct mgb_gpu_activate_grad_args)
MGB_CUDA_DECLARE(mgb_gpu_sum, struct mgb_gpu_sum_args)
MGB_CUDA_DECLARE(mgb_gpu_xent, struct mgb_gpu_xent_args)
MGB_CUDA_DECLARE(mgb_gpu_xent_grad, struct mgb_gpu_xent_args)
MGB_CUDA_DECLARE(mgb_gpu_right, struct mgb_gpu_right_args)
MGB_CUDA_DECLARE(mgb_gpu_row_sum, struct mgb_gpu_row_sum_args)
MGB_CUDA_DECLARE(mgb_gpu_cast, struct mgb_gpu_cast_args)
MGB_CUDA_DECLARE(mgb_gpu_narrow, struct mgb_gpu_narrow_args)

#endif
