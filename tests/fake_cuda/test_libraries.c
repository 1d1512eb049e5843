/* cuBLAS and NCCL: products against a plain loop, collectives against their definition, and refusals. */
#include "tests/fake_cuda/support.h"

#include <cublas_v2.h>
#include <nccl.h>

enum { M = 3, N = 4, K = 5, BATCH = 2 };

/* Column major, as cuBLAS: element (row, column) of a matrix stored with `ld` rows. */
static float element(const float *x, int ld, int row, int column, bool transposed)
{
    return transposed ? x[row * ld + column] : x[column * ld + row];
}

static float *uploaded(const float *values, size_t count)
{
    float *memory = floats_make_on(0, count);
    ok(cudaMemcpy(memory, values, count * sizeof(float), cudaMemcpyHostToDevice));
    return memory;
}

static void product_check(const float *a, const float *b, const float *c, bool ta, bool tb)
{
    for (int column = 0; column < N; column++)
        for (int row = 0; row < M; row++) {
            float sum = 0.0f;
            for (int k = 0; k < K; k++)
                sum += element(a, ta ? K : M, row, k, ta) * element(b, tb ? N : K, k, column, tb);
            assert_int_equal((int)c[column * M + row], (int)(2.0f * sum));
        }
}

static void products_match_a_plain_loop(void **state)
{
    (void)state;
    machine_plain();
    float a[BATCH * M * K];
    float b[BATCH * K * N];
    float c[BATCH * M * N];
    float two = 2.0f;
    float zero = 0.0f;
    cublasHandle_t handle;
    cudaStream_t stream = stream_make_on(0);
    for (int i = 0; i < BATCH * M * K; i++)
        a[i] = (float)(i % 7);
    for (int i = 0; i < BATCH * K * N; i++)
        b[i] = (float)(i % 5 - 2);
    float *da = uploaded(a, BATCH * M * K);
    float *db = uploaded(b, BATCH * K * N);
    float *dc = floats_make_on(0, BATCH * M * N);
    ok(cublasCreate(&handle));
    ok(cublasSetStream(handle, stream));
    for (int which = 0; which < 4; which++) {
        cublasOperation_t ta = which & 1 ? CUBLAS_OP_T : CUBLAS_OP_N;
        cublasOperation_t tb = which & 2 ? CUBLAS_OP_T : CUBLAS_OP_N;
        ok(cublasSgemmStridedBatched(handle, ta, tb, M, N, K, &two, da, which & 1 ? K : M, M * K,
                                     db, which & 2 ? N : K, K * N, &zero, dc, M, M * N, BATCH));
        ok(cudaMemcpyAsync(c, dc, sizeof c, cudaMemcpyDeviceToHost, stream));
        ok(cudaStreamSynchronize(stream));
        for (int i = 0; i < BATCH; i++)
            product_check(a + i * M * K, b + i * K * N, c + i * M * N, which & 1, which & 2);
    }
    ok(cublasDestroy(handle));
    ok(cudaStreamDestroy(stream));
    ok(cudaFree(da));
    ok(cudaFree(db));
    ok(cudaFree(dc));
}

static void a_workspace_lies_at_256_bytes_and_is_written_by_products(void **state)
{
    (void)state;
    machine_plain();
    float x = 3.0f, one = 1.0f, left[65] = {0};
    cublasHandle_t handle;
    cudaStream_t stream = stream_make_on(0);
    float *dx = uploaded(&x, 1), *dy = uploaded(&x, 1), *room = uploaded(left, 65);
    ok(cublasCreate(&handle));
    ok(cublasSetStream(handle, stream));
    assert_int_equal(cublasSetWorkspace(handle, room + 1, 64), CUBLAS_STATUS_INVALID_VALUE);
    assert_int_equal(cublasSetWorkspace(handle, &one, 4), CUBLAS_STATUS_INVALID_VALUE);
    ok(cublasSetWorkspace(handle, room, 64 * sizeof *room));
    ok(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 1, &one, dx, 1, dx, 1, &one, dy, 1));
    ok(cudaStreamSynchronize(stream));
    ok(cudaMemcpy(left, room, sizeof left, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 64; i++)
        assert_true(left[i] != left[i]);
    assert_true(left[64] == 0.0f);
    ok(cudaFree(room));
    assert_int_equal(
        cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 1, &one, dx, 1, dx, 1, &one, dy, 1),
        CUBLAS_STATUS_INVALID_VALUE);
    ok(cublasDestroy(handle));
    ok(cudaStreamDestroy(stream));
    ok(cudaFree(dx));
    ok(cudaFree(dy));
}

static void product_adds_to_what_was_there_when_beta_says_so(void **state)
{
    (void)state;
    machine_plain();
    float x = 3.0f;
    float y = 0.0f;
    float one = 1.0f;
    cublasHandle_t handle;
    cudaStream_t stream = stream_make_on(0);
    float *dx = uploaded(&x, 1);
    float *dy = uploaded(&x, 1);
    ok(cublasCreate(&handle));
    ok(cublasSetStream(handle, stream));
    ok(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 1, &one, dx, 1, dx, 1, &one, dy, 1));
    ok(cudaMemcpyAsync(&y, dy, sizeof y, cudaMemcpyDeviceToHost, stream));
    ok(cudaStreamSynchronize(stream));
    assert_int_equal((int)y, 12);
    ok(cublasDestroy(handle));
    ok(cudaStreamDestroy(stream));
    ok(cudaFree(dx));
    ok(cudaFree(dy));
}

static void product_elsewhere_or_beyond_the_end_is_refused(void **state)
{
    (void)state;
    machine_plain();
    float one = 1.0f;
    cublasHandle_t handle;
    cudaStream_t stream = stream_make_on(0);
    cudaStream_t other = stream_make_on(1);
    float *far = floats_make_on(1, 4);
    float *near = floats_make_on(0, 4);
    ok(cublasCreate(&handle));
    assert_int_equal(cublasSetStream(handle, other), CUBLAS_STATUS_INVALID_VALUE);
    ok(cublasSetStream(handle, stream));
    assert_int_equal(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 2, &one, far, 2, near, 2,
                                 &one, near, 2),
                     CUBLAS_STATUS_INVALID_VALUE);
    assert_int_equal(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 2, &one, near, 3, near, 2,
                                 &one, near, 2),
                     CUBLAS_STATUS_INVALID_VALUE);
    ok(cudaSetDevice(1));
    assert_int_equal(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 2, &one, near, 2, near, 2,
                                 &one, near, 2),
                     CUBLAS_STATUS_EXECUTION_FAILED);
    ok(cublasDestroy(handle));
    ok(cudaStreamDestroy(stream));
    ok(cudaStreamDestroy(other));
    ok(cudaFree(far));
    ok(cudaFree(near));
    assert_int_equal(fake_cuda_live(), 0);
}

struct rank {
    cudaStream_t stream;
    float *data;
    ncclComm_t comm;
};

static void ranks_make(struct rank *ranks, int count)
{
    ncclComm_t comms[8];
    ok(ncclCommInitAll(comms, count, NULL));
    for (int i = 0; i < count; i++) {
        ranks[i] = (struct rank){stream_make_on(i), floats_make_on(i, 2), comms[i]};
        float values[2] = {(float)(i + 1), (float)(10 * (i + 1))};
        ok(cudaMemcpy(ranks[i].data, values, sizeof values, cudaMemcpyHostToDevice));
    }
}

static void ranks_free(struct rank *ranks, int count)
{
    for (int i = 0; i < count; i++) {
        ok(cudaStreamDestroy(ranks[i].stream));
        ok(cudaFree(ranks[i].data));
        ok(ncclCommDestroy(ranks[i].comm));
    }
    assert_int_equal(fake_cuda_live(), 0);
}

static void ranks_expect(struct rank *ranks, int count, int first, int second)
{
    for (int i = 0; i < count; i++) {
        float values[2];
        ok(cudaStreamSynchronize(ranks[i].stream));
        ok(cudaMemcpy(values, ranks[i].data, sizeof values, cudaMemcpyDeviceToHost));
        assert_int_equal((int)values[0], first);
        assert_int_equal((int)values[1], second);
    }
}

static void all_reduce_sums_and_broadcast_spreads(void **state)
{
    (void)state;
    machine("FAKE_CUDA_DEVICES=3");
    struct rank ranks[3];
    ranks_make(ranks, 3);
    ok(ncclGroupStart());
    for (int i = 0; i < 3; i++) {
        struct rank *it = &ranks[i];
        ok(ncclAllReduce(it->data, it->data, 1, ncclFloat32, ncclSum, it->comm, it->stream));
        ok(ncclBroadcast(it->data + 1, it->data + 1, 1, ncclFloat32, 2, it->comm, it->stream));
    }
    ok(ncclGroupEnd());
    ranks_expect(ranks, 3, 6, 30);
    ranks_free(ranks, 3);
}

static void collective_that_would_hang_is_refused(void **state)
{
    (void)state;
    machine_plain();
    struct rank ranks[2];
    ranks_make(ranks, 2);
    struct rank *it = &ranks[0];
    assert_int_equal(
        ncclAllReduce(it->data, it->data, 2, ncclFloat32, ncclSum, it->comm, it->stream),
        ncclInvalidUsage);
    ok(ncclGroupStart());
    ok(ncclAllReduce(it->data, it->data, 2, ncclFloat32, ncclSum, it->comm, it->stream));
    assert_int_equal(ncclGroupEnd(), ncclInvalidUsage);
    ok(ncclGroupStart());
    ok(ncclAllReduce(it->data, it->data, 2, ncclFloat32, ncclSum, it->comm, it->stream));
    ok(ncclAllReduce(ranks[1].data, ranks[1].data, 1, ncclFloat32, ncclSum, ranks[1].comm,
                     ranks[1].stream));
    assert_int_equal(ncclGroupEnd(), ncclInvalidUsage);
    ranks_expect(ranks, 1, 1, 10);
    ranks_free(ranks, 2);
}

static void collective_with_a_buffer_elsewhere_is_refused(void **state)
{
    (void)state;
    machine_plain();
    struct rank ranks[2];
    ranks_make(ranks, 2);
    ok(ncclGroupStart());
    assert_int_equal(ncclAllReduce(ranks[1].data, ranks[0].data, 2, ncclFloat32, ncclSum,
                                   ranks[0].comm, ranks[0].stream),
                     ncclInvalidArgument);
    assert_int_equal(ncclAllReduce(ranks[0].data, ranks[0].data, 2, ncclFloat32, ncclSum,
                                   ranks[0].comm, ranks[1].stream),
                     ncclInvalidArgument);
    assert_int_equal(ncclGroupEnd(), ncclInvalidArgument);
    ok(ncclGroupStart());
    ok(ncclGroupEnd());
    ranks_free(ranks, 2);
}

static void two_ranks_on_a_device_are_refused(void **state)
{
    (void)state;
    machine_plain();
    ncclComm_t comms[2];
    int same[2] = {1, 1};
    assert_int_equal(ncclCommInitAll(comms, 2, same), ncclInvalidUsage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_match_a_plain_loop),
        cmocka_unit_test(a_workspace_lies_at_256_bytes_and_is_written_by_products),
        cmocka_unit_test(product_adds_to_what_was_there_when_beta_says_so),
        cmocka_unit_test(product_elsewhere_or_beyond_the_end_is_refused),
        cmocka_unit_test(all_reduce_sums_and_broadcast_spreads),
        cmocka_unit_test(collective_that_would_hang_is_refused),
        cmocka_unit_test(collective_with_a_buffer_elsewhere_is_refused),
        cmocka_unit_test(two_ranks_on_a_device_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
