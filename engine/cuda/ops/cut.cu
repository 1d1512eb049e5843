/* Copies of stretches, with zeros around them. */
#include "engine/cuda/ops/cut.h"

#include "engine/cuda/ops/quad.cuh"

MGB_CUDA_KERNEL(mgb_gpu_cut, struct mgb_gpu_cut_args)
{
    int lanes = a.wide ? 4 : 1;
    int64_t length = a.length / lanes, step = (int64_t)gridDim.x * blockDim.x;
    int64_t at = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    int64_t outer = at / length, place = at % length, outer_step = step / length, place_step = step % length;
    while (outer < a.outer) {
        int64_t i = place * lanes - a.before;
        struct quad x = quad_all(0.0f);
        if (i >= 0 && i < a.inside)
            x = quad_load(a.from + outer * a.from_stretch + a.from_begin + i, a.wide);
        quad_store(a.to + outer * a.to_stretch + a.to_begin + place * lanes, x, a.wide);
        outer += outer_step;
        place += place_step;
        if (place >= length) {
            place -= length;
            outer++;
        }
    }
}
