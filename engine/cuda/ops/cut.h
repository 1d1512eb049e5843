/* Stretches of elements from one tensor to another: concat, slice and pad. C and CUDA C++. */
#ifndef MGB_CUDA_OPS_CUT_H
#define MGB_CUDA_OPS_CUT_H

#include "engine/cuda/kernels.h"

/* For every outer index, `length` elements of `to` from `to_begin` on: those [before, before + inside) from `from` at
 * from_begin on, the others 0. Elements of four bytes; `wide`: all numbers here are multiples of four. */
struct mgb_gpu_cut_args {
    float *to;
    const float *from;
    int64_t outer, length, before, inside;
    int64_t to_stretch, to_begin, from_stretch, from_begin;
    int wide;
};

MGB_CUDA_DECLARE(mgb_gpu_cut, struct mgb_gpu_cut_args)

#endif
