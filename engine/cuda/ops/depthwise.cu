/* Depthwise convolution and its gradients, channel by channel; cells of a window in order. */
#include "engine/cuda/ops/conv2d.h"

#include "engine/cuda/ops/activation.cuh"
#include "engine/cuda/ops/channels.cuh"
#include "engine/cuda/ops/quad.cuh"
#include "engine/cuda/ops/window.cuh"
#include <stddef.h>

#define FOR_EACH_ROW(row, count) for (int64_t row = blockIdx.x; row < (count); row += gridDim.x)

static __device__ __forceinline__ struct quad filter_sum(const struct mgb_gpu_depthwise_args *a, int64_t image, int oy,
                                                         int ox, int filter)
{
    const struct mgb_gpu_window *w = &a->window;
    int channel = filter / (a->filters / a->channels);
    struct quad sum = a->bias != NULL ? quad_load(a->bias + filter, a->wide) : quad_all(0.0f);
    for (int ky = 0; ky < w->size[0]; ky++)
        for (int kx = 0; kx < w->size[1]; kx++) {
            int iy = window_element(w, 0, oy, ky), ix = window_element(w, 1, ox, kx);
            if (iy < 0 || ix < 0)
                continue;
            int64_t pixel = (image * w->in[0] + iy) * w->in[1] + ix;
            struct quad x = quad_load(a->from + pixel * a->channels + channel, a->wide);
            struct quad f = quad_load(a->w + (int64_t)(ky * w->size[1] + kx) * a->filters + filter, a->wide);
            for (int k = 0; k < 4; k++)
                sum.v[k] += x.v[k] * f.v[k];
        }
    return sum;
}

MGB_CUDA_KERNEL(mgb_gpu_depthwise, struct mgb_gpu_depthwise_args)
{
    const int *out = a.window.out;
    int lanes = a.wide ? 4 : 1, parts = a.filters / lanes;
    FOR_EACH_ROW(row, a.images * out[0])
        for (int item = (int)threadIdx.x; item < out[1] * parts; item += (int)blockDim.x) {
            int filter = item % parts * lanes, ox = item / parts;
            struct quad y = filter_sum(&a, row / out[0], (int)(row % out[0]), ox, filter);
            for (int k = 0; k < lanes; k++)
                y.v[k] = activation_apply(y.v[k], a.activation);
            quad_store(a.to + (row * out[1] + ox) * a.filters + filter, y, a.wide);
        }
}

/* Of all filters of a channel, in order; wide ones have one each. */
static __device__ __forceinline__ void filters_add(const struct mgb_gpu_depthwise_args *a, struct quad *sum,
                                                   int64_t pixel, int cell, int channel)
{
    int per = a->filters / a->channels;
    for (int j = 0; j < per; j++) {
        struct quad dy = quad_load(a->from + pixel * a->filters + channel * per + j, a->wide);
        struct quad f = quad_load(a->w + (int64_t)cell * a->filters + channel * per + j, a->wide);
        for (int k = 0; k < 4; k++)
            sum->v[k] += dy.v[k] * f.v[k];
    }
}

static __device__ __forceinline__ struct quad over_sum(const struct mgb_gpu_depthwise_args *a, int64_t image, int iy,
                                                       int ix, int channel)
{
    const struct mgb_gpu_window *w = &a->window;
    struct quad sum = quad_all(0.0f);
    for (int ky = 0; ky < w->size[0]; ky++)
        for (int kx = 0; kx < w->size[1]; kx++) {
            int oy = window_over(w, 0, iy, ky), ox = window_over(w, 1, ix, kx);
            if (oy >= 0 && ox >= 0)
                filters_add(a, &sum, (image * w->out[0] + oy) * w->out[1] + ox, ky * w->size[1] + kx, channel);
        }
    return sum;
}

MGB_CUDA_KERNEL(mgb_gpu_depthwise_grad_x, struct mgb_gpu_depthwise_args)
{
    const int *in = a.window.in;
    int lanes = a.wide ? 4 : 1, parts = a.channels / lanes;
    FOR_EACH_ROW(row, a.images * in[0])
        for (int item = (int)threadIdx.x; item < in[1] * parts; item += (int)blockDim.x) {
            int channel = item % parts * lanes, ix = item / parts;
            struct quad dx = over_sum(&a, row / in[0], (int)(row % in[0]), ix, channel);
            quad_store(a.to + (row * in[1] + ix) * a.channels + channel, dx, a.wide);
        }
}

/* What one thread adds up: positions of its chunk in steps, for one filter and one cell. */
static __device__ __forceinline__ double positions_sum(const struct mgb_gpu_depthwise_grad_w_args *a, int64_t chunk,
                                                       int cell, int filter)
{
    const struct mgb_gpu_window *w = &a->window;
    int channel = filter / (a->filters / a->channels), step = MGB_CHANNEL_THREADS / a->tile;
    int64_t end = (chunk + 1) * a->chunk;
    double sum = 0.0;
    if (end > a->positions)
        end = a->positions;
    for (int64_t p = chunk * a->chunk + (int)threadIdx.x / a->tile; p < end; p += step) {
        int64_t row = p / w->out[1], image = row / w->out[0];
        int iy = window_element(w, 0, (int)(row % w->out[0]), cell / w->size[1]);
        int ix = window_element(w, 1, (int)(p % w->out[1]), cell % w->size[1]);
        if (iy >= 0 && ix >= 0)
            sum += (double)a->x[((image * w->in[0] + iy) * w->in[1] + ix) * a->channels + channel] *
                   (double)a->dy[p * a->filters + filter];
    }
    return sum;
}

MGB_CUDA_KERNEL(mgb_gpu_depthwise_grad_w, struct mgb_gpu_depthwise_grad_w_args)
{
    __shared__ double shared[MGB_CHANNEL_THREADS];
    int cells = a.window.size[0] * a.window.size[1];
    int tile = (int)(blockIdx.x % (unsigned)a.tiles), cell = (int)(blockIdx.x / (unsigned)a.tiles) % cells;
    int64_t chunk = blockIdx.x / (unsigned)a.tiles / (unsigned)cells;
    int filter = tile * a.tile + (int)threadIdx.x % a.tile;
    double sum = filter < a.filters ? positions_sum(&a, chunk, cell, filter) : 0.0;
    double whole = tile_sum(shared, sum, a.tile);
    if ((int)threadIdx.x < a.tile && filter < a.filters)
        a.sums[(chunk * cells + cell) * a.filters + filter] = whole;
}
