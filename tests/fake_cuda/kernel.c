/* The table of kernels and their launch. A launch is checked as the device would: its stream, its sizes, and that
 * every pointer in its argument lies on this device, in pinned memory or on a peer that was enabled. */
#include "tests/fake_cuda/block.h"
#include "tests/fake_cuda/device_runtime.h"

#include <string.h>

struct kernel_op {
    struct fake_op op;
    const struct fake_kernel *kernel;
    dim3 grid, block;
    int device;
    _Alignas(16) unsigned char argument[];
};

static struct fake_kernel *kernels;

void fake_kernel_add(const void *function, const char *name, void (*call)(const void *),
                     size_t argument_bytes)
{
    struct fake_kernel *kernel = fake_allocate(sizeof *kernel);
    *kernel = (struct fake_kernel){
        .function = function, .name = name, .call = call, .argument_bytes = argument_bytes};
    fake_lock();
    kernel->next = kernels;
    kernels = kernel;
    fake_unlock();
}

static void kernel_run(struct fake_op *op)
{
    const struct kernel_op *launch = (const struct kernel_op *)op;
    if (!fake_grid_run(launch->kernel, launch->argument, launch->grid, launch->block))
        atomic_store(&fake_device_get(launch->device)->fault, cudaErrorLaunchFailure);
}

static bool shape_valid(dim3 grid, dim3 block)
{
    return grid.x > 0 && grid.y > 0 && grid.z > 0 && block.x > 0 && block.y > 0 && block.z > 0 &&
           grid.x <= 2147483647u && grid.y <= 65535 && grid.z <= 65535 && block.x <= 1024 &&
           block.y <= 1024 && block.z <= 64 && (size_t)block.x * block.y * block.z <= 1024;
}

/* Does a word of the argument point into memory that the device cannot reach? Caller holds the lock. */
static bool argument_reaches(const struct fake_kernel *kernel, const void *argument, int device)
{
    for (size_t at = 0; at + sizeof(void *) <= kernel->argument_bytes; at += sizeof(void *)) {
        const void *word;
        memcpy(&word, (const char *)argument + at, sizeof word);
        const struct fake_block *block = fake_word_is_small(word) ? NULL : fake_block_find(word);
        if (!block || block->device < 0 || block->device == device)
            continue;
        if (!fake_device_get(device)->reaches[block->device]) {
            fake_complain("%s on device %d: a pointer into memory of device %d without peer access",
                          kernel->name, device, block->device);
            return false;
        }
    }
    return true;
}

static const struct fake_kernel *kernel_find(const void *function)
{
    for (const struct fake_kernel *kernel = kernels; kernel; kernel = kernel->next)
        if (kernel->function == function)
            return kernel;
    return NULL;
}

/* Caller holds the lock. */
static cudaError_t kernel_launch(const void *function, dim3 grid, dim3 block, void **arguments,
                                 cudaStream_t stream)
{
    int device = fake_device_current();
    const struct fake_kernel *kernel = kernel_find(function);
    if (!kernel)
        return cudaErrorInvalidDeviceFunction;
    if (fake_stream_device(stream) != device)
        return cudaErrorInvalidResourceHandle;
    if (!shape_valid(grid, block))
        return cudaErrorInvalidConfiguration;
    if (!argument_reaches(kernel, arguments[0], device)) {
        /* A real one finds out while it runs; the error is as sticky. */
        atomic_store(&fake_device_get(device)->fault, cudaErrorIllegalAddress);
        return cudaSuccess;
    }
    struct kernel_op *launch = fake_allocate(sizeof *launch + kernel->argument_bytes);
    launch->op.run = kernel_run;
    launch->op.work = true;
    launch->kernel = kernel;
    launch->grid = grid;
    launch->block = block;
    launch->device = device;
    memcpy(launch->argument, arguments[0], kernel->argument_bytes);
    fake_stream_push(stream, &launch->op);
    return cudaSuccess;
}

cudaError_t cudaLaunchKernel(const void *function, dim3 grid, dim3 block, void **arguments,
                             size_t shared_bytes, cudaStream_t stream)
{
    FAKE_ENTER(cudaErrorUnknown);
    if (shared_bytes != 0)
        return fake_error(cudaErrorNotSupported);
    fake_lock();
    cudaError_t error = kernel_launch(function, grid, block, arguments, stream);
    fake_unlock();
    return fake_error(error);
}
