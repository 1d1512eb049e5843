/* What the fake runtime's tests share: checked calls, a clean start, kernel launches in one line. */
#ifndef FAKE_CUDA_TEST_SUPPORT_H
#define FAKE_CUDA_TEST_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include <cuda_runtime_api.h>

#include "tests/fake_cuda/fake_cuda.h"

#define ok(call) assert_int_equal((int)(call), 0)

/* A machine with these settings, "NAME=value" each, NULL at the end; all others are unset. */
static inline void machine_set(const char *const *settings)
{
    static const char *const names[] = {
        "FAKE_CUDA_DEVICES",  "FAKE_CUDA_MEMORY",       "FAKE_CUDA_PEER",    "FAKE_CUDA_INIT",
        "FAKE_CUDA_FAIL",     "FAKE_CUDA_ORDER",        "FAKE_CUDA_SEED",    "CUDA_VISIBLE_DEVICES",
        "FAKE_CUDA_PEER_BAD", "FAKE_CUDA_PEER_SLOW",    "FAKE_CUDA_HANG",    "FAKE_CUDA_STICKY",
        "FAKE_NVML_CLOCK",    "FAKE_NVML_POWER",        "FAKE_NVML_REASONS", "FAKE_NVML_INIT",
        "FAKE_CUDA_SMS",      "FAKE_CUDA_MISSING_RANK", "FAKE_CUDA_SLOW",    "FAKE_CUDNN_BYTES"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        unsetenv(names[i]);
    for (; *settings; settings++)
        putenv((char *)*settings);
    fake_cuda_reset();
}
#define machine(...) machine_set((const char *const[]){__VA_ARGS__, NULL})
#define machine_plain() machine_set((const char *const[]){NULL})

static inline cudaError_t launch(const void *kernel, unsigned blocks, unsigned threads, void *args,
                                 cudaStream_t stream)
{
    void *list[] = {args};
    return cudaLaunchKernel(kernel, (dim3){blocks, 1, 1}, (dim3){threads, 1, 1}, list, 0, stream);
}

static inline cudaStream_t stream_make_on(int device)
{
    cudaStream_t stream;
    ok(cudaSetDevice(device));
    ok(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    return stream;
}

static inline float *floats_make_on(int device, size_t count)
{
    void *memory;
    ok(cudaSetDevice(device));
    ok(cudaMalloc(&memory, count * sizeof(float)));
    return memory;
}

#endif
