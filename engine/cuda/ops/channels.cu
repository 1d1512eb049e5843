/* Sums by channel: of columns, of distances for batch statistics, and of what batch norm's gradients take. */
#include "engine/cuda/ops/channels.h"

#include "engine/cuda/ops/batch_norm.cuh"
#include "engine/cuda/ops/channels.cuh"
#include <stddef.h>

struct channel_span { /* what one thread adds up: positions [begin, end) in steps of `step` of one channel */
    int64_t begin, end, step, channel, chunk;
};

static __device__ __forceinline__ struct channel_span span_make(const struct mgb_gpu_channel_sums_args *a)
{
    struct channel_span s;
    s.chunk = blockIdx.x / (unsigned)a->tiles;
    s.channel = (int64_t)(blockIdx.x % (unsigned)a->tiles) * a->tile + (int)threadIdx.x % a->tile;
    s.step = MGB_CHANNEL_THREADS / a->tile;
    s.end = (s.chunk + 1) * a->chunk;
    if (s.end > a->positions)
        s.end = a->positions;
    s.begin = s.chunk * a->chunk + (int)threadIdx.x / a->tile;
    if (s.channel >= a->channels)
        s.begin = s.end;
    return s;
}

/* The block's sum `which` of `count`, to its place. */
static __device__ __forceinline__ void span_end(const struct mgb_gpu_channel_sums_args *a, const struct channel_span *s,
                                                double *shared, double sum, int which, int count)
{
    double whole = tile_sum(shared, sum, a->tile);
    if ((int)threadIdx.x < a->tile && s->channel < a->channels)
        a->sums[(s->chunk * count + which) * a->channels + s->channel] = whole;
}

MGB_CUDA_KERNEL(mgb_gpu_column_sums, struct mgb_gpu_channel_sums_args)
{
    __shared__ double shared[MGB_CHANNEL_THREADS];
    struct channel_span s = span_make(&a);
    double sum = 0.0;
    for (int64_t p = s.begin; p < s.end; p += s.step)
        sum += (double)a.x[p * a.channels + s.channel];
    span_end(&a, &s, shared, sum, 0, 1);
}

/* Distances from the first value of the channel, so that a large mean costs no digits. */
MGB_CUDA_KERNEL(mgb_gpu_batch_stats, struct mgb_gpu_channel_sums_args)
{
    __shared__ double shared[MGB_CHANNEL_THREADS];
    struct channel_span s = span_make(&a);
    double origin = s.channel < a.channels ? (double)a.x[s.channel] : 0.0, one = 0.0, two = 0.0;
    for (int64_t p = s.begin; p < s.end; p += s.step) {
        double d = (double)a.x[p * a.channels + s.channel] - origin;
        one += d;
        two += d * d;
    }
    span_end(&a, &s, shared, one, 0, 2);
    span_end(&a, &s, shared, two, 1, 2);
}

MGB_CUDA_KERNEL(mgb_gpu_batch_norm_sums, struct mgb_gpu_channel_sums_args)
{
    __shared__ double shared[MGB_CHANNEL_THREADS];
    struct channel_span s = span_make(&a);
    double one = 0.0, two = 0.0;
    struct norm_line line = {0.0f, 0.0f, 0.0f, 0.0f};
    if (s.channel < a.channels)
        line = norm_line_at(a.mean, a.variance, a.gamma, a.beta, a.epsilon, s.channel);
    for (int64_t p = s.begin; p < s.end; p += s.step) {
        float d = a.x[p * a.channels + s.channel] - line.mean, dy = a.dy[p * a.channels + s.channel];
        double dz = (double)(!a.relu || d * line.slope + line.shift > 0.0f ? dy : 0.0f);
        one += dz * (double)d;
        two += dz;
    }
    span_end(&a, &s, shared, one, 0, 2);
    span_end(&a, &s, shared, two, 1, 2);
}

static __device__ __forceinline__ double chunks_sum(const struct mgb_gpu_channel_finish_args *a, int64_t channel,
                                                    int which, int count)
{
    double sum = 0.0;
    for (int64_t chunk = 0; chunk < a->chunks; chunk++)
        sum += a->sums[(chunk * count + which) * a->channels + channel];
    return sum;
}

MGB_CUDA_KERNEL(mgb_gpu_column_finish, struct mgb_gpu_channel_finish_args)
{
    int64_t c = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (c < a.channels)
        a.to[0][c] = (float)chunks_sum(&a, c, 0, 1);
}

MGB_CUDA_KERNEL(mgb_gpu_batch_stats_finish, struct mgb_gpu_channel_finish_args)
{
    int64_t c = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= a.channels)
        return;
    double n = (double)a.positions, away = chunks_sum(&a, c, 0, 2) / n;
    double spread = chunks_sum(&a, c, 1, 2) / n - away * away;
    a.to[0][c] = (float)((double)a.x[c] + away);
    a.to[1][c] = spread < 0.0 ? 0.0f : (float)spread;
}

MGB_CUDA_KERNEL(mgb_gpu_batch_norm_sums_finish, struct mgb_gpu_channel_finish_args)
{
    int64_t c = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= a.channels)
        return;
    float dgamma = (float)(chunks_sum(&a, c, 0, 2) * (double)norm_rstd(a.variance[c], a.epsilon));
    float dbeta = (float)chunks_sum(&a, c, 1, 2);
    for (int k = 0; k < 4; k += 2) {
        if (a.to[k] != NULL)
            a.to[k][c] = dgamma;
        if (a.to[k + 1] != NULL)
            a.to[k + 1][c] = dbeta;
    }
}
