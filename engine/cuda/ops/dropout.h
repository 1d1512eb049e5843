/* The kernel of dropout: its mask is that of backend/dropout.h. C and CUDA C++. */
#ifndef MGB_CUDA_OPS_DROPOUT_H
#define MGB_CUDA_OPS_DROPOUT_H

#include "engine/cuda/kernels.h"
#include "engine/cuda/values.h"

struct mgb_gpu_dropout_args {
    float *to;
    const float *from;
    int64_t count;
    uint64_t first; /* index of the first element in the global batch */
    uint64_t seed;
    int64_t step;
    const struct mgb_gpu_values *later; /* not NULL: seed and step are there */
    int key;                            /* of the layer, as mgb_dropout_high takes it */
    uint32_t threshold;
    float scale; /* of what is kept: 1 / (1 - rate) */
};

MGB_CUDA_DECLARE(mgb_gpu_dropout, struct mgb_gpu_dropout_args)

#endif
