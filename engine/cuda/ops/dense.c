/* dense: y = f(x w + b) and its gradients by cuBLAS. Rows outermost here is columns outermost there: cuBLAS sees each
 * matrix transposed, so y' = w' x' and so on, without moving anything. */
#include "engine/cuda/kernel.h"
#include "engine/cuda/queue.h"

/* c[n, m] = op(b) op(a) in our order: `m` is the inner size of the result, `k` what is summed over. */
static enum mgb_status product(struct mgb_queue *queue, bool ta, const float *a, int64_t lda,
                               bool tb, const float *b, int64_t ldb, float *c, int64_t m, int64_t n,
                               int64_t k)
{
    const float one = 1.0f;
    const float zero = 0.0f;
    if (m > INT32_MAX || n > INT32_MAX || k > INT32_MAX)
        return mgb_fail(MGB_UNSUPPORTED, "a product of %lld x %lld x %lld is beyond cuBLAS",
                        (long long)m, (long long)n, (long long)k);
    cublasStatus_t status =
        cublasSgemm(queue->blas, ta ? CUBLAS_OP_T : CUBLAS_OP_N, tb ? CUBLAS_OP_T : CUBLAS_OP_N,
                    (int)m, (int)n, (int)k, &one, a, (int)lda, b, (int)ldb, &zero, c, (int)m);
    return status == CUBLAS_STATUS_SUCCESS ? MGB_OK : mgb_cublas_fail(status, "cublasSgemm");
}

static enum mgb_status dense_start(struct mgb_queue *queue, const struct mgb_kernel *kernel,
                                   const struct mgb_launch *launch)
{
    const struct mgb_cuda_use *use = &kernel->use;
    int64_t in = use->in[0].last, out = use->out[0].last, rows = use->in[0].count / in;
    const float *x = launch->inputs[0], *w = launch->inputs[1];
    struct mgb_gpu_bias_args args = {.y = launch->outputs[0],
                                     .b = use->input_count > 2 ? launch->inputs[2] : NULL,
                                     .count = use->out[0].count,
                                     .columns = out,
                                     .activation = (int)use->a.dense.activation};
    bool tied = use->a.dense.transposed; /* w is [out, in] */
    MGB_TRY(product(queue, tied, w, tied ? in : out, false, x, in, args.y, out, rows, in));
    if (!args.b && use->a.dense.activation == MGB_LINEAR)
        return MGB_OK;
    return mgb_cuda_start(queue, (const void *)mgb_gpu_bias, mgb_cuda_blocks(args.count, 256), 256,
                          &args);
}

static enum mgb_status dense_grad_x_start(struct mgb_queue *queue, const struct mgb_kernel *kernel,
                                          const struct mgb_launch *launch)
{
    const struct mgb_cuda_use *use = &kernel->use;
    int64_t out = use->in[0].last, in = use->out[0].last, rows = use->in[0].count / out;
    const float *dy = launch->inputs[0], *w = launch->inputs[1];
    bool tied = use->a.dense.transposed;
    return product(queue, !tied, w, tied ? in : out, false, dy, out, launch->outputs[0], in, rows,
                   out);
}

static enum mgb_status dense_grad_w_start(struct mgb_queue *queue, const struct mgb_kernel *kernel,
                                          const struct mgb_launch *launch)
{
    const struct mgb_cuda_use *use = &kernel->use;
    int64_t in = use->in[0].last, out = use->in[1].last, rows = use->in[0].count / in;
    const float *x = launch->inputs[0], *dy = launch->inputs[1];
    if (use->a.dense.transposed)
        MGB_TRY(product(queue, false, x, in, true, dy, out, launch->outputs[0], in, out, rows));
    else
        MGB_TRY(product(queue, false, dy, out, true, x, in, launch->outputs[0], out, in, rows));
    if (!launch->outputs[1])
        return MGB_OK;
    struct mgb_gpu_column_sum_args args = {
        .to = launch->outputs[1], .x = dy, .rows = rows, .columns = out};
    return mgb_cuda_start(queue, (const void *)mgb_gpu_column_sum, (unsigned)((out + 31) / 32), 256,
                          &args);
}

const struct mgb_cuda_op mgb_cuda_dense = {.start = dense_start};
const struct mgb_cuda_op mgb_cuda_dense_grad_x = {.start = dense_grad_x_start};
const struct mgb_cuda_op mgb_cuda_dense_grad_w = {.start = dense_grad_w_start};
