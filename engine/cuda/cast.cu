/* Casts between f32 and the 16-bit types that gradients travel as, bit for bit as on CPU devices. */
#include "engine/cuda/kernels.h"

#include "engine/cuda/vector.cuh"

#define MGB_HALF static __device__ __forceinline__
#include "engine/base/half.h"

struct halves {
    uint16_t v[4]; /* only v[0] when not wide */
} __attribute__((aligned(8)));

static __device__ __forceinline__ struct halves halves_load(const uint16_t *from, int wide)
{
    struct halves h = {{from[0], 0, 0, 0}};
    return wide ? *(const struct halves *)(const void *)from : h;
}

static __device__ __forceinline__ void halves_store(uint16_t *to, struct halves h, int wide)
{
    if (wide)
        *(struct halves *)(void *)to = h;
    else
        to[0] = h.v[0];
}

static __device__ __forceinline__ void cast_part(const struct mgb_gpu_cast_args *a, int64_t i, int wide)
{
    struct halves half = {{0, 0, 0, 0}};
    if (a->narrow) {
        struct quad x = quad_load((const float *)a->from + i, wide);
        for (int k = 0; k < QUAD_WIDTH(wide); k++)
            half.v[k] = a->brain ? mgb_bf16_of_f32(x.v[k]) : mgb_f16_of_f32(x.v[k]);
    } else {
        half = halves_load((const uint16_t *)a->from + i, wide);
    }
    if (!a->widen) {
        halves_store((uint16_t *)a->to + i, half, wide);
        return;
    }
    struct quad y = quad_all(0.0f);
    for (int k = 0; k < QUAD_WIDTH(wide); k++)
        y.v[k] = a->brain ? mgb_f32_of_bf16(half.v[k]) : mgb_f32_of_f16(half.v[k]);
    quad_store((float *)a->to + i, y, wide);
}

MGB_CUDA_KERNEL(mgb_gpu_cast, struct mgb_gpu_cast_args)
{
    EACH_QUAD(cast_part, &a, a.count, quad_fits(a.from) && quad_fits(a.to));
}

MGB_CUDA_KERNEL(mgb_gpu_narrow, struct mgb_gpu_narrow_args)
{
    int64_t quads = (a.columns + 3) / 4, all = a.matrices * a.rows * quads;
    int64_t step = (int64_t)gridDim.x * blockDim.x;
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < all; i += step) {
        int64_t line = i / quads, column = i % quads * 4;
        const float *from = a.from + line / a.rows * a.stride + line % a.rows * a.ld + column;
        int64_t rest = a.columns - column;
        int wide = a.wide && rest >= 4;
        struct halves half = {{0, 0, 0, 0}};
        struct quad x = quad_all(0.0f);
        if (wide)
            x = quad_load(from, 1);
        for (int k = 0; k < 4 && !wide && k < rest; k++)
            x.v[k] = from[k];
        for (int k = 0; k < 4; k++)
            half.v[k] = a.brain ? mgb_bf16_of_f32(x.v[k]) : mgb_f16_of_f32(x.v[k]);
        halves_store(a.to + line * a.to_ld + column, half, 1); /* a row has room for its last four */
    }
}
