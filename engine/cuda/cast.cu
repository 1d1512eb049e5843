/* Casts between f32 and the 16-bit types that gradients travel as, bit for bit as on CPU devices. */
#include "engine/cuda/kernels.h"

#define MGB_HALF static __device__ __forceinline__
#include "engine/base/half.h"

static __device__ __forceinline__ uint16_t narrow_one(float value, int brain)
{
    return brain ? mgb_bf16_of_f32(value) : mgb_f16_of_f32(value);
}

static __device__ __forceinline__ float widen_one(uint16_t value, int brain)
{
    return brain ? mgb_f32_of_bf16(value) : mgb_f32_of_f16(value);
}

MGB_CUDA_KERNEL(mgb_gpu_cast, struct mgb_gpu_cast_args)
{
    int64_t stride = (int64_t)gridDim.x * blockDim.x;
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < a.count; i += stride) {
        uint16_t half = a.narrow ? narrow_one(((const float *)a.from)[i], a.brain) : ((const uint16_t *)a.from)[i];
        if (a.widen)
            ((float *)a.to)[i] = widen_one(half, a.brain);
        else
            ((uint16_t *)a.to)[i] = half;
    }
}
