/* A graph captured from two streams of a device and launched three times; written like an engine, with nothing of the fake
 * in it. "graph_order WHICH" has the fault WHICH. Exit status: 0 right values, 1 wrong values, 2 a call failed, 64 unknown
 * WHICH. test_order.c runs it. */
#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "tests/fake_cuda/kernels.h"

#define CHECK(call)                                                                                \
    do {                                                                                           \
        int code_ = (int)(call);                                                                   \
        if (code_ != 0) {                                                                          \
            fprintf(stderr, "%s:%d: %s: %d\n", __FILE__, __LINE__, #call, code_);                  \
            return 2;                                                                              \
        }                                                                                          \
    } while (0)

enum { N = 2048, LAUNCHES = 3 };

static const char *const faults[] = {"none", "graph-early", "graph-branches", "graph-host"};
static const char *fault;
static cudaStream_t main_stream, side_stream;
static cudaEvent_t filled, added;
static float *x, *y, *pinned;

static bool has(const char *which)
{
    return strcmp(fault, which) == 0;
}

static int launch(const void *kernel, void *args, cudaStream_t stream)
{
    void *list[] = {args};
    return (int)cudaLaunchKernel(kernel, (dim3){4, 1, 1}, (dim3){64, 1, 1}, list, 0, stream);
}

static int machine_make(void)
{
    CHECK(cudaSetDevice(0));
    CHECK(cudaStreamCreateWithFlags(&main_stream, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&side_stream, cudaStreamNonBlocking));
    CHECK(cudaEventCreateWithFlags(&filled, cudaEventDisableTiming));
    CHECK(cudaEventCreateWithFlags(&added, cudaEventDisableTiming));
    CHECK(cudaMalloc((void **)&x, N * sizeof(float)));
    CHECK(cudaMalloc((void **)&y, N * sizeof(float)));
    CHECK(cudaMallocHost((void **)&pinned, N * sizeof(float)));
    struct fill_args zero = {y, 0.0f, N};
    CHECK(launch((const void *)fill, &zero, main_stream));
    return 0;
}

/* x = 2 on the main stream, then y += x on the side stream, which is joined before y is read. */
static int work_capture(void)
{
    struct fill_args two = {x, 2.0f, N};
    struct axpy_args add = {y, x, 1.0f, N};
    struct fill_args other = {has("graph-branches") ? y : x, 3.0f, N / 2};
    if (has("graph-early"))
        CHECK(cudaEventRecord(filled, main_stream));
    CHECK(launch((const void *)fill, &two, main_stream));
    if (!has("graph-early"))
        CHECK(cudaEventRecord(filled, main_stream));
    CHECK(cudaStreamWaitEvent(side_stream, filled, 0));
    CHECK(launch((const void *)axpy, &add, side_stream));
    CHECK(cudaEventRecord(added, side_stream));
    if (has("graph-branches")) /* writes what the other branch writes */
        CHECK(launch((const void *)fill, &other, main_stream));
    CHECK(cudaStreamWaitEvent(main_stream, added, 0));
    if (!has("graph-branches"))
        CHECK(launch((const void *)fill, &other, main_stream));
    CHECK(cudaMemcpyAsync(pinned, y, N * sizeof(float), cudaMemcpyDeviceToHost, main_stream));
    return 0;
}

static int launches_run(cudaGraphExec_t exec)
{
    int wrong = 0;
    for (int i = 0; i < LAUNCHES; i++)
        CHECK(cudaGraphLaunch(exec, i % 2 ? side_stream : main_stream));
    if (has("graph-host"))
        CHECK(cudaStreamSynchronize(side_stream)); /* the last one runs on the other */
    else
        CHECK(cudaStreamSynchronize(main_stream));
    for (int i = 0; i < N; i++)
        wrong += pinned[i] != 2.0f * LAUNCHES;
    return wrong != 0;
}

static int run(void)
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    CHECK(machine_make());
    CHECK(cudaStreamSynchronize(main_stream));
    CHECK(cudaStreamBeginCapture(main_stream, cudaStreamCaptureModeThreadLocal));
    CHECK(work_capture());
    CHECK(cudaStreamEndCapture(main_stream, &graph));
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    CHECK(cudaGraphDestroy(graph));
    int wrong = launches_run(exec);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaStreamDestroy(main_stream));
    CHECK(cudaStreamDestroy(side_stream));
    CHECK(cudaEventDestroy(filled));
    CHECK(cudaEventDestroy(added));
    CHECK(cudaFree(x));
    CHECK(cudaFree(y));
    CHECK(cudaFreeHost(pinned));
    return wrong;
}

int main(int count, char **arguments)
{
    fault = count > 1 ? arguments[1] : "none";
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++)
        if (strcmp(faults[i], fault) == 0)
            return run();
    fprintf(stderr, "graph_order: no fault is called '%s'\n", fault);
    return 64;
}
