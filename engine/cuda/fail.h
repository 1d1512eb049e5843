/* Failures of CUDA, cuBLAS and NCCL as statuses with messages; see fail.c. */
#ifndef MGB_CUDA_FAIL_H
#define MGB_CUDA_FAIL_H

#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <mgb/status.h>
#include <nccl.h>
#include <stdbool.h>
#include <stdint.h>

struct mgb_cuda;

/* MGB_DEVICE with what was called, CUDA's words and the code; MGB_OOM for a lack of memory. NULL-safe in `cuda`; notes
 * sticky errors there. */
enum mgb_status mgb_cuda_fail(struct mgb_cuda *cuda, cudaError_t error, const char *call);
enum mgb_status mgb_cublas_fail(cublasStatus_t status, const char *call);
enum mgb_status mgb_nccl_fail(struct mgb_cuda *cuda, ncclResult_t result, const char *call);
/* MGB_OOM naming the current GPU's device and what is left there; bytes 0: not known how many. */
enum mgb_status mgb_cuda_fail_memory(const struct mgb_cuda *cuda, int64_t bytes, const char *what);
bool mgb_cuda_lost(void); /* a sticky error befell this process */
#define MGB_CUDA_TRY(cuda, call)                                                                   \
    do {                                                                                           \
        cudaError_t cuda_error_ = (call);                                                          \
        if (cuda_error_ != cudaSuccess)                                                            \
            return mgb_cuda_fail((cuda), cuda_error_, #call);                                      \
    } while (0)

#endif
