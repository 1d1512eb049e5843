/* Rows of a table by number, and the gradient. Uses are sorted by number and place, with keys that are all unlike, so that the
 * order is one and the same however it was come by; each row used then sums its uses in order. */
#include "engine/cuda/ops/embedding.h"

#include "engine/cuda/ops/quad.cuh"
#include <stddef.h>

#define NOWHERE 0xffffffffffffffffull /* no use */
#define LOCAL 1024                    /* keys that a block sorts at once */

/* The number at `use`, or -1 with a note of what was wrong. */
static __device__ __forceinline__ int64_t id_take(const struct mgb_gpu_ids *ids, int64_t use)
{
    int id = ids->ids[use];
    if (id >= 0 && id < ids->vocabulary)
        return id;
    if (MGB_CUDA_CLAIM(&ids->fault->code, MGB_CUDA_FAULT_NUMBER)) {
        ids->fault->label = id;
        ids->fault->row = ids->first_row + use / ids->positions;
        ids->fault->position = use % ids->positions;
        ids->fault->classes = ids->vocabulary;
        ids->fault->name = ids->name;
    }
    return -1;
}

MGB_CUDA_KERNEL(mgb_gpu_embedding, struct mgb_gpu_embedding_args)
{
    int wide = a.units % 4 == 0;
    int64_t stride = (int64_t)gridDim.x * blockDim.x, size = wide ? 4 : 1, width = a.units / size;
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < a.ids.count * width;
         i += stride) {
        int64_t id = id_take(&a.ids, i / width);
        struct quad row = quad_all(0.0f);
        if (id >= 0)
            row = quad_load(a.table + id * a.units + i % width * size, wide);
        quad_store(a.y + i * size, row, wide);
    }
}

MGB_CUDA_KERNEL(mgb_gpu_use_keys, struct mgb_gpu_use_keys_args)
{
    int64_t stride = (int64_t)gridDim.x * blockDim.x;
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < a.size; i += stride) {
        int64_t id = i < a.ids.count ? id_take(&a.ids, i) : -1;
        a.keys[i] = id >= 0 ? (uint64_t)id << 32 | (uint64_t)i : NOWHERE;
    }
}

/* Pair number `pair` at a distance: exchanged where it is not in the order of its span, up and down by turns. */
static __device__ __forceinline__ void pair_order(uint64_t *keys, int64_t first, int64_t pair,
                                                  int64_t span, int64_t distance)
{
    int64_t low = pair / distance * 2 * distance + pair % distance, high = low + distance;
    int up = ((first + low) & span) == 0;
    uint64_t x = keys[low], y = keys[high];
    if ((x > y) == up) {
        keys[low] = y;
        keys[high] = x;
    }
}

MGB_CUDA_KERNEL(mgb_gpu_use_sort, struct mgb_gpu_use_sort_args)
{
    int64_t stride = (int64_t)gridDim.x * blockDim.x;
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < a.size / 2; i += stride)
        pair_order(a.keys, 0, i, a.span, a.distance);
}

/* A block takes 1024 keys (or all there are) through every pass of spans up to `span` that stays among them: from span 2 on
 * when `distance` is 0, else of that span alone. A thread a pair. */
MGB_CUDA_KERNEL(mgb_gpu_use_sort_local, struct mgb_gpu_use_sort_args)
{
    __shared__ uint64_t keys[LOCAL];
    int64_t size = a.size < LOCAL ? a.size : LOCAL, first = (int64_t)blockIdx.x * size;
    int64_t pair = threadIdx.x;
    keys[2 * pair] = a.keys[first + 2 * pair];
    keys[2 * pair + 1] = a.keys[first + 2 * pair + 1];
    for (int64_t span = a.distance == 0 ? 2 : a.span; span <= a.span; span *= 2)
        for (int64_t distance = (span < size ? span : size) / 2; distance > 0; distance /= 2) {
            __syncthreads();
            pair_order(keys, first, pair, span, distance);
        }
    __syncthreads();
    a.keys[first + 2 * pair] = keys[2 * pair];
    a.keys[first + 2 * pair + 1] = keys[2 * pair + 1];
}

/* Does the use at place `i` begin a row? */
static __device__ __forceinline__ int row_begins(const uint64_t *keys, int64_t i)
{
    return keys[i] != NOWHERE && (i == 0 || keys[i] >> 32 != keys[i - 1] >> 32);
}

/* Each thread numbers the rows of a stretch of keys behind those of the threads before it. */
MGB_CUDA_KERNEL(mgb_gpu_use_slots, struct mgb_gpu_use_slots_args)
{
    __shared__ int32_t before[257];
    int64_t stretch = (a.count + 255) / 256, begin = stretch * threadIdx.x;
    int64_t end = begin + stretch < a.count ? begin + stretch : a.count;
    int32_t rows = 0;
    for (int64_t i = begin; i < end; i++)
        rows += row_begins(a.keys, i);
    before[threadIdx.x + 1] = rows;
    __syncthreads();
    if (threadIdx.x == 0) {
        before[0] = 0;
        for (int t = 0; t < 256; t++)
            before[t + 1] += before[t];
    }
    __syncthreads();
    int32_t slot = before[threadIdx.x];
    for (int64_t i = begin; i < end; i++)
        if (row_begins(a.keys, i)) {
            a.numbers[slot] = (int32_t)(a.keys[i] >> 32);
            a.slots[i] = slot++;
        }
    for (int64_t i = before[256] + (int64_t)threadIdx.x; i < a.count; i += 256)
        a.numbers[i] = -1;
}

/* The use of a row at place `i`; -1: it has no more. */
static __device__ __forceinline__ int64_t use_at(const struct mgb_gpu_use_sums_args *a, int64_t i,
                                                 uint64_t row)
{
    return i < a->count && a->keys[i] >> 32 == row ? (int64_t)(a->keys[i] & 0xffffffffu) : -1;
}

MGB_CUDA_KERNEL(mgb_gpu_use_sums, struct mgb_gpu_use_sums_args)
{
    int64_t first = blockIdx.x;
    if (!row_begins(a.keys, first))
        return;
    uint64_t row = a.keys[first] >> 32;
    float *to = a.to + (a.slots != NULL ? (int64_t)a.slots[first] : (int64_t)row) * a.units;
    for (int64_t unit = threadIdx.x; unit < a.units; unit += blockDim.x) {
        float sum = 0.0f, next[4];
        int more = 1;
        for (int64_t i = first; more; i += 4) {
            for (int k = 0; k < 4; k++) { /* loads that do not wait for each other */
                int64_t use = use_at(&a, i + k, row);
                more = use >= 0;
                next[k] = more ? a.dy[use * a.units + unit] : 0.0f;
            }
            for (int k = 0; k < 4; k++)
                sum += next[k];
        }
        to[unit] = sum;
    }
}

/* A block a row. */
MGB_CUDA_KERNEL(mgb_gpu_unpack, struct mgb_gpu_unpack_args)
{
    int64_t row = blockIdx.x;
    int32_t number = a.packed[row];
    if (number < 0 || number >= a.vocabulary)
        return;
    const float *from = (const float *)(const void *)(a.packed + a.count) + row * a.units;
    for (int64_t unit = threadIdx.x; unit < a.units; unit += blockDim.x)
        a.table[number * a.units + unit] = from[unit];
}
