/* Device and pinned memory: a list of blocks, so that limits hold and an address says where it lives. Fresh memory is
 * NaN, whatever type of float reads it. */
#include "tests/fake_cuda/capture.h"
#include "tests/fake_cuda/fake.h"

#include <stdint.h>
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

/* Caller holds the lock. */
static struct fake_block *block_add(void *base, size_t bytes, enum fake_memory kind, int device)
{
    struct fake_block *block = fake_allocate(sizeof *block);
    *block = (struct fake_block){
        .next = blocks, .base = base, .bytes = bytes, .kind = kind, .device = device};
    blocks = block;
    return block;
}

bool fake_word_is_small(const void *word)
{
    return ((uintptr_t)word & 0xffffffffu) < FAKE_SMALL;
}

/* NULL when the host has no memory. Not rounded up, so that AddressSanitizer finds an overrun. */
static struct fake_block *block_make(size_t bytes, enum fake_memory kind, int device)
{
    void *raw;
    size_t before = 0;
    if (posix_memalign(&raw, ALIGNMENT, bytes) != 0)
        return NULL;
    if (fake_word_is_small(raw)) {
        free(raw);
        before = FAKE_SMALL;
        if (posix_memalign(&raw, ALIGNMENT, before + bytes) != 0)
            return NULL;
    }
    memset(raw, 0xff, before + bytes);
    fake_lock();
    struct fake_block *block = block_add((char *)raw + before, bytes, kind, device);
    block->raw = raw;
    fake_unlock();
    return block;
}

/* Takes the block that begins at `address` out of the list; NULL when there is none of that kind. */
static struct fake_block *block_take(const void *address, enum fake_memory kind)
{
    fake_lock();
    struct fake_block **link = &blocks;
    while (*link && (*link)->base != address)
        link = &(*link)->next;
    struct fake_block *block = *link;
    if (block && block->kind == kind)
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
    FAKE_UNSAFE();
    int device = fake_device_current();
    *out = NULL;
    if (bytes == 0)
        return cudaSuccess;
    if (!memory_charge(device, bytes))
        return fake_error(cudaErrorMemoryAllocation);
    struct fake_block *block = block_make(bytes, FAKE_DEVICE_MEMORY, device);
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
    FAKE_UNSAFE();
    if (!address)
        return cudaSuccess;
    struct fake_block *block = block_take(address, FAKE_DEVICE_MEMORY);
    if (!block)
        return fake_error(cudaErrorInvalidValue);
    fake_streams_wait(block->device);
    memory_release(block->device, block->bytes);
    free(block->raw);
    free(block);
    return cudaSuccess;
}

static cudaError_t pinned_make(void **out, size_t bytes)
{
    *out = NULL;
    if (bytes == 0)
        return cudaSuccess;
    struct fake_block *block = block_make(bytes, FAKE_PINNED_MEMORY, -1);
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
    FAKE_UNSAFE();
    return pinned_make(out, bytes);
}

cudaError_t cudaMallocHost(void **out, size_t bytes)
{
    FAKE_ENTER(cudaErrorMemoryAllocation);
    FAKE_UNSAFE();
    return pinned_make(out, bytes);
}

/* Does not wait: a copy still under way into it is the caller's fault, and ThreadSanitizer sees it. */
cudaError_t cudaFreeHost(void *address)
{
    FAKE_ENTER(cudaErrorUnknown);
    FAKE_UNSAFE();
    if (!address)
        return cudaSuccess;
    struct fake_block *block = block_take(address, FAKE_PINNED_MEMORY);
    if (!block)
        return fake_error(cudaErrorInvalidValue);
    free(block->raw);
    free(block);
    return cudaSuccess;
}

/* Caller holds the lock. */
static bool range_known(const char *from, size_t bytes)
{
    for (const struct fake_block *block = blocks; block; block = block->next)
        if (from < block->base + block->bytes && block->base < from + bytes)
            return true;
    return false;
}

/* The caller's own memory becomes pinned; its content stays. */
cudaError_t cudaHostRegister(void *address, size_t bytes, unsigned flags)
{
    FAKE_ENTER(cudaErrorMemoryAllocation);
    FAKE_UNSAFE();
    unsigned known = cudaHostRegisterPortable | cudaHostRegisterMapped | cudaHostRegisterReadOnly;
    if (!address || bytes == 0 || flags & ~known)
        return fake_error(cudaErrorInvalidValue);
    fake_lock();
    bool taken = range_known(address, bytes);
    if (!taken)
        block_add(address, bytes, FAKE_REGISTERED_MEMORY, -1);
    fake_unlock();
    return fake_error(taken ? cudaErrorHostMemoryAlreadyRegistered : cudaSuccess);
}

cudaError_t cudaHostUnregister(void *address)
{
    FAKE_ENTER(cudaErrorUnknown);
    FAKE_UNSAFE();
    struct fake_block *block = block_take(address, FAKE_REGISTERED_MEMORY);
    if (!block)
        return fake_error(cudaErrorHostMemoryNotRegistered);
    free(block);
    return cudaSuccess;
}

cudaError_t cudaHostGetDevicePointer(void **out, void *address, unsigned flags)
{
    FAKE_ENTER(cudaErrorUnknown);
    fake_lock();
    const struct fake_block *block = fake_block_find(address);
    bool pinned = flags == 0 && block && block->kind != FAKE_DEVICE_MEMORY;
    fake_unlock();
    *out = pinned ? address : NULL;
    return fake_error(pinned ? cudaSuccess : cudaErrorInvalidValue);
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
