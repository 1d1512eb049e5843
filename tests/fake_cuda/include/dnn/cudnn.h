/* What is in use of cuDNN 9, after NVIDIA's manual; for machines without NVIDIA's own header. */
#ifndef FAKE_INCLUDE_CUDNN_H
#define FAKE_INCLUDE_CUDNN_H

#include "tests/fake_cuda/include/cuda_values.h"
#include "tests/fake_cuda/include/dnn_values.h"
#include <cuda_runtime_api.h>
#include <stddef.h>

#define CUDNN_MAJOR 9
#define CUDNN_MINOR 19
#define CUDNN_PATCHLEVEL 0
#define CUDNN_VERSION 91900
#define CUDNN_STATUS_CATEGORY(code) ((code) / 1000 * 1000)

#ifndef FAKE_ENUMERATOR
#define FAKE_ENUMERATOR(name, value) name = value,
#endif
typedef enum { FAKE_CUDNN_STATUSES(FAKE_ENUMERATOR) } cudnnStatus_t;
typedef enum { FAKE_CUDNN_TYPES(FAKE_ENUMERATOR) } cudnnDataType_t;
typedef enum { FAKE_CUDNN_MATHS(FAKE_ENUMERATOR) } cudnnMathType_t;
typedef enum { FAKE_CUDNN_FORMATS(FAKE_ENUMERATOR) } cudnnTensorFormat_t;
typedef enum { FAKE_CUDNN_DETERMINISMS(FAKE_ENUMERATOR) } cudnnDeterminism_t;
typedef enum { FAKE_CUDNN_MODES(FAKE_ENUMERATOR) } cudnnConvolutionMode_t;
typedef enum { FAKE_CUDNN_NORMS(FAKE_ENUMERATOR) } cudnnBatchNormMode_t;
typedef enum { FAKE_CUDNN_FORWARDS(FAKE_ENUMERATOR) } cudnnConvolutionFwdAlgo_t;
typedef enum { FAKE_CUDNN_BACKWARDS_DATA(FAKE_ENUMERATOR) } cudnnConvolutionBwdDataAlgo_t;
typedef enum { FAKE_CUDNN_BACKWARDS_FILTER(FAKE_ENUMERATOR) } cudnnConvolutionBwdFilterAlgo_t;

typedef struct cudnnContext *cudnnHandle_t;
typedef struct cudnnTensorStruct *cudnnTensorDescriptor_t;
typedef struct cudnnFilterStruct *cudnnFilterDescriptor_t;
typedef struct cudnnConvolutionStruct *cudnnConvolutionDescriptor_t;

size_t cudnnGetVersion(void);
const char *cudnnGetErrorString(cudnnStatus_t status);
cudnnStatus_t cudnnCreate(cudnnHandle_t *out);
cudnnStatus_t cudnnDestroy(cudnnHandle_t handle);
cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, cudaStream_t stream);

cudnnStatus_t cudnnCreateTensorDescriptor(cudnnTensorDescriptor_t *out);
cudnnStatus_t cudnnSetTensor4dDescriptor(cudnnTensorDescriptor_t tensor, cudnnTensorFormat_t format,
                                         cudnnDataType_t type, int n, int c, int h, int w);
cudnnStatus_t cudnnDestroyTensorDescriptor(cudnnTensorDescriptor_t tensor);
cudnnStatus_t cudnnCreateFilterDescriptor(cudnnFilterDescriptor_t *out);
cudnnStatus_t cudnnSetFilter4dDescriptor(cudnnFilterDescriptor_t filter, cudnnDataType_t type,
                                         cudnnTensorFormat_t format, int k, int c, int h, int w);
cudnnStatus_t cudnnDestroyFilterDescriptor(cudnnFilterDescriptor_t filter);
cudnnStatus_t cudnnCreateConvolutionDescriptor(cudnnConvolutionDescriptor_t *out);
cudnnStatus_t cudnnSetConvolution2dDescriptor(cudnnConvolutionDescriptor_t conv, int pad_h,
                                              int pad_w, int stride_h, int stride_w, int dilation_h,
                                              int dilation_w, cudnnConvolutionMode_t mode,
                                              cudnnDataType_t compute);
cudnnStatus_t cudnnSetConvolutionGroupCount(cudnnConvolutionDescriptor_t conv, int groups);
cudnnStatus_t cudnnSetConvolutionMathType(cudnnConvolutionDescriptor_t conv, cudnnMathType_t math);
cudnnStatus_t cudnnDestroyConvolutionDescriptor(cudnnConvolutionDescriptor_t conv);

#include "tests/fake_cuda/include/dnn/cudnn_cnn.h"

#endif
