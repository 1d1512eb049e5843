/* Streams, events and host functions: what belongs to which device, what is done and what is not, times. */
#include "tests/fake_cuda/support.h"

#include <pthread.h>
#include <time.h>

#include "tests/fake_cuda/kernels.h"

static void wait_for_flag(void *flag)
{
    while (!__atomic_load_n((int *)flag, __ATOMIC_ACQUIRE)) {
        struct timespec time = {.tv_nsec = 100000};
        nanosleep(&time, NULL);
    }
}

static void stream_that_orders_itself_with_the_default_is_refused(void **state)
{
    (void)state;
    machine_plain();
    cudaStream_t stream;
    assert_int_equal(cudaStreamCreateWithFlags(&stream, cudaStreamDefault), cudaErrorNotSupported);
    assert_int_equal(cudaStreamSynchronize(NULL), cudaErrorInvalidResourceHandle);
}

static void launch_on_another_devices_stream_is_refused(void **state)
{
    (void)state;
    machine_plain();
    cudaStream_t stream = stream_make_on(0);
    struct fill_args args = {NULL, 0.0f, 0};
    ok(cudaSetDevice(1));
    assert_int_equal(launch((const void *)fill, 1, 32, &args, stream),
                     cudaErrorInvalidResourceHandle);
    ok(cudaSetDevice(0));
    ok(launch((const void *)fill, 1, 32, &args, stream));
    ok(cudaStreamDestroy(stream));
}

static void event_is_recorded_on_its_own_device_only(void **state)
{
    (void)state;
    machine_plain();
    cudaEvent_t event;
    cudaStream_t first = stream_make_on(0);
    cudaStream_t second = stream_make_on(1);
    ok(cudaSetDevice(0));
    ok(cudaEventCreate(&event));
    assert_int_equal(cudaEventRecord(event, second), cudaErrorInvalidResourceHandle);
    ok(cudaEventRecord(event, first));
    ok(cudaStreamWaitEvent(second, event, 0));
    ok(cudaStreamSynchronize(second));
    ok(cudaEventQuery(event));
    ok(cudaEventDestroy(event));
    assert_int_equal(cudaEventRecord(event, first), cudaErrorInvalidResourceHandle);
    ok(cudaStreamDestroy(first));
    ok(cudaStreamDestroy(second));
    assert_int_equal(cudaStreamSynchronize(first), cudaErrorInvalidResourceHandle);
}

static void query_tells_work_that_is_not_done(void **state)
{
    (void)state;
    machine_plain();
    int flag = 0;
    cudaEvent_t event;
    cudaStream_t stream = stream_make_on(0);
    ok(cudaEventCreate(&event));
    ok(cudaLaunchHostFunc(stream, wait_for_flag, &flag));
    ok(cudaEventRecord(event, stream));
    assert_int_equal(cudaStreamQuery(stream), cudaErrorNotReady);
    assert_int_equal(cudaEventQuery(event), cudaErrorNotReady);
    assert_int_equal(cudaGetLastError(), cudaSuccess);
    __atomic_store_n(&flag, 1, __ATOMIC_RELEASE);
    ok(cudaEventSynchronize(event));
    ok(cudaEventQuery(event));
    ok(cudaStreamSynchronize(stream));
    ok(cudaEventDestroy(event));
    ok(cudaStreamDestroy(stream));
}

static void elapsed_time_needs_two_finished_timed_events_of_a_device(void **state)
{
    (void)state;
    machine_plain();
    float ms = -1.0f;
    cudaEvent_t from;
    cudaEvent_t to;
    cudaEvent_t untimed;
    int flag = 0;
    cudaStream_t stream = stream_make_on(0);
    ok(cudaEventCreate(&from));
    ok(cudaEventCreate(&to));
    ok(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming));
    assert_int_equal(cudaEventElapsedTime(&ms, from, to), cudaErrorInvalidResourceHandle);
    ok(cudaEventRecord(from, stream));
    ok(cudaEventRecord(untimed, stream));
    ok(cudaLaunchHostFunc(stream, wait_for_flag, &flag));
    ok(cudaEventRecord(to, stream));
    assert_int_equal(cudaEventElapsedTime(&ms, from, to), cudaErrorNotReady);
    __atomic_store_n(&flag, 1, __ATOMIC_RELEASE);
    ok(cudaStreamSynchronize(stream));
    ok(cudaEventElapsedTime(&ms, from, to));
    assert_true(ms >= 0.0f);
    assert_int_equal(cudaEventElapsedTime(&ms, untimed, to), cudaErrorInvalidResourceHandle);
    ok(cudaEventDestroy(from));
    ok(cudaEventDestroy(to));
    ok(cudaEventDestroy(untimed));
    ok(cudaStreamDestroy(stream));
}

struct inside {
    int error;
    int calls;
    pthread_t thread;
};

static void call_cuda_inside(void *argument)
{
    struct inside *it = argument;
    void *memory;
    it->error = (int)cudaMalloc(&memory, 64);
    it->thread = pthread_self();
    it->calls++;
}

static void cuda_call_inside_a_host_function_fails(void **state)
{
    (void)state;
    machine_plain();
    struct inside it = {0};
    cudaStream_t stream = stream_make_on(0);
    ok(cudaLaunchHostFunc(stream, call_cuda_inside, &it));
    ok(cudaStreamSynchronize(stream));
    assert_int_equal(it.calls, 1);
    assert_int_equal(it.error, cudaErrorNotPermitted);
    assert_int_equal(fake_cuda_live(), 1);
    ok(cudaStreamDestroy(stream));
}

static void host_functions_of_all_streams_share_a_thread(void **state)
{
    (void)state;
    machine_plain();
    struct inside first = {0};
    struct inside second = {0};
    cudaStream_t a = stream_make_on(0);
    cudaStream_t b = stream_make_on(1);
    ok(cudaLaunchHostFunc(a, call_cuda_inside, &first));
    ok(cudaLaunchHostFunc(b, call_cuda_inside, &second));
    ok(cudaStreamSynchronize(a));
    ok(cudaStreamSynchronize(b));
    assert_true(pthread_equal(first.thread, second.thread));
    assert_false(pthread_equal(first.thread, pthread_self()));
    ok(cudaStreamDestroy(a));
    ok(cudaStreamDestroy(b));
}

static void wait_for_an_event_never_recorded_waits_for_nothing(void **state)
{
    (void)state;
    machine_plain();
    cudaEvent_t event;
    cudaStream_t stream = stream_make_on(0);
    ok(cudaEventCreate(&event));
    ok(cudaStreamWaitEvent(stream, event, 0));
    ok(cudaStreamSynchronize(stream));
    ok(cudaEventQuery(event));
    ok(cudaEventDestroy(event));
    ok(cudaStreamDestroy(stream));
    assert_int_equal(fake_cuda_live(), 0);
}

static void raise_flag_late(void *flag)
{
    struct timespec time = {.tv_nsec = 20000000};
    nanosleep(&time, NULL);
    *(int *)flag = 1;
}

static void waiting_for_the_device_covers_streams_already_destroyed(void **state)
{
    (void)state;
    machine_plain();
    int flag = 0;
    cudaStream_t stream = stream_make_on(0);
    ok(cudaLaunchHostFunc(stream, raise_flag_late, &flag));
    ok(cudaStreamDestroy(stream));
    ok(cudaDeviceSynchronize());
    assert_int_equal(flag, 1);
    assert_int_equal(fake_cuda_live(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stream_that_orders_itself_with_the_default_is_refused),
        cmocka_unit_test(launch_on_another_devices_stream_is_refused),
        cmocka_unit_test(event_is_recorded_on_its_own_device_only),
        cmocka_unit_test(query_tells_work_that_is_not_done),
        cmocka_unit_test(elapsed_time_needs_two_finished_timed_events_of_a_device),
        cmocka_unit_test(cuda_call_inside_a_host_function_fails),
        cmocka_unit_test(host_functions_of_all_streams_share_a_thread),
        cmocka_unit_test(waiting_for_the_device_covers_streams_already_destroyed),
        cmocka_unit_test(wait_for_an_event_never_recorded_waits_for_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
