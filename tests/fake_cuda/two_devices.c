/* Two devices fill gradients, all-reduce them in place on a communication stream, update weights and copy them to the
 * host; written like an engine, with nothing of the fake in it. "two_devices WHICH" leaves the wait WHICH out.
 * Exit status: 0 right values, 1 wrong values, 2 a call failed, 64 unknown WHICH. test_order.c runs it. */
#include <cuda_runtime_api.h>
#include <nccl.h>
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

enum { N = 2048, DEVICES = 2, STEPS = 3 };

static const char *const faults[] = {
    "none",         "gradient", "reduce",    "host",      "other-device", "record-early",
    "wrong-stream", "reuse",    "host-func", "two-funcs", "broadcast",
};
static const char *fault;

static struct device {
    cudaStream_t compute, traffic;
    cudaEvent_t filled, reduced, updated;
    float *weights, *gradient, *pinned;
    ncclComm_t comm;
} devices[DEVICES];

static bool dropped(const char *which)
{
    return strcmp(fault, which) == 0;
}

static int launch(const void *kernel, void *args, cudaStream_t stream)
{
    void *list[] = {args};
    return (int)cudaLaunchKernel(kernel, (dim3){4, 1, 1}, (dim3){64, 1, 1}, list, 0, stream);
}

static int devices_make(void)
{
    ncclComm_t comms[DEVICES];
    for (int d = 0; d < DEVICES; d++) {
        struct device *it = &devices[d];
        CHECK(cudaSetDevice(d));
        CHECK(cudaStreamCreateWithFlags(&it->compute, cudaStreamNonBlocking));
        CHECK(cudaStreamCreateWithFlags(&it->traffic, cudaStreamNonBlocking));
        CHECK(cudaEventCreateWithFlags(&it->filled, cudaEventDisableTiming));
        CHECK(cudaEventCreateWithFlags(&it->reduced, cudaEventDisableTiming));
        CHECK(cudaEventCreateWithFlags(&it->updated, cudaEventDisableTiming));
        CHECK(cudaMalloc((void **)&it->weights, N * sizeof(float)));
        CHECK(cudaMalloc((void **)&it->gradient, N * sizeof(float)));
        CHECK(cudaMallocHost((void **)&it->pinned, N * sizeof(float)));
    }
    CHECK(ncclCommInitAll(comms, DEVICES, NULL));
    for (int d = 0; d < DEVICES; d++)
        devices[d].comm = comms[d];
    return 0;
}

static int devices_free(void)
{
    for (int d = 0; d < DEVICES; d++) {
        struct device *it = &devices[d];
        CHECK(cudaSetDevice(d));
        CHECK(cudaDeviceSynchronize());
        CHECK(cudaStreamDestroy(it->compute));
        CHECK(cudaStreamDestroy(it->traffic));
        CHECK(cudaEventDestroy(it->filled));
        CHECK(cudaEventDestroy(it->reduced));
        CHECK(cudaEventDestroy(it->updated));
        CHECK(cudaFree(it->weights));
        CHECK(cudaFree(it->gradient));
        CHECK(cudaFreeHost(it->pinned));
        CHECK(ncclCommDestroy(it->comm));
    }
    return 0;
}

/* Device 0's first weights go to all; the first update comes after, by way of the all-reduce. */
static int weights_begin(void)
{
    CHECK(cudaSetDevice(0));
    struct fill_args fill_all = {devices[0].weights, 1.0f, N};
    CHECK(launch((const void *)fill, &fill_all, devices[0].compute));
    CHECK(cudaEventRecord(devices[0].updated, devices[0].compute));
    if (!dropped("broadcast"))
        CHECK(cudaStreamWaitEvent(devices[0].traffic, devices[0].updated, 0));
    CHECK(ncclGroupStart());
    for (int d = 0; d < DEVICES; d++)
        CHECK(ncclBroadcast(devices[d].weights, devices[d].weights, N, ncclFloat32, 0,
                            devices[d].comm, devices[d].traffic));
    CHECK(ncclGroupEnd());
    return 0;
}

static int gradients_fill(int step)
{
    for (int d = 0; d < DEVICES; d++) {
        struct device *it = &devices[d];
        struct fill_args fill_all = {it->gradient, (float)(step + d), N};
        CHECK(cudaSetDevice(d));
        if (dropped("record-early"))
            CHECK(cudaEventRecord(it->filled, it->compute));
        CHECK(launch((const void *)fill, &fill_all, it->compute));
        if (!dropped("record-early"))
            CHECK(cudaEventRecord(it->filled, it->compute));
        if (!dropped("gradient"))
            CHECK(cudaStreamWaitEvent(it->traffic, it->filled, 0));
    }
    return 0;
}

static int weights_update(void)
{
    CHECK(ncclGroupStart());
    for (int d = 0; d < DEVICES; d++)
        CHECK(ncclAllReduce(devices[d].gradient, devices[d].gradient, N, ncclFloat32, ncclSum,
                            devices[d].comm, devices[d].traffic));
    CHECK(ncclGroupEnd());
    for (int d = 0; d < DEVICES; d++)
        CHECK(cudaSetDevice(d) || cudaEventRecord(devices[d].reduced, devices[d].traffic));
    for (int d = 0; d < DEVICES; d++) {
        struct device *it = &devices[d];
        struct axpy_args update = {it->weights, it->gradient, -0.25f, N};
        CHECK(cudaSetDevice(d));
        if (!dropped("reduce"))
            CHECK(cudaStreamWaitEvent(it->compute,
                                      devices[dropped("other-device") ? 1 - d : d].reduced, 0));
        CHECK(launch((const void *)axpy, &update, it->compute));
    }
    return 0;
}

/* A copy between devices through memory that the next fill of the other device overwrites. */
static int neighbours_copy(void)
{
    struct device *from = &devices[1];
    struct device *to = &devices[0];
    CHECK(cudaSetDevice(1));
    CHECK(cudaEventRecord(from->updated, from->compute));
    CHECK(cudaSetDevice(0));
    CHECK(cudaStreamWaitEvent(to->compute, from->updated, 0));
    CHECK(cudaMemcpyPeerAsync(to->gradient, 0, from->gradient, 1, N * sizeof(float), to->compute));
    CHECK(cudaEventRecord(to->updated, to->compute));
    if (!dropped("reuse"))
        CHECK(cudaStreamWaitEvent(from->compute, to->updated, 0));
    return 0;
}

static int weights_check(float wanted)
{
    size_t bytes = N * sizeof(float);
    int wrong = 0;
    for (int d = 0; d < DEVICES; d++) {
        struct device *it = &devices[d];
        cudaStream_t stream = dropped("wrong-stream") ? it->traffic : it->compute;
        CHECK(cudaSetDevice(d));
        CHECK(cudaMemcpyAsync(it->pinned, it->weights, bytes, cudaMemcpyDeviceToHost, stream));
        if (!dropped("host"))
            CHECK(cudaStreamSynchronize(stream));
        for (int i = 0; i < N; i++)
            wrong += it->pinned[i] != wanted;
    }
    return wrong != 0;
}

static void halve(void *argument)
{
    float *values = argument;
    for (int i = 0; i < N; i++)
        values[i] *= 0.5f;
}

/* The host halves what device 0 computed, in its stream, and device 1's stream does it once more. */
static int host_halves(float wanted)
{
    struct device *it = &devices[0];
    size_t bytes = N * sizeof(float);
    bool elsewhere = dropped("host-func");
    CHECK(cudaSetDevice(0));
    CHECK(cudaMemcpyAsync(it->pinned, it->weights, bytes, cudaMemcpyDeviceToHost, it->compute));
    CHECK(cudaLaunchHostFunc(elsewhere ? it->traffic : it->compute, halve, it->pinned));
    CHECK(cudaEventRecord(it->updated, it->compute));
    CHECK(cudaSetDevice(1));
    if (!dropped("two-funcs"))
        CHECK(cudaStreamWaitEvent(devices[1].compute, it->updated, 0));
    CHECK(cudaLaunchHostFunc(devices[1].compute, halve, it->pinned));
    CHECK(cudaStreamSynchronize(devices[1].compute));
    int wrong = 0;
    for (int i = 0; i < N; i++)
        wrong += it->pinned[i] != wanted * 0.25f;
    return wrong != 0;
}

static int run(void)
{
    float wanted = 1.0f;
    CHECK(devices_make());
    CHECK(weights_begin());
    for (int step = 0; step < STEPS; step++) {
        CHECK(gradients_fill(step));
        CHECK(weights_update());
        CHECK(neighbours_copy());
        wanted -= 0.25f * (float)(2 * step + 1);
    }
    int wrong = weights_check(wanted);
    wrong |= host_halves(wanted);
    CHECK(devices_free());
    return wrong;
}

int main(int count, char **arguments)
{
    fault = count > 1 ? arguments[1] : "none";
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++)
        if (strcmp(faults[i], fault) == 0)
            return run();
    fprintf(stderr, "two_devices: no fault is called '%s'\n", fault);
    return 64;
}
