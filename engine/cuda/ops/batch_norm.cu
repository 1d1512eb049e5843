/* The normalisation, its dx and the tower's share of the moving statistics. In place too: each element is read before it
 * is written, by the same thread. */
#include "engine/cuda/ops/batch_norm.h"

#include "engine/cuda/ops/batch_norm.cuh"
#include "engine/cuda/ops/quad.cuh"

MGB_CUDA_KERNEL(mgb_gpu_norm_lines, struct mgb_gpu_norm_lines_args)
{
    int64_t c = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= a.channels)
        return;
    struct norm_line line = norm_line_at(a.mean, a.variance, a.gamma, a.beta, a.epsilon, c);
    a.lines[c] = line.mean;
    a.lines[a.channels + c] = line.slope;
    a.lines[2 * a.channels + c] = line.shift;
    if (a.dgamma == NULL)
        return;
    double slope = (double)line.slope;
    a.lines[3 * a.channels + c] = (float)(-slope * (double)line.rstd * (double)a.dgamma[c] * a.share);
    a.lines[4 * a.channels + c] = (float)(-slope * (double)a.dbeta[c] * a.share);
}

/* Elements (or fours of them) a thread takes, with the channel that goes along: no division an element. */
struct channel_walk {
    int64_t at, end, step, channel, channels, channel_step;
};

static __device__ __forceinline__ struct channel_walk walk_begin(const struct mgb_gpu_batch_norm_args *a)
{
    int lanes = a->wide ? 4 : 1;
    struct channel_walk w;
    w.at = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    w.end = a->count / lanes;
    w.step = (int64_t)gridDim.x * blockDim.x;
    w.channels = a->channels / lanes;
    w.channel = w.at % w.channels;
    w.channel_step = w.step % w.channels;
    return w;
}

static __device__ __forceinline__ void walk_next(struct channel_walk *w)
{
    w->at += w->step;
    w->channel += w->channel_step;
    if (w->channel >= w->channels)
        w->channel -= w->channels;
}

static __device__ __forceinline__ struct quad line_load(const struct mgb_gpu_batch_norm_args *a, int which,
                                                        int64_t channel)
{
    return quad_load(a->lines + which * a->channels + channel * (a->wide ? 4 : 1), a->wide);
}

MGB_CUDA_KERNEL(mgb_gpu_batch_norm, struct mgb_gpu_batch_norm_args)
{
    int lanes = a.wide ? 4 : 1;
    for (struct channel_walk w = walk_begin(&a); w.at < w.end; walk_next(&w)) {
        struct quad x = quad_load(a.x + w.at * lanes, a.wide), mean = line_load(&a, 0, w.channel);
        struct quad slope = line_load(&a, 1, w.channel), shift = line_load(&a, 2, w.channel);
        for (int k = 0; k < 4; k++) {
            float z = (x.v[k] - mean.v[k]) * slope.v[k] + shift.v[k];
            x.v[k] = a.relu && !(z > 0.0f) ? 0.0f : z;
        }
        quad_store(a.to + w.at * lanes, x, a.wide);
    }
}

MGB_CUDA_KERNEL(mgb_gpu_batch_norm_grad, struct mgb_gpu_batch_norm_args)
{
    int lanes = a.wide ? 4 : 1;
    for (struct channel_walk w = walk_begin(&a); w.at < w.end; walk_next(&w)) {
        struct quad x = quad_load(a.x + w.at * lanes, a.wide), dy = quad_load(a.dy + w.at * lanes, a.wide);
        struct quad mean = line_load(&a, 0, w.channel), slope = line_load(&a, 1, w.channel);
        struct quad shift = line_load(&a, 2, w.channel), tilt = line_load(&a, 3, w.channel);
        struct quad lift = line_load(&a, 4, w.channel);
        for (int k = 0; k < 4; k++) {
            float d = x.v[k] - mean.v[k];
            float dz = !a.relu || d * slope.v[k] + shift.v[k] > 0.0f ? dy.v[k] : 0.0f;
            dy.v[k] = dz * slope.v[k] + (d * tilt.v[k] + lift.v[k]);
        }
        quad_store(a.to + w.at * lanes, dy, a.wide);
    }
}

MGB_CUDA_KERNEL(mgb_gpu_batch_moving, struct mgb_gpu_batch_moving_args)
{
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= a.count)
        return;
    double sum = 0.0;
    for (int use = 0; use < a.uses; use++)
        sum += (double)a.from[use][i];
    a.to[i] = (float)(sum * a.scale / a.uses);
}
