/* As cuda_values.h, for cuBLAS and NCCL. */
#ifndef FAKE_INCLUDE_LIBRARY_VALUES_H
#define FAKE_INCLUDE_LIBRARY_VALUES_H

#define FAKE_CUBLAS_STATUSES(X)                                                                    \
    X(CUBLAS_STATUS_SUCCESS, 0)                                                                    \
    X(CUBLAS_STATUS_NOT_INITIALIZED, 1)                                                            \
    X(CUBLAS_STATUS_ALLOC_FAILED, 3)                                                               \
    X(CUBLAS_STATUS_INVALID_VALUE, 7)                                                              \
    X(CUBLAS_STATUS_ARCH_MISMATCH, 8)                                                              \
    X(CUBLAS_STATUS_MAPPING_ERROR, 11)                                                             \
    X(CUBLAS_STATUS_EXECUTION_FAILED, 13)                                                          \
    X(CUBLAS_STATUS_INTERNAL_ERROR, 14)                                                            \
    X(CUBLAS_STATUS_NOT_SUPPORTED, 15)                                                             \
    X(CUBLAS_STATUS_LICENSE_ERROR, 16)

#define FAKE_CUBLAS_OPERATIONS(X)                                                                  \
    X(CUBLAS_OP_N, 0)                                                                              \
    X(CUBLAS_OP_T, 1)                                                                              \
    X(CUBLAS_OP_C, 2)

#define FAKE_CUBLAS_MODES(X)                                                                       \
    X(CUBLAS_DEFAULT_MATH, 0)                                                                      \
    X(CUBLAS_PEDANTIC_MATH, 2)                                                                     \
    X(CUBLAS_TF32_TENSOR_OP_MATH, 3)                                                               \
    X(CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION, 16)

#define FAKE_CUBLAS_ALGORITHMS(X)                                                                  \
    X(CUBLAS_GEMM_DEFAULT, -1)                                                                     \
    X(CUBLAS_GEMM_DEFAULT_TENSOR_OP, 99)

#define FAKE_CUBLAS_COMPUTE_TYPES(X)                                                               \
    X(CUBLAS_COMPUTE_16F, 64)                                                                      \
    X(CUBLAS_COMPUTE_32F, 68)                                                                      \
    X(CUBLAS_COMPUTE_32F_PEDANTIC, 69)                                                             \
    X(CUBLAS_COMPUTE_64F, 70)                                                                      \
    X(CUBLAS_COMPUTE_32F_FAST_16F, 74)                                                             \
    X(CUBLAS_COMPUTE_32F_FAST_16BF, 75)                                                            \
    X(CUBLAS_COMPUTE_32F_FAST_TF32, 77)

#define FAKE_CUDA_DATA_TYPES(X)                                                                    \
    X(CUDA_R_32F, 0)                                                                               \
    X(CUDA_R_64F, 1)                                                                               \
    X(CUDA_R_16F, 2)                                                                               \
    X(CUDA_R_16BF, 14)

#define FAKE_NCCL_RESULTS(X)                                                                       \
    X(ncclSuccess, 0)                                                                              \
    X(ncclUnhandledCudaError, 1)                                                                   \
    X(ncclSystemError, 2)                                                                          \
    X(ncclInternalError, 3)                                                                        \
    X(ncclInvalidArgument, 4)                                                                      \
    X(ncclInvalidUsage, 5)                                                                         \
    X(ncclRemoteError, 6)                                                                          \
    X(ncclInProgress, 7)

#define FAKE_NCCL_TYPES(X)                                                                         \
    X(ncclInt8, 0)                                                                                 \
    X(ncclUint8, 1)                                                                                \
    X(ncclInt32, 2)                                                                                \
    X(ncclUint32, 3)                                                                               \
    X(ncclInt64, 4)                                                                                \
    X(ncclUint64, 5)                                                                               \
    X(ncclFloat16, 6)                                                                              \
    X(ncclFloat32, 7)                                                                              \
    X(ncclFloat64, 8)                                                                              \
    X(ncclBfloat16, 9)

#define FAKE_NCCL_OPERATIONS(X)                                                                    \
    X(ncclSum, 0)                                                                                  \
    X(ncclProd, 1)                                                                                 \
    X(ncclMax, 2)                                                                                  \
    X(ncclMin, 3)                                                                                  \
    X(ncclAvg, 4)

#endif
