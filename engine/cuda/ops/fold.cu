/* Reductions over axes; how blocks and threads share the work is in fold.h. */
#include "engine/cuda/ops/fold.h"

#include "engine/cuda/ops/index.cuh"
#include "engine/cuda/vector.cuh"
#include <stddef.h>

/* What a thread does: its result, and every which item of it. */
struct fold_place {
    int64_t output, first, end, step;
    const float *from;
};

static __device__ __forceinline__ struct fold_place place_of(const struct mgb_gpu_fold_args *a)
{
    struct fold_place place;
    int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32, each = a->lines ? 8 : 32;
    int64_t tiles = (a->outputs + each - 1) / each, split = blockIdx.x / tiles;
    place.output = (blockIdx.x % tiles) * each + (a->lines ? warp : lane);
    place.first = split * a->split_items + (a->lines ? lane : warp);
    place.end = (split + 1) * a->split_items < a->items ? (split + 1) * a->split_items : a->items;
    place.step = a->lines ? 32 : 8;
    if (place.output >= a->outputs)
        place.end = 0;
    place.from = a->from;
    if (place.output < a->outputs)
        place.from += axes_offset(a->kept.dim, a->kept.stride, a->kept.count, place.output, a->outputs <= INT32_MAX);
    return place;
}

/* Where thread `part` of those that have the same result as this one left what it has. */
static __device__ __forceinline__ int neighbour(int lines, int part)
{
    return lines ? (int)threadIdx.x / 32 * 32 + part : part * 32 + (int)threadIdx.x;
}

MGB_CUDA_KERNEL(mgb_gpu_fold, struct mgb_gpu_fold_args)
{
    __shared__ double sums[256];
    struct fold_place place = place_of(&a);
    double sum = 0.0;
    if (a.folded.count == 1) {
        const float *x = place.from;
        int64_t step = a.folded.stride[0];
        for (int64_t i = place.first; i < place.end; i += place.step)
            sum += (double)x[i * step];
    } else {
        for (int64_t i = place.first; i < place.end; i += place.step)
            sum += (double)place.from[axes_offset(a.folded.dim, a.folded.stride, a.folded.count, i,
                                                  a.items <= INT32_MAX)];
    }
    sums[threadIdx.x] = sum;
    __syncthreads();
    if (place.output >= a.outputs || (a.lines ? threadIdx.x % 32 != 0 : threadIdx.x >= 32))
        return;
    for (int part = 1; part < (a.lines ? 32 : 8); part++)
        sum += sums[neighbour(a.lines, part)];
    if (a.parts != NULL)
        a.parts[blockIdx.x / ((a.outputs + (a.lines ? 7 : 31)) / (a.lines ? 8 : 32)) * a.outputs + place.output] = sum;
    else
        a.to[place.output] = (float)(sum / a.divisor);
}

MGB_CUDA_KERNEL(mgb_gpu_fold_end, struct mgb_gpu_fold_args)
{
    int64_t stride = (int64_t)gridDim.x * blockDim.x;
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < a.outputs; i += stride) {
        double sum = 0.0;
        for (int64_t split = 0; split < a.splits; split++)
            sum += a.parts[split * a.outputs + i];
        a.to[i] = (float)(sum / a.divisor);
    }
}

/* Does x, at item i, go before the best so far? The larger, of equal ones the first; NaN before all, the last one first. */
static __device__ __forceinline__ int goes_before(float x, int64_t i, float best, int64_t place)
{
    if (x != x)
        return best == best || i > place;
    return x > best || (x == best && i < place);
}

MGB_CUDA_KERNEL(mgb_gpu_fold_max, struct mgb_gpu_fold_args)
{
    __shared__ float values[256];
    __shared__ int64_t places[256];
    struct fold_place place = place_of(&a);
    int64_t step = a.folded.stride[0], where = place.first < place.end ? place.first : -1;
    float best = where >= 0 ? place.from[where * step] : 0.0f;
    for (int64_t i = place.first + place.step; i < place.end; i += place.step)
        if (goes_before(place.from[i * step], i, best, where)) {
            best = place.from[i * step];
            where = i;
        }
    values[threadIdx.x] = best;
    places[threadIdx.x] = where;
    __syncthreads();
    if (place.output >= a.outputs || (a.lines ? threadIdx.x % 32 != 0 : threadIdx.x >= 32))
        return;
    for (int part = 1; part < (a.lines ? 32 : 8); part++) {
        int at = neighbour(a.lines, part);
        if (places[at] >= 0 && goes_before(values[at], places[at], best, where)) {
            best = values[at];
            where = places[at];
        }
    }
    a.to[place.output] = best;
    if (a.index != NULL)
        a.index[place.output] = (int32_t)where;
}

/* Four neighbours have the same place on the axis where `inner` is a multiple of four. */
static __device__ __forceinline__ void pick_part(const struct mgb_gpu_pick_args *a, int64_t i, int wide)
{
    int64_t line = i / a->inner, from = line / a->count * a->inner + (i - line * a->inner);
    int32_t place = (int32_t)(line % a->count);
    struct quad dy = quad_load(a->dy + from, wide), dx = quad_all(0.0f);
    for (int k = 0; k < QUAD_WIDTH(wide); k++)
        dx.v[k] = a->index[from + k] == place ? dy.v[k] : 0.0f;
    quad_store(a->dx + i, dx, wide);
}

MGB_CUDA_KERNEL(mgb_gpu_pick, struct mgb_gpu_pick_args)
{
    EACH_QUAD(pick_part, &a, a.elements, a.inner % 4 == 0 && quad_fits(a.dx) && quad_fits(a.dy));
}
