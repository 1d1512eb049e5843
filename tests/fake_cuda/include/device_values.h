/* The rest of cuda_values.h: attributes of devices and flags, which are macros in NVIDIA's headers. */
#ifndef FAKE_INCLUDE_DEVICE_VALUES_H
#define FAKE_INCLUDE_DEVICE_VALUES_H

#define FAKE_CUDA_ATTRIBUTES(X)                                                                    \
    X(cudaDevAttrMaxThreadsPerBlock, 1)                                                            \
    X(cudaDevAttrMaxSharedMemoryPerBlock, 8)                                                       \
    X(cudaDevAttrWarpSize, 10)                                                                     \
    X(cudaDevAttrMaxRegistersPerBlock, 12)                                                         \
    X(cudaDevAttrClockRate, 13)                                                                    \
    X(cudaDevAttrMultiProcessorCount, 16)                                                          \
    X(cudaDevAttrKernelExecTimeout, 17)                                                            \
    X(cudaDevAttrIntegrated, 18)                                                                   \
    X(cudaDevAttrCanMapHostMemory, 19)                                                             \
    X(cudaDevAttrComputeMode, 20)                                                                  \
    X(cudaDevAttrConcurrentKernels, 31)                                                            \
    X(cudaDevAttrEccEnabled, 32)                                                                   \
    X(cudaDevAttrPciBusId, 33)                                                                     \
    X(cudaDevAttrPciDeviceId, 34)                                                                  \
    X(cudaDevAttrMemoryClockRate, 36)                                                              \
    X(cudaDevAttrGlobalMemoryBusWidth, 37)                                                         \
    X(cudaDevAttrL2CacheSize, 38)                                                                  \
    X(cudaDevAttrMaxThreadsPerMultiProcessor, 39)                                                  \
    X(cudaDevAttrAsyncEngineCount, 40)                                                             \
    X(cudaDevAttrUnifiedAddressing, 41)                                                            \
    X(cudaDevAttrPciDomainId, 50)                                                                  \
    X(cudaDevAttrComputeCapabilityMajor, 75)                                                       \
    X(cudaDevAttrComputeCapabilityMinor, 76)

#define FAKE_CUDA_PEER_ATTRIBUTES(X)                                                               \
    X(cudaDevP2PAttrPerformanceRank, 1)                                                            \
    X(cudaDevP2PAttrAccessSupported, 2)                                                            \
    X(cudaDevP2PAttrNativeAtomicSupported, 3)

#define FAKE_CUDA_FLAGS(X)                                                                         \
    X(cudaStreamDefault, 0)                                                                        \
    X(cudaStreamNonBlocking, 1)                                                                    \
    X(cudaEventDefault, 0)                                                                         \
    X(cudaEventBlockingSync, 1)                                                                    \
    X(cudaEventDisableTiming, 2)                                                                   \
    X(cudaEventRecordDefault, 0)                                                                   \
    X(cudaEventRecordExternal, 1)                                                                  \
    X(cudaHostAllocDefault, 0)                                                                     \
    X(cudaHostAllocPortable, 1)                                                                    \
    X(cudaHostAllocMapped, 2)                                                                      \
    X(cudaHostAllocWriteCombined, 4)                                                               \
    X(cudaHostRegisterDefault, 0)                                                                  \
    X(cudaHostRegisterPortable, 1)                                                                 \
    X(cudaHostRegisterMapped, 2)                                                                   \
    X(cudaHostRegisterReadOnly, 8)

#endif
