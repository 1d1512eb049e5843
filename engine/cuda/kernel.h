/* A prepared operator of the CUDA backend, and what it is prepared from: a request without its graph, so that plans and
 * towers share one. For /cpu:0 it wraps a kernel of the CPU. */
#ifndef MGB_CUDA_KERNEL_H
#define MGB_CUDA_KERNEL_H

#include "engine/cuda/cuda.h"

struct mgb_cuda_tensor {
    int64_t count;     /* elements, all rows */
    int64_t last;      /* size of the last axis; 1 for a scalar an example */
    int64_t positions; /* elements of one example */
    struct mgb_shape
        shape; /* of one example, or of what has no batch axis; unused dimensions are 0 */
    bool batched;
    enum mgb_type type;
    int layout;         /* inputs only */
    bool wanted, plain; /* outputs only */
};

/* Zeroed before it is filled: two are the same request when their bytes are the same. */
struct mgb_cuda_use {
    enum mgb_op_kind kind;
    int device, threads, input_count;
    enum mgb_precision precision; /* f32 for operators without products */
    int64_t rows;
    bool training;
    union mgb_attributes a;
    struct mgb_cuda_tensor in[MGB_MAX_INPUTS], out[MGB_MAX_OUTPUTS];
};

struct mgb_kernel {
    struct mgb_cuda_use use;
    struct mgb_operator_facts facts;
    const struct mgb_cuda_op *op;
    enum mgb_status (*start)(struct mgb_queue *queue, const struct mgb_kernel *kernel,
                             const struct mgb_launch *launch); /* of `op` or of its second */
    void *prepared;         /* by the second implementation, where it is chosen */
    struct mgb_kernel *cpu; /* /cpu:0: what runs there; op is NULL then */
    const char *name;       /* of the kind, for messages */
    struct mgb_kernel *next;
    uint64_t hash;
};

/* An operator: its host side is ops/<op>.c, its kernels ops/<op>.cu. */
struct mgb_cuda_op {
    /* Sets what differs from the preset facts (plain outputs, no workspace, no alias). Optional. */
    enum mgb_status (*facts)(struct mgb_operator_facts *facts, const struct mgb_cuda_use *use);
    enum mgb_status (*start)(struct mgb_queue *queue, const struct mgb_kernel *kernel,
                             const struct mgb_launch *launch);
    /* Of operators that multiply, and only those: bytes of both operands of the product where they take most, in 16 bits
     * (mgb_cuda_narrow_bytes). */
    int64_t (*narrow)(const struct mgb_cuda_use *use);
    const struct mgb_cuda_second *second; /* the same by cuDNN (dnn/dnn.h); NULL: none */
};

/* MGB_INVALID unless labels are i32. */
enum mgb_status mgb_cuda_labels_check(const struct mgb_cuda_use *use);
/* Adds up doubles, one a row, and writes their sum divided by `divisor` as a float. */
enum mgb_status mgb_cuda_row_sum(struct mgb_queue *queue, float *to, const double *rows,
                                 int64_t count, int64_t divisor);

enum mgb_status mgb_cuda_describe(void *context, int device, const struct mgb_node_use *use,
                                  struct mgb_operator_facts *out);
enum mgb_status mgb_cuda_kernel(void *context, struct mgb_kernel **out,
                                const struct mgb_kernel_request *request);
/* Before an operator starts: how its products are taken, and in its workspace the one that cuBLAS has. */
enum mgb_status mgb_cuda_arithmetic_set(struct mgb_queue *queue, const struct mgb_kernel *kernel,
                                        void *workspace);
void mgb_cuda_kernels_done(struct mgb_cuda *cuda);

#endif
