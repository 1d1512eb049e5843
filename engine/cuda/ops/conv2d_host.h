/* The host side of convolution: how it becomes products of matrices, with how much workspace. */
#ifndef MGB_CUDA_OPS_CONV2D_HOST_H
#define MGB_CUDA_OPS_CONV2D_HOST_H

#include "engine/cuda/ops/conv2d.h"
#include "engine/cuda/ops/vision.h"

/* Bytes of the matrix of windows, unless one example takes more. */
#define MGB_CUDA_CONV_LIMIT ((int64_t)64 << 20)

struct mgb_cuda_conv {
    struct mgb_gpu_window window;
    int64_t rows, groups;
    int64_t channels, filters; /* of a group */
    int64_t cells;             /* columns of the matrix: cells of a window times channels */
    int64_t pixels;            /* of y, one example: rows of the matrix */
    int64_t chunk;             /* examples whose windows are laid out at once */
    bool direct;               /* x is the matrix already */
    bool depthwise;            /* a channel a group: no matrix at all */
    int64_t workspace;         /* bytes */
};

/* For CONV2D and its gradients; `limit` in bytes. */
struct mgb_cuda_conv mgb_cuda_conv_make(const struct mgb_cuda_use *use, int64_t limit);
/* CONV2D or a gradient by use->kind, operands as in the graph. The workspace is plan->workspace bytes. */
enum mgb_status mgb_cuda_conv_start(struct mgb_queue *queue, const struct mgb_cuda_use *use,
                                    const struct mgb_cuda_conv *plan,
                                    const struct mgb_launch *launch);

/* y = f(y + b), bias and activation of CONV2D. */
enum mgb_status mgb_cuda_conv_activate(struct mgb_queue *queue, const struct mgb_cuda_use *use,
                                       const struct mgb_launch *launch);

/* depthwise.c: the same where every channel is a group. */
int64_t mgb_cuda_depthwise_bytes(const struct mgb_cuda_use *use, const struct mgb_cuda_conv *plan);
enum mgb_status mgb_cuda_depthwise_start(struct mgb_queue *queue, const struct mgb_cuda_use *use,
                                         const struct mgb_cuda_conv *plan,
                                         const struct mgb_launch *launch);

#endif
