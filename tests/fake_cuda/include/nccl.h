/* What is in use of NCCL, after its manual; for machines without NVIDIA's own headers. */
#ifndef FAKE_INCLUDE_NCCL_H
#define FAKE_INCLUDE_NCCL_H

#include "tests/fake_cuda/include/cuda_runtime_api.h"
#include "tests/fake_cuda/include/library_values.h"

#define NCCL_MAJOR 2
#define NCCL_MINOR 28
#define NCCL_PATCH 9
#define NCCL_VERSION_CODE 22809
#define NCCL_VERSION(X, Y, Z) ((X)*10000 + (Y)*100 + (Z)) /* since 2.9 */

typedef enum { FAKE_NCCL_RESULTS(FAKE_ENUMERATOR) } ncclResult_t;
typedef enum { FAKE_NCCL_TYPES(FAKE_ENUMERATOR) } ncclDataType_t;
typedef enum { FAKE_NCCL_OPERATIONS(FAKE_ENUMERATOR) } ncclRedOp_t;
typedef struct ncclComm *ncclComm_t;

ncclResult_t ncclGetVersion(int *version);
const char *ncclGetErrorString(ncclResult_t result);
const char *ncclGetLastError(ncclComm_t comm);
ncclResult_t ncclCommInitAll(ncclComm_t *comms, int count, const int *devices);
ncclResult_t ncclCommDestroy(ncclComm_t comm);
ncclResult_t ncclCommAbort(ncclComm_t comm);
ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t *error);
ncclResult_t ncclCommCount(const ncclComm_t comm, int *count);
ncclResult_t ncclCommCuDevice(const ncclComm_t comm, int *device);
ncclResult_t ncclCommUserRank(const ncclComm_t comm, int *rank);
ncclResult_t ncclGroupStart(void);
ncclResult_t ncclGroupEnd(void);
ncclResult_t ncclAllReduce(const void *from, void *to, size_t count, ncclDataType_t type,
                           ncclRedOp_t operation, ncclComm_t comm, cudaStream_t stream);
ncclResult_t ncclBroadcast(const void *from, void *to, size_t count, ncclDataType_t type, int root,
                           ncclComm_t comm, cudaStream_t stream);
ncclResult_t ncclReduce(const void *from, void *to, size_t count, ncclDataType_t type,
                        ncclRedOp_t operation, int root, ncclComm_t comm, cudaStream_t stream);

#endif
