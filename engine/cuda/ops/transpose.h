/* A matrix transposed on a GPU, for operators that need one in another order. */
#ifndef MGB_CUDA_OPS_TRANSPOSE_H
#define MGB_CUDA_OPS_TRANSPOSE_H

#include "engine/cuda/cuda.h"

/* to[c][r] = from[r][c]. */
enum mgb_status mgb_cuda_transpose_matrix(struct mgb_queue *queue, float *to, const float *from,
                                          int64_t rows, int64_t columns);

#endif
