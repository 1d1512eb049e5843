/* What a GPU reaches at best, by CUDA and cuBLAS alone, and how near the backend's kernels of updates and sums come to it:
 *     bench_gpu_card [MIB] [N]
 * Arrays of MIB MiB (256), products of N x N matrices (8192). A line a figure: name, value, unit, and of kernels the part of
 * the copy's bandwidth. Bytes count once where they are read and once where they are written; the best of ten rounds. */
#include "engine/backend/backend.h"
#include "tests/support/check.h"
#include "tests/support/rig.h"

#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROUNDS = 10, REPEATS = 10, SKIPPED = 77 };

static void cuda_ok(cudaError_t error)
{
    if (error != cudaSuccess)
        fail_msg("CUDA: %s", cudaGetErrorString(error));
}

static void blas_ok(cublasStatus_t status)
{
    if (status != CUBLAS_STATUS_SUCCESS)
        fail_msg("cuBLAS: status %d", (int)status);
}

struct bench {
    int64_t bytes;
    int n;
    cudaStream_t stream;
    cudaEvent_t begin, end;
    cublasHandle_t blas;
    double copy_gbps;
};

/* Seconds of one of REPEATS calls in a row, the least of ROUNDS such rows. */
static double seconds_of(struct bench *bench, void (*work)(struct bench *bench, void *what),
                         void *what)
{
    double best = 0;
    for (int round = 0; round < ROUNDS; round++) {
        float ms = 0;
        cuda_ok(cudaEventRecord(bench->begin, bench->stream));
        for (int i = 0; i < REPEATS; i++)
            work(bench, what);
        cuda_ok(cudaEventRecord(bench->end, bench->stream));
        cuda_ok(cudaStreamSynchronize(bench->stream));
        cuda_ok(cudaEventElapsedTime(&ms, bench->begin, bench->end));
        double seconds = (double)ms / 1e3 / REPEATS;
        best = round == 0 || seconds < best ? seconds : best;
    }
    return best > 0 ? best : 1e-9;
}

struct copy {
    void *to, *from;
};

static void copy_do(struct bench *bench, void *what)
{
    const struct copy *copy = what;
    cuda_ok(cudaMemcpyAsync(copy->to, copy->from, (size_t)bench->bytes, cudaMemcpyDefault,
                            bench->stream));
}

static void copies_print(struct bench *bench)
{
    void *a, *b, *host;
    double gigabytes = (double)bench->bytes / 1e9;
    cuda_ok(cudaMalloc(&a, (size_t)bench->bytes));
    cuda_ok(cudaMalloc(&b, (size_t)bench->bytes));
    cuda_ok(cudaHostAlloc(&host, (size_t)bench->bytes, cudaHostAllocDefault));
    cuda_ok(cudaMemsetAsync(a, 0, (size_t)bench->bytes, bench->stream));
    bench->copy_gbps =
        2 * gigabytes / seconds_of(bench, copy_do, &(struct copy){.to = b, .from = a});
    printf("copy within the GPU | %.4g | GB/s |\n", bench->copy_gbps);
    printf("copy from pinned memory | %.4g | GB/s |\n",
           gigabytes / seconds_of(bench, copy_do, &(struct copy){.to = a, .from = host}));
    printf("copy to pinned memory | %.4g | GB/s |\n",
           gigabytes / seconds_of(bench, copy_do, &(struct copy){.to = host, .from = a}));
    cuda_ok(cudaFree(a));
    cuda_ok(cudaFree(b));
    cuda_ok(cudaFreeHost(host));
}

struct product {
    const char *name;
    cudaDataType_t type;
    cublasComputeType_t compute;
    void *a, *b, *c;
};

static void product_do(struct bench *bench, void *what)
{
    const struct product *p = what;
    const float one = 1, zero = 0;
    int n = bench->n;
    blas_ok(cublasGemmEx(bench->blas, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, p->a, p->type, n,
                         p->b, p->type, n, &zero, p->c, CUDA_R_32F, n, p->compute,
                         CUBLAS_GEMM_DEFAULT));
}

static void products_print(struct bench *bench)
{
    struct product products[] = {
        {.name = "f32", .type = CUDA_R_32F, .compute = CUBLAS_COMPUTE_32F},
        {.name = "TF32", .type = CUDA_R_32F, .compute = CUBLAS_COMPUTE_32F_FAST_TF32},
        {.name = "bf16", .type = CUDA_R_16BF, .compute = CUBLAS_COMPUTE_32F},
        {.name = "f16", .type = CUDA_R_16F, .compute = CUBLAS_COMPUTE_32F},
    };
    size_t bytes = sizeof(float) * (size_t)bench->n * (size_t)bench->n;
    double operations = 2.0 * bench->n * bench->n * bench->n;
    for (size_t i = 0; i < sizeof products / sizeof *products; i++) {
        struct product *p = &products[i];
        void **operands[] = {&p->a, &p->b, &p->c};
        for (int k = 0; k < 3; k++) {
            cuda_ok(cudaMalloc(operands[k], bytes));
            cuda_ok(cudaMemsetAsync(*operands[k], 0, bytes, bench->stream));
        }
        printf("product of %d x %d, %s | %.4g | TFLOP/s |\n", bench->n, bench->n, p->name,
               operations / seconds_of(bench, product_do, p) / 1e12);
        for (int k = 0; k < 3; k++)
            cuda_ok(cudaFree(*operands[k]));
    }
}

/* The backend's work, between its own events. */
struct work {
    struct rig rig;
    struct mgb_queue *queue;
    struct mgb_event *begin, *end;
    float *arrays[5]; /* of the bench's size */
    struct mgb_step_values values;
};

static void update_push(struct work *work, const struct mgb_optimizer *optimizer, int64_t count)
{
    static struct mgb_update_item item;
    static struct mgb_update update;
    item = (struct mgb_update_item){.weight = work->arrays[0],
                                    .gradient = work->arrays[1],
                                    .slots = {work->arrays[2], work->arrays[3]},
                                    .count = count};
    update = (struct mgb_update){
        .optimizer = optimizer, .items = &item, .item_count = 1, .values = &work->values};
    assert_ok(work->rig.backend->update(work->queue, &update));
}

static void sum_push(struct work *work, int sources, int64_t count)
{
    static const float *list[4];
    for (int i = 0; i < sources; i++)
        list[i] = work->arrays[i + 1];
    assert_ok(work->rig.backend->reduce(work->queue, work->arrays[0], list, sources, count));
}

/* `touched`: floats that are read or written for each number. Without an optimizer it is a sum of `touched - 1` arrays. */
static void work_print(const struct bench *bench, struct work *work, const char *name,
                       const struct mgb_optimizer *optimizer, int touched)
{
    const struct mgb_backend *backend = work->rig.backend;
    int64_t best = 0, count = bench->bytes / (int64_t)sizeof(float);
    for (int round = 0; round < ROUNDS; round++) {
        int64_t begin, end;
        assert_ok(backend->record(work->queue, work->begin));
        for (int i = 0; i < REPEATS; i++)
            optimizer ? update_push(work, optimizer, count) : sum_push(work, touched - 1, count);
        assert_ok(backend->record(work->queue, work->end));
        assert_ok(backend->drain(work->rig.context, 0));
        assert_ok(backend->event_time(work->begin, &begin, NULL));
        assert_ok(backend->event_time(work->end, &end, NULL));
        best = round == 0 || end - begin < best ? end - begin : best;
    }
    double gbps = (double)(touched * bench->bytes) * REPEATS / (double)(best > 0 ? best : 1);
    printf("%s | %.4g | GB/s | %.0f %% of the copy\n", name, gbps, 100 * gbps / bench->copy_gbps);
}

static void work_all(const struct bench *bench)
{
    const struct mgb_backend *cuda = mgb_backend_find("cuda");
    struct mgb_optimizer sgd = mgb_optimizer_default(MGB_SGD),
                         adam = mgb_optimizer_default(MGB_ADAM);
    assert_non_null(cuda);
    struct work work = {.rig = rig_open(cuda, 0)};
    work.queue = rig_compute(&work.rig, 1, 1);
    sgd.momentum = 0.9f;
    for (int i = 0; i < 5; i++) {
        work.arrays[i] = rig_arena(&work.rig, 1, bench->bytes);
        assert_ok(cuda->fill(work.queue, work.arrays[i], bench->bytes));
    }
    assert_ok(cuda->event_make(work.rig.context, &work.begin, 1));
    assert_ok(cuda->event_make(work.rig.context, &work.end, 1));
    work_print(bench, &work, "update, SGD with momentum", &sgd, 5);
    work_print(bench, &work, "update, Adam", &adam, 7);
    work_print(bench, &work, "sum of two", NULL, 3);
    work_print(bench, &work, "sum of four", NULL, 5);
    cuda->event_free(work.begin);
    cuda->event_free(work.end);
    cuda->queue_free(work.queue);
    for (int i = 0; i < 5; i++)
        cuda->arena_free(work.rig.context, 1, work.arrays[i], bench->bytes);
    rig_close(&work.rig);
}

int main(int argc, char **argv)
{
    int mib = argc > 1 ? atoi(argv[1]) : 256, count = 0;
    struct bench bench = {.bytes = (int64_t)mib << 20, .n = argc > 2 ? atoi(argv[2]) : 8192};
    if (mib < 1 || bench.n < 1) {
        fprintf(stderr, "usage: bench_gpu_card [MIB] [N]\n");
        return 2;
    }
    if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) {
        fprintf(stderr, "bench_gpu_card: no GPU\n");
        return SKIPPED;
    }
    cuda_ok(cudaStreamCreateWithFlags(&bench.stream, cudaStreamNonBlocking));
    cuda_ok(cudaEventCreate(&bench.begin));
    cuda_ok(cudaEventCreate(&bench.end));
    blas_ok(cublasCreate(&bench.blas));
    blas_ok(cublasSetStream(bench.blas, bench.stream));
    copies_print(&bench);
    products_print(&bench);
    work_all(&bench);
    blas_ok(cublasDestroy(bench.blas));
    cuda_ok(cudaEventDestroy(bench.begin));
    cuda_ok(cudaEventDestroy(bench.end));
    cuda_ok(cudaStreamDestroy(bench.stream));
    return 0;
}
