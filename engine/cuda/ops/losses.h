/* Kernels of losses that are sums over rows, and of the penalty on weights. */
#ifndef MGB_CUDA_OPS_LOSSES_H
#define MGB_CUDA_OPS_LOSSES_H

#include "engine/cuda/kernels.h"

enum mgb_gpu_loss { MGB_GPU_MSE, MGB_GPU_BCE, MGB_GPU_TOTAL };

struct
    mgb_gpu_loss_args { /* rows[r] = the sum over a row; `lanes` of a block's 256 threads take one */
    double *rows;
    const float *a, *b; /* b: NULL for TOTAL */
    int64_t count, elements;
    int what, lanes;
};

#define MGB_GPU_SQUARES 16 /* variables of a penalty */
#define MGB_GPU_SQUARES_PIECE 4096

/* First mgb_gpu_squares_pieces, a block of 256 threads a piece (see many.h), then mgb_gpu_squares, one such block. */
struct mgb_gpu_squares_args {
    const float *x[MGB_GPU_SQUARES];
    int64_t count[MGB_GPU_SQUARES];
    int32_t end[MGB_GPU_SQUARES];
    int items;
    double *pieces;
    float *to; /* strength times all squares, for each of `rows` rows */
    int64_t rows;
    float strength;
};
struct mgb_gpu_rows_scale_args { /* one block of 256 threads: to = 2 strength times the sum of dy */
    float *to;
    const float *dy;
    int64_t rows;
    float strength;
};

MGB_CUDA_DECLARE(mgb_gpu_loss_rows, struct mgb_gpu_loss_args)
MGB_CUDA_DECLARE(mgb_gpu_squares_pieces, struct mgb_gpu_squares_args)
MGB_CUDA_DECLARE(mgb_gpu_squares, struct mgb_gpu_squares_args)
MGB_CUDA_DECLARE(mgb_gpu_rows_scale, struct mgb_gpu_rows_scale_args)

#endif
