/* How sums by channel are cut into chunks. */
#include "engine/cuda/ops/channels_host.h"

#include "engine/cuda/queue.h"

#define THREADS 256
#define CHUNKS 256 /* at most: their sums lie in the workspace */
#define ROUNDS 32  /* positions a thread takes at least */

struct mgb_cuda_channels mgb_cuda_channels_make(int64_t positions, int64_t channels)
{
    struct mgb_cuda_channels c = {.positions = positions, .channels = channels, .tile = 1};
    while (c.tile < 32 && c.tile < channels)
        c.tile *= 2;
    c.tiles = (int)((channels + c.tile - 1) / c.tile);
    c.chunk = (positions + CHUNKS - 1) / CHUNKS;
    if (c.chunk < ROUNDS * THREADS / c.tile)
        c.chunk = ROUNDS * THREADS / c.tile;
    c.chunks = (positions + c.chunk - 1) / c.chunk;
    return c;
}

int64_t mgb_cuda_channels_bytes(const struct mgb_cuda_channels *channels, int sums)
{
    return channels->chunks * sums * channels->channels * (int64_t)sizeof(double);
}

struct mgb_gpu_channel_sums_args mgb_cuda_channels_args(const struct mgb_cuda_channels *channels,
                                                        void *workspace)
{
    return (struct mgb_gpu_channel_sums_args){.sums = workspace,
                                              .positions = channels->positions,
                                              .chunk = channels->chunk,
                                              .channels = channels->channels,
                                              .tile = channels->tile,
                                              .tiles = channels->tiles};
}

enum mgb_status mgb_cuda_channels_start(struct mgb_queue *queue, const void *sums,
                                        struct mgb_gpu_channel_sums_args *args, const void *finish,
                                        struct mgb_gpu_channel_finish_args *end)
{
    int64_t chunks = (args->positions + args->chunk - 1) / args->chunk;
    end->sums = args->sums;
    end->chunks = chunks;
    end->channels = args->channels;
    end->positions = args->positions;
    MGB_TRY(mgb_cuda_start(queue, sums, (unsigned)(chunks * args->tiles), THREADS, args));
    return mgb_cuda_start(queue, finish, (unsigned)((args->channels + 63) / 64), 64, end);
}

enum mgb_status mgb_cuda_columns_start(struct mgb_queue *queue, float *to, const float *x,
                                       int64_t rows, int64_t columns, void *workspace)
{
    struct mgb_cuda_channels c = mgb_cuda_channels_make(rows, columns);
    struct mgb_gpu_channel_sums_args args = mgb_cuda_channels_args(&c, workspace);
    struct mgb_gpu_channel_finish_args end = {.to = {to}};
    args.x = x;
    return mgb_cuda_channels_start(queue, (const void *)mgb_gpu_column_sums, &args,
                                   (const void *)mgb_gpu_column_finish, &end);
}
