/* What the host sides of the image operators share. */
#ifndef MGB_CUDA_OPS_VISION_H
#define MGB_CUDA_OPS_VISION_H

#include "engine/cuda/kernel.h"
#include "engine/cuda/ops/window.h"
#include "engine/cuda/queue.h"

struct mgb_gpu_window mgb_cuda_window(const struct mgb_window *window, const int before[2],
                                      const struct mgb_shape *x, const struct mgb_shape *y);

/* Starts a kernel that takes a row of an image a block and round: `rows` rows of `length` elements each, counted in the
 * kernel as ints. MGB_UNSUPPORTED when a row is beyond them. */
enum mgb_status mgb_cuda_start_rows(struct mgb_queue *queue, const void *kernel, int64_t rows,
                                    int64_t length, void *args);

#endif
