/* cuBLAS sees each matrix transposed, so c' = b' a', without moving anything. */
#include "engine/cuda/product.h"

static cublasOperation_t operation(const struct mgb_cuda_matrix *matrix)
{
    return matrix->transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
}

static enum mgb_status sizes_check(const struct mgb_cuda_product *p)
{
    if (p->m <= INT32_MAX && p->n <= INT32_MAX && p->k <= INT32_MAX && p->a.ld <= INT32_MAX &&
        p->b.ld <= INT32_MAX && p->ldc <= INT32_MAX && p->batch <= INT32_MAX)
        return MGB_OK;
    return mgb_fail(MGB_UNSUPPORTED,
                    "a product of %lld x %lld x %lld, %lld times, is beyond cuBLAS; use a smaller "
                    "batch",
                    (long long)p->m, (long long)p->n, (long long)p->k, (long long)p->batch);
}

enum mgb_status mgb_cuda_multiply(struct mgb_queue *queue, const struct mgb_cuda_product *p)
{
    float alpha = p->alpha == 0.0f ? 1.0f : p->alpha;
    MGB_TRY(sizes_check(p));
    if (p->m == 0 || p->n == 0)
        return MGB_OK;
    if (p->batch <= 1) {
        cublasStatus_t status = cublasSgemm(
            queue->blas, operation(&p->b), operation(&p->a), (int)p->n, (int)p->m, (int)p->k,
            &alpha, p->b.data, (int)p->b.ld, p->a.data, (int)p->a.ld, &p->beta, p->c, (int)p->ldc);
        return status == CUBLAS_STATUS_SUCCESS ? MGB_OK : mgb_cublas_fail(status, "cublasSgemm");
    }
    cublasStatus_t status = cublasSgemmStridedBatched(
        queue->blas, operation(&p->b), operation(&p->a), (int)p->n, (int)p->m, (int)p->k, &alpha,
        p->b.data, (int)p->b.ld, p->b.stride, p->a.data, (int)p->a.ld, p->a.stride, &p->beta, p->c,
        (int)p->ldc, p->stride_c, (int)p->batch);
    return status == CUBLAS_STATUS_SUCCESS ? MGB_OK
                                           : mgb_cublas_fail(status, "cublasSgemmStridedBatched");
}
