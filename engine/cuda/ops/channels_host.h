/* The host side of sums by channel: chunks, their workspace, and the two launches. */
#ifndef MGB_CUDA_OPS_CHANNELS_HOST_H
#define MGB_CUDA_OPS_CHANNELS_HOST_H

#include "engine/cuda/kernel.h"
#include "engine/cuda/ops/channels.h"

struct mgb_cuda_channels {
    int64_t positions, channels, chunk, chunks; /* chunk: positions of one */
    int tile, tiles;                            /* channels a block takes; blocks of a chunk */
};

struct mgb_cuda_channels mgb_cuda_channels_make(int64_t positions, int64_t channels);
/* Of the workspace, for `sums` sums a channel. */
int64_t mgb_cuda_channels_bytes(const struct mgb_cuda_channels *channels, int sums);
/* What the chunks say about the arguments; the operands are the caller's to fill in. */
struct mgb_gpu_channel_sums_args mgb_cuda_channels_args(const struct mgb_cuda_channels *channels,
                                                        void *workspace);
/* Both kernels; what `end` takes from the sums is filled in here. */
enum mgb_status mgb_cuda_channels_start(struct mgb_queue *queue, const void *sums,
                                        struct mgb_gpu_channel_sums_args *args, const void *finish,
                                        struct mgb_gpu_channel_finish_args *end);
/* to[c] = sum of x[r][c] over the rows; the workspace is mgb_cuda_channels_bytes of one sum. */
enum mgb_status mgb_cuda_columns_start(struct mgb_queue *queue, float *to, const float *x,
                                       int64_t rows, int64_t columns, void *workspace);

#endif
