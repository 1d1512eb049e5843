/* Sums over all positions of a tensor, channel by channel: partial sums of chunks of positions in double, and kernels that
 * add up the chunks in order. Chunks follow from the shape alone, so the result does, too. C and CUDA C++. */
#ifndef MGB_CUDA_OPS_CHANNELS_H
#define MGB_CUDA_OPS_CHANNELS_H

#include "engine/cuda/kernels.h"

/* Blocks of 256 threads take `tile` channels (a power of two up to 32) of one chunk each. */
struct mgb_gpu_channel_sums_args {
    double *sums; /* [chunk][which][channel]; one a channel of columns, else two */
    const float *x, *dy;
    const float *mean, *variance, *gamma, *beta; /* gamma and beta may be NULL */
    int64_t positions, chunk, channels;
    int tile, tiles;
    float epsilon;
    int relu;
};
struct mgb_gpu_channel_finish_args { /* a thread a channel */
    const double *sums;
    int64_t chunks, channels, positions;
    const float *x, *variance;
    float epsilon;
    float
        *to[4]; /* columns: the sums; statistics: mean, variance; gradient: dgamma, dbeta, twice */
};

MGB_CUDA_DECLARE(mgb_gpu_column_sums, struct mgb_gpu_channel_sums_args)
MGB_CUDA_DECLARE(mgb_gpu_column_finish, struct mgb_gpu_channel_finish_args)
MGB_CUDA_DECLARE(mgb_gpu_batch_stats, struct mgb_gpu_channel_sums_args)
MGB_CUDA_DECLARE(mgb_gpu_batch_stats_finish, struct mgb_gpu_channel_finish_args)
MGB_CUDA_DECLARE(mgb_gpu_batch_norm_sums, struct mgb_gpu_channel_sums_args)
MGB_CUDA_DECLARE(mgb_gpu_batch_norm_sums_finish, struct mgb_gpu_channel_finish_args)

#endif
