/* Failures of CUDA, cuBLAS and NCCL as statuses with messages. */
#include "engine/cuda/cuda.h"

#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

/* Errors after which the process can do nothing more on its GPUs (CUDA runtime API, "cudaError_t": "the process must be
 * terminated and relaunched"). */
static bool error_sticky(cudaError_t error)
{
    static const cudaError_t sticky[] = {
        cudaErrorECCUncorrectable,
        cudaErrorIllegalAddress,
        cudaErrorLaunchTimeout,
        cudaErrorAssert,
        cudaErrorHardwareStackError,
        cudaErrorIllegalInstruction,
        cudaErrorMisalignedAddress,
        cudaErrorInvalidAddressSpace,
        cudaErrorInvalidPc,
        cudaErrorLaunchFailure,
        (cudaError_t)226, /* cudaErrorContained; headers of CUDA 12.4 have no name for it */
    };
    for (size_t i = 0; i < sizeof sticky / sizeof sticky[0]; i++)
        if (sticky[i] == error)
            return true;
    return false;
}

static atomic_bool process_lost; /* a sticky error is one of the process, whatever context met it */

bool mgb_cuda_lost(void)
{
    return atomic_load(&process_lost);
}

/* Of devices of the current GPU the first, for messages: a physical GPU has no other name here. */
static const char *current_name(const struct mgb_cuda *cuda)
{
    for (int i = 1; cuda && cuda->current >= 0 && i < cuda->device_count; i++)
        if (cuda->devices[i].gpu >= 0 && cuda->gpus[cuda->devices[i].gpu].physical == cuda->current)
            return cuda->devices[i].name;
    return "a GPU";
}

enum mgb_status mgb_cuda_fail_memory(const struct mgb_cuda *cuda, int64_t bytes, const char *what)
{
    size_t available = 0, total = 0;
    (void)cudaGetLastError();
    (void)cudaMemGetInfo(&available, &total);
    (void)cudaGetLastError();
    return mgb_fail_oom(current_name(cuda), bytes, (int64_t)available, what);
}

#define PINNED "cudaHostAlloc"

/* No GPU's memory, but what of the host's can be locked. */
static enum mgb_status pinned_fail(const char *call)
{
    (void)cudaGetLastError();
    return mgb_fail_oom("/cpu:0", 0, (int64_t)sysconf(_SC_AVPHYS_PAGES) * sysconf(_SC_PAGESIZE),
                        call);
}

enum mgb_status mgb_cuda_fail(struct mgb_cuda *cuda, cudaError_t error, const char *call)
{
    bool sticky = error_sticky(error);
    if (error == cudaErrorMemoryAllocation && strncmp(call, PINNED, strlen(PINNED)) == 0)
        return pinned_fail(call);
    if (error == cudaErrorMemoryAllocation)
        return mgb_cuda_fail_memory(cuda, 0, call);
    if (sticky)
        atomic_store(&process_lost, true);
    if (cuda && sticky)
        cuda->sticky = true;
    if (!sticky)
        (void)cudaGetLastError(); /* or the next check would report it once more */
    return mgb_fail(MGB_DEVICE, "CUDA: %s: %s (%s, code %d)%s", call, cudaGetErrorString(error),
                    cudaGetErrorName(error), (int)error,
                    sticky ? "; the GPU is lost to this process, start again" : "");
}

enum mgb_status mgb_cublas_fail(cublasStatus_t status, const char *call)
{
    if (status == CUBLAS_STATUS_ALLOC_FAILED)
        return mgb_cuda_fail_memory(NULL, 0, call);
    return mgb_fail(MGB_DEVICE, "cuBLAS: %s: %s (code %d)", call, cublasGetStatusString(status),
                    (int)status);
}

/* NCCL has no code for a lack of memory: a call of its own failed, of the runtime, which then remembers it, or of the driver
 * or on another thread, of which only its words are left. */
enum mgb_status mgb_nccl_fail(struct mgb_cuda *cuda, ncclResult_t result, const char *call)
{
    cudaError_t below = result == ncclUnhandledCudaError ? cudaPeekAtLastError() : cudaSuccess;
    const char *words = ncclGetLastError(NULL);
    if (below != cudaSuccess)
        return mgb_cuda_fail(cuda, below, call);
    if (result == ncclUnhandledCudaError && strstr(words, "out of memory"))
        return mgb_cuda_fail_memory(cuda, 0, call);
    return mgb_fail(MGB_DEVICE, "NCCL: %s: %s (code %d)%s%s", call, ncclGetErrorString(result),
                    (int)result, *words ? "; it says: " : "", words);
}
