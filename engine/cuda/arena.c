/* Memory: blocks of a GPU, pinned blocks of the host for /cpu:0, and copies in and out while nothing runs. */
#include "engine/cuda/arena.h"

#include "engine/cuda/queue.h"

#include <string.h>
#include <sys/mman.h>

static enum mgb_status limit_check(const struct mgb_cuda_device *device, int64_t bytes)
{
    if (device->limit > 0 && bytes > device->limit - device->used)
        return mgb_fail_oom(device->name, bytes, device->limit - device->used,
                            "an arena (gpu_memory)");
    return MGB_OK;
}

static enum mgb_status gpu_make(struct mgb_cuda *cuda, void **base, struct mgb_cuda_device *device,
                                int64_t bytes)
{
    MGB_TRY(mgb_cuda_use(cuda, device->gpu));
    cudaError_t error = cudaMalloc(base, (size_t)bytes);
    if (error == cudaErrorMemoryAllocation) {
        size_t available = 0;
        size_t total = 0;
        (void)cudaGetLastError();
        (void)cudaMemGetInfo(&available, &total);
        return mgb_fail_oom(device->name, bytes, (int64_t)available, "an arena");
    }
    return error == cudaSuccess ? MGB_OK : mgb_cuda_fail(cuda, error, "cudaMalloc of an arena");
}

static enum mgb_status cpu_make(struct mgb_cuda *cuda, void **base,
                                const struct mgb_cuda_device *device, int64_t bytes)
{
    if (cuda->options.pinned == MGB_CHOICE_NO) {
        void *memory =
            mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED)
            return mgb_fail_oom(device->name, bytes, 0, "an arena");
        *base = memory;
        return MGB_OK;
    }
    MGB_TRY(mgb_cuda_use(cuda, mgb_cuda_home(cuda)));
    cudaError_t error = cudaHostAlloc(base, (size_t)bytes, cudaHostAllocPortable);
    if (error == cudaErrorMemoryAllocation) {
        (void)cudaGetLastError();
        return mgb_fail_oom(device->name, bytes, 0,
                            "a pinned arena; pinned = false needs no locked pages");
    }
    return error == cudaSuccess ? MGB_OK : mgb_cuda_fail(cuda, error, "cudaHostAlloc of an arena");
}

enum mgb_status mgb_cuda_arena_make(void *context, void **base, int device, int64_t bytes)
{
    struct mgb_cuda *cuda = context;
    struct mgb_cuda_device *it = &cuda->devices[device];
    *base = NULL;
    MGB_TRY(limit_check(it, bytes));
    MGB_TRY(it->gpu < 0 ? cpu_make(cuda, base, it, bytes) : gpu_make(cuda, base, it, bytes));
    it->used += bytes;
    return MGB_OK;
}

void mgb_cuda_arena_free(void *context, int device, void *base, int64_t bytes)
{
    struct mgb_cuda *cuda = context;
    struct mgb_cuda_device *it = &cuda->devices[device];
    if (!base)
        return;
    it->used -= bytes;
    if (it->gpu < 0 && cuda->options.pinned == MGB_CHOICE_NO)
        munmap(base, (size_t)bytes);
    else if (it->gpu < 0)
        cudaFreeHost(base);
    else if (mgb_cuda_use(cuda, it->gpu) == MGB_OK)
        cudaFree(base);
}

/* Through a stream and a wait: a plain cudaMemcpy from pageable memory may return before the bytes have arrived, and is
 * ordered with the default stream only. */
static enum mgb_status copy_now(struct mgb_cuda *cuda, int device, void *to, const void *from,
                                int64_t bytes)
{
    int index = cuda->devices[device].gpu;
    if (cuda->sticky)
        return mgb_fail(MGB_DEVICE, "CUDA: %s was lost earlier; only closing is left",
                        cuda->devices[device].name);
    if (index < 0) {
        memcpy(to, from, (size_t)bytes);
        return MGB_OK;
    }
    MGB_TRY(mgb_cuda_use(cuda, index));
    MGB_CUDA_TRY(cuda, cudaMemcpyAsync(to, from, (size_t)bytes, cudaMemcpyDefault,
                                       cuda->gpus[index].service));
    cudaError_t error = cudaStreamSynchronize(cuda->gpus[index].service);
    if (error == cudaSuccess)
        return MGB_OK;
    /* The caller may free its memory now, so nothing may be under way. */
    enum mgb_status status = mgb_cuda_fail(cuda, error, "cudaStreamSynchronize");
    (void)cudaStreamSynchronize(cuda->gpus[index].service);
    return status;
}

enum mgb_status mgb_cuda_write(void *context, int device, void *address, const void *host,
                               int64_t bytes)
{
    return copy_now(context, device, address, host, bytes);
}

enum mgb_status mgb_cuda_read(void *context, int device, void *host, const void *address,
                              int64_t bytes)
{
    return copy_now(context, device, host, address, bytes);
}
