/* The kernel of dropout: its mask is that of backend/dropout.h. C and CUDA C++. */
#ifndef MGB_CUDA_OPS_DROPOUT_H
#define MGB_CUDA_OPS_DROPOUT_H

#include "engine/cuda/kernels.h"

struct mgb_gpu_dropout_args {
    float *to;
    const float *from;
    int64_t count;
    uint64_t first;      /* index of the first element in the global batch */
    uint64_t seed, high; /* as mgb_dropout_keeps takes them */
    uint32_t threshold;
    float scale; /* of what is kept: 1 / (1 - rate) */
};

MGB_CUDA_DECLARE(mgb_gpu_dropout, struct mgb_gpu_dropout_args)

#endif
