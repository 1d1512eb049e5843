/* Faults that a test asks for: work that hangs, devices that are lost, paths between devices that damage or delay. */
#include "tests/fake_cuda/support.h"

#include <string.h>
#include <time.h>

#include "tests/fake_cuda/kernels.h"

static void fill_on(float *y, float value, cudaStream_t stream)
{
    struct fill_args args = {y, value, 64};
    ok(launch((const void *)fill, 1, 32, &args, stream));
}

static void chosen_launch_never_ends(void **state)
{
    (void)state;
    machine("FAKE_CUDA_HANG=cudaLaunchKernel:2");
    cudaStream_t stream = stream_make_on(0);
    cudaStream_t other = stream_make_on(0);
    cudaEvent_t first;
    cudaEvent_t second;
    float *y = floats_make_on(0, 64);
    ok(cudaEventCreate(&first));
    ok(cudaEventCreate(&second));
    fill_on(y, 1.0f, stream);
    ok(cudaEventRecord(first, stream));
    fill_on(y, 2.0f, stream);
    ok(cudaEventRecord(second, stream));
    ok(cudaEventSynchronize(first));
    ok(cudaStreamSynchronize(other));
    for (int i = 0; i < 20; i++)
        assert_int_equal(cudaEventQuery(second), cudaErrorNotReady);
    assert_int_equal(cudaStreamQuery(stream), cudaErrorNotReady);
    machine_plain(); /* ends it */
    ok(cudaSetDevice(0));
    ok(cudaStreamSynchronize(stream));
    ok(cudaEventQuery(second));
    ok(cudaEventDestroy(first));
    ok(cudaEventDestroy(second));
    ok(cudaStreamDestroy(stream));
    ok(cudaStreamDestroy(other));
    ok(cudaFree(y));
    assert_int_equal(fake_cuda_live(), 0);
}

/* The error is met where the operation is waited for, and by every call after it; other devices live on. */
static void device_is_lost_at_the_chosen_operation(void **state)
{
    (void)state;
    machine("FAKE_CUDA_STICKY=cudaLaunchKernel:2=719");
    void *memory;
    cudaStream_t stream = stream_make_on(0);
    cudaEvent_t event;
    ok(cudaEventCreate(&event));
    float *y = floats_make_on(0, 64);
    fill_on(y, 1.0f, stream);
    ok(cudaStreamSynchronize(stream));
    fill_on(y, 2.0f, stream);
    assert_int_equal(cudaStreamSynchronize(stream), cudaErrorLaunchFailure);
    assert_int_equal(cudaStreamSynchronize(stream), cudaErrorLaunchFailure);
    assert_int_equal(cudaMalloc(&memory, 4), cudaErrorLaunchFailure);
    assert_int_equal(cudaSetDevice(1), cudaErrorLaunchFailure);
    machine_plain();
    float first;
    ok(cudaSetDevice(0));
    ok(cudaStreamSynchronize(stream));
    ok(cudaMemcpy(&first, y, sizeof first, cudaMemcpyDeviceToHost));
    assert_int_equal((int)first, 1); /* the kernel did not run */
    ok(cudaEventDestroy(event));
    ok(cudaStreamDestroy(stream));
    ok(cudaFree(y));
}

static void copy_can_be_the_lost_operation_too(void **state)
{
    (void)state;
    machine("FAKE_CUDA_STICKY=cudaMemcpyAsync:1");
    float value = 0.0f;
    cudaStream_t stream = stream_make_on(0);
    float *y = floats_make_on(0, 1);
    ok(cudaMemcpyAsync(y, &value, sizeof value, cudaMemcpyHostToDevice, stream));
    assert_int_equal(cudaStreamSynchronize(stream), cudaErrorIllegalAddress);
    machine_plain();
    ok(cudaSetDevice(0));
    ok(cudaStreamSynchronize(stream));
    ok(cudaStreamDestroy(stream));
    ok(cudaFree(y));
}

enum { PAGE = 4096, BYTES = 3 * PAGE };

/* Copies zeros from device 1 to device 0; how many bytes arrive as something else. */
static int copy_damage(long long *ns)
{
    static unsigned char host[BYTES];
    struct timespec begun;
    struct timespec ended;
    cudaStream_t stream = stream_make_on(0);
    void *to = floats_make_on(0, BYTES / sizeof(float));
    void *from = floats_make_on(1, BYTES / sizeof(float));
    memset(host, 0, sizeof host);
    ok(cudaMemcpy(from, host, BYTES, cudaMemcpyHostToDevice));
    clock_gettime(CLOCK_MONOTONIC, &begun);
    ok(cudaMemcpyPeerAsync(to, 0, from, 1, BYTES, stream));
    ok(cudaStreamSynchronize(stream));
    clock_gettime(CLOCK_MONOTONIC, &ended);
    *ns = (ended.tv_sec - begun.tv_sec) * 1000000000LL + ended.tv_nsec - begun.tv_nsec;
    ok(cudaMemcpy(host, to, BYTES, cudaMemcpyDeviceToHost));
    ok(cudaStreamDestroy(stream));
    ok(cudaFree(to));
    ok(cudaFree(from));
    int wrong = 0;
    for (int i = 0; i < BYTES; i++)
        wrong += host[i] != 0;
    return wrong;
}

static void bad_path_damages_copies_once_peers_reach_each_other(void **state)
{
    (void)state;
    long long ns;
    machine("FAKE_CUDA_PEER_BAD=0-1");
    assert_int_equal(copy_damage(&ns), 0); /* through the host */
    ok(cudaSetDevice(0));
    ok(cudaDeviceEnablePeerAccess(1, 0));
    assert_int_equal(copy_damage(&ns), BYTES / PAGE);
    ok(cudaSetDevice(0));
    ok(cudaDeviceDisablePeerAccess(1));
    assert_int_equal(copy_damage(&ns), 0);
    machine("FAKE_CUDA_DEVICES=3", "FAKE_CUDA_PEER_BAD=0-2");
    ok(cudaSetDevice(0));
    ok(cudaDeviceEnablePeerAccess(1, 0));
    assert_int_equal(copy_damage(&ns), 0); /* another pair */
    machine_plain();
}

/* A lower bound holds however busy the machine is. */
static void slow_path_takes_its_time(void **state)
{
    (void)state;
    long long ns;
    machine("FAKE_CUDA_PEER_SLOW=0-1:2560000");
    ok(cudaSetDevice(1));
    ok(cudaDeviceEnablePeerAccess(0, 0));
    assert_int_equal(copy_damage(&ns), 0);
    assert_true(ns >= 2560000LL * 1000 * BYTES >> 20);
    machine_plain();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chosen_launch_never_ends),
        cmocka_unit_test(device_is_lost_at_the_chosen_operation),
        cmocka_unit_test(copy_can_be_the_lost_operation_too),
        cmocka_unit_test(bad_path_damages_copies_once_peers_reach_each_other),
        cmocka_unit_test(slow_path_takes_its_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
