/* libcudnn, loaded when a context is opened rather than linked, as NVML is: a plugin built with it starts where it is not
 * installed, and its hundreds of megabytes are mapped by those runs only that use it. Types and numbers are those of
 * cudnn.h, so that only the library of the same major version is taken.
 *
 * MGBENCH_CUDNN_LIBRARY names another file. */
#ifndef MGB_CUDA_DNN_LIBRARY_H
#define MGB_CUDA_DNN_LIBRARY_H

#include "engine/cuda/cuda.h"
#include <cudnn.h>

#define MGB_CUDNN_MAJOR_UNIT (CUDNN_MAJOR >= 9 ? 10000 : 1000) /* of cudnnGetVersion */
#define MGB_CUDNN_VARIABLE "MGBENCH_CUDNN_LIBRARY"

/* What is called of it, all in cuDNN 8 and 9 alike. */
#define MGB_CUDNN_FUNCTIONS(X)                                                                     \
    X(cudnnGetVersion)                                                                             \
    X(cudnnGetErrorString)                                                                         \
    X(cudnnCreate)                                                                                 \
    X(cudnnDestroy)                                                                                \
    X(cudnnSetStream)                                                                              \
    X(cudnnCreateTensorDescriptor)                                                                 \
    X(cudnnSetTensor4dDescriptor)                                                                  \
    X(cudnnDestroyTensorDescriptor)                                                                \
    X(cudnnCreateFilterDescriptor)                                                                 \
    X(cudnnSetFilter4dDescriptor)                                                                  \
    X(cudnnDestroyFilterDescriptor)                                                                \
    X(cudnnCreateConvolutionDescriptor)                                                            \
    X(cudnnSetConvolution2dDescriptor)                                                             \
    X(cudnnSetConvolutionGroupCount)                                                               \
    X(cudnnSetConvolutionMathType)                                                                 \
    X(cudnnDestroyConvolutionDescriptor)                                                           \
    X(cudnnGetConvolutionForwardAlgorithm_v7)                                                      \
    X(cudnnGetConvolutionBackwardDataAlgorithm_v7)                                                 \
    X(cudnnGetConvolutionBackwardFilterAlgorithm_v7)                                               \
    X(cudnnGetConvolutionForwardWorkspaceSize)                                                     \
    X(cudnnGetConvolutionBackwardDataWorkspaceSize)                                                \
    X(cudnnGetConvolutionBackwardFilterWorkspaceSize)                                              \
    X(cudnnConvolutionForward)                                                                     \
    X(cudnnConvolutionBackwardData)                                                                \
    X(cudnnConvolutionBackwardFilter)                                                              \
    X(cudnnBatchNormalizationForwardInference)

struct mgb_cudnn {
#define X(name) __typeof__(name) *name;
    MGB_CUDNN_FUNCTIONS(X)
#undef X
};

/* Loaded at the first call; NULL with a message when it cannot be. Any thread. */
const struct mgb_cudnn *mgb_cudnn_find(void);
/* MGB_UNSUPPORTED where cuDNN says that it does not have something, MGB_OOM for a lack of memory, what CUDA says below it
 * where that failed, else MGB_DEVICE. */
enum mgb_status mgb_cudnn_fail(struct mgb_cuda *cuda, cudnnStatus_t status, const char *call);
/* Calls a function of `lib`, returns on failure. */
#define MGB_CUDNN_TRY(lib, cuda, function, ...)                                                    \
    do {                                                                                           \
        cudnnStatus_t cudnn_status_ = (lib)->function(__VA_ARGS__);                                \
        if (cudnn_status_ != CUDNN_STATUS_SUCCESS)                                                 \
            return mgb_cudnn_fail((cuda), cudnn_status_, #function);                               \
    } while (0)

#endif
