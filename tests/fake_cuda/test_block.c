/* How a grid runs: indices, block barriers, warp shuffles, any order of threads, and a report instead of a hang. */
#include "tests/fake_cuda/support.h"

#include <math.h>

#include "tests/fake_cuda/kernels.h"

enum { THREADS = 96, BLOCKS = 3, N = THREADS * BLOCKS };

static float values[N];

/* Runs one kernel over N floats that begin as 0, 1, 2 ... and brings them back. A kernel that fails may be told of by
 * whichever call comes after it. */
static cudaError_t values_run(const void *kernel, dim3 grid, dim3 block)
{
    cudaStream_t stream = stream_make_on(0);
    float *y = floats_make_on(0, N);
    void *list[] = {&(struct index_args){y}};
    for (int i = 0; i < N; i++)
        values[i] = (float)i;
    ok(cudaMemcpyAsync(y, values, sizeof values, cudaMemcpyHostToDevice, stream));
    ok(cudaLaunchKernel(kernel, grid, block, list, 0, stream));
    cudaError_t error = cudaMemcpyAsync(values, y, sizeof values, cudaMemcpyDeviceToHost, stream);
    if (error == cudaSuccess)
        error = cudaStreamSynchronize(stream);
    if (error != cudaSuccess)
        fake_cuda_reset();
    ok(cudaStreamDestroy(stream));
    ok(cudaFree(y));
    return error;
}

static void every_thread_of_a_3d_grid_has_its_index(void **state)
{
    (void)state;
    machine_plain();
    ok(values_run((const void *)index_all, (dim3){3, 2, 1}, (dim3){4, 6, 2}));
    for (int i = 0; i < N; i++)
        assert_int_equal((int)values[i], i);
}

static bool block_is_reversed(void)
{
    for (int i = 0; i < N; i++)
        if ((int)values[i] != i / THREADS * THREADS + THREADS - 1 - i % THREADS)
            return false;
    return true;
}

static void block_barrier_separates_write_and_read(void **state)
{
    (void)state;
    machine_plain();
    ok(values_run((const void *)reverse, (dim3){BLOCKS, 1, 1}, (dim3){THREADS, 1, 1}));
    assert_true(block_is_reversed());
}

static void barriers_hold_in_random_order(void **state)
{
    (void)state;
    for (int seed = 1; seed <= 5; seed++) {
        char setting[32];
        snprintf(setting, sizeof setting, "FAKE_CUDA_SEED=%d", seed);
        machine("FAKE_CUDA_ORDER=random", setting);
        ok(values_run((const void *)reverse, (dim3){BLOCKS, 1, 1}, (dim3){THREADS, 1, 1}));
        assert_true(block_is_reversed());
    }
    machine_plain();
}

static void missing_block_barrier_gives_wrong_values(void **state)
{
    (void)state;
    machine_plain();
    ok(values_run((const void *)reverse_without_barrier, (dim3){BLOCKS, 1, 1},
                  (dim3){THREADS, 1, 1}));
    assert_false(block_is_reversed());
}

static void rows_sum_by_shuffles_and_shared_memory(void **state)
{
    (void)state;
    machine_plain();
    enum { ROWS = 5, COLUMNS = 100 };
    float x[ROWS * COLUMNS];
    float sums[ROWS];
    cudaStream_t stream = stream_make_on(0);
    float *device_x = floats_make_on(0, ROWS * COLUMNS);
    float *device_y = floats_make_on(0, ROWS);
    for (int i = 0; i < ROWS * COLUMNS; i++)
        x[i] = (float)(i / COLUMNS + 1);
    ok(cudaMemcpyAsync(device_x, x, sizeof x, cudaMemcpyHostToDevice, stream));
    struct row_sum_args args = {device_y, device_x, COLUMNS};
    ok(launch((const void *)row_sum, ROWS, 64, &args, stream));
    ok(cudaMemcpyAsync(sums, device_y, sizeof sums, cudaMemcpyDeviceToHost, stream));
    ok(cudaStreamSynchronize(stream));
    for (int row = 0; row < ROWS; row++)
        assert_int_equal((int)sums[row], (row + 1) * COLUMNS);
    ok(cudaStreamDestroy(stream));
    ok(cudaFree(device_x));
    ok(cudaFree(device_y));
}

static void shuffle_with_a_lane_that_returned_is_a_launch_failure(void **state)
{
    (void)state;
    machine_plain();
    assert_int_equal(values_run((const void *)lonely, (dim3){1, 1, 1}, (dim3){32, 1, 1}),
                     cudaErrorLaunchFailure);
}

/* The 8 numbers and 4 counters of one warp. */
static void warp_run(const void *kernel, float *y, int *counters)
{
    cudaStream_t stream = stream_make_on(0);
    struct warp_args args = {floats_make_on(0, 8), (int *)floats_make_on(0, 4)};
    ok(cudaMemsetAsync(args.counter, 0, 4 * sizeof(int), stream));
    ok(launch(kernel, 1, 32, &args, stream));
    ok(cudaMemcpyAsync(y, args.y, 8 * sizeof(float), cudaMemcpyDeviceToHost, stream));
    ok(cudaMemcpyAsync(counters, args.counter, 4 * sizeof(int), cudaMemcpyDeviceToHost, stream));
    ok(cudaStreamSynchronize(stream));
    ok(cudaStreamDestroy(stream));
    ok(cudaFree(args.y));
    ok(cudaFree(args.counter));
}

static void warp_exchanges_every_type_and_votes(void **state)
{
    (void)state;
    static const float wanted[8] = {3.0f, 5.0f, 7.5f, 16.0f, 16.0f, 1.0f, 0.0f, 0.0f};
    machine("FAKE_CUDA_ORDER=random");
    float y[8];
    int counters[4];
    warp_run((const void *)warp_all, y, counters);
    assert_memory_equal(y, wanted, sizeof wanted);
    assert_int_equal(counters[0], 31 * 32 / 2);
    assert_int_equal(counters[1], 31);
    assert_int_equal(counters[2], 9);
    machine_plain();
}

static void half_a_warp_may_exchange_more_often(void **state)
{
    (void)state;
    machine_plain();
    float y[8];
    int counters[4];
    warp_run((const void *)warp_halves, y, counters);
    assert_int_equal((int)y[0], 20);
    assert_int_equal((int)y[1], 5);
    assert_true(isnan(y[2])); /* from a lane outside the mask */
}

static void launch_of_an_impossible_shape_is_refused(void **state)
{
    (void)state;
    machine_plain();
    cudaStream_t stream = stream_make_on(0);
    struct index_args args = {NULL};
    const void *kernel = (const void *)index_all;
    assert_int_equal(launch(kernel, 1, 1025, &args, stream), cudaErrorInvalidConfiguration);
    assert_int_equal(launch(kernel, 0, 32, &args, stream), cudaErrorInvalidConfiguration);
    assert_int_equal(launch((const void *)values_run, 1, 1, &args, stream),
                     cudaErrorInvalidDeviceFunction);
    ok(cudaStreamDestroy(stream));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_thread_of_a_3d_grid_has_its_index),
        cmocka_unit_test(block_barrier_separates_write_and_read),
        cmocka_unit_test(barriers_hold_in_random_order),
        cmocka_unit_test(missing_block_barrier_gives_wrong_values),
        cmocka_unit_test(rows_sum_by_shuffles_and_shared_memory),
        cmocka_unit_test(shuffle_with_a_lane_that_returned_is_a_launch_failure),
        cmocka_unit_test(warp_exchanges_every_type_and_votes),
        cmocka_unit_test(half_a_warp_may_exchange_more_often),
        cmocka_unit_test(launch_of_an_impossible_shape_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
