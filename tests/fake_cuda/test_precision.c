/* Products of reduced precision: what TF32 loses, 16-bit inputs and outputs, and what is not served. */
#include "tests/fake_cuda/support.h"

#include <cublas_v2.h>

#include "engine/base/half.h"

enum { M = 2, N = 3, K = 4, BATCH = 2 };

static cublasHandle_t handle;
static cudaStream_t stream;

static void bench_make(void)
{
    machine_plain();
    stream = stream_make_on(0);
    ok(cublasCreate(&handle));
    ok(cublasSetStream(handle, stream));
}

static void bench_free(void)
{
    ok(cublasDestroy(handle));
    ok(cudaStreamDestroy(stream));
    assert_int_equal(fake_cuda_live(), 0);
}

static void *uploaded(const void *values, size_t bytes)
{
    void *memory;
    ok(cudaSetDevice(0));
    ok(cudaMalloc(&memory, bytes));
    ok(cudaMemcpy(memory, values, bytes, cudaMemcpyHostToDevice));
    return memory;
}

/* x * y of single numbers, by cublasSgemm or cublasGemmEx. */
static float product_of(float x, float y, bool extended, cublasComputeType_t compute)
{
    float one = 1.0f;
    float zero = 0.0f;
    float result = 0.0f;
    float *a = uploaded(&x, sizeof x);
    float *b = uploaded(&y, sizeof y);
    float *c = floats_make_on(0, 1);
    if (extended)
        ok(cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 1, &one, a, CUDA_R_32F, 1, b,
                        CUDA_R_32F, 1, &zero, c, CUDA_R_32F, 1, compute, CUBLAS_GEMM_DEFAULT));
    else
        ok(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 1, &one, a, 1, b, 1, &zero, c, 1));
    ok(cudaStreamSynchronize(stream));
    ok(cudaMemcpy(&result, c, sizeof result, cudaMemcpyDeviceToHost));
    ok(cudaFree(a));
    ok(cudaFree(b));
    ok(cudaFree(c));
    return result;
}

static void tf32_rounds_inputs_to_ten_bits(void **state)
{
    (void)state;
    const float ulp = 0x1p-10f; /* of 1 in TF32 */
    bench_make();
    float between = 1.0f + 0.75f * ulp;
    assert_true(product_of(between, 1.0f, false, CUBLAS_COMPUTE_32F) == between);
    assert_true(product_of(between, 1.0f, true, CUBLAS_COMPUTE_32F) == between);
    assert_true(product_of(between, 1.0f, true, CUBLAS_COMPUTE_32F_FAST_TF32) == 1.0f + ulp);
    assert_true(product_of(1.0f, 1.0f + 0.5f * ulp, true, CUBLAS_COMPUTE_32F_FAST_TF32) == 1.0f);
    ok(cublasSetMathMode(handle, CUBLAS_TF32_TENSOR_OP_MATH));
    cublasMath_t mode;
    ok(cublasGetMathMode(handle, &mode));
    assert_int_equal(mode, CUBLAS_TF32_TENSOR_OP_MATH);
    assert_true(product_of(between, 1.0f, false, CUBLAS_COMPUTE_32F) == 1.0f + ulp);
    assert_true(product_of(between, 1.0f, true, CUBLAS_COMPUTE_32F) == 1.0f + ulp);
    assert_true(product_of(between, 1.0f, true, CUBLAS_COMPUTE_32F_PEDANTIC) == between);
    bench_free();
}

struct half_kind {
    cudaDataType type;
    uint16_t (*narrow)(float);
    float (*widen)(uint16_t);
};

static uint16_t f16_narrow(float value)
{
    return mgb_f16_of_f32(value);
}
static float f16_widen(uint16_t value)
{
    return mgb_f32_of_f16(value);
}
static uint16_t bf16_narrow(float value)
{
    return mgb_bf16_of_f32(value);
}
static float bf16_widen(uint16_t value)
{
    return mgb_f32_of_bf16(value);
}

/* Element (row, column) of the expected product of batch member `b`; inputs are exact in 16 bits, sums in f32. */
static float expected(const float *x, const float *y, int b, int row, int column)
{
    float sum = 0.0f;
    for (int k = 0; k < K; k++)
        sum += x[b * M * K + k * M + row] * y[b * K * N + column * K + k];
    return sum;
}

static void halves_check(const struct half_kind *kind, cudaDataType out)
{
    float x[BATCH * M * K];
    float y[BATCH * K * N];
    uint16_t hx[BATCH * M * K];
    uint16_t hy[BATCH * K * N];
    float result[BATCH * M * N];
    float one = 1.0f;
    float zero = 0.0f;
    for (int i = 0; i < BATCH * M * K; i++)
        x[i] = kind->widen(hx[i] = kind->narrow(0.3f * (float)(i + 1)));
    for (int i = 0; i < BATCH * K * N; i++)
        y[i] = kind->widen(hy[i] = kind->narrow(1.7f - 0.1f * (float)i));
    void *a = uploaded(hx, sizeof hx);
    void *b = uploaded(hy, sizeof hy);
    void *c = floats_make_on(0, BATCH * M * N);
    ok(cublasGemmStridedBatchedEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, M, N, K, &one, a, kind->type, M,
                                  M * K, b, kind->type, K, K * N, &zero, c, out, M, M * N, BATCH,
                                  CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT_TENSOR_OP));
    ok(cudaStreamSynchronize(stream));
    ok(cudaMemcpy(result, c, sizeof result, cudaMemcpyDeviceToHost));
    for (int i = 0; i < BATCH * M * N; i++) {
        float wanted = expected(x, y, i / (M * N), i % M, i / M % N);
        if (out == CUDA_R_32F)
            assert_true(result[i] == wanted);
        else
            assert_int_equal(((uint16_t *)result)[i], kind->narrow(wanted));
    }
    ok(cudaFree(a));
    ok(cudaFree(b));
    ok(cudaFree(c));
}

static void sixteen_bit_inputs_are_summed_in_f32(void **state)
{
    (void)state;
    static const struct half_kind kinds[] = {{CUDA_R_16F, f16_narrow, f16_widen},
                                             {CUDA_R_16BF, bf16_narrow, bf16_widen}};
    bench_make();
    for (int i = 0; i < 2; i++) {
        halves_check(&kinds[i], CUDA_R_32F);
        halves_check(&kinds[i], kinds[i].type);
    }
    bench_free();
}

static cublasStatus_t types_try(cudaDataType in, cudaDataType out, cublasComputeType_t compute,
                                int ldc)
{
    float one = 1.0f;
    float *x = floats_make_on(0, 4);
    cublasStatus_t status = cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 2, &one, x, in, 2,
                                         x, in, 2, &one, x, out, ldc, compute, CUBLAS_GEMM_DEFAULT);
    ok(cudaStreamSynchronize(stream));
    ok(cudaFree(x));
    return status;
}

static void other_types_and_sizes_are_refused(void **state)
{
    (void)state;
    bench_make();
    ok(types_try(CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_32F, 2));
    assert_int_equal(types_try(CUDA_R_32F, CUDA_R_16F, CUBLAS_COMPUTE_32F, 2),
                     CUBLAS_STATUS_NOT_SUPPORTED);
    assert_int_equal(types_try(CUDA_R_16F, CUDA_R_16BF, CUBLAS_COMPUTE_32F, 2),
                     CUBLAS_STATUS_NOT_SUPPORTED);
    assert_int_equal(types_try(CUDA_R_64F, CUDA_R_64F, CUBLAS_COMPUTE_64F, 2),
                     CUBLAS_STATUS_NOT_SUPPORTED);
    assert_int_equal(types_try(CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_32F_FAST_TF32, 2),
                     CUBLAS_STATUS_NOT_SUPPORTED);
    assert_int_equal(types_try(CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F, 1),
                     CUBLAS_STATUS_INVALID_VALUE);
    assert_int_equal(types_try(CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F, 3),
                     CUBLAS_STATUS_INVALID_VALUE); /* beyond the end */
    bench_free();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tf32_rounds_inputs_to_ten_bits),
        cmocka_unit_test(sixteen_bit_inputs_are_summed_in_f32),
        cmocka_unit_test(other_types_and_sizes_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
