/* The part of cudnn.h with the operators, after its types. */
#ifndef FAKE_INCLUDE_CUDNN_CNN_H
#define FAKE_INCLUDE_CUDNN_CNN_H

#include "tests/fake_cuda/include/dnn/cudnn.h"

/* An algorithm that cuDNN offers. */
#define FAKE_CUDNN_OFFER(name, type)                                                               \
    typedef struct {                                                                               \
        type algo;                                                                                 \
        cudnnStatus_t status;                                                                      \
        float time;                                                                                \
        size_t memory;                                                                             \
        cudnnDeterminism_t determinism;                                                            \
        cudnnMathType_t mathType;                                                                  \
        int reserved[3];                                                                           \
    } name
FAKE_CUDNN_OFFER(cudnnConvolutionFwdAlgoPerf_t, cudnnConvolutionFwdAlgo_t);
FAKE_CUDNN_OFFER(cudnnConvolutionBwdDataAlgoPerf_t, cudnnConvolutionBwdDataAlgo_t);
FAKE_CUDNN_OFFER(cudnnConvolutionBwdFilterAlgoPerf_t, cudnnConvolutionBwdFilterAlgo_t);

cudnnStatus_t cudnnGetConvolutionForwardAlgorithm_v7(
    cudnnHandle_t handle, const cudnnTensorDescriptor_t x, const cudnnFilterDescriptor_t w,
    const cudnnConvolutionDescriptor_t conv, const cudnnTensorDescriptor_t y, const int room,
    int *count, cudnnConvolutionFwdAlgoPerf_t *offers);
cudnnStatus_t cudnnGetConvolutionBackwardDataAlgorithm_v7(
    cudnnHandle_t handle, const cudnnFilterDescriptor_t w, const cudnnTensorDescriptor_t dy,
    const cudnnConvolutionDescriptor_t conv, const cudnnTensorDescriptor_t dx, const int room,
    int *count, cudnnConvolutionBwdDataAlgoPerf_t *offers);
cudnnStatus_t cudnnGetConvolutionBackwardFilterAlgorithm_v7(
    cudnnHandle_t handle, const cudnnTensorDescriptor_t x, const cudnnTensorDescriptor_t dy,
    const cudnnConvolutionDescriptor_t conv, const cudnnFilterDescriptor_t dw, const int room,
    int *count, cudnnConvolutionBwdFilterAlgoPerf_t *offers);
cudnnStatus_t cudnnGetConvolutionForwardWorkspaceSize(
    cudnnHandle_t handle, const cudnnTensorDescriptor_t x, const cudnnFilterDescriptor_t w,
    const cudnnConvolutionDescriptor_t conv, const cudnnTensorDescriptor_t y,
    cudnnConvolutionFwdAlgo_t algorithm, size_t *bytes);
cudnnStatus_t cudnnGetConvolutionBackwardDataWorkspaceSize(
    cudnnHandle_t handle, const cudnnFilterDescriptor_t w, const cudnnTensorDescriptor_t dy,
    const cudnnConvolutionDescriptor_t conv, const cudnnTensorDescriptor_t dx,
    cudnnConvolutionBwdDataAlgo_t algorithm, size_t *bytes);
cudnnStatus_t cudnnGetConvolutionBackwardFilterWorkspaceSize(
    cudnnHandle_t handle, const cudnnTensorDescriptor_t x, const cudnnTensorDescriptor_t dy,
    const cudnnConvolutionDescriptor_t conv, const cudnnFilterDescriptor_t dw,
    cudnnConvolutionBwdFilterAlgo_t algorithm, size_t *bytes);
cudnnStatus_t cudnnConvolutionForward(cudnnHandle_t handle, const void *alpha,
                                      const cudnnTensorDescriptor_t x_of, const void *x,
                                      const cudnnFilterDescriptor_t w_of, const void *w,
                                      const cudnnConvolutionDescriptor_t conv,
                                      cudnnConvolutionFwdAlgo_t algorithm, void *workspace,
                                      size_t bytes, const void *beta,
                                      const cudnnTensorDescriptor_t y_of, void *y);
cudnnStatus_t cudnnConvolutionBackwardData(cudnnHandle_t handle, const void *alpha,
                                           const cudnnFilterDescriptor_t w_of, const void *w,
                                           const cudnnTensorDescriptor_t dy_of, const void *dy,
                                           const cudnnConvolutionDescriptor_t conv,
                                           cudnnConvolutionBwdDataAlgo_t algorithm, void *workspace,
                                           size_t bytes, const void *beta,
                                           const cudnnTensorDescriptor_t dx_of, void *dx);
cudnnStatus_t cudnnConvolutionBackwardFilter(cudnnHandle_t handle, const void *alpha,
                                             const cudnnTensorDescriptor_t x_of, const void *x,
                                             const cudnnTensorDescriptor_t dy_of, const void *dy,
                                             const cudnnConvolutionDescriptor_t conv,
                                             cudnnConvolutionBwdFilterAlgo_t algorithm,
                                             void *workspace, size_t bytes, const void *beta,
                                             const cudnnFilterDescriptor_t dw_of, void *dw);

#define CUDNN_BN_MIN_EPSILON 0.0
cudnnStatus_t cudnnBatchNormalizationForwardInference(
    cudnnHandle_t handle, cudnnBatchNormMode_t mode, const void *alpha, const void *beta,
    const cudnnTensorDescriptor_t x_of, const void *x, const cudnnTensorDescriptor_t y_of, void *y,
    const cudnnTensorDescriptor_t line_of, const void *scale, const void *bias, const void *mean,
    const void *variance, double epsilon);

#endif
