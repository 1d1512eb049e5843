/* The constants of the CUDA runtime that are in use, with their documented values: our own headers are made from these
 * lists, and values.c holds NVIDIA's headers against them where those are there. */
#ifndef FAKE_INCLUDE_CUDA_VALUES_H
#define FAKE_INCLUDE_CUDA_VALUES_H

#define FAKE_CUDA_ERRORS(X)                                                                        \
    X(cudaSuccess, 0)                                                                              \
    X(cudaErrorInvalidValue, 1)                                                                    \
    X(cudaErrorMemoryAllocation, 2)                                                                \
    X(cudaErrorInitializationError, 3)                                                             \
    X(cudaErrorCudartUnloading, 4)                                                                 \
    X(cudaErrorInvalidConfiguration, 9)                                                            \
    X(cudaErrorInvalidMemcpyDirection, 21)                                                         \
    X(cudaErrorStubLibrary, 34)                                                                    \
    X(cudaErrorInsufficientDriver, 35)                                                             \
    X(cudaErrorDevicesUnavailable, 46)                                                             \
    X(cudaErrorInvalidDeviceFunction, 98)                                                          \
    X(cudaErrorNoDevice, 100)                                                                      \
    X(cudaErrorInvalidDevice, 101)                                                                 \
    X(cudaErrorInvalidKernelImage, 200)                                                            \
    X(cudaErrorDeviceUninitialized, 201)                                                           \
    X(cudaErrorNoKernelImageForDevice, 209)                                                        \
    X(cudaErrorECCUncorrectable, 214)                                                              \
    X(cudaErrorPeerAccessUnsupported, 217)                                                         \
    X(cudaErrorInvalidPtx, 218)                                                                    \
    X(cudaErrorNvlinkUncorrectable, 220)                                                           \
    X(cudaErrorUnsupportedPtxVersion, 222)                                                         \
    X(cudaErrorContained, 226)                                                                     \
    X(cudaErrorInvalidResourceHandle, 400)                                                         \
    X(cudaErrorIllegalState, 401)                                                                  \
    X(cudaErrorNotReady, 600)                                                                      \
    X(cudaErrorIllegalAddress, 700)                                                                \
    X(cudaErrorLaunchOutOfResources, 701)                                                          \
    X(cudaErrorLaunchTimeout, 702)                                                                 \
    X(cudaErrorPeerAccessAlreadyEnabled, 704)                                                      \
    X(cudaErrorPeerAccessNotEnabled, 705)                                                          \
    X(cudaErrorContextIsDestroyed, 709)                                                            \
    X(cudaErrorAssert, 710)                                                                        \
    X(cudaErrorTooManyPeers, 711)                                                                  \
    X(cudaErrorHostMemoryAlreadyRegistered, 712)                                                   \
    X(cudaErrorHostMemoryNotRegistered, 713)                                                       \
    X(cudaErrorHardwareStackError, 714)                                                            \
    X(cudaErrorIllegalInstruction, 715)                                                            \
    X(cudaErrorMisalignedAddress, 716)                                                             \
    X(cudaErrorInvalidAddressSpace, 717)                                                           \
    X(cudaErrorInvalidPc, 718)                                                                     \
    X(cudaErrorLaunchFailure, 719)                                                                 \
    X(cudaErrorNotPermitted, 800)                                                                  \
    X(cudaErrorNotSupported, 801)                                                                  \
    X(cudaErrorSystemNotReady, 802)                                                                \
    X(cudaErrorSystemDriverMismatch, 803)                                                          \
    X(cudaErrorCompatNotSupportedOnDevice, 804)                                                    \
    X(cudaErrorStreamCaptureUnsupported, 900)                                                      \
    X(cudaErrorStreamCaptureInvalidated, 901)                                                      \
    X(cudaErrorStreamCaptureMerge, 902)                                                            \
    X(cudaErrorStreamCaptureUnmatched, 903)                                                        \
    X(cudaErrorStreamCaptureUnjoined, 904)                                                         \
    X(cudaErrorStreamCaptureIsolation, 905)                                                        \
    X(cudaErrorStreamCaptureImplicit, 906)                                                         \
    X(cudaErrorCapturedEvent, 907)                                                                 \
    X(cudaErrorStreamCaptureWrongThread, 908)                                                      \
    X(cudaErrorTimeout, 909)                                                                       \
    X(cudaErrorGraphExecUpdateFailure, 910)                                                        \
    X(cudaErrorUnknown, 999)

#define FAKE_CUDA_UPDATE_RESULTS(X)                                                                \
    X(cudaGraphExecUpdateSuccess, 0)                                                               \
    X(cudaGraphExecUpdateError, 1)                                                                 \
    X(cudaGraphExecUpdateErrorTopologyChanged, 2)

#define FAKE_CUDA_COPY_KINDS(X)                                                                    \
    X(cudaMemcpyHostToHost, 0)                                                                     \
    X(cudaMemcpyHostToDevice, 1)                                                                   \
    X(cudaMemcpyDeviceToHost, 2)                                                                   \
    X(cudaMemcpyDeviceToDevice, 3)                                                                 \
    X(cudaMemcpyDefault, 4)

#define FAKE_CUDA_MEMORY_TYPES(X)                                                                  \
    X(cudaMemoryTypeUnregistered, 0)                                                               \
    X(cudaMemoryTypeHost, 1)                                                                       \
    X(cudaMemoryTypeDevice, 2)                                                                     \
    X(cudaMemoryTypeManaged, 3)

#define FAKE_CUDA_CAPTURE_MODES(X)                                                                 \
    X(cudaStreamCaptureModeGlobal, 0)                                                              \
    X(cudaStreamCaptureModeThreadLocal, 1)                                                         \
    X(cudaStreamCaptureModeRelaxed, 2)

#define FAKE_CUDA_CAPTURE_STATES(X)                                                                \
    X(cudaStreamCaptureStatusNone, 0)                                                              \
    X(cudaStreamCaptureStatusActive, 1)                                                            \
    X(cudaStreamCaptureStatusInvalidated, 2)

#endif
