/* What a queue knows of the products of the operator that it is at. */
#ifndef MGB_CUDA_ARITHMETIC_H
#define MGB_CUDA_ARITHMETIC_H

#include "engine/cuda/kernels.h"
#include <mgb/placement.h>

/* Set when the operator starts. */
struct mgb_cuda_arithmetic {
    enum mgb_precision precision;
    char *narrow; /* in its workspace, for operands in 16 bits */
    int64_t bytes;
    struct mgb_gpu_narrow_args kept; /* b of its newest product, still there; zeros: none */
};

#endif
