/* Copies and fills on streams. All are asynchronous here, also those from pageable memory, which CUDA may do at once:
 * code that relies on that is wrong on pinned memory. */
#include "tests/fake_cuda/capture.h"
#include "tests/fake_cuda/fake.h"

#include <string.h>
#include <time.h>

#define DAMAGE_EVERY 4096

struct copy_op {
    struct fake_op op;
    void *to;
    const void *from;
    size_t bytes;
    int value;
    bool damaged;
    unsigned slow_us; /* more per MiB */
};

/* A path between devices that loses bits, one in every page, or time. */
static void copy_run(struct fake_op *op)
{
    const struct copy_op *copy = (const struct copy_op *)op;
    memmove(copy->to, copy->from, copy->bytes);
    for (size_t i = 0; copy->damaged && i < copy->bytes; i += DAMAGE_EVERY)
        ((unsigned char *)copy->to)[i] ^= 0x10;
    long long ns = (long long)copy->slow_us * 1000 * (long long)copy->bytes >> 20;
    if (ns > 0)
        nanosleep(&(struct timespec){.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000}, NULL);
}

static void fill_run(struct fake_op *op)
{
    const struct copy_op *fill = (const struct copy_op *)op;
    memset(fill->to, fill->value, fill->bytes);
}

/* -1 host, pinned or not; -2 beyond the end of its block. Caller holds the lock. */
static int place_of(const void *address, size_t bytes)
{
    const struct fake_block *block = fake_block_find(address);
    if (!block)
        return -1;
    return fake_block_holds(address, bytes, block->device) ? block->device : -2;
}

static cudaError_t direction_check(int to, int from, enum cudaMemcpyKind kind)
{
    if (to == -2 || from == -2)
        return cudaErrorInvalidValue;
    bool to_device = to >= 0;
    bool from_device = from >= 0;
    switch (kind) {
    case cudaMemcpyHostToHost:
        return to_device || from_device ? cudaErrorInvalidValue : cudaSuccess;
    case cudaMemcpyHostToDevice:
        return !to_device || from_device ? cudaErrorInvalidValue : cudaSuccess;
    case cudaMemcpyDeviceToHost:
        return to_device || !from_device ? cudaErrorInvalidValue : cudaSuccess;
    case cudaMemcpyDeviceToDevice:
        return !to_device || !from_device ? cudaErrorInvalidValue : cudaSuccess;
    case cudaMemcpyDefault:
        return cudaSuccess;
    }
    return cudaErrorInvalidMemcpyDirection;
}

/* The direct path between two devices has the faults of the machine; without peer access CUDA goes through the host,
 * which has none. Caller holds the lock. */
static void path_set(struct copy_op *copy)
{
    const struct fake_config *config = fake_config_get();
    int to = place_of(copy->to, copy->bytes);
    int from = copy->from ? place_of(copy->from, copy->bytes) : -1;
    if (to < 0 || from < 0 || to == from)
        return;
    if (!fake_device_get(to)->reaches[from] && !fake_device_get(from)->reaches[to])
        return;
    copy->damaged = config->peer_bad[config->physical[to]][config->physical[from]] != 0;
    copy->slow_us = config->peer_slow_us[config->physical[to]][config->physical[from]];
}

/* Pageable memory cannot be copied while a stream is captured. Caller holds the lock. */
static cudaError_t pageable_check(cudaStream_t stream, const void *to, const void *from)
{
    if (fake_stream_device(stream) < 0 || !fake_stream_chain(stream) ||
        (fake_block_find(to) && fake_block_find(from)))
        return cudaSuccess;
    return fake_chain_spoil(fake_stream_chain(stream), cudaErrorStreamCaptureUnsupported);
}

/* Queues the operation; caller holds the lock. */
static cudaError_t copy_push(cudaStream_t stream, void (*run)(struct fake_op *), void *to,
                             const void *from, size_t bytes, int value)
{
    if (fake_stream_device(stream) < 0)
        return cudaErrorInvalidResourceHandle;
    if (bytes == 0)
        return cudaSuccess;
    struct copy_op *copy = fake_allocate(sizeof *copy);
    *copy = (struct copy_op){
        .op = {.run = run, .work = true}, .to = to, .from = from, .bytes = bytes, .value = value};
    path_set(copy);
    fake_stream_push(stream, &copy->op);
    return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                            cudaStream_t stream)
{
    FAKE_ENTER(cudaErrorUnknown);
    fake_lock();
    cudaError_t error = direction_check(place_of(to, bytes), place_of(from, bytes), kind);
    if (error == cudaSuccess)
        error = pageable_check(stream, to, from);
    if (error == cudaSuccess)
        error = copy_push(stream, copy_run, to, from, bytes, 0);
    fake_unlock();
    return fake_error(error);
}

cudaError_t cudaMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device,
                                size_t bytes, cudaStream_t stream)
{
    FAKE_ENTER(cudaErrorUnknown);
    if (!fake_device_exists(to_device) || !fake_device_exists(from_device))
        return fake_error(cudaErrorInvalidDevice);
    fake_lock();
    cudaError_t error = cudaErrorInvalidValue;
    if (place_of(to, bytes) == to_device && place_of(from, bytes) == from_device)
        error = copy_push(stream, copy_run, to, from, bytes, 0);
    fake_unlock();
    return fake_error(error);
}

cudaError_t cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t stream)
{
    FAKE_ENTER(cudaErrorUnknown);
    fake_lock();
    const struct fake_block *block = fake_block_find(to);
    cudaError_t error = cudaErrorInvalidValue;
    if (block && fake_block_holds(to, bytes, block->device))
        error = copy_push(stream, fill_run, to, NULL, bytes, value);
    fake_unlock();
    return fake_error(error);
}

/* The default stream of this fake is always empty (streams that order themselves with it are refused), so a
 * synchronous copy is a copy by the calling thread. */
cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
    FAKE_ENTER(cudaErrorUnknown);
    FAKE_UNSAFE();
    fake_lock();
    struct copy_op copy = {.to = to, .from = from, .bytes = bytes};
    cudaError_t error = direction_check(place_of(to, bytes), place_of(from, bytes), kind);
    if (error == cudaSuccess)
        path_set(&copy);
    fake_unlock();
    if (error == cudaSuccess)
        copy_run(&copy.op);
    return fake_error(error);
}
