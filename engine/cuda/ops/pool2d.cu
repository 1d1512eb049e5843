/* Pooling. Cells of a window and windows over an element are taken in order, as on CPU devices. */
#include "engine/cuda/ops/pool2d.h"

#include "engine/cuda/ops/quad.cuh"
#include "engine/cuda/ops/window.cuh"
#include <stddef.h>

#define FOR_EACH_ROW(row, count) for (int64_t row = blockIdx.x; row < (count); row += gridDim.x)

struct pool_place { /* channels of an element of the written image */
    int64_t image;
    int y, x, channel;
};

static __device__ __forceinline__ struct pool_place place_make(const struct mgb_gpu_pool2d_args *a, int64_t row,
                                                               int height, int item)
{
    int lanes = a->wide ? 4 : 1, groups = a->channels / lanes;
    struct pool_place p;
    p.image = row / height;
    p.y = (int)(row % height);
    p.x = item / groups;
    p.channel = item % groups * lanes;
    return p;
}

static __device__ __forceinline__ int row_items(const struct mgb_gpu_pool2d_args *a, int width)
{
    return width * (a->channels / (a->wide ? 4 : 1));
}

static __device__ __forceinline__ int64_t element_at(const struct mgb_gpu_pool2d_args *a, const int size[2],
                                                     const struct pool_place *p, int y, int x)
{
    return ((p->image * size[0] + y) * size[1] + x) * a->channels + p->channel;
}

/* NaN wins, so that it is seen; of equal ones the first. */
static __device__ __forceinline__ void window_max(const struct mgb_gpu_pool2d_args *a, const struct pool_place *p)
{
    const struct mgb_gpu_window *w = &a->window;
    int y0 = window_first_cell(w, 0, p->y), y1 = window_cells_end(w, 0, p->y);
    int x0 = window_first_cell(w, 1, p->x), x1 = window_cells_end(w, 1, p->x);
    int top = p->y * w->stride[0] - w->before[0], left = p->x * w->stride[1] - w->before[1];
    struct quad best = quad_load(a->from + element_at(a, w->in, p, top + y0, left + x0), a->wide);
    int winner[4];
    for (int k = 0; k < 4; k++)
        winner[k] = y0 * w->size[1] + x0;
    for (int ky = y0; ky < y1; ky++)
        for (int kx = x0; kx < x1; kx++) {
            struct quad x = quad_load(a->from + element_at(a, w->in, p, top + ky, left + kx), a->wide);
            for (int k = 0; k < 4; k++)
                if (x.v[k] > best.v[k] || x.v[k] != x.v[k]) {
                    best.v[k] = x.v[k];
                    winner[k] = ky * w->size[1] + kx;
                }
        }
    int64_t at = element_at(a, w->out, p, p->y, p->x);
    quad_store(a->to + at, best, a->wide);
    for (int k = 0; a->index != NULL && k < (a->wide ? 4 : 1); k++)
        a->index[at + k] = (uint8_t)winner[k];
}

MGB_CUDA_KERNEL(mgb_gpu_max_pool2d, struct mgb_gpu_pool2d_args)
{
    int height = a.window.out[0], items = row_items(&a, a.window.out[1]);
    FOR_EACH_ROW(row, a.images * height)
        for (int item = (int)threadIdx.x; item < items; item += (int)blockDim.x) {
            struct pool_place p = place_make(&a, row, height, item);
            window_max(&a, &p);
        }
}

/* What of the windows over an element came from it. */
static __device__ __forceinline__ struct quad won_sum(const struct mgb_gpu_pool2d_args *a, const struct pool_place *p)
{
    const struct mgb_gpu_window *w = &a->window;
    int x0 = window_first_over(w, 1, p->x), x1 = window_over_end(w, 1, p->x), y1 = window_over_end(w, 0, p->y);
    struct quad sum = quad_all(0.0f);
    for (int wy = window_first_over(w, 0, p->y); wy < y1; wy++)
        for (int wx = x0; wx < x1; wx++) {
            int cell = (p->y + w->before[0] - wy * w->stride[0]) * w->size[1] + p->x + w->before[1] -
                       wx * w->stride[1];
            int64_t at = element_at(a, w->out, p, wy, wx);
            struct quad dy = quad_load(a->from + at, a->wide);
            for (int k = 0; k < (a->wide ? 4 : 1); k++)
                sum.v[k] += a->index[at + k] == cell ? dy.v[k] : 0.0f;
        }
    return sum;
}

MGB_CUDA_KERNEL(mgb_gpu_max_pool2d_grad, struct mgb_gpu_pool2d_args)
{
    int height = a.window.in[0], items = row_items(&a, a.window.in[1]);
    FOR_EACH_ROW(row, a.images * height)
        for (int item = (int)threadIdx.x; item < items; item += (int)blockDim.x) {
            struct pool_place p = place_make(&a, row, height, item);
            quad_store(a.to + element_at(&a, a.window.in, &p, p.y, p.x), won_sum(&a, &p), a.wide);
        }
}

static __device__ __forceinline__ float window_count(const struct mgb_gpu_pool2d_args *a, int wy, int wx)
{
    const struct mgb_gpu_window *w = &a->window;
    if (a->count_padding)
        return (float)((int64_t)w->size[0] * w->size[1]);
    return (float)((int64_t)(window_cells_end(w, 0, wy) - window_first_cell(w, 0, wy)) *
                   (window_cells_end(w, 1, wx) - window_first_cell(w, 1, wx)));
}

static __device__ __forceinline__ struct quad window_mean(const struct mgb_gpu_pool2d_args *a,
                                                          const struct pool_place *p)
{
    const struct mgb_gpu_window *w = &a->window;
    int y1 = window_cells_end(w, 0, p->y), x0 = window_first_cell(w, 1, p->x), x1 = window_cells_end(w, 1, p->x);
    int top = p->y * w->stride[0] - w->before[0], left = p->x * w->stride[1] - w->before[1];
    float count = window_count(a, p->y, p->x);
    struct quad sum = quad_all(0.0f);
    for (int ky = window_first_cell(w, 0, p->y); ky < y1; ky++)
        for (int kx = x0; kx < x1; kx++) {
            struct quad x = quad_load(a->from + element_at(a, w->in, p, top + ky, left + kx), a->wide);
            for (int k = 0; k < 4; k++)
                sum.v[k] += x.v[k];
        }
    for (int k = 0; k < 4; k++)
        sum.v[k] /= count;
    return sum;
}

MGB_CUDA_KERNEL(mgb_gpu_avg_pool2d, struct mgb_gpu_pool2d_args)
{
    int height = a.window.out[0], items = row_items(&a, a.window.out[1]);
    FOR_EACH_ROW(row, a.images * height)
        for (int item = (int)threadIdx.x; item < items; item += (int)blockDim.x) {
            struct pool_place p = place_make(&a, row, height, item);
            quad_store(a.to + element_at(&a, a.window.out, &p, p.y, p.x), window_mean(&a, &p), a.wide);
        }
}

static __device__ __forceinline__ struct quad share_sum(const struct mgb_gpu_pool2d_args *a,
                                                        const struct pool_place *p)
{
    const struct mgb_gpu_window *w = &a->window;
    int x0 = window_first_over(w, 1, p->x), x1 = window_over_end(w, 1, p->x), y1 = window_over_end(w, 0, p->y);
    struct quad sum = quad_all(0.0f);
    for (int wy = window_first_over(w, 0, p->y); wy < y1; wy++)
        for (int wx = x0; wx < x1; wx++) {
            struct quad dy = quad_load(a->from + element_at(a, w->out, p, wy, wx), a->wide);
            float count = window_count(a, wy, wx);
            for (int k = 0; k < 4; k++)
                sum.v[k] += dy.v[k] / count;
        }
    return sum;
}

MGB_CUDA_KERNEL(mgb_gpu_avg_pool2d_grad, struct mgb_gpu_pool2d_args)
{
    int height = a.window.in[0], items = row_items(&a, a.window.in[1]);
    FOR_EACH_ROW(row, a.images * height)
        for (int item = (int)threadIdx.x; item < items; item += (int)blockDim.x) {
            struct pool_place p = place_make(&a, row, height, item);
            quad_store(a.to + element_at(&a, a.window.in, &p, p.y, p.x), share_sum(&a, &p), a.wide);
        }
}
