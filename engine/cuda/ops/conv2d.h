/* Kernels of convolution: windows laid out as the rows of a matrix and back, and depthwise convolution as it is. C and
 * CUDA C++. Weights are [height, width, channels of a group, filters]. */
#ifndef MGB_CUDA_OPS_CONV2D_H
#define MGB_CUDA_OPS_CONV2D_H

#include "engine/cuda/ops/window.h"

/* `matrix` is [group][image, y, x][cell, channel of the group]; a row of y (to the matrix) or of x (from it) a block. */
struct mgb_gpu_windows_args {
    float *to; /* the matrix; the gradient of the images */
    const float *from;
    int64_t images;
    int groups, channels, wide; /* channels of a group; wide: four at once */
    struct mgb_gpu_window window;
};

/* As many groups as channels. `wide` takes four filters at once, and needs one filter a channel. */
struct mgb_gpu_depthwise_args {
    float *to;
    const float *from, *w, *bias; /* x or dy; bias may be NULL */
    int64_t images;
    int channels, filters, wide, activation; /* filters of all groups */
    struct mgb_gpu_window window;
};

/* sums[chunk][cell][filter]: blocks of 256 threads take `tile` filters each for one cell and one chunk. */
struct mgb_gpu_depthwise_grad_w_args {
    double *sums;
    const float *x, *dy;
    int64_t positions, chunk; /* of all images */
    int channels, filters, tile, tiles;
    struct mgb_gpu_window window;
};

MGB_CUDA_DECLARE(mgb_gpu_windows_lay, struct mgb_gpu_windows_args)
MGB_CUDA_DECLARE(mgb_gpu_windows_gather, struct mgb_gpu_windows_args)
MGB_CUDA_DECLARE(mgb_gpu_depthwise, struct mgb_gpu_depthwise_args)
MGB_CUDA_DECLARE(mgb_gpu_depthwise_grad_x, struct mgb_gpu_depthwise_args)
MGB_CUDA_DECLARE(mgb_gpu_depthwise_grad_w, struct mgb_gpu_depthwise_grad_w_args)

#endif
