/* The kernel that makes batch norm's statistics of several towers one. C and CUDA C++. */
#ifndef MGB_CUDA_STATISTICS_H
#define MGB_CUDA_STATISTICS_H

#include "engine/cuda/kernels.h"

#define MGB_GPU_MERGE_TOWERS 64 /* of one launch: arguments of a kernel are 4 KiB at most */

struct mgb_gpu_merge_args { /* sources: the means of all towers, then their variances */
    float *mean, *variance;
    const float *sources[2 * MGB_GPU_MERGE_TOWERS];
    int64_t rows[MGB_GPU_MERGE_TOWERS];
    int towers;
    int64_t count;
};

MGB_CUDA_DECLARE(mgb_gpu_merge, struct mgb_gpu_merge_args)

#endif
