/* Names that headers before CUDA 13 and NCCL 2.23 lack or show to C++ alone, with their documented values. */
#ifndef FAKE_CUDA_OLDER_H
#define FAKE_CUDA_OLDER_H

#include <cuda_runtime_api.h>
#include <nccl.h>

#if CUDART_VERSION < 13000
#define cudaErrorContained ((cudaError_t)226)
#endif
#if NCCL_VERSION_CODE < NCCL_VERSION(2, 23, 0)
#define ncclBfloat16 ((ncclDataType_t)9)
#endif

#endif
