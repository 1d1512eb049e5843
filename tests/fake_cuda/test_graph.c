/* Captures and graphs: what is replayed, and which calls CUDA refuses while a stream is captured. (Orders inside a graph:
 * test_order.c.) */
#include "tests/fake_cuda/support.h"

#include <cublas_v2.h>
#include <nccl.h>
#include <pthread.h>

#include "tests/fake_cuda/kernels.h"

enum { N = 64 };

static struct bench {
    cudaStream_t stream, side;
    cudaEvent_t forked, joined;
    float *x, *y;
} it;

static void bench_make(void)
{
    machine_plain();
    it.stream = stream_make_on(0);
    it.side = stream_make_on(0);
    ok(cudaEventCreate(&it.forked));
    ok(cudaEventCreate(&it.joined));
    it.x = floats_make_on(0, N);
    it.y = floats_make_on(0, N);
    struct fill_args args = {it.y, 0.0f, N};
    ok(launch((const void *)fill, 1, 32, &args, it.stream));
    ok(cudaStreamSynchronize(it.stream));
}

static void bench_free(void)
{
    ok(cudaStreamDestroy(it.stream));
    ok(cudaStreamDestroy(it.side));
    ok(cudaEventDestroy(it.forked));
    ok(cudaEventDestroy(it.joined));
    ok(cudaFree(it.x));
    ok(cudaFree(it.y));
    assert_int_equal(fake_cuda_live(), 0);
}

static void begin(void)
{
    ok(cudaStreamBeginCapture(it.stream, cudaStreamCaptureModeGlobal));
}

static void fill_on(float *y, float value, cudaStream_t stream)
{
    struct fill_args args = {y, value, N};
    ok(launch((const void *)fill, 1, 32, &args, stream));
}

static void axpy_on(cudaStream_t stream)
{
    struct axpy_args args = {it.y, it.x, 1.0f, N};
    ok(launch((const void *)axpy, 1, 32, &args, stream));
}

/* The side stream joins the capture. */
static void fork_side(void)
{
    ok(cudaEventRecord(it.forked, it.stream));
    ok(cudaStreamWaitEvent(it.side, it.forked, 0));
}

static float y_get(void)
{
    float value;
    ok(cudaMemcpy(&value, it.y + N - 1, sizeof value, cudaMemcpyDeviceToHost));
    return value;
}

/* Ends the capture, which is no good any more, and finds the stream fit for work. */
static void capture_is_lost(cudaError_t why)
{
    cudaGraph_t graph = (cudaGraph_t)&it;
    assert_int_equal(cudaStreamEndCapture(it.stream, &graph), why);
    assert_null(graph);
    enum cudaStreamCaptureStatus status;
    ok(cudaStreamIsCapturing(it.side, &status));
    assert_int_equal(status, cudaStreamCaptureStatusNone);
    fill_on(it.y, 1.0f, it.stream);
    ok(cudaStreamSynchronize(it.stream));
}

static void captured_work_runs_at_each_launch_and_not_before(void **state)
{
    (void)state;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    size_t nodes = 0;
    bench_make();
    begin();
    fill_on(it.x, 2.0f, it.stream);
    fork_side();
    axpy_on(it.side);
    ok(cudaEventRecord(it.joined, it.side));
    ok(cudaStreamWaitEvent(it.stream, it.joined, 0));
    ok(cudaStreamEndCapture(it.stream, &graph));
    ok(cudaStreamSynchronize(it.stream));
    assert_int_equal((int)y_get(), 0);
    ok(cudaGraphGetNodes(graph, NULL, &nodes));
    assert_int_equal(nodes, 2);
    ok(cudaGraphInstantiate(&exec, graph, 0));
    ok(cudaGraphDestroy(graph));
    assert_int_equal(cudaGraphDestroy(graph), cudaErrorInvalidValue);
    for (int i = 1; i <= 3; i++) {
        ok(cudaGraphLaunch(exec, i % 2 ? it.stream : it.side));
        ok(cudaStreamSynchronize(i % 2 ? it.stream : it.side));
        assert_int_equal((int)y_get(), 2 * i);
    }
    ok(cudaGraphExecDestroy(exec));
    assert_int_equal(cudaGraphLaunch(exec, it.stream), cudaErrorInvalidValue);
    bench_free();
}

static cudaGraph_t fill_captured(float value, int times)
{
    cudaGraph_t graph;
    begin();
    for (int i = 0; i < times; i++)
        fill_on(it.y, value, it.stream);
    ok(cudaStreamEndCapture(it.stream, &graph));
    return graph;
}

static void executable_graph_takes_new_arguments_but_no_new_shape(void **state)
{
    (void)state;
    cudaGraphExec_t exec;
    cudaGraphExecUpdateResultInfo info;
    bench_make();
    cudaGraph_t graphs[3] = {fill_captured(1.0f, 1), fill_captured(2.0f, 1),
                             fill_captured(3.0f, 2)};
    ok(cudaGraphInstantiate(&exec, graphs[0], 0));
    ok(cudaGraphLaunch(exec, it.stream));
    ok(cudaGraphExecUpdate(exec, graphs[1], &info));
    assert_int_equal(info.result, cudaGraphExecUpdateSuccess);
    ok(cudaStreamSynchronize(it.stream));
    assert_int_equal((int)y_get(), 1);
    ok(cudaGraphLaunch(exec, it.stream));
    assert_int_equal(cudaGraphExecUpdate(exec, graphs[2], &info), cudaErrorGraphExecUpdateFailure);
    assert_int_equal(info.result, cudaGraphExecUpdateErrorTopologyChanged);
    ok(cudaGraphLaunch(exec, it.stream));
    ok(cudaStreamSynchronize(it.stream));
    assert_int_equal((int)y_get(), 2);
    ok(cudaGraphExecDestroy(exec));
    for (int i = 0; i < 3; i++)
        ok(cudaGraphDestroy(graphs[i]));
    bench_free();
}

static void count_up(void *argument)
{
    ++*(int *)argument;
}

static void products_copies_and_host_functions_are_captured_too(void **state)
{
    (void)state;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cublasHandle_t handle;
    float one = 1.0f;
    float *pinned;
    int calls = 0;
    bench_make();
    ok(cudaMallocHost((void **)&pinned, sizeof(float)));
    ok(cublasCreate(&handle));
    ok(cublasSetStream(handle, it.stream));
    begin();
    ok(cudaMemsetAsync(it.x, 0, N * sizeof(float), it.stream));
    fill_on(it.x, 3.0f, it.stream);
    ok(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 2, &one, it.x, 1, it.x, 2, &one, it.y,
                   1));
    ok(cudaMemcpyAsync(pinned, it.y, sizeof(float), cudaMemcpyDeviceToHost, it.stream));
    ok(cudaLaunchHostFunc(it.stream, count_up, &calls));
    ok(cudaStreamEndCapture(it.stream, &graph));
    assert_int_equal(calls, 0);
    ok(cudaGraphInstantiate(&exec, graph, 0));
    ok(cudaGraphLaunch(exec, it.stream));
    ok(cudaGraphLaunch(exec, it.stream));
    ok(cudaStreamSynchronize(it.stream));
    assert_int_equal(calls, 2);
    assert_int_equal((int)*pinned, 2 * (3 * 3 + 3 * 3));
    ok(cudaGraphExecDestroy(exec));
    ok(cudaGraphDestroy(graph));
    ok(cublasDestroy(handle));
    ok(cudaFreeHost(pinned));
    bench_free();
}

static void waiting_for_a_captured_stream_spoils_the_capture(void **state)
{
    (void)state;
    bench_make();
    begin();
    assert_int_equal(cudaStreamSynchronize(it.stream), cudaErrorStreamCaptureUnsupported);
    capture_is_lost(cudaErrorStreamCaptureInvalidated);
    begin();
    assert_int_equal(cudaStreamQuery(it.stream), cudaErrorStreamCaptureUnsupported);
    capture_is_lost(cudaErrorStreamCaptureInvalidated);
    begin();
    assert_int_equal(cudaDeviceSynchronize(), cudaErrorStreamCaptureUnsupported);
    capture_is_lost(cudaErrorStreamCaptureInvalidated);
    bench_free();
}

static void captured_event_tells_the_host_nothing(void **state)
{
    (void)state;
    float ms;
    bench_make();
    begin();
    ok(cudaEventRecord(it.forked, it.stream));
    assert_int_equal(cudaEventQuery(it.forked), cudaErrorCapturedEvent);
    assert_int_equal(cudaEventSynchronize(it.forked), cudaErrorCapturedEvent);
    assert_int_equal(cudaEventElapsedTime(&ms, it.forked, it.forked), cudaErrorCapturedEvent);
    capture_is_lost(cudaErrorStreamCaptureInvalidated);
    assert_int_equal(cudaStreamWaitEvent(it.side, it.forked, 0), cudaErrorCapturedEvent);
    ok(cudaEventRecord(it.forked, it.stream));
    ok(cudaEventSynchronize(it.forked));
    bench_free();
}

static void allocation_is_forbidden_to_the_thread_that_captures(void **state)
{
    (void)state;
    void *memory = NULL;
    float value = 0.0f;
    bench_make();
    ok(cudaStreamBeginCapture(it.stream, cudaStreamCaptureModeThreadLocal));
    assert_int_equal(cudaMalloc(&memory, 4), cudaErrorStreamCaptureUnsupported);
    capture_is_lost(cudaErrorStreamCaptureInvalidated);
    begin();
    assert_int_equal(cudaMemcpy(it.x, &value, sizeof value, cudaMemcpyHostToDevice),
                     cudaErrorStreamCaptureUnsupported);
    capture_is_lost(cudaErrorStreamCaptureInvalidated);
    begin();
    assert_int_equal(cudaMemcpyAsync(it.x, &value, sizeof value, cudaMemcpyHostToDevice, it.stream),
                     cudaErrorStreamCaptureUnsupported); /* pageable */
    capture_is_lost(cudaErrorStreamCaptureInvalidated);
    ok(cudaStreamBeginCapture(it.stream, cudaStreamCaptureModeRelaxed));
    ok(cudaMalloc(&memory, 4));
    ok(cudaFree(memory));
    cudaGraph_t graph;
    ok(cudaStreamEndCapture(it.stream, &graph));
    ok(cudaGraphDestroy(graph));
    bench_free();
}

static void *allocate_elsewhere(void *result)
{
    void *memory = NULL;
    *(int *)result = (int)cudaMalloc(&memory, 4);
    if (*(int *)result == 0)
        ok(cudaFree(memory));
    return NULL;
}

static void other_threads_are_forbidden_only_by_a_global_capture(void **state)
{
    (void)state;
    static const enum cudaStreamCaptureMode modes[] = {cudaStreamCaptureModeThreadLocal,
                                                       cudaStreamCaptureModeGlobal};
    static const int wanted[] = {cudaSuccess, cudaErrorStreamCaptureUnsupported};
    for (int i = 0; i < 2; i++) {
        pthread_t thread;
        int result = -1;
        cudaGraph_t graph;
        bench_make();
        ok(cudaStreamBeginCapture(it.stream, modes[i]));
        assert_int_equal(pthread_create(&thread, NULL, allocate_elsewhere, &result), 0);
        pthread_join(thread, NULL);
        assert_int_equal(result, wanted[i]);
        cudaError_t end = cudaStreamEndCapture(it.stream, &graph);
        assert_int_equal(end, i ? cudaErrorStreamCaptureInvalidated : cudaSuccess);
        if (graph)
            ok(cudaGraphDestroy(graph));
        bench_free();
    }
}

static void dependency_on_work_outside_is_refused(void **state)
{
    (void)state;
    bench_make();
    ok(cudaEventRecord(it.forked, it.side));
    begin();
    assert_int_equal(cudaStreamWaitEvent(it.stream, it.forked, 0), cudaErrorStreamCaptureIsolation);
    capture_is_lost(cudaErrorStreamCaptureInvalidated);
    bench_free();
}

static void stream_that_was_forked_must_be_joined(void **state)
{
    (void)state;
    cudaGraph_t graph;
    bench_make();
    begin();
    fork_side();
    ok(cudaEventRecord(it.joined, it.side));
    axpy_on(it.side); /* after the record: the join below does not cover it */
    ok(cudaStreamWaitEvent(it.stream, it.joined, 0));
    assert_int_equal(cudaStreamEndCapture(it.side, &graph), cudaErrorStreamCaptureUnmatched);
    capture_is_lost(cudaErrorStreamCaptureInvalidated);
    begin();
    fork_side();
    axpy_on(it.side);
    capture_is_lost(cudaErrorStreamCaptureUnjoined);
    bench_free();
}

static void two_captures_do_not_merge(void **state)
{
    (void)state;
    cudaGraph_t graph;
    bench_make();
    begin();
    ok(cudaStreamBeginCapture(it.side, cudaStreamCaptureModeGlobal));
    assert_int_equal(cudaStreamBeginCapture(it.side, cudaStreamCaptureModeGlobal),
                     cudaErrorIllegalState);
    ok(cudaEventRecord(it.forked, it.stream));
    assert_int_equal(cudaStreamWaitEvent(it.side, it.forked, 0), cudaErrorStreamCaptureMerge);
    assert_int_equal(cudaStreamEndCapture(it.side, &graph), cudaErrorStreamCaptureInvalidated);
    capture_is_lost(cudaErrorStreamCaptureInvalidated);
    assert_int_equal(cudaStreamEndCapture(it.stream, &graph), cudaErrorIllegalState);
    bench_free();
}

static void *end_elsewhere(void *result)
{
    cudaGraph_t graph;
    *(int *)result = (int)cudaStreamEndCapture(it.stream, &graph);
    return NULL;
}

static void capture_ends_in_the_thread_where_it_began(void **state)
{
    (void)state;
    pthread_t thread;
    int result = -1;
    bench_make();
    begin();
    assert_int_equal(pthread_create(&thread, NULL, end_elsewhere, &result), 0);
    pthread_join(thread, NULL);
    assert_int_equal(result, cudaErrorStreamCaptureWrongThread);
    capture_is_lost(cudaErrorStreamCaptureInvalidated);
    bench_free();
}

static void collective_of_several_devices_is_not_captured(void **state)
{
    (void)state;
    ncclComm_t comms[2];
    ncclComm_t alone;
    int first = 0;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    bench_make();
    ok(ncclCommInitAll(comms, 2, NULL));
    ok(ncclCommInitAll(&alone, 1, &first));
    begin();
    ok(ncclGroupStart());
    assert_int_equal(ncclAllReduce(it.x, it.x, N, ncclFloat32, ncclSum, comms[0], it.stream),
                     ncclInvalidUsage);
    assert_int_equal(ncclGroupEnd(), ncclInvalidUsage);
    capture_is_lost(cudaErrorStreamCaptureInvalidated);
    begin();
    fill_on(it.x, 4.0f, it.stream);
    ok(ncclAllReduce(it.x, it.y, N, ncclFloat32, ncclSum, alone, it.stream));
    ok(cudaStreamEndCapture(it.stream, &graph));
    ok(cudaGraphInstantiate(&exec, graph, 0));
    ok(cudaGraphLaunch(exec, it.stream));
    ok(cudaGraphLaunch(exec, it.stream));
    ok(cudaStreamSynchronize(it.stream));
    assert_int_equal((int)y_get(), 4);
    ok(cudaGraphExecDestroy(exec));
    ok(cudaGraphDestroy(graph));
    for (int i = 0; i < 2; i++)
        ok(ncclCommDestroy(comms[i]));
    ok(ncclCommDestroy(alone));
    bench_free();
}

static void captured_stream_that_is_destroyed_spoils_the_capture(void **state)
{
    (void)state;
    bench_make();
    begin();
    fork_side();
    ok(cudaStreamDestroy(it.side));
    it.side = stream_make_on(0);
    capture_is_lost(cudaErrorStreamCaptureInvalidated);
    begin();
    fork_side();
    ok(cudaStreamDestroy(it.stream));
    it.stream = it.side;
    it.side = stream_make_on(0);
    fill_on(it.y, 5.0f, it.stream); /* the capture is gone with the stream where it began */
    ok(cudaStreamSynchronize(it.stream));
    assert_int_equal((int)y_get(), 5);
    bench_free();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(captured_work_runs_at_each_launch_and_not_before),
        cmocka_unit_test(executable_graph_takes_new_arguments_but_no_new_shape),
        cmocka_unit_test(products_copies_and_host_functions_are_captured_too),
        cmocka_unit_test(waiting_for_a_captured_stream_spoils_the_capture),
        cmocka_unit_test(captured_event_tells_the_host_nothing),
        cmocka_unit_test(allocation_is_forbidden_to_the_thread_that_captures),
        cmocka_unit_test(other_threads_are_forbidden_only_by_a_global_capture),
        cmocka_unit_test(dependency_on_work_outside_is_refused),
        cmocka_unit_test(stream_that_was_forked_must_be_joined),
        cmocka_unit_test(two_captures_do_not_merge),
        cmocka_unit_test(capture_ends_in_the_thread_where_it_began),
        cmocka_unit_test(collective_of_several_devices_is_not_captured),
        cmocka_unit_test(captured_stream_that_is_destroyed_spoils_the_capture),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
