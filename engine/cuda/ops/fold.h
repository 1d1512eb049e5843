/* Kernels of reductions: sums and maxima over some axes, the others kept. */
#ifndef MGB_CUDA_OPS_FOLD_H
#define MGB_CUDA_OPS_FOLD_H

#include "engine/cuda/ops/elements.h"

struct mgb_gpu_axes { /* the last one fastest; steps in elements of what is read */
    int count;
    int64_t dim[MGB_GPU_AXES], stride[MGB_GPU_AXES];
};

/* to[o] = the sum over all items, divided. Blocks of 256 threads take 8 results with 32 threads each (lines: neighbours in
 * memory are items) or 32 results with 8 threads each. Items are shared out the same way on every device, and what the
 * threads have is added in their order, so the bits never vary. */
struct mgb_gpu_fold_args {
    float *to;
    int32_t *index; /* maxima only: where it was; may be NULL */
    double *parts;  /* splits x outputs, when items are split among several blocks */
    const float *from;
    struct mgb_gpu_axes kept, folded;
    int64_t outputs, items, split_items, splits;
    int lines;
    double divisor;
};

struct mgb_gpu_pick_args { /* dx = dy where the maximum was, else 0; dx is [.., count, inner] */
    float *dx;
    const float *dy;
    const int32_t *index;
    int64_t elements, count, inner;
};

MGB_CUDA_DECLARE(mgb_gpu_fold, struct mgb_gpu_fold_args)
MGB_CUDA_DECLARE(mgb_gpu_fold_end, struct mgb_gpu_fold_args)
MGB_CUDA_DECLARE(mgb_gpu_fold_max, struct mgb_gpu_fold_args)
MGB_CUDA_DECLARE(mgb_gpu_pick, struct mgb_gpu_pick_args)

#endif
