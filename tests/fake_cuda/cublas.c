/* cuBLAS: handles, and the checks of a product before gemm.c plays it. */
#include "tests/fake_cuda/capture.h"
#include "tests/fake_cuda/gemm.h"

#include <stdint.h>
#include <stdlib.h>

struct cublasContext {
    struct cublasContext *next;
    cudaStream_t stream;
    cublasMath_t mode;
    int device;
    void *workspace; /* the caller's; NULL: cuBLAS's own */
    size_t workspace_bytes;
};

static struct cublasContext *handles; /* under the lock */

#define ENTER()                                                                                    \
    do {                                                                                           \
        int entered_ = fake_enter_library(__func__, CUBLAS_STATUS_INTERNAL_ERROR,                  \
                                          CUBLAS_STATUS_NOT_INITIALIZED);                          \
        if (entered_ != CUBLAS_STATUS_SUCCESS)                                                     \
            return (cublasStatus_t)entered_;                                                       \
    } while (0)

cublasStatus_t cublasCreate_v2(cublasHandle_t *out)
{
    ENTER();
    if (fake_capture_unsafe() != cudaSuccess) /* it allocates */
        return CUBLAS_STATUS_INTERNAL_ERROR;
    struct cublasContext *handle = fake_allocate(sizeof *handle);
    handle->device = fake_device_current();
    fake_lock();
    handle->next = handles;
    handles = handle;
    fake_device_get(handle->device)->others++;
    fake_device_get(handle->device)->touched = true;
    fake_unlock();
    *out = handle;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasDestroy_v2(cublasHandle_t handle)
{
    ENTER();
    fake_lock();
    struct cublasContext **link = &handles;
    while (*link && *link != handle)
        link = &(*link)->next;
    bool live = *link != NULL;
    if (live) {
        *link = handle->next;
        fake_device_get(handle->device)->others--;
        free(handle);
    }
    fake_unlock();
    return live ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_INITIALIZED;
}

cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream)
{
    ENTER();
    fake_lock();
    bool fits = fake_stream_device(stream) == handle->device;
    if (fits) {
        handle->stream = stream;
        handle->workspace = NULL; /* the manual: a stream comes with cuBLAS's own again */
        handle->workspace_bytes = 0;
    }
    fake_unlock();
    return fits ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
}

cublasStatus_t cublasGetStream_v2(cublasHandle_t handle, cudaStream_t *stream)
{
    ENTER();
    *stream = handle->stream;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode)
{
    ENTER();
    handle->mode = mode;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGetMathMode(cublasHandle_t handle, cublasMath_t *mode)
{
    ENTER();
    *mode = handle->mode;
    return CUBLAS_STATUS_SUCCESS;
}

/* A workspace must be device memory of the handle's device, at 256 bytes. */
cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t handle, void *workspace, size_t bytes)
{
    ENTER();
    fake_lock();
    bool fits = bytes == 0 || ((uintptr_t)workspace % 256 == 0 &&
                               fake_block_holds(workspace, bytes, handle->device));
    if (fits) {
        handle->workspace = bytes > 0 ? workspace : NULL;
        handle->workspace_bytes = bytes;
    }
    fake_unlock();
    return fits ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
}

cublasStatus_t cublasGetVersion_v2(cublasHandle_t handle, int *version)
{
    ENTER();
    (void)handle;
    *version = CUBLAS_VERSION;
    return CUBLAS_STATUS_SUCCESS;
}

/* All of the matrix inside one block of the device? Caller holds the lock. */
static bool matrix_fits(const struct fake_matrix *matrix, long long batch, int device)
{
    if (matrix->ld < (matrix->rows > 1 ? matrix->rows : 1))
        return false;
    if (matrix->rows == 0 || matrix->columns == 0 || batch == 0)
        return true;
    long long count =
        (batch - 1) * matrix->stride + (matrix->columns - 1) * matrix->ld + matrix->rows;
    return fake_block_holds(matrix->data, (size_t)count * fake_element_size(matrix->type), device);
}

/* Caller holds the lock. */
static cublasStatus_t gemm_push(cublasHandle_t handle, const struct fake_gemm *wanted)
{
    if (wanted->m < 0 || wanted->n < 0 || wanted->k < 0 || wanted->batch < 0)
        return CUBLAS_STATUS_INVALID_VALUE;
    if (handle->device != fake_device_current() ||
        fake_stream_device(handle->stream) != handle->device) {
        fake_complain("cuBLAS handle of device %d without a stream there, or not current",
                      handle->device);
        return CUBLAS_STATUS_EXECUTION_FAILED;
    }
    if (!matrix_fits(&wanted->a, wanted->batch, handle->device) ||
        !matrix_fits(&wanted->b, wanted->batch, handle->device) ||
        !matrix_fits(&wanted->c, wanted->batch, handle->device)) {
        fake_complain("gemm: a matrix is not in the memory of device %d", handle->device);
        return CUBLAS_STATUS_INVALID_VALUE;
    }
    if (handle->workspace &&
        !fake_block_holds(handle->workspace, handle->workspace_bytes, handle->device)) {
        fake_complain("gemm: the workspace is no memory of device %d any more", handle->device);
        return CUBLAS_STATUS_INVALID_VALUE;
    }
    struct fake_gemm *op = fake_allocate(sizeof *op);
    *op = *wanted;
    op->workspace = handle->workspace;
    op->workspace_bytes = handle->workspace_bytes;
    op->op.run = fake_gemm_run;
    op->op.work = true;
    fake_stream_push(handle->stream, &op->op);
    return CUBLAS_STATUS_SUCCESS;
}

static cublasStatus_t gemm_submit(cublasHandle_t handle, const struct fake_gemm *wanted)
{
    fake_lock();
    cublasStatus_t status = gemm_push(handle, wanted);
    fake_unlock();
    return status;
}

static struct fake_matrix matrix_make(cublasOperation_t operation, long long rows,
                                      long long columns, const void *data, cudaDataType type,
                                      int ld, long long stride)
{
    bool transposed = operation != CUBLAS_OP_N;
    return (struct fake_matrix){.data = data,
                                .type = type,
                                .ld = ld,
                                .stride = stride,
                                .rows = transposed ? columns : rows,
                                .columns = transposed ? rows : columns,
                                .transposed = transposed};
}

cublasStatus_t cublasSgemmStridedBatched(cublasHandle_t handle, cublasOperation_t ta,
                                         cublasOperation_t tb, int m, int n, int k,
                                         const float *alpha, const float *a, int lda,
                                         long long stride_a, const float *b, int ldb,
                                         long long stride_b, const float *beta, float *c, int ldc,
                                         long long stride_c, int batch)
{
    ENTER();
    struct fake_gemm wanted = {.a = matrix_make(ta, m, k, a, CUDA_R_32F, lda, stride_a),
                               .b = matrix_make(tb, k, n, b, CUDA_R_32F, ldb, stride_b),
                               .c = matrix_make(CUBLAS_OP_N, m, n, c, CUDA_R_32F, ldc, stride_c),
                               .m = m,
                               .n = n,
                               .k = k,
                               .batch = batch,
                               .alpha = *alpha,
                               .beta = *beta,
                               .tf32 = handle->mode == CUBLAS_TF32_TENSOR_OP_MATH};
    return gemm_submit(handle, &wanted);
}

cublasStatus_t cublasSgemm_v2(cublasHandle_t handle, cublasOperation_t ta, cublasOperation_t tb,
                              int m, int n, int k, const float *alpha, const float *a, int lda,
                              const float *b, int ldb, const float *beta, float *c, int ldc)
{
    ENTER();
    struct fake_gemm wanted = {.a = matrix_make(ta, m, k, a, CUDA_R_32F, lda, 0),
                               .b = matrix_make(tb, k, n, b, CUDA_R_32F, ldb, 0),
                               .c = matrix_make(CUBLAS_OP_N, m, n, c, CUDA_R_32F, ldc, 0),
                               .m = m,
                               .n = n,
                               .k = k,
                               .batch = 1,
                               .alpha = *alpha,
                               .beta = *beta,
                               .tf32 = handle->mode == CUBLAS_TF32_TENSOR_OP_MATH};
    return gemm_submit(handle, &wanted);
}

/* Of the table of types in the manual: sums in f32, inputs alike, the output f32 or as the inputs. */
static bool types_served(cudaDataType a, cudaDataType b, cudaDataType c,
                         cublasComputeType_t compute)
{
    bool known = compute == CUBLAS_COMPUTE_32F || compute == CUBLAS_COMPUTE_32F_PEDANTIC ||
                 (compute == CUBLAS_COMPUTE_32F_FAST_TF32 && a == CUDA_R_32F);
    return known && fake_element_size(a) != 0 && a == b && (c == a || c == CUDA_R_32F);
}

static bool tf32_wanted(const struct cublasContext *handle, cudaDataType type,
                        cublasComputeType_t compute)
{
    bool mode = handle->mode == CUBLAS_TF32_TENSOR_OP_MATH && compute == CUBLAS_COMPUTE_32F;
    return type == CUDA_R_32F && (mode || compute == CUBLAS_COMPUTE_32F_FAST_TF32);
}

static cublasStatus_t gemm_ex(cublasHandle_t handle, struct fake_gemm *wanted,
                              cublasComputeType_t compute, cublasGemmAlgo_t algorithm)
{
    (void)algorithm; /* a hint since Ampere */
    if (!types_served(wanted->a.type, wanted->b.type, wanted->c.type, compute))
        return CUBLAS_STATUS_NOT_SUPPORTED;
    wanted->tf32 = tf32_wanted(handle, wanted->a.type, compute);
    return gemm_submit(handle, wanted);
}

cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t ta, cublasOperation_t tb,
                            int m, int n, int k, const void *alpha, const void *a,
                            cudaDataType type_a, int lda, const void *b, cudaDataType type_b,
                            int ldb, const void *beta, void *c, cudaDataType type_c, int ldc,
                            cublasComputeType_t compute, cublasGemmAlgo_t algorithm)
{
    ENTER();
    struct fake_gemm wanted = {.a = matrix_make(ta, m, k, a, type_a, lda, 0),
                               .b = matrix_make(tb, k, n, b, type_b, ldb, 0),
                               .c = matrix_make(CUBLAS_OP_N, m, n, c, type_c, ldc, 0),
                               .m = m,
                               .n = n,
                               .k = k,
                               .batch = 1,
                               .alpha = *(const float *)alpha,
                               .beta = *(const float *)beta};
    return gemm_ex(handle, &wanted, compute, algorithm);
}

cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t handle, cublasOperation_t ta,
                                          cublasOperation_t tb, int m, int n, int k,
                                          const void *alpha, const void *a, cudaDataType type_a,
                                          int lda, long long stride_a, const void *b,
                                          cudaDataType type_b, int ldb, long long stride_b,
                                          const void *beta, void *c, cudaDataType type_c, int ldc,
                                          long long stride_c, int batch,
                                          cublasComputeType_t compute, cublasGemmAlgo_t algorithm)
{
    ENTER();
    struct fake_gemm wanted = {.a = matrix_make(ta, m, k, a, type_a, lda, stride_a),
                               .b = matrix_make(tb, k, n, b, type_b, ldb, stride_b),
                               .c = matrix_make(CUBLAS_OP_N, m, n, c, type_c, ldc, stride_c),
                               .m = m,
                               .n = n,
                               .k = k,
                               .batch = batch,
                               .alpha = *(const float *)alpha,
                               .beta = *(const float *)beta};
    return gemm_ex(handle, &wanted, compute, algorithm);
}
