/* Kernels of batch normalisation beside its sums (channels.h). C and CUDA C++. */
#ifndef MGB_CUDA_OPS_BATCH_NORM_H
#define MGB_CUDA_OPS_BATCH_NORM_H

#include "engine/cuda/kernels.h"

/* lines: mean, slope and shift, and for gradients tilt and lift, a number a channel each, one after the other. */
struct mgb_gpu_norm_lines_args { /* a thread a channel */
    float *lines;
    const float *mean, *variance, *gamma, *beta; /* gamma and beta may be NULL */
    const float *dgamma, *dbeta;                 /* NULL: no gradient */
    int64_t channels;
    float epsilon;
    double share; /* 1 / values of a channel; 0: the statistics are constants */
};
struct mgb_gpu_batch_norm_args {
    float *to;
    const float *x, *dy, *lines;
    int64_t count, channels;
    int relu, wide; /* wide: four channels at once */
};
struct mgb_gpu_batch_moving_args { /* to[i] = scale * the mean of from[.][i] */
    float *to;
    const float *from[16];
    int uses;
    int64_t count;
    double scale;
};

MGB_CUDA_DECLARE(mgb_gpu_norm_lines, struct mgb_gpu_norm_lines_args)
MGB_CUDA_DECLARE(mgb_gpu_batch_norm, struct mgb_gpu_batch_norm_args)
MGB_CUDA_DECLARE(mgb_gpu_batch_norm_grad, struct mgb_gpu_batch_norm_args)
MGB_CUDA_DECLARE(mgb_gpu_batch_moving, struct mgb_gpu_batch_moving_args)

#endif
