/* Dropout: a thread a counter of the mask, which is four neighbours of the global batch. */
#include "engine/cuda/ops/dropout.h"

#include "engine/backend/dropout.h"
#include "engine/cuda/ops/quad.cuh"

static __device__ __forceinline__ float kept(const struct mgb_gpu_dropout_args *a, uint32_t word, float x)
{
    return word >> 8 >= a->threshold ? x * a->scale : 0.0f;
}

MGB_CUDA_KERNEL(mgb_gpu_dropout, struct mgb_gpu_dropout_args)
{
    int64_t skip = (int64_t)(a.first % 4), counters = (skip + a.count + 3) / 4;
    int64_t stride = (int64_t)gridDim.x * blockDim.x;
    uint64_t seed = a.later != NULL ? a.later->seed : a.seed;
    uint64_t high = mgb_dropout_high(a.later != NULL ? a.later->step : a.step, a.key);
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < counters; i += stride) {
        struct mgb_random4 words = mgb_random_at(seed, a.first / 4 + (uint64_t)i, high);
        int64_t begin = 4 * i - skip;
        if (skip == 0 && begin + 4 <= a.count) {
            struct quad x = quad_load(a.from + begin, 1);
            for (int k = 0; k < 4; k++)
                x.v[k] = kept(&a, words.v[k], x.v[k]);
            quad_store(a.to + begin, x, 1);
            continue;
        }
        for (int k = 0; k < 4; k++)
            if (begin + k >= 0 && begin + k < a.count)
                a.to[begin + k] = kept(&a, words.v[k], a.from[begin + k]);
    }
}
