/* The constants that our own headers have, held against those of the headers in use: with NVIDIA's this file compiles
 * only where they agree. */
#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <cudnn.h>
#include <nccl.h>

#include "tests/fake_cuda/include/cuda_values.h"
#include "tests/fake_cuda/include/device_values.h"
#include "tests/fake_cuda/include/dnn_values.h"
#include "tests/fake_cuda/include/library_values.h"
#include "tests/fake_cuda/older.h"

#define CHECK(name, value) _Static_assert((int)(name) == (value), #name " is not " #value);
FAKE_CUDA_ERRORS(CHECK)
FAKE_CUDA_UPDATE_RESULTS(CHECK)
FAKE_CUDA_COPY_KINDS(CHECK)
FAKE_CUDA_MEMORY_TYPES(CHECK)
FAKE_CUDA_CAPTURE_MODES(CHECK)
FAKE_CUDA_CAPTURE_STATES(CHECK)
FAKE_CUDA_ATTRIBUTES(CHECK)
FAKE_CUDA_PEER_ATTRIBUTES(CHECK)
FAKE_CUDA_FLAGS(CHECK)
FAKE_CUBLAS_STATUSES(CHECK)
FAKE_CUBLAS_OPERATIONS(CHECK)
FAKE_CUBLAS_MODES(CHECK)
FAKE_CUBLAS_ALGORITHMS(CHECK)
FAKE_CUBLAS_COMPUTE_TYPES(CHECK)
FAKE_CUDA_DATA_TYPES(CHECK)
FAKE_NCCL_RESULTS(CHECK)
FAKE_NCCL_TYPES(CHECK)
FAKE_NCCL_OPERATIONS(CHECK)
FAKE_CUDNN_STATUSES(CHECK)
FAKE_CUDNN_TYPES(CHECK)
FAKE_CUDNN_MATHS(CHECK)
FAKE_CUDNN_FORMATS(CHECK)
FAKE_CUDNN_DETERMINISMS(CHECK)
FAKE_CUDNN_MODES(CHECK)
FAKE_CUDNN_NORMS(CHECK)
FAKE_CUDNN_FORWARDS(CHECK)
FAKE_CUDNN_BACKWARDS_DATA(CHECK)
FAKE_CUDNN_BACKWARDS_FILTER(CHECK)

_Static_assert(sizeof(float4) == 16 && _Alignof(float4) == 16, "vectors are 16-byte accesses");
_Static_assert(sizeof(uint4) == 16 && _Alignof(uint4) == 16, "vectors are 16-byte accesses");
_Static_assert(sizeof(float2) == 8 && _Alignof(float2) == 8, "pairs are 8-byte accesses");
_Static_assert(sizeof(cudaUUID_t) == 16, "16 bytes");
