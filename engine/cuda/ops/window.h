/* Windows over the two spatial axes of an image, as kernels of convolution and pooling see them. C and CUDA C++. */
#ifndef MGB_CUDA_OPS_WINDOW_H
#define MGB_CUDA_OPS_WINDOW_H

#include "engine/cuda/kernels.h"

struct mgb_gpu_window { /* [0] height, [1] width */
    int in[2], out[2], size[2], stride[2], dilation[2], before[2];
};

#endif
