/* Types of the CUDA runtime that are in use, after NVIDIA's manual: only these members, and no binary compatibility. */
#ifndef FAKE_INCLUDE_DRIVER_TYPES_H
#define FAKE_INCLUDE_DRIVER_TYPES_H

#include "tests/fake_cuda/include/cuda_values.h"
#include "tests/fake_cuda/include/device_values.h"
#include <stddef.h>

#define FAKE_ENUMERATOR(name, value) name = value,

typedef enum cudaError { FAKE_CUDA_ERRORS(FAKE_ENUMERATOR) } cudaError_t;
enum cudaMemcpyKind { FAKE_CUDA_COPY_KINDS(FAKE_ENUMERATOR) };
enum cudaMemoryType { FAKE_CUDA_MEMORY_TYPES(FAKE_ENUMERATOR) };
enum cudaStreamCaptureMode { FAKE_CUDA_CAPTURE_MODES(FAKE_ENUMERATOR) };
enum cudaStreamCaptureStatus { FAKE_CUDA_CAPTURE_STATES(FAKE_ENUMERATOR) };
enum cudaGraphExecUpdateResult { FAKE_CUDA_UPDATE_RESULTS(FAKE_ENUMERATOR) };
enum cudaDeviceAttr { FAKE_CUDA_ATTRIBUTES(FAKE_ENUMERATOR) };
enum cudaDeviceP2PAttr { FAKE_CUDA_PEER_ATTRIBUTES(FAKE_ENUMERATOR) };
enum { FAKE_CUDA_FLAGS(FAKE_ENUMERATOR) }; /* macros at NVIDIA's */

typedef struct CUstream_st *cudaStream_t;
typedef struct CUevent_st *cudaEvent_t;
typedef struct CUgraph_st *cudaGraph_t;
typedef struct CUgraphNode_st *cudaGraphNode_t;
typedef struct CUgraphExec_st *cudaGraphExec_t;
typedef struct cudaGraphExecUpdateResultInfo_st {
    enum cudaGraphExecUpdateResult result;
    cudaGraphNode_t errorNode, errorFromNode;
} cudaGraphExecUpdateResultInfo;
typedef void (*cudaHostFn_t)(void *argument);

typedef struct CUuuid_st {
    char bytes[16];
} cudaUUID_t;

struct cudaDeviceProp {
    char name[256];
    cudaUUID_t uuid;
    size_t totalGlobalMem, sharedMemPerBlock;
    int regsPerBlock, warpSize, maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3];
    int major, minor, multiProcessorCount, integrated, canMapHostMemory, concurrentKernels;
    int ECCEnabled, pciBusID, pciDeviceID, pciDomainID, asyncEngineCount, unifiedAddressing;
    int memoryBusWidth, l2CacheSize, maxThreadsPerMultiProcessor;
};

struct cudaPointerAttributes {
    enum cudaMemoryType type;
    int device;
    void *devicePointer, *hostPointer;
};

typedef struct {
    unsigned x, y, z;
} dim3;
typedef struct {
    _Alignas(8) float x;
    float y;
} float2;
typedef struct {
    _Alignas(16) float x;
    float y, z, w;
} float4;
typedef struct {
    _Alignas(8) int x;
    int y;
} int2;
typedef struct {
    _Alignas(16) int x;
    int y, z, w;
} int4;
typedef struct {
    _Alignas(8) unsigned x;
    unsigned y;
} uint2;
typedef struct {
    _Alignas(16) unsigned x;
    unsigned y, z, w;
} uint4;

#endif
