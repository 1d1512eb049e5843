/* Products of an example's matrices as one batch, as they lie: a transposed operand costs nothing. */
#include "engine/cuda/kernel.h"
#include "engine/cuda/product.h"

static enum mgb_status matmul_start(struct mgb_queue *queue, const struct mgb_kernel *kernel,
                                    const struct mgb_launch *launch)
{
    const struct mgb_cuda_use *use = &kernel->use;
    const struct mgb_shape *a = &use->in[0].shape, *y = &use->out[0].shape;
    bool ta = use->a.matmul.transpose_a, tb = use->a.matmul.transpose_b;
    int64_t m = y->dim[y->rank - 2], n = y->dim[y->rank - 1];
    int64_t k = a->dim[ta ? a->rank - 2 : a->rank - 1];
    struct mgb_cuda_product product = {
        .a = {.data = launch->inputs[0], .ld = ta ? m : k, .stride = m * k, .transposed = ta},
        .b = {.data = launch->inputs[1], .ld = tb ? k : n, .stride = k * n, .transposed = tb},
        .c = launch->outputs[0],
        .ldc = n,
        .stride_c = m * n,
        .m = m,
        .n = n,
        .k = k,
        .batch = use->out[0].count / (m * n)};
    return mgb_cuda_multiply(queue, &product);
}

static int64_t matmul_narrow(const struct mgb_cuda_use *use)
{
    int64_t bytes = 0;
    for (int i = 0; i < 2; i++) {
        const struct mgb_cuda_tensor *x = &use->in[i];
        int64_t rows = x->shape.dim[x->shape.rank - 2];
        bytes += mgb_cuda_narrow_bytes(x->count / (rows * x->last), rows, x->last);
    }
    return bytes;
}

const struct mgb_cuda_op mgb_cuda_matmul = {.start = matmul_start, .narrow = matmul_narrow};
