/* What changes from step to step, as kernels of a replay read it: in pinned memory, written while nothing runs. Kernels that
 * were enqueued have it in their arguments. C and CUDA C++. */
#ifndef MGB_CUDA_VALUES_H
#define MGB_CUDA_VALUES_H

#include <stdint.h>

struct mgb_gpu_values {
    int64_t step;
    uint64_t seed;
    float rate; /* of the optimizer, with all its corrections */
};

#endif
