/* Kernels of pooling: a row of y (forward) or of x (gradients) a block and round. C and CUDA C++. */
#ifndef MGB_CUDA_OPS_POOL2D_H
#define MGB_CUDA_OPS_POOL2D_H

#include "engine/cuda/ops/window.h"

struct mgb_gpu_pool2d_args {
    float *to;
    const float *from;
    uint8_t *index; /* of maxima: the winning cell; NULL where it is not wanted */
    int64_t images;
    int channels, wide; /* wide: four channels at once */
    int count_padding;  /* averages divide by all cells */
    struct mgb_gpu_window window;
};

MGB_CUDA_DECLARE(mgb_gpu_max_pool2d, struct mgb_gpu_pool2d_args)
MGB_CUDA_DECLARE(mgb_gpu_max_pool2d_grad, struct mgb_gpu_pool2d_args)
MGB_CUDA_DECLARE(mgb_gpu_avg_pool2d, struct mgb_gpu_pool2d_args)
MGB_CUDA_DECLARE(mgb_gpu_avg_pool2d_grad, struct mgb_gpu_pool2d_args)

#endif
