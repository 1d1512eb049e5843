/* cuDNN as a second implementation of operators, chosen for each by measurement when it is prepared. Built in with
 * MGB_WITH_CUDNN; without it these are stubs, and no operator has a second implementation.
 *
 * Recurrent layers have none: cuDNN keeps what their gradients need in a reserve of its own format, while here gates and states
 * are outputs of the operator, and its release notes ("Limitations") call them not deterministic as cuBLAS buffers are set.
 *
 * MGBENCH_CUDNN: off, on (wherever cuDNN serves, unmeasured) or auto, the default. */
#ifndef MGB_CUDA_DNN_DNN_H
#define MGB_CUDA_DNN_DNN_H

#include "engine/cuda/kernel.h"

/* An operator by cuDNN: dnn/<op>.c. It must do what its first implementation does, and give the same bits at every run. */
struct mgb_cuda_second {
    /* Of the request alone: whether cuDNN has it, and bytes of workspace that are set aside for it. */
    bool (*serves)(const struct mgb_cuda_use *use);
    int64_t (*workspace)(const struct mgb_cuda_use *use);
    /* Sets kernel->prepared, with this algorithm, or with one that is chosen and told where it comes as -1. MGB_UNSUPPORTED:
     * cuDNN has none that is deterministic and takes no more than the workspace. */
    enum mgb_status (*prepare)(struct mgb_kernel *kernel, struct mgb_queue *queue, int *algorithm);
    enum mgb_status (*start)(struct mgb_queue *queue, const struct mgb_kernel *kernel,
                             const struct mgb_launch *launch);
    void (*done)(void *prepared);
};

#ifdef MGB_WITH_CUDNN
#define MGB_CUDA_SECOND(name) &(name)

extern const struct mgb_cuda_second mgb_cuda_dnn_conv2d, mgb_cuda_dnn_batch_norm;

/* Reads MGBENCH_CUDNN and finds the library; MGB_INVALID for another word. */
enum mgb_status mgb_cuda_dnn_open(struct mgb_cuda *cuda);
/* More workspace, where cuDNN may serve the request. */
void mgb_cuda_dnn_facts(struct mgb_operator_facts *facts, const struct mgb_cuda *cuda,
                        const struct mgb_cuda_op *op, const struct mgb_cuda_use *use);
/* Sets what starts the kernel to its second implementation where that is chosen: once for all devices with equal cards and
 * for all contexts of the process, since they may differ in the last bits. Nothing of a step may be running. */
enum mgb_status mgb_cuda_dnn_choose(struct mgb_cuda *cuda, struct mgb_kernel *kernel);
void mgb_cuda_dnn_kernel_done(struct mgb_kernel *kernel);
/* The handle of a compute queue, if any operator needs it; and its end. */
enum mgb_status mgb_cuda_dnn_queue_open(struct mgb_queue *queue);
void mgb_cuda_dnn_queue_close(struct mgb_queue *queue);
/* "9.19.0"; "" without the library. */
void mgb_cuda_dnn_version(char *out, size_t size);
/* One line on what it serves, or why it is not there. */
void mgb_cuda_dnn_remark(void *context, char *out, size_t size);
#else
#define MGB_CUDA_SECOND(name) NULL

static inline enum mgb_status mgb_cuda_dnn_open(struct mgb_cuda *cuda)
{
    (void)cuda;
    return MGB_OK;
}
static inline void mgb_cuda_dnn_facts(struct mgb_operator_facts *facts, const struct mgb_cuda *cuda,
                                      const struct mgb_cuda_op *op, const struct mgb_cuda_use *use)
{
    (void)facts, (void)cuda, (void)op, (void)use;
}
static inline enum mgb_status mgb_cuda_dnn_choose(struct mgb_cuda *cuda, struct mgb_kernel *kernel)
{
    (void)cuda, (void)kernel;
    return MGB_OK;
}
static inline void mgb_cuda_dnn_kernel_done(struct mgb_kernel *kernel)
{
    (void)kernel;
}
static inline enum mgb_status mgb_cuda_dnn_queue_open(struct mgb_queue *queue)
{
    (void)queue;
    return MGB_OK;
}
static inline void mgb_cuda_dnn_queue_close(struct mgb_queue *queue)
{
    (void)queue;
}
static inline void mgb_cuda_dnn_version(char *out, size_t size)
{
    if (size > 0)
        out[0] = '\0';
}
static inline void mgb_cuda_dnn_remark(void *context, char *out, size_t size)
{
    (void)context;
    if (size > 0)
        out[0] = '\0';
}
#endif

#endif
