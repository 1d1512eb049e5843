/* Kernels of element-wise operators: operands as large as the result, or repeated over it. */
#ifndef MGB_CUDA_OPS_ELEMENTS_H
#define MGB_CUDA_OPS_ELEMENTS_H

#include "engine/cuda/kernels.h"

enum mgb_gpu_element {
    MGB_GPU_ADD, /* a + b */
    MGB_GPU_SUB,
    MGB_GPU_MUL,
    MGB_GPU_DIV,
    MGB_GPU_AFFINE,   /* factor a + shift */
    MGB_GPU_SCALE,    /* factor a */
    MGB_GPU_ABS,      /* |a| */
    MGB_GPU_ABS_GRAD, /* b with the sign of a */
    MGB_GPU_DIFFER,   /* (a - b) factor: gradient of the squared error */
    MGB_GPU_BCE_GRAD, /* (sigmoid(a) - b) factor */
    MGB_GPU_FILL,     /* factor */
};

struct mgb_gpu_elements_args {
    float *y;
    const float *a, *b; /* NULL where there is none */
    int64_t count;
    int what;
    float factor, shift;
    const float *scale; /* a factor on the device; NULL: `factor` */
};

#define MGB_GPU_AXES 7 /* rows and those of an example */

/* Where two operands lie under the whole: its axes, and each one's step along them, 0 where it is repeated. In elements. */
struct mgb_gpu_spread {
    int axes;
    int64_t dim[MGB_GPU_AXES], stride[2][MGB_GPU_AXES];
};

struct mgb_gpu_spread_args {
    float *y;
    const float *a, *b;
    int64_t count;
    struct mgb_gpu_spread spread;
    int what, wide; /* wide: four elements of the last axis at a time */
    float factor;
};

MGB_CUDA_DECLARE(mgb_gpu_elements, struct mgb_gpu_elements_args)
MGB_CUDA_DECLARE(mgb_gpu_spread_over, struct mgb_gpu_spread_args)

#endif
