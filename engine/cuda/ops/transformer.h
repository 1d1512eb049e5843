/* Kernels of attention, layer norm, softmax, gelu and transpose. */
#ifndef MGB_CUDA_OPS_TRANSFORMER_H
#define MGB_CUDA_OPS_TRANSFORMER_H

#include "engine/cuda/kernels.h"
#include "engine/cuda/values.h"

/* Kernels that take rows, "a row each" below: see rows.h. */
#define MGB_GPU_ROW_LONG 1024 /* rows wider than this take a block */
#define MGB_GPU_ROW_WARPS 4   /* rows a block where a warp takes one */
#define MGB_GPU_ROW_BLOCK 256 /* threads where a block takes one */

struct mgb_gpu_softmax_args { /* a row each; gradient: x is the result y */
    float *to;
    const float *x, *dy;
    int64_t rows, width;
    int log;
};
struct mgb_gpu_gelu_args {
    float *to;
    const float *x, *dy; /* dy NULL: forward */
    int64_t count;
    int approximate;
};
struct mgb_gpu_layer_norm_args { /* a row each; gamma, beta NULL: none */
    float *to, *mean, *rstd;     /* mean, rstd: made by forward where wanted */
    const float *x, *dy, *means, *rstds, *gamma, *beta;
    int64_t rows, width;
    float epsilon;
};
struct mgb_gpu_layer_sums_args { /* blocks of 256 threads take 32 columns of `chunk` rows each */
    float *parts;                /* [chunks][2][width] */
    const float *x, *dy, *means, *rstds;
    int64_t rows, width, chunk;
    int columns; /* blocks side by side */
};
struct mgb_gpu_layer_total_args {
    float *dgamma, *dbeta;
    const float *parts;
    int64_t width;
    int chunks;
};
struct mgb_gpu_transpose_args { /* of an example: axes of y, elements between neighbours there */
    float *y;
    const float *x;
    int64_t dim[6], from[6], to[6]; /* from: in x; to: in y */
    int64_t count, all;             /* elements of an example; of all */
    int64_t outer, bands, columns; /* tiles: stacks of an example; along was_last; along the last */
    int rank, was_last;            /* was_last: the axis of y that is the last of x */
};
/* Scores of a chunk of attention, a row each: [rows of the batch][heads][queries][keys]. */
struct mgb_gpu_attention_args {
    float *p, *d, *scores; /* d: what dropout leaves, NULL: nothing is dropped; scores: gradient */
    const void *mask;      /* of the chunk's first row; NULL: all keys are seen */
    int64_t lines, keys, seen, queries, heads; /* seen: of the keys, those any query here sees */
    int64_t first_query, all_queries;
    int64_t first_line, lines_row; /* the chunk's first of the global batch; of a row of it */
    uint64_t seed;                 /* of dropout, as in dropout.h */
    int64_t step;
    const struct mgb_gpu_values *later;
    int key;
    uint32_t threshold;
    float kept; /* what a kept probability is multiplied by */
    int mask_whole, causal;
};

MGB_CUDA_DECLARE(mgb_gpu_softmax, struct mgb_gpu_softmax_args)
MGB_CUDA_DECLARE(mgb_gpu_softmax_grad, struct mgb_gpu_softmax_args)
MGB_CUDA_DECLARE(mgb_gpu_gelu, struct mgb_gpu_gelu_args)
MGB_CUDA_DECLARE(mgb_gpu_layer_norm, struct mgb_gpu_layer_norm_args)
MGB_CUDA_DECLARE(mgb_gpu_layer_norm_grad, struct mgb_gpu_layer_norm_args)
MGB_CUDA_DECLARE(mgb_gpu_layer_sums, struct mgb_gpu_layer_sums_args)
MGB_CUDA_DECLARE(mgb_gpu_layer_total, struct mgb_gpu_layer_total_args)
MGB_CUDA_DECLARE(mgb_gpu_transpose_stretch, struct mgb_gpu_transpose_args)
MGB_CUDA_DECLARE(mgb_gpu_transpose_tile, struct mgb_gpu_transpose_args)
MGB_CUDA_DECLARE(mgb_gpu_attention_softmax, struct mgb_gpu_attention_args)
MGB_CUDA_DECLARE(mgb_gpu_attention_scores, struct mgb_gpu_attention_args)

#endif
