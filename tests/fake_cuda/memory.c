/* Device and pinned memory: a list of blocks, so that limits hold and an address says where it lives. Fresh memory is
 * NaN, whatever type of float reads it. */
#include "tests/fake_cuda/fake.h"

#include <stdlib.h>
#include <string.h>

#define ALIGNMENT ((size_t)512)

static struct fake_block *blocks;

struct fake_block *fake_block_find(const void *address)
{
    const char *at = address;
    for (struct fake_block *block = blocks; block; block = block->next)
        if (at >= block->base && at < block->base + block->bytes)
            return block;
    return NULL;
}

bool fake_block_holds(const void *address, size_t bytes, int device)
{
    const struct fake_block *block = fake_block_find(address);
    return block && block->device == device &&
           bytes <= block->bytes - (size_t)((const char *)address - block->base);
}

int fake_block_pinned_count(void)
{
    int count = 0;
    for (const struct fake_block *block = blocks; block; block = block->next)
        count += block->device < 0;
    return count;
}

/* What a block takes from the device. */
static size_t charge_of(size_t bytes)
{
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* NULL when the host has no memory. Not rounded up, so that AddressSanitizer finds an overrun. */
static struct fake_block *block_make(size_t bytes, int device)
{
    struct fake_block *block = fake_allocate(sizeof *block);
    void *base;
    if (posix_memalign(&base, ALIGNMENT, bytes) != 0) {
        free(block);
        return NULL;
    }
    block->base = base;
    memset(block->base, 0xff, bytes);
    block->bytes = bytes;
    block->device = device;
    fake_lock();
    block->next = blocks;
    blocks = block;
    fake_unlock();
    return block;
}

/* Takes the block that begins at `address` out of the list; NULL when there is none on such a device. */
static struct fake_block *block_take(const void *address, bool pinned)
{
    fake_lock();
    struct fake_block **link = &blocks;
    while (*link && (*link)->base != address)
        link = &(*link)->next;
    struct fake_block *block = *link;
    if (block && (block->device < 0) == pinned)
        *link = block->next;
    else
        block = NULL;
    fake_unlock();
    return block;
}

static bool memory_charge(int device, size_t bytes)
{
    const struct fake_config *config = fake_config_get();
    struct fake_device *it = fake_device_get(device);
    size_t total = config->memory[config->physical[device]];
    fake_lock();
    bool fits = bytes <= total && charge_of(bytes) <= total - it->bytes;
    if (fits) {
        it->bytes += charge_of(bytes);
        it->peak_bytes = it->bytes > it->peak_bytes ? it->bytes : it->peak_bytes;
        it->allocations++;
        it->touched = true;
    }
    fake_unlock();
    return fits;
}

static void memory_release(int device, size_t bytes)
{
    struct fake_device *it = fake_device_get(device);
    fake_lock();
    it->bytes -= charge_of(bytes);
    it->allocations--;
    fake_unlock();
}

cudaError_t cudaMalloc(void **out, size_t bytes)
{
    FAKE_ENTER(cudaErrorMemoryAllocation);
    int device = fake_device_current();
    *out = NULL;
    if (bytes == 0)
        return cudaSuccess;
    if (!memory_charge(device, bytes))
        return fake_error(cudaErrorMemoryAllocation);
    struct fake_block *block = block_make(bytes, device);
    if (!block) {
        memory_release(device, bytes);
        return fake_error(cudaErrorMemoryAllocation);
    }
    *out = block->base;
    return cudaSuccess;
}

/* Waits for the device first, as the real one does. */
cudaError_t cudaFree(void *address)
{
    FAKE_ENTER(cudaErrorUnknown);
    if (!address)
        return cudaSuccess;
    struct fake_block *block = block_take(address, false);
    if (!block)
        return fake_error(cudaErrorInvalidValue);
    fake_streams_wait(block->device);
    memory_release(block->device, block->bytes);
    free(block->base);
    free(block);
    return cudaSuccess;
}

static cudaError_t pinned_make(void **out, size_t bytes)
{
    *out = NULL;
    if (bytes == 0)
        return cudaSuccess;
    struct fake_block *block = block_make(bytes, -1);
    if (!block)
        return fake_error(cudaErrorMemoryAllocation);
    *out = block->base;
    return cudaSuccess;
}

cudaError_t cudaHostAlloc(void **out, size_t bytes, unsigned flags)
{
    FAKE_ENTER(cudaErrorMemoryAllocation);
    unsigned known = cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined;
    if (flags & ~known)
        return fake_error(cudaErrorInvalidValue);
    return pinned_make(out, bytes);
}

cudaError_t cudaMallocHost(void **out, size_t bytes)
{
    FAKE_ENTER(cudaErrorMemoryAllocation);
    return pinned_make(out, bytes);
}

/* Does not wait: a copy still under way into it is the caller's fault, and ThreadSanitizer sees it. */
cudaError_t cudaFreeHost(void *address)
{
    FAKE_ENTER(cudaErrorUnknown);
    if (!address)
        return cudaSuccess;
    struct fake_block *block = block_take(address, true);
    if (!block)
        return fake_error(cudaErrorInvalidValue);
    free(block->base);
    free(block);
    return cudaSuccess;
}

cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *attributes, const void *address)
{
    FAKE_ENTER(cudaErrorUnknown);
    memset(attributes, 0, sizeof *attributes);
    fake_lock();
    const struct fake_block *block = fake_block_find(address);
    attributes->type = !block              ? cudaMemoryTypeUnregistered
                       : block->device < 0 ? cudaMemoryTypeHost
                                           : cudaMemoryTypeDevice;
    attributes->device = block && block->device >= 0 ? block->device : fake_device_current();
    attributes->devicePointer = block ? (void *)address : NULL;
    attributes->hostPointer = block && block->device >= 0 ? NULL : (void *)address;
    fake_unlock();
    return cudaSuccess;
}
