/* cuBLAS: column-major single precision products, one sum in ascending k an element. The arithmetic runs unwatched and
 * the columns it touches are told to ThreadSanitizer as ranges, which keeps tests fast. */
#include "tests/fake_cuda/fake.h"

#include <cublas_v2.h>
#include <stdlib.h>

struct cublasContext {
    struct cublasContext *next;
    cudaStream_t stream;
    int device;
};

struct matrix {
    const float *data;
    long long ld, stride;    /* in floats; stride from one batch member to the next */
    long long rows, columns; /* as stored */
    bool transposed;
};

struct gemm_op {
    struct fake_op op;
    struct matrix a, b;
    float *c;
    long long ldc, stride_c, m, n, k, batch;
    float alpha, beta;
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
    if (fits)
        handle->stream = stream;
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
    (void)handle; /* the fake always computes in full single precision */
    (void)mode;
    return CUBLAS_STATUS_SUCCESS;
}

/* A workspace must be device memory of the handle's device; the fake needs none of it. */
cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t handle, void *workspace, size_t bytes)
{
    ENTER();
    fake_lock();
    bool fits = bytes == 0 || fake_block_holds(workspace, bytes, handle->device);
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

static float dot(const struct gemm_op *g, const float *a, const float *b, long long i, long long j)
{
    long long step_a = g->a.transposed ? 1 : g->a.ld;
    long long step_b = g->b.transposed ? g->b.ld : 1;
    const float *x = a + (g->a.transposed ? i * g->a.ld : i);
    const float *y = b + (g->b.transposed ? j : j * g->b.ld);
    float sum = 0.0f;
    for (long long l = 0; l < g->k; l++)
        sum += x[l * step_a] * y[l * step_b];
    return sum;
}

static void matrix_touch(const struct matrix *matrix, long long member)
{
    for (long long c = 0; c < matrix->columns; c++)
        fake_touch_read(matrix->data + member * matrix->stride + c * matrix->ld,
                        (size_t)matrix->rows * sizeof(float));
}

static void member_run(const struct gemm_op *g, long long member)
{
    const float *a = g->a.data + member * g->a.stride;
    const float *b = g->b.data + member * g->b.stride;
    matrix_touch(&g->a, member);
    matrix_touch(&g->b, member);
    for (long long j = 0; j < g->n; j++) {
        float *c = g->c + member * g->stride_c + j * g->ldc;
        if (g->beta != 0.0f)
            fake_touch_read(c, (size_t)g->m * sizeof(float));
        fake_touch_write(c, (size_t)g->m * sizeof(float));
        for (long long i = 0; i < g->m; i++) {
            float product = g->alpha * dot(g, a, b, i, j);
            /* beta 0 means that C is not read: it may be NaN. */
            c[i] = g->beta != 0.0f ? product + g->beta * c[i] : product;
        }
    }
}

static void gemm_run(struct fake_op *op)
{
    const struct gemm_op *g = (const struct gemm_op *)op;
    for (long long member = 0; member < g->batch; member++)
        member_run(g, member);
}

/* All of the matrix inside one block of the handle's device? Caller holds the lock. */
static bool matrix_fits(const float *data, long long rows, long long columns, long long ld,
                        long long stride, long long batch, int device)
{
    if (ld < (rows > 1 ? rows : 1))
        return false;
    if (rows == 0 || columns == 0 || batch == 0)
        return true;
    long long floats = (batch - 1) * stride + (columns - 1) * ld + rows;
    return fake_block_holds(data, (size_t)floats * sizeof(float), device);
}

/* Caller holds the lock. */
static cublasStatus_t gemm_push(cublasHandle_t handle, const struct gemm_op *wanted)
{
    const struct matrix *a = &wanted->a;
    const struct matrix *b = &wanted->b;
    if (wanted->m < 0 || wanted->n < 0 || wanted->k < 0 || wanted->batch < 0)
        return CUBLAS_STATUS_INVALID_VALUE;
    if (handle->device != fake_device_current() ||
        fake_stream_device(handle->stream) != handle->device) {
        fake_complain("cuBLAS handle of device %d without a stream there, or not current",
                      handle->device);
        return CUBLAS_STATUS_EXECUTION_FAILED;
    }
    if (!matrix_fits(a->data, a->rows, a->columns, a->ld, a->stride, wanted->batch,
                     handle->device) ||
        !matrix_fits(b->data, b->rows, b->columns, b->ld, b->stride, wanted->batch,
                     handle->device) ||
        !matrix_fits(wanted->c, wanted->m, wanted->n, wanted->ldc, wanted->stride_c, wanted->batch,
                     handle->device)) {
        fake_complain("sgemm: a matrix is not in the memory of device %d", handle->device);
        return CUBLAS_STATUS_INVALID_VALUE;
    }
    struct gemm_op *op = fake_allocate(sizeof *op);
    *op = *wanted;
    op->op.run = gemm_run;
    fake_stream_push(handle->stream, &op->op);
    return CUBLAS_STATUS_SUCCESS;
}

static struct matrix matrix_make(cublasOperation_t operation, long long rows, long long columns,
                                 const float *data, int ld, long long stride)
{
    bool transposed = operation != CUBLAS_OP_N;
    return (struct matrix){.data = data,
                           .ld = ld,
                           .stride = stride,
                           .rows = transposed ? columns : rows,
                           .columns = transposed ? rows : columns,
                           .transposed = transposed};
}

static cublasStatus_t gemm_submit(cublasHandle_t handle, const struct gemm_op *wanted)
{
    fake_lock();
    cublasStatus_t status = gemm_push(handle, wanted);
    fake_unlock();
    return status;
}

cublasStatus_t cublasSgemm_v2(cublasHandle_t handle, cublasOperation_t ta, cublasOperation_t tb,
                              int m, int n, int k, const float *alpha, const float *a, int lda,
                              const float *b, int ldb, const float *beta, float *c, int ldc)
{
    ENTER();
    struct gemm_op wanted = {.a = matrix_make(ta, m, k, a, lda, 0),
                             .b = matrix_make(tb, k, n, b, ldb, 0),
                             .c = c,
                             .ldc = ldc,
                             .m = m,
                             .n = n,
                             .k = k,
                             .batch = 1,
                             .alpha = *alpha,
                             .beta = *beta};
    return gemm_submit(handle, &wanted);
}

cublasStatus_t cublasSgemmStridedBatched(cublasHandle_t handle, cublasOperation_t ta,
                                         cublasOperation_t tb, int m, int n, int k,
                                         const float *alpha, const float *a, int lda,
                                         long long stride_a, const float *b, int ldb,
                                         long long stride_b, const float *beta, float *c, int ldc,
                                         long long stride_c, int batch)
{
    ENTER();
    struct gemm_op wanted = {.a = matrix_make(ta, m, k, a, lda, stride_a),
                             .b = matrix_make(tb, k, n, b, ldb, stride_b),
                             .c = c,
                             .ldc = ldc,
                             .stride_c = stride_c,
                             .m = m,
                             .n = n,
                             .k = k,
                             .batch = batch,
                             .alpha = *alpha,
                             .beta = *beta};
    return gemm_submit(handle, &wanted);
}
