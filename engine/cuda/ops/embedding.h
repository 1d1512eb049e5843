/* Kernels of embeddings and their gradients. */
#ifndef MGB_CUDA_OPS_EMBEDDING_H
#define MGB_CUDA_OPS_EMBEDDING_H

#include "engine/cuda/kernels.h"

struct mgb_gpu_ids { /* the numbers of an embedding and what is said of one outside of its table */
    const int32_t *ids;
    int64_t count, vocabulary, first_row, positions;
    const char *name; /* the host's; not read here */
    struct mgb_cuda_fault *fault;
};
struct mgb_gpu_embedding_args {
    struct mgb_gpu_ids ids;
    float *y;
    const float *table;
    int64_t units;
};
/* Uses of a table in order: key = number << 32 | place of the use, all ones where there is none. `size` is a power of two. */
struct mgb_gpu_use_keys_args {
    struct mgb_gpu_ids ids;
    uint64_t *keys;
    int64_t size;
};
/* A pass of a bitonic sort over all pairs, or what blocks can do of a span by themselves (`distance` 0: of all up to it). */
struct mgb_gpu_use_sort_args {
    uint64_t *keys;
    int64_t size, span, distance;
};
struct mgb_gpu_use_slots_args { /* one block of 256 threads: rows used, numbered in order */
    const uint64_t *keys;
    int32_t *slots, *numbers; /* slots: by place of a row's first key */
    int64_t count;
};
struct mgb_gpu_use_sums_args { /* a block a key: sums the uses of the row that begins there */
    float *to;
    const float *dy;
    const uint64_t *keys;
    const int32_t *slots; /* NULL: rows go to the places of their numbers */
    int64_t count, units;
};
struct mgb_gpu_unpack_args { /* rows of `packed` to their places in a table of zeros */
    float *table;
    const int32_t *packed;
    int64_t count, units, vocabulary;
};

MGB_CUDA_DECLARE(mgb_gpu_embedding, struct mgb_gpu_embedding_args)
MGB_CUDA_DECLARE(mgb_gpu_use_keys, struct mgb_gpu_use_keys_args)
MGB_CUDA_DECLARE(mgb_gpu_use_sort, struct mgb_gpu_use_sort_args)
MGB_CUDA_DECLARE(mgb_gpu_use_sort_local, struct mgb_gpu_use_sort_args)
MGB_CUDA_DECLARE(mgb_gpu_use_slots, struct mgb_gpu_use_slots_args)
MGB_CUDA_DECLARE(mgb_gpu_use_sums, struct mgb_gpu_use_sums_args)
MGB_CUDA_DECLARE(mgb_gpu_unpack, struct mgb_gpu_unpack_args)

#endif
