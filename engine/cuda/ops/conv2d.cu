/* Windows to the rows of a matrix, and the sum of what the matrix has for each element of an image, cells in order. */
#include "engine/cuda/ops/conv2d.h"

#include "engine/cuda/ops/quad.cuh"
#include "engine/cuda/ops/window.cuh"

struct image_row { /* of one group */
    int64_t group, image;
    int y;
};

static __device__ __forceinline__ struct image_row row_make(const struct mgb_gpu_windows_args *a, int64_t row,
                                                            int height)
{
    struct image_row r;
    r.y = (int)(row % height);
    r.image = row / height % a->images;
    r.group = row / height / a->images;
    return r;
}

/* Of the first of the group's channels of an element of x. */
static __device__ __forceinline__ int64_t x_at(const struct mgb_gpu_windows_args *a, const struct image_row *r, int y,
                                               int x)
{
    int64_t pixel = (r->image * a->window.in[0] + y) * a->window.in[1] + x;
    return (pixel * a->groups + r->group) * a->channels;
}

/* Of the first channel of a cell of a window in the matrix. */
static __device__ __forceinline__ int64_t matrix_at(const struct mgb_gpu_windows_args *a, const struct image_row *r,
                                                    int y, int x, int cell)
{
    const struct mgb_gpu_window *w = &a->window;
    int64_t window = ((r->group * a->images + r->image) * w->out[0] + y) * w->out[1] + x;
    return (window * w->size[0] * w->size[1] + cell) * a->channels;
}

MGB_CUDA_KERNEL(mgb_gpu_windows_lay, struct mgb_gpu_windows_args)
{
    const struct mgb_gpu_window *w = &a.window;
    int lanes = a.wide ? 4 : 1, parts = a.channels / lanes, cells = w->size[0] * w->size[1];
    int items = w->out[1] * cells * parts;
    for (int64_t row = blockIdx.x; row < (int64_t)a.groups * a.images * w->out[0]; row += gridDim.x) {
        struct image_row r = row_make(&a, row, w->out[0]);
        for (int item = (int)threadIdx.x; item < items; item += (int)blockDim.x) {
            int channel = item % parts * lanes, cell = item / parts % cells, ox = item / parts / cells;
            int iy = window_element(w, 0, r.y, cell / w->size[1]);
            int ix = window_element(w, 1, ox, cell % w->size[1]);
            struct quad x = quad_all(0.0f);
            if (iy >= 0 && ix >= 0)
                x = quad_load(a.from + x_at(&a, &r, iy, ix) + channel, a.wide);
            quad_store(a.to + matrix_at(&a, &r, r.y, ox, cell) + channel, x, a.wide);
        }
    }
}

static __device__ __forceinline__ struct quad cells_sum(const struct mgb_gpu_windows_args *a,
                                                        const struct image_row *r, int ix, int channel)
{
    const struct mgb_gpu_window *w = &a->window;
    struct quad sum = quad_all(0.0f);
    for (int ky = 0; ky < w->size[0]; ky++) {
        int oy = window_over(w, 0, r->y, ky);
        for (int kx = 0; oy >= 0 && kx < w->size[1]; kx++) {
            int ox = window_over(w, 1, ix, kx);
            if (ox < 0)
                continue;
            struct quad part =
                quad_load(a->from + matrix_at(a, r, oy, ox, ky * w->size[1] + kx) + channel, a->wide);
            for (int k = 0; k < 4; k++)
                sum.v[k] += part.v[k];
        }
    }
    return sum;
}

MGB_CUDA_KERNEL(mgb_gpu_windows_gather, struct mgb_gpu_windows_args)
{
    const struct mgb_gpu_window *w = &a.window;
    int lanes = a.wide ? 4 : 1, parts = a.channels / lanes, items = w->in[1] * parts;
    for (int64_t row = blockIdx.x; row < (int64_t)a.groups * a.images * w->in[0]; row += gridDim.x) {
        struct image_row r = row_make(&a, row, w->in[0]);
        for (int item = (int)threadIdx.x; item < items; item += (int)blockDim.x) {
            int channel = item % parts * lanes, ix = item / parts;
            quad_store(a.to + x_at(&a, &r, r.y, ix) + channel, cells_sum(&a, &r, ix, channel), a.wide);
        }
    }
}
