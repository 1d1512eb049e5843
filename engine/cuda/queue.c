/* Queues: a CUDA stream each, with a cuBLAS handle where operators run. Draining waits for all of them and collects what
 * kernels and CPU jobs found wrong. */
#include "engine/cuda/replay.h"

#include "engine/base/clock.h"
#include "engine/base/memory.h"
#include "engine/cuda/dnn/dnn.h"
#include "engine/cuda/peers.h"
#include <sched.h>
#include <time.h>

#define MAX_BLOCKS 8192
#define SPIN_NS 200000LL
#define NAP_NS 50000

static enum mgb_status blas_fill(struct mgb_queue *queue)
{
    struct mgb_cuda *cuda = queue->cuda;
    MGB_CUDA_TRY(cuda,
                 cudaMalloc((void **)&queue->scratch, MGB_CUDA_SCRATCH * sizeof *queue->scratch));
    cublasStatus_t status = cublasCreate(&queue->blas);
    if (status == CUBLAS_STATUS_SUCCESS)
        status = cublasSetStream(queue->blas, queue->stream);
    return status == CUBLAS_STATUS_SUCCESS ? MGB_OK : mgb_cublas_fail(status, "cublasCreate");
}

static enum mgb_status stream_fill(struct mgb_queue *queue)
{
    struct mgb_cuda *cuda = queue->cuda;
    if (queue->request.use == MGB_USE_COPY) {
        int from = cuda->devices[queue->request.from].gpu;
        if (from >= 0 && cuda->devices[queue->request.device].gpu >= 0)
            MGB_TRY(mgb_cuda_peer_open(cuda, from, queue->gpu));
    }
    MGB_TRY(mgb_cuda_use(cuda, queue->gpu));
    MGB_CUDA_TRY(cuda, cudaStreamCreateWithFlags(&queue->stream, cudaStreamNonBlocking));
    MGB_CUDA_TRY(cuda, cudaEventCreateWithFlags(&queue->arrived, cudaEventDisableTiming));
    MGB_CUDA_TRY(cuda, cudaEventCreateWithFlags(&queue->served, cudaEventDisableTiming));
    if (queue->on_cpu || queue->request.use != MGB_USE_COMPUTE)
        return MGB_OK;
    MGB_TRY(blas_fill(queue));
    return mgb_cuda_dnn_queue_open(queue);
}

/* Copies run on the GPU they come to; those to the host on the GPU they come from. */
static int stream_gpu(const struct mgb_cuda *cuda, const struct mgb_queue_request *request)
{
    int gpu = cuda->devices[request->device].gpu;
    if (gpu < 0 && request->use == MGB_USE_COPY)
        gpu = cuda->devices[request->from].gpu;
    return gpu < 0 ? mgb_cuda_home(cuda) : gpu;
}

enum mgb_status mgb_cuda_queue_make(void *context, struct mgb_queue **out,
                                    const struct mgb_queue_request *request)
{
    struct mgb_cuda *cuda = context;
    struct mgb_queue *queue = mgb_alloc(sizeof *queue);
    if (!queue)
        return mgb_fail(MGB_NO_MEMORY, "no memory for a queue of %s",
                        cuda->devices[request->device].name);
    queue->cuda = cuda;
    queue->request = *request;
    queue->gpu = stream_gpu(cuda, request);
    queue->on_cpu = cuda->devices[request->device].gpu < 0 &&
                    (request->use == MGB_USE_COMPUTE || cuda->devices[request->from].gpu < 0);
    queue->next = cuda->queues;
    cuda->queues = queue;
    enum mgb_status status = stream_fill(queue);
    if (status != MGB_OK) {
        mgb_cuda_queue_free(queue);
        return mgb_fail_in(status, "a queue of %s", cuda->devices[request->device].name);
    }
    *out = queue;
    return MGB_OK;
}

void mgb_cuda_queue_free(struct mgb_queue *queue)
{
    if (!queue)
        return;
    struct mgb_queue **link = &queue->cuda->queues;
    while (*link && *link != queue)
        link = &(*link)->next;
    if (*link)
        *link = queue->next;
    mgb_cuda_dnn_queue_close(queue);
    if (queue->blas)
        cublasDestroy(queue->blas);
    if (queue->scratch)
        cudaFree(queue->scratch);
    if (queue->arrived)
        cudaEventDestroy(queue->arrived);
    if (queue->served)
        cudaEventDestroy(queue->served);
    if (queue->stream)
        cudaStreamDestroy(queue->stream);
    mgb_release(queue);
}

enum mgb_status mgb_cuda_begin(struct mgb_queue *queue, const char *what)
{
    struct mgb_cuda *cuda = queue->cuda;
    if (cuda->sticky)
        return mgb_fail(MGB_DEVICE, "CUDA: %s on %s: a GPU was lost earlier; only closing is left",
                        what ? what : "work", cuda->devices[queue->request.device].name);
    queue->last = what;
    MGB_TRY(mgb_cuda_use(cuda, queue->gpu));
    return cuda->capture ? mgb_cuda_capture_enter(queue) : MGB_OK;
}

unsigned mgb_cuda_blocks(int64_t count, int threads)
{
    int64_t blocks = (count + threads - 1) / threads;
    return (unsigned)(blocks < 1 ? 1 : blocks > MAX_BLOCKS ? MAX_BLOCKS : blocks);
}

enum mgb_status mgb_cuda_start(struct mgb_queue *queue, const void *kernel, unsigned blocks,
                               unsigned threads, void *args)
{
    void *list[] = {args};
    cudaError_t error = cudaLaunchKernel(kernel, (dim3){blocks, 1, 1}, (dim3){threads, 1, 1}, list,
                                         0, queue->stream);
    if (error == cudaSuccess)
        return MGB_OK;
    return mgb_fail_in(mgb_cuda_fail(queue->cuda, error, "cudaLaunchKernel"), "%s on %s",
                       queue->last, queue->cuda->devices[queue->request.device].name);
}

/* MGB_TIMEOUT when the deadline passes first. */
static enum mgb_status queue_await(struct mgb_queue *queue, struct mgb_deadline *deadline)
{
    struct mgb_cuda *cuda = queue->cuda;
    const char *device = cuda->devices[queue->request.device].name;
    int64_t begun = mgb_clock_ns();
    for (;;) {
        cudaError_t error = cudaStreamQuery(queue->stream);
        if (error == cudaSuccess)
            return MGB_OK;
        if (error != cudaErrorNotReady) {
            cuda->sticky = true; /* whether the queue still works is not known any more */
            return mgb_fail_in(mgb_cuda_fail(cuda, error, "waiting"), "%s, not later than %s",
                               device, queue->last ? queue->last : "its first work");
        }
        if (mgb_deadline_left_ns(deadline) < 0) {
            char missing[256];
            mgb_cuda_collective_missing(cuda, missing, sizeof missing);
            cuda->sticky = true;
            return mgb_fail(MGB_TIMEOUT, "%s did not finish; the last work given to it was %s%s",
                            device, queue->last ? queue->last : "a wait", missing);
        }
        if (mgb_clock_ns() - begun < SPIN_NS)
            sched_yield();
        else
            nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
    }
}

static enum mgb_status number_fail(const struct mgb_cuda_fault *fault)
{
    return mgb_fail(MGB_INVALID,
                    "'%s': number %d of row %lld, position %lld, is not in its vocabulary of %lld, "
                    "0 to %lld; check the data or set vocabulary",
                    fault->name ? fault->name : "?", fault->label, (long long)fault->row,
                    (long long)fault->position, (long long)fault->classes,
                    (long long)fault->classes - 1);
}

/* What kernels and CPU jobs found wrong; the next step starts clean. */
static enum mgb_status fault_take(struct mgb_cuda *cuda)
{
    enum mgb_status status = mgb_cuda_cpu_failure(&cuda->cpu);
    struct mgb_cuda_fault fault = cuda->fault ? *cuda->fault : (struct mgb_cuda_fault){0};
    if (cuda->fault)
        *cuda->fault = (struct mgb_cuda_fault){.code = MGB_CUDA_FAULT_NONE};
    if (status == MGB_OK && fault.code == MGB_CUDA_FAULT_LABEL)
        return mgb_fail(MGB_INVALID,
                        "label %d of row %lld is not a class number from 0 to %lld; check the data",
                        fault.label, (long long)fault.row, (long long)fault.classes - 1);
    if (status == MGB_OK && fault.code == MGB_CUDA_FAULT_NUMBER)
        return number_fail(&fault);
    return status;
}

/* After an error the caller frees what queued work refers to: whatever still runs must end first. (After a timeout it does
 * not: nothing is freed then.) */
static void queues_settle(struct mgb_cuda *cuda)
{
    for (struct mgb_queue *queue = cuda->queues; queue; queue = queue->next)
        (void)cudaStreamSynchronize(queue->stream);
}

enum mgb_status mgb_cuda_drain(void *context, int64_t timeout_ns)
{
    struct mgb_cuda *cuda = context;
    struct mgb_deadline deadline = mgb_deadline_make(timeout_ns);
    if (cuda->sticky)
        return mgb_fail(MGB_DEVICE, "CUDA: a GPU was lost earlier; only closing is left");
    enum mgb_status status = MGB_OK;
    for (struct mgb_queue *queue = cuda->queues; queue && status == MGB_OK; queue = queue->next)
        status = queue_await(queue, &deadline);
    if (status == MGB_DEVICE)
        queues_settle(cuda);
    if (status != MGB_OK)
        return status;
    mgb_cuda_cpu_reset(&cuda->cpu);
    MGB_TRY(fault_take(cuda));
    return mgb_cuda_anchors_renew(cuda);
}
