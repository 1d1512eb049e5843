/* Starting kernels that take a tensor row by row, a warp a row or, where rows are long, a block a row. Which one depends on
 * the width alone, and so do the bits of a row's sums. */
#ifndef MGB_CUDA_OPS_ROWS_H
#define MGB_CUDA_OPS_ROWS_H

#include "engine/cuda/ops/transformer.h"
#include "engine/cuda/queue.h"

/* Enqueues such a kernel for `rows` rows of `width` elements. */
static inline enum mgb_status mgb_cuda_rows_start(struct mgb_queue *queue, const void *kernel,
                                                  int64_t rows, int64_t width, void *args)
{
    if (width > MGB_GPU_ROW_LONG)
        return mgb_cuda_start(queue, kernel, (unsigned)rows, MGB_GPU_ROW_BLOCK, args);
    int64_t blocks = (rows + MGB_GPU_ROW_WARPS - 1) / MGB_GPU_ROW_WARPS;
    return mgb_cuda_start(queue, kernel, (unsigned)blocks, MGB_GPU_ROW_WARPS * 32, args);
}

#endif
