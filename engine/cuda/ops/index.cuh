/* From the number of an element to where it lies. */
#ifndef MGB_CUDA_OPS_INDEX_CUH
#define MGB_CUDA_OPS_INDEX_CUH

#include <stdint.h>

/* Item `item`, counted with the last axis fastest, taken along axes with steps of their own. A division of 32 bits takes a
 * GPU a fraction of the time: `small` says that the item's number has no more. */
static __device__ __forceinline__ int64_t axes_offset(const int64_t *dim, const int64_t *stride, int axes, int64_t item,
                                                      int small)
{
    int64_t offset = 0;
    if (small) {
        uint32_t rest = (uint32_t)item;
        for (int axis = axes - 1; axis > 0; axis--) {
            uint32_t length = (uint32_t)dim[axis], outer = rest / length;
            offset += (int64_t)(rest - outer * length) * stride[axis];
            rest = outer;
        }
        return axes > 0 ? offset + (int64_t)rest * stride[0] : 0;
    }
    for (int axis = axes - 1; axis > 0; axis--) {
        int64_t outer = item / dim[axis];
        offset += (item - outer * dim[axis]) * stride[axis];
        item = outer;
    }
    return axes > 0 ? offset + item * stride[0] : 0;
}

#endif
