/* As cuda_values.h, for cuDNN 9. */
#ifndef FAKE_INCLUDE_DNN_VALUES_H
#define FAKE_INCLUDE_DNN_VALUES_H

#define FAKE_CUDNN_STATUSES(X)                                                                     \
    X(CUDNN_STATUS_SUCCESS, 0)                                                                     \
    X(CUDNN_STATUS_NOT_INITIALIZED, 1001)                                                          \
    X(CUDNN_STATUS_BAD_PARAM, 2000)                                                                \
    X(CUDNN_STATUS_NOT_SUPPORTED, 3000)                                                            \
    X(CUDNN_STATUS_INTERNAL_ERROR, 4000)                                                           \
    X(CUDNN_STATUS_ALLOC_FAILED, 4003)                                                             \
    X(CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED, 4004)                                  \
    X(CUDNN_STATUS_EXECUTION_FAILED, 5000)

#define FAKE_CUDNN_TYPES(X)                                                                        \
    X(CUDNN_DATA_FLOAT, 0)                                                                         \
    X(CUDNN_DATA_HALF, 2)                                                                          \
    X(CUDNN_DATA_INT32, 4)                                                                         \
    X(CUDNN_DATA_BFLOAT16, 9)

#define FAKE_CUDNN_MATHS(X)                                                                        \
    X(CUDNN_DEFAULT_MATH, 0)                                                                       \
    X(CUDNN_TENSOR_OP_MATH, 1)                                                                     \
    X(CUDNN_TENSOR_OP_MATH_ALLOW_CONVERSION, 2)                                                    \
    X(CUDNN_FMA_MATH, 3)

#define FAKE_CUDNN_FORMATS(X)                                                                      \
    X(CUDNN_TENSOR_NCHW, 0)                                                                        \
    X(CUDNN_TENSOR_NHWC, 1)

#define FAKE_CUDNN_DETERMINISMS(X)                                                                 \
    X(CUDNN_NON_DETERMINISTIC, 0)                                                                  \
    X(CUDNN_DETERMINISTIC, 1)

#define FAKE_CUDNN_MODES(X)                                                                        \
    X(CUDNN_CONVOLUTION, 0)                                                                        \
    X(CUDNN_CROSS_CORRELATION, 1)

#define FAKE_CUDNN_NORMS(X)                                                                        \
    X(CUDNN_BATCHNORM_PER_ACTIVATION, 0)                                                           \
    X(CUDNN_BATCHNORM_SPATIAL, 1)

#define FAKE_CUDNN_FORWARDS(X)                                                                     \
    X(CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM, 0)                                                 \
    X(CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM, 1)                                         \
    X(CUDNN_CONVOLUTION_FWD_ALGO_GEMM, 2)                                                          \
    X(CUDNN_CONVOLUTION_FWD_ALGO_WINOGRAD_NONFUSED, 7)

#define FAKE_CUDNN_BACKWARDS_DATA(X)                                                               \
    X(CUDNN_CONVOLUTION_BWD_DATA_ALGO_0, 0)                                                        \
    X(CUDNN_CONVOLUTION_BWD_DATA_ALGO_1, 1)                                                        \
    X(CUDNN_CONVOLUTION_BWD_DATA_ALGO_WINOGRAD_NONFUSED, 5)

#define FAKE_CUDNN_BACKWARDS_FILTER(X)                                                             \
    X(CUDNN_CONVOLUTION_BWD_FILTER_ALGO_0, 0)                                                      \
    X(CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1, 1)                                                      \
    X(CUDNN_CONVOLUTION_BWD_FILTER_ALGO_WINOGRAD_NONFUSED, 5)

#endif
