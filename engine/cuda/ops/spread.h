/* Host side of operands that are repeated over a larger tensor, and of reductions. */
#ifndef MGB_CUDA_OPS_SPREAD_H
#define MGB_CUDA_OPS_SPREAD_H

#include "engine/cuda/kernel.h"
#include "engine/cuda/ops/fold.h"

/* How `a` and `b` lie under `whole`, aligned at the last axis as in numpy; axes that both see alike are one. */
struct mgb_gpu_spread mgb_cuda_spread(const struct mgb_cuda_tensor *whole, int64_t rows,
                                      const struct mgb_cuda_tensor *a,
                                      const struct mgb_cuda_tensor *b);
/* Starts an element-wise kernel over all of args->y, by fours where sizes and addresses allow. */
enum mgb_status mgb_cuda_start_spread(struct mgb_queue *queue, struct mgb_gpu_spread_args *args);
enum mgb_status mgb_cuda_start_elements(struct mgb_queue *queue,
                                        struct mgb_gpu_elements_args *args);

/* Appends an axis, the last one fastest; those of length 1 are left out. */
void mgb_cuda_axes_add(struct mgb_gpu_axes *axes, int64_t dim, int64_t stride);
/* Fills in what follows from the axes: sizes, and how many blocks share the items of a result. */
void mgb_cuda_fold_plan(struct mgb_gpu_fold_args *args);
/* Workspace of a sum. */
int64_t mgb_cuda_fold_bytes(const struct mgb_gpu_fold_args *args);
/* Sums into args->to. `workspace` has mgb_cuda_fold_bytes, NULL when those are 0. */
enum mgb_status mgb_cuda_start_fold(struct mgb_queue *queue, struct mgb_gpu_fold_args *args,
                                    void *workspace);
/* Blocks of a kernel of fold.cu without splits. */
unsigned mgb_cuda_fold_blocks(const struct mgb_gpu_fold_args *args);

#endif
