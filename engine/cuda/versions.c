/* What the CUDA devices stand on, by version. */
#include "engine/cuda/cuda.h"

#include "engine/base/text.h"
#include "engine/cuda/dnn/dnn.h"
#include <stdio.h>

void mgb_cuda_versions(char *out, size_t size)
{
    int driver = 0, runtime = 0, nccl = 0, used = 0;
    char dnn[32];
    if (cudaDriverGetVersion(&driver) != cudaSuccess)
        driver = 0;
    if (cudaRuntimeGetVersion(&runtime) != cudaSuccess)
        runtime = CUDART_VERSION;
    used = mgb_format(out, size, "\"CUDA\":\"%d.%d\"", runtime / 1000, runtime % 1000 / 10);
    if (driver > 0 && used >= 0 && (size_t)used < size)
        used += mgb_format(out + used, size - (size_t)used, ",\"CUDA of the driver\":\"%d.%d\"",
                           driver / 1000, driver % 1000 / 10);
    if (ncclGetVersion(&nccl) == ncclSuccess && used >= 0 && (size_t)used < size)
        used += mgb_format(out + used, size - (size_t)used, ",\"NCCL\":\"%d.%d.%d\"", nccl / 10000,
                           nccl % 10000 / 100, nccl % 100);
    mgb_cuda_dnn_version(dnn, sizeof dnn);
    if (dnn[0] && used >= 0 && (size_t)used < size)
        (void)mgb_format(out + used, size - (size_t)used, ",\"cuDNN\":\"%s\"", dnn);
}
