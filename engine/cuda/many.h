/* Kernels that take many tensors at once, in a table inside of their argument, which CUDA lets have 4 KiB. Tensors are cut
 * into pieces; end[k] is the number of pieces of the tensors up to and with k, from which a block finds its own. */
#ifndef MGB_CUDA_MANY_H
#define MGB_CUDA_MANY_H

#include "engine/cuda/kernels.h"
#include "engine/cuda/values.h"

#define MGB_GPU_UPDATES 90 /* tensors a launch */
#define MGB_GPU_UPDATE_PIECE 2048
#define MGB_GPU_NORMS 200
#define MGB_GPU_NORM_PIECE 4096 /* the contract's, backend.h */
#define MGB_GPU_CLIPS 250

struct mgb_gpu_update_item {
    float *weight;
    const float *gradient;
    float *slot0, *slot1;
    int64_t count;
};
struct mgb_gpu_update_args { /* a block of 256 threads a piece */
    struct mgb_gpu_update_item item[MGB_GPU_UPDATES];
    int32_t end[MGB_GPU_UPDATES];
    int items;
    const float *clip; /* NULL: none */
    const struct mgb_cuda_fault *fault;
    const struct mgb_gpu_values *later; /* not NULL: the rate is there */
    float lr, momentum, rho, beta1, beta2, epsilon;
    int nesterov;
};

/* First mgb_gpu_norm_pieces, a thread a piece, then mgb_gpu_norm, a block of 256 threads a tensor. A tensor may go on from
 * the launch before, or go on in the next. */
struct mgb_gpu_norm_args {
    const float *x[MGB_GPU_NORMS];
    int64_t count[MGB_GPU_NORMS];
    int32_t end[MGB_GPU_NORMS];
    int items;
    float *to;
    double *pieces;
    const double *carried; /* NULL: the first tensor begins here */
    double *carry;         /* NULL: the last tensor ends here */
};

/* One block of 256 threads. */
struct mgb_gpu_clip_args {
    const float *from[MGB_GPU_CLIPS];
    int64_t count[MGB_GPU_CLIPS];
    int items;
    float *to;
    double *carry;     /* holds the sum between launches */
    float norm, scale; /* as in struct mgb_clip */
    int first, last;
};

MGB_CUDA_DECLARE(mgb_gpu_norm_pieces, struct mgb_gpu_norm_args)
MGB_CUDA_DECLARE(mgb_gpu_norm, struct mgb_gpu_norm_args)
MGB_CUDA_DECLARE(mgb_gpu_clip, struct mgb_gpu_clip_args)
MGB_CUDA_DECLARE(mgb_gpu_sgd, struct mgb_gpu_update_args)
MGB_CUDA_DECLARE(mgb_gpu_rmsprop, struct mgb_gpu_update_args)
MGB_CUDA_DECLARE(mgb_gpu_adagrad, struct mgb_gpu_update_args)
MGB_CUDA_DECLARE(mgb_gpu_adadelta, struct mgb_gpu_update_args)
MGB_CUDA_DECLARE(mgb_gpu_adam, struct mgb_gpu_update_args)
MGB_CUDA_DECLARE(mgb_gpu_move, struct mgb_gpu_update_args)

#endif
