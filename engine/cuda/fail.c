/* Failures of CUDA, cuBLAS and NCCL as statuses with messages. */
#include "engine/cuda/cuda.h"

/* Errors after which the process can do nothing more on its GPUs (CUDA runtime API, "cudaError_t": "the process must be
 * terminated and relaunched"). */
static bool error_sticky(cudaError_t error)
{
    static const cudaError_t sticky[] = {
        cudaErrorECCUncorrectable,   cudaErrorIllegalAddress,
        cudaErrorLaunchTimeout,      cudaErrorAssert,
        cudaErrorHardwareStackError, cudaErrorIllegalInstruction,
        cudaErrorMisalignedAddress,  cudaErrorInvalidAddressSpace,
        cudaErrorInvalidPc,          cudaErrorLaunchFailure,
        cudaErrorContained,
    };
    for (size_t i = 0; i < sizeof sticky / sizeof sticky[0]; i++)
        if (sticky[i] == error)
            return true;
    return false;
}

enum mgb_status mgb_cuda_fail(struct mgb_cuda *cuda, cudaError_t error, const char *call)
{
    bool sticky = error_sticky(error);
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
    return mgb_fail(MGB_DEVICE, "cuBLAS: %s: %s (code %d)", call, cublasGetStatusString(status),
                    (int)status);
}

enum mgb_status mgb_nccl_fail(ncclResult_t result, const char *call)
{
    return mgb_fail(MGB_DEVICE, "NCCL: %s: %s (code %d)", call, ncclGetErrorString(result),
                    (int)result);
}
