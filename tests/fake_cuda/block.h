/* Between kernel.c, which takes launches, and block.c, which plays a grid. */
#ifndef FAKE_BLOCK_H
#define FAKE_BLOCK_H

#include "tests/fake_cuda/fake.h"

struct fake_kernel {
    struct fake_kernel *next;
    const void *function;
    const char *name;
    void (*call)(const void *argument);
    size_t argument_bytes;
};
bool fake_grid_run(const struct fake_kernel *kernel, const void *argument, dim3 grid, dim3 block);
void fake_grid_end(void); /* frees the calling thread's fibers */

#endif
