/* What kernels of many tensors share: whose piece it is, and sums in order by a whole block. */
#ifndef MGB_CUDA_MANY_CUH
#define MGB_CUDA_MANY_CUH

#include <stdint.h>

/* The tensor that piece `piece` is of: the first whose end lies behind it. */
static __device__ __forceinline__ int piece_owner(const int32_t *end, int items, int32_t piece)
{
    int low = 0, high = items - 1;
    while (low < high) {
        int middle = (low + high) / 2;
        if (end[middle] > piece)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* Adds values[0 .. count) to `sum` in order; several are on their way at a time. */
static __device__ __forceinline__ double in_order_add(double sum, const double *values, int count)
{
    double held[16];
    int i = 0;
    for (; i + 16 <= count; i += 16) {
        for (int k = 0; k < 16; k++)
            held[k] = values[i + k];
        for (int k = 0; k < 16; k++)
            sum += held[k];
    }
    for (; i < count; i++)
        sum += values[i];
    return sum;
}

#endif
