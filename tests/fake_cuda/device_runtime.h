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

/* What a warp exchanges, as 64 bits of whatever type. A lane beyond the warp gives the caller its own value; one that is
 * not in the mask or beyond the block gives bits that are all ones, as CUDA leaves them undefined. */
unsigned long long fake_shuffle_xor(unsigned mask, unsigned long long bits, int lanes);
unsigned long long fake_shuffle_up(unsigned mask, unsigned long long bits, unsigned lanes);
unsigned long long fake_shuffle_down(unsigned mask, unsigned long long bits, unsigned lanes);
unsigned long long fake_shuffle_from(unsigned mask, unsigned long long bits, int lane);
unsigned fake_ballot(unsigned mask, int predicate);

/* Enters a kernel in the table that cudaLaunchKernel looks into; `name` must last. */
void fake_kernel_add(const void *function, const char *name, void (*call)(const void *),
                     size_t argument_bytes);

#endif
