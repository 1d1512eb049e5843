/* What the kernels of lstm and gru share: a thread a row and unit of one position. */
#ifndef MGB_CUDA_OPS_RECURRENT_CUH
#define MGB_CUDA_OPS_RECURRENT_CUH

#include "engine/cuda/ops/sequence.h"
#include <stddef.h>

struct unit_place {
    int64_t row, unit, at; /* at: of the row and position among all */
    int live;              /* does the position count */
};

static __device__ __forceinline__ struct unit_place
unit_find(const struct mgb_gpu_recurrent_place *place, int64_t index)
{
    struct unit_place unit;
    unit.row = index / place->units;
    unit.unit = index % place->units;
    unit.at = unit.row * place->steps + place->position;
    unit.live = 1;
    if (place->mask != NULL)
        unit.live = place->mask_whole ? ((const int32_t *)place->mask)[unit.at] != 0
                                      : ((const float *)place->mask)[unit.at] != 0.0f;
    return unit;
}

static __device__ __forceinline__ float sigmoid_of(float x)
{
    return 1.0f / (1.0f + expf(-x));
}

/* An element of what may not be there. */
static __device__ __forceinline__ float or_zero(const float *x, int64_t at)
{
    return x != NULL ? x[at] : 0.0f;
}

#define EACH_UNIT(index, place)                                                                    \
    for (int64_t index = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;                           \
         index < (place).rows * (place).units; index += (int64_t)gridDim.x * blockDim.x)

#endif
