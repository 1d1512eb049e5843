/* Arenas: anonymous mappings, so that a test can take one away (PROT_NONE) and a freed one is really gone. */
#include "engine/host/host.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysinfo.h>
#include <unistd.h>

static int64_t bytes_mapped(int64_t bytes)
{
    int64_t page = sysconf(_SC_PAGESIZE);
    return bytes < 1 ? page : (bytes + page - 1) / page * page;
}

static int64_t memory_left(void)
{
    struct sysinfo info;
    return sysinfo(&info) == 0 ? (int64_t)info.freeram * info.mem_unit : 0;
}

enum mgb_status mgb_host_arena_make(void *context, void **base, int device, int64_t bytes)
{
    struct mgb_host *host = context;
    if (device < 0 || device >= host->device_count || bytes < 0)
        return mgb_fail(MGB_INVALID,
                        "an arena of %lld bytes on device %d; there are devices 0 to %d",
                        (long long)bytes, device, host->device_count - 1);
    struct mgb_host_device *at = &host->devices[device];
    if (at->limit > 0 && bytes > at->limit - at->used)
        return mgb_fail_oom(at->name, bytes, at->limit - at->used, "arena");
    void *address = mmap(NULL, (size_t)bytes_mapped(bytes), PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (address == MAP_FAILED)
        return mgb_fail_oom(at->name, bytes, memory_left(), "arena");
    /* Passes over activations are a tenth faster so; where it is refused nothing is lost. */
    (void)madvise(address, (size_t)bytes_mapped(bytes), MADV_HUGEPAGE);
    at->used += bytes;
    *base = address;
    return MGB_OK;
}

void mgb_host_arena_free(void *context, int device, void *base, int64_t bytes)
{
    struct mgb_host *host = context;
    if (!base)
        return;
    munmap(base, (size_t)bytes_mapped(bytes));
    host->devices[device].used -= bytes;
}

enum mgb_status mgb_host_protect(void *context, void *base, int64_t bytes, bool accessible)
{
    (void)context;
    int rights = accessible ? PROT_READ | PROT_WRITE : PROT_NONE;
    if (mprotect(base, (size_t)bytes_mapped(bytes), rights) != 0)
        return mgb_fail(MGB_DEVICE, "cannot make an arena of %lld bytes %s: %s", (long long)bytes,
                        accessible ? "accessible" : "inaccessible", strerror(errno));
    return MGB_OK;
}
