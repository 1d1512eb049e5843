/* What device code calls at run time: between device_shim.h, which names these as CUDA does, and block.c. */
#ifndef FAKE_DEVICE_RUNTIME_H
#define FAKE_DEVICE_RUNTIME_H

#include <cuda_runtime_api.h>
#include <stddef.h>

struct fake_indices {
    dim3 thread, block, block_size, grid_size;
};
extern _Thread_local struct fake_indices fake_indices;

void fake_barrier(void);
void fake_warp_barrier(unsigned mask);
/* Lanes that a shuffle cannot read (beyond the warp or the block) give the caller its own value. */
float fake_shuffle_xor(unsigned mask, float value, int lanes);
float fake_shuffle_down(unsigned mask, float value, unsigned lanes);
float fake_shuffle_from(unsigned mask, float value, int lane);

/* Enters a kernel in the table that cudaLaunchKernel looks into; `name` must last. */
void fake_kernel_add(const void *function, const char *name, void (*call)(const void *),
                     size_t argument_bytes);

#endif
