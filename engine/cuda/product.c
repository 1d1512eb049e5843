/* cuBLAS sees each matrix transposed, so c' = b' a', without moving anything. */
#include "engine/cuda/product.h"

#include "engine/cuda/queue.h"
#include <stdlib.h>

#define BLAS_ALIGNMENT 256               /* bytes, of cuBLAS's workspace */
#define BLAS_LEAST ((int64_t)16 << 10)   /* bytes, below which products may fail */
#define ROOM_SLACK (BLAS_ALIGNMENT - 64) /* a workspace begins at any 64 bytes */

/* What NVIDIA recommends, 32 MiB from Hopper on, else 4 (cuBLAS, "cublasSetWorkspace"), but not more than the operands in f32
 * take, so that small products stay small. */
int64_t mgb_cuda_blas_room(const char *capability, int64_t narrow)
{
    int64_t most = (int64_t)(atoi(capability) >= 9 ? 32 : 4) << 20, bytes = most;
    if (narrow < most / 2)
        bytes = (2 * narrow + BLAS_ALIGNMENT - 1) / BLAS_ALIGNMENT * BLAS_ALIGNMENT;
    return (bytes < BLAS_LEAST ? BLAS_LEAST : bytes) + ROOM_SLACK;
}

enum mgb_status mgb_cuda_blas_room_set(struct mgb_queue *queue, char *room, int64_t bytes)
{
    size_t skipped = (BLAS_ALIGNMENT - (uintptr_t)room % BLAS_ALIGNMENT) % BLAS_ALIGNMENT;
    cublasStatus_t status =
        cublasSetWorkspace(queue->blas, room + skipped, (size_t)(bytes - ROOM_SLACK));
    return status == CUBLAS_STATUS_SUCCESS ? MGB_OK : mgb_cublas_fail(status, "cublasSetWorkspace");
}

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

static enum mgb_status multiply_f32(struct mgb_queue *queue, const struct mgb_cuda_product *p,
                                    float alpha)
{
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

struct operand { /* as cuBLAS is told of it */
    const void *data;
    int64_t ld, stride;
};

static enum mgb_status multiply_typed(struct mgb_queue *queue, const struct mgb_cuda_product *p,
                                      float alpha, struct operand a, struct operand b)
{
    static const cudaDataType types[] = {CUDA_R_32F, CUDA_R_32F, CUDA_R_16BF, CUDA_R_16F};
    cudaDataType type = types[queue->arithmetic.precision];
    cublasComputeType_t sums =
        type == CUDA_R_32F ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
    if (p->batch <= 1) {
        cublasStatus_t status =
            cublasGemmEx(queue->blas, operation(&p->b), operation(&p->a), (int)p->n, (int)p->m,
                         (int)p->k, &alpha, b.data, type, (int)b.ld, a.data, type, (int)a.ld,
                         &p->beta, p->c, CUDA_R_32F, (int)p->ldc, sums, CUBLAS_GEMM_DEFAULT);
        return status == CUBLAS_STATUS_SUCCESS ? MGB_OK : mgb_cublas_fail(status, "cublasGemmEx");
    }
    cublasStatus_t status = cublasGemmStridedBatchedEx(
        queue->blas, operation(&p->b), operation(&p->a), (int)p->n, (int)p->m, (int)p->k, &alpha,
        b.data, type, (int)b.ld, b.stride, a.data, type, (int)a.ld, a.stride, &p->beta, p->c,
        CUDA_R_32F, (int)p->ldc, p->stride_c, (int)p->batch, sums, CUBLAS_GEMM_DEFAULT);
    return status == CUBLAS_STATUS_SUCCESS ? MGB_OK
                                           : mgb_cublas_fail(status, "cublasGemmStridedBatchedEx");
}

/* A matrix of the product as it is to lie in the scratch from byte `at` on; moves `at` past it. */
static struct mgb_gpu_narrow_args narrow_place(const struct mgb_queue *queue, int64_t *at,
                                               const struct mgb_cuda_matrix *matrix, int64_t rows,
                                               int64_t columns, int64_t batch)
{
    const struct mgb_cuda_arithmetic *scratch = &queue->arithmetic;
    struct mgb_gpu_narrow_args args = {.to = (uint16_t *)(void *)(scratch->narrow + *at),
                                       .from = matrix->data,
                                       .matrices = batch > 1 && matrix->stride != 0 ? batch : 1,
                                       .rows = matrix->transposed ? columns : rows,
                                       .columns = matrix->transposed ? rows : columns,
                                       .ld = matrix->ld,
                                       .stride = matrix->stride,
                                       .brain = scratch->precision == MGB_PRECISION_BF16,
                                       .wide = matrix->ld % 4 == 0 && matrix->stride % 4 == 0 &&
                                               (uintptr_t)matrix->data % 16 == 0};
    args.to_ld =
        (args.columns + MGB_CUDA_NARROW_ROW - 1) / MGB_CUDA_NARROW_ROW * MGB_CUDA_NARROW_ROW;
    *at += mgb_cuda_narrow_bytes(args.matrices, args.rows, args.columns);
    return args;
}

static bool is_kept(const struct mgb_gpu_narrow_args *kept, const struct mgb_gpu_narrow_args *b)
{
    return kept->from == b->from && kept->matrices == b->matrices && kept->rows == b->rows &&
           kept->columns == b->columns && kept->ld == b->ld && kept->stride == b->stride;
}

static struct operand operand_of(const struct mgb_gpu_narrow_args *args)
{
    return (struct operand){args->to, args->to_ld,
                            args->matrices > 1 ? args->rows * args->to_ld : 0};
}

static enum mgb_status narrow_start(struct mgb_queue *queue, struct mgb_gpu_narrow_args *args)
{
    int64_t quads = args->matrices * args->rows * ((args->columns + 3) / 4);
    return mgb_cuda_start(queue, (const void *)mgb_gpu_narrow, mgb_cuda_blocks(quads, 256), 256,
                          args);
}

static enum mgb_status multiply_narrow(struct mgb_queue *queue, const struct mgb_cuda_product *p,
                                       float alpha)
{
    struct mgb_cuda_arithmetic *scratch = &queue->arithmetic;
    int64_t at = 0;
    struct mgb_gpu_narrow_args b = narrow_place(queue, &at, &p->b, p->k, p->n, p->batch);
    struct mgb_gpu_narrow_args a = narrow_place(queue, &at, &p->a, p->m, p->k, p->batch);
    if (at > scratch->bytes)
        return mgb_fail(MGB_STATE,
                        "%s: a product of %lld x %lld x %lld needs %lld bytes to be narrowed in, "
                        "its workspace has %lld",
                        queue->last, (long long)p->m, (long long)p->n, (long long)p->k,
                        (long long)at, (long long)scratch->bytes);
    if (!p->b_stays || !is_kept(&scratch->kept, &b))
        MGB_TRY(narrow_start(queue, &b));
    scratch->kept = p->b_stays ? b : (struct mgb_gpu_narrow_args){0};
    MGB_TRY(narrow_start(queue, &a));
    return multiply_typed(queue, p, alpha, operand_of(&a), operand_of(&b));
}

enum mgb_status mgb_cuda_multiply(struct mgb_queue *queue, const struct mgb_cuda_product *p)
{
    float alpha = p->alpha == 0.0f ? 1.0f : p->alpha;
    MGB_TRY(sizes_check(p));
    if (p->m == 0 || p->n == 0)
        return MGB_OK;
    switch (queue->arithmetic.precision) {
    case MGB_PRECISION_F32:
        return multiply_f32(queue, p, alpha);
    case MGB_PRECISION_TF32:
        return multiply_typed(queue, p, alpha, (struct operand){p->a.data, p->a.ld, p->a.stride},
                              (struct operand){p->b.data, p->b.ld, p->b.stride});
    case MGB_PRECISION_BF16:
    case MGB_PRECISION_F16:
        break;
    }
    return multiply_narrow(queue, p, alpha);
}
