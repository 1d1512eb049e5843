/* Collectives beyond test_libraries.c: roots, types, a group's errors, ranks that are missing or aborted. */
#include "tests/fake_cuda/older.h"
#include "tests/fake_cuda/support.h"

#include <string.h>

enum { RANKS = 3, N = 4 };

static ncclComm_t comms[RANKS];
static cudaStream_t streams[RANKS];
static float *data[RANKS], *result[RANKS];

/* data of rank r: r + 1, 2 (r + 1), ... */
static void ranks_make(void)
{
    ok(ncclCommInitAll(comms, RANKS, NULL));
    for (int r = 0; r < RANKS; r++) {
        float values[N];
        for (int i = 0; i < N; i++)
            values[i] = (float)((r + 1) * (i + 1));
        streams[r] = stream_make_on(r);
        data[r] = floats_make_on(r, N);
        result[r] = floats_make_on(r, N);
        ok(cudaMemcpy(data[r], values, sizeof values, cudaMemcpyHostToDevice));
        ok(cudaMemcpy(result[r], values, sizeof values, cudaMemcpyHostToDevice));
    }
}

static void memory_free(void)
{
    for (int r = 0; r < RANKS; r++) {
        ok(cudaStreamSynchronize(streams[r]));
        ok(cudaStreamDestroy(streams[r]));
        ok(cudaFree(data[r]));
        ok(cudaFree(result[r]));
    }
    assert_int_equal(fake_cuda_live(), 0);
}

static void ranks_free(void)
{
    for (int r = 0; r < RANKS; r++)
        ok(ncclCommDestroy(comms[r]));
    memory_free();
}

static float result_get(int rank, int i)
{
    float value;
    ok(cudaStreamSynchronize(streams[rank]));
    ok(cudaMemcpy(&value, result[rank] + i, sizeof value, cudaMemcpyDeviceToHost));
    return value;
}

static void reduce_gives_the_sum_to_the_root_alone(void **state)
{
    (void)state;
    machine("FAKE_CUDA_DEVICES=3");
    ranks_make();
    ok(ncclGroupStart());
    for (int r = 0; r < RANKS; r++)
        ok(ncclReduce(data[r], r == 1 ? result[r] : NULL, N, ncclFloat32, ncclSum, 1, comms[r],
                      streams[r]));
    ok(ncclGroupEnd());
    for (int i = 0; i < N; i++) {
        assert_int_equal((int)result_get(1, i), 6 * (i + 1));
        assert_int_equal((int)result_get(0, i), i + 1);
    }
    ranks_free();
}

static void mean_is_the_sum_over_the_ranks(void **state)
{
    (void)state;
    machine("FAKE_CUDA_DEVICES=3");
    ranks_make();
    ok(ncclGroupStart());
    for (int r = 0; r < RANKS; r++)
        ok(ncclAllReduce(data[r], result[r], N, ncclFloat32, ncclAvg, comms[r], streams[r]));
    ok(ncclGroupEnd());
    for (int r = 0; r < RANKS; r++)
        assert_int_equal((int)result_get(r, 2), 6);
    ranks_free();
}

static void broadcast_takes_numbers_of_every_size(void **state)
{
    (void)state;
    static const ncclDataType_t types[] = {ncclUint8, ncclBfloat16, ncclInt32, ncclFloat64};
    static const int bytes[] = {1, 2, 4, 8};
    for (int t = 0; t < 4; t++) {
        char wanted[sizeof(float) * N];
        char got[sizeof wanted];
        machine("FAKE_CUDA_DEVICES=3");
        ranks_make();
        ok(cudaMemcpy(wanted, data[2], sizeof wanted, cudaMemcpyDeviceToHost));
        ok(ncclGroupStart());
        for (int r = 0; r < RANKS; r++)
            ok(ncclBroadcast(data[r], result[r], sizeof wanted / (size_t)bytes[t], types[t], 2,
                             comms[r], streams[r]));
        ok(ncclGroupEnd());
        for (int r = 0; r < RANKS; r++) {
            ok(cudaStreamSynchronize(streams[r]));
            ok(cudaMemcpy(got, result[r], sizeof got, cudaMemcpyDeviceToHost));
            assert_memory_equal(got, wanted, sizeof wanted);
        }
        ranks_free();
    }
}

static void group_with_a_wrong_call_starts_nothing(void **state)
{
    (void)state;
    machine("FAKE_CUDA_DEVICES=3");
    ranks_make();
    ok(ncclGroupStart());
    for (int r = 0; r < RANKS; r++) {
        ncclRedOp_t operation = r == 1 ? ncclMax : ncclSum;
        ncclResult_t wanted = r == 1 ? ncclInvalidArgument : ncclSuccess;
        assert_int_equal(
            ncclAllReduce(data[r], result[r], N, ncclFloat32, operation, comms[r], streams[r]),
            wanted);
    }
    assert_int_equal(ncclGroupEnd(), ncclInvalidArgument);
    assert_int_equal((int)result_get(0, 0), 1);
    assert_int_equal(ncclGroupEnd(), ncclInvalidUsage);
    ranks_free();
}

static void nested_groups_start_with_the_outermost(void **state)
{
    (void)state;
    machine("FAKE_CUDA_DEVICES=3");
    ranks_make();
    ok(ncclGroupStart());
    for (int r = 0; r < RANKS; r++) {
        ok(ncclGroupStart());
        ok(ncclAllReduce(data[r], result[r], N, ncclFloat32, ncclSum, comms[r], streams[r]));
        ok(ncclGroupEnd());
        assert_int_equal((int)result_get(0, 0), 1);
    }
    ok(ncclGroupEnd());
    assert_int_equal((int)result_get(0, 0), 6);
    ranks_free();
}

static void ranks_still_run(int from)
{
    for (int r = from; r < RANKS; r++)
        assert_int_equal(cudaStreamQuery(streams[r]), cudaErrorNotReady);
}

/* As on devices: nothing tells that it will never end, and only giving the communicators up ends it. */
static void collective_that_lacks_a_rank_hangs_until_it_is_aborted(void **state)
{
    (void)state;
    machine("FAKE_CUDA_DEVICES=3", "FAKE_CUDA_MISSING_RANK=hang");
    ranks_make();
    ok(ncclGroupStart());
    for (int r = 1; r < RANKS; r++)
        ok(ncclAllReduce(data[r], result[r], N, ncclFloat32, ncclSum, comms[r], streams[r]));
    ok(ncclGroupEnd());
    ok(cudaStreamSynchronize(streams[0]));
    ranks_still_run(1);
    ncclResult_t error = ncclInternalError;
    ok(ncclCommGetAsyncError(comms[1], &error));
    assert_int_equal(error, ncclSuccess);
    for (int r = 0; r < RANKS; r++)
        ok(ncclCommAbort(comms[r]));
    memory_free();
}

static void aborted_ranks_stop_waiting_for_one_that_hangs(void **state)
{
    (void)state;
    machine("FAKE_CUDA_DEVICES=3", "FAKE_CUDA_HANG=ncclAllReduce:2");
    ranks_make();
    ok(ncclGroupStart());
    for (int r = 0; r < RANKS; r++)
        ok(ncclAllReduce(data[r], result[r], N, ncclFloat32, ncclSum, comms[r], streams[r]));
    ok(ncclGroupEnd());
    ranks_still_run(0);
    for (int r = 0; r < RANKS; r++)
        ok(ncclCommAbort(comms[r]));
    memory_free();
}

static void communicator_knows_its_place(void **state)
{
    (void)state;
    int count;
    int rank;
    int device;
    int order[2] = {2, 0};
    ncclComm_t two[2];
    machine("FAKE_CUDA_DEVICES=3");
    ok(ncclCommInitAll(two, 2, order));
    ok(ncclCommCount(two[1], &count));
    ok(ncclCommUserRank(two[1], &rank));
    ok(ncclCommCuDevice(two[0], &device));
    assert_int_equal(count, 2);
    assert_int_equal(rank, 1);
    assert_int_equal(device, 2);
    ok(ncclCommDestroy(two[0]));
    ok(ncclCommDestroy(two[1]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reduce_gives_the_sum_to_the_root_alone),
        cmocka_unit_test(mean_is_the_sum_over_the_ranks),
        cmocka_unit_test(broadcast_takes_numbers_of_every_size),
        cmocka_unit_test(group_with_a_wrong_call_starts_nothing),
        cmocka_unit_test(nested_groups_start_with_the_outermost),
        cmocka_unit_test(collective_that_lacks_a_rank_hangs_until_it_is_aborted),
        cmocka_unit_test(aborted_ranks_stop_waiting_for_one_that_hangs),
        cmocka_unit_test(communicator_knows_its_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
