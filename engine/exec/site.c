/* An opened backend with its arenas and queues. */
#include "engine/exec/site.h"

#include "engine/base/memory.h"
#include <string.h>

/* Neither zero nor a plausible float: what an arena holds where nothing was written. */
#define CANARY 0xC7
#define CANARY_BLOCK 4096

enum mgb_status mgb_site_open(struct mgb_site *out, const struct mgb_backend *backend,
                              const struct mgb_topology *topology,
                              const struct mgb_backend_options *options, bool canaries)
{
    *out = (struct mgb_site){.backend = backend,
                             .topology = topology,
                             .options = *options,
                             .canaries = canaries,
                             .generation = 1};
    out->arenas = mgb_alloc((size_t)topology->device_count * MGB_ARENA_KINDS * sizeof *out->arenas);
    if (!out->arenas)
        return mgb_fail(MGB_NO_MEMORY, "no memory for %d devices", topology->device_count);
    enum mgb_status status = backend->open(&out->context, topology, options);
    if (status != MGB_OK) {
        mgb_release(out->arenas);
        *out = (struct mgb_site){0};
    }
    return status;
}

void mgb_site_close(struct mgb_site *site)
{
    if (!site->backend)
        return;
    mgb_site_trim(site);
    for (int kind = 0; kind < MGB_ARENA_KINDS; kind++)
        for (int device = 0; device < site->topology->device_count; device++)
            (void)mgb_site_resize(site, (enum mgb_arena_kind)kind, device, 0);
    site->backend->close(site->context);
    mgb_vector_done(&site->queues);
    mgb_release(site->arenas);
    *site = (struct mgb_site){0};
}

struct mgb_arena *mgb_site_arena(const struct mgb_site *site, enum mgb_arena_kind kind, int device)
{
    return &site->arenas[(int)kind * site->topology->device_count + device];
}

static enum mgb_status canaries_write(struct mgb_site *site, int device, unsigned char *base,
                                      int64_t bytes)
{
    unsigned char block[CANARY_BLOCK];
    memset(block, CANARY, sizeof block);
    for (int64_t at = 0; at < bytes; at += CANARY_BLOCK) {
        int64_t piece = bytes - at < CANARY_BLOCK ? bytes - at : CANARY_BLOCK;
        MGB_TRY(site->backend->write(site->context, device, base + at, block, piece));
    }
    return MGB_OK;
}

enum mgb_status mgb_site_resize(struct mgb_site *site, enum mgb_arena_kind kind, int device,
                                int64_t bytes)
{
    struct mgb_arena *arena = mgb_site_arena(site, kind, device);
    if (arena->bytes == bytes)
        return MGB_OK;
    site->generation++;
    if (arena->base)
        site->backend->arena_free(site->context, device, arena->base, arena->bytes);
    *arena = (struct mgb_arena){0};
    if (bytes == 0)
        return MGB_OK;
    void *base;
    MGB_TRY(site->backend->arena_make(site->context, &base, device, bytes));
    *arena = (struct mgb_arena){.base = base, .bytes = bytes};
    return site->canaries ? canaries_write(site, device, base, bytes) : MGB_OK;
}

void mgb_site_swap_lasting(struct mgb_site *site)
{
    for (int device = 0; device < site->topology->device_count; device++) {
        struct mgb_arena *lasting = mgb_site_arena(site, MGB_ARENA_LASTING, device);
        struct mgb_arena *old = mgb_site_arena(site, MGB_ARENA_OLD, device);
        struct mgb_arena held = *lasting;
        *lasting = *old;
        *old = held;
    }
    site->generation++;
}

int64_t mgb_site_held(const struct mgb_site *site, int device)
{
    int64_t bytes = 0;
    for (int kind = 0; kind < MGB_ARENA_KINDS; kind++)
        bytes += mgb_site_arena(site, (enum mgb_arena_kind)kind, device)->bytes;
    return bytes;
}

enum mgb_status mgb_site_set_closed(struct mgb_site *site, struct mgb_arena *arena, bool closed)
{
    if (!arena->base || arena->closed == closed)
        return MGB_OK;
    MGB_TRY(site->backend->protect(site->context, arena->base, arena->bytes, !closed));
    arena->closed = closed;
    return MGB_OK;
}

enum mgb_status mgb_site_open_arenas(struct mgb_site *site)
{
    int count = site->topology->device_count * MGB_ARENA_KINDS;
    for (int i = 0; i < count; i++)
        MGB_TRY(mgb_site_set_closed(site, &site->arenas[i], false));
    return MGB_OK;
}

enum mgb_status mgb_site_high_water(struct mgb_site *site, int64_t *bytes, enum mgb_arena_kind kind,
                                    int device)
{
    const struct mgb_arena *arena = mgb_site_arena(site, kind, device);
    unsigned char block[CANARY_BLOCK];
    int64_t end = arena->bytes;
    while (site->canaries && end > 0) {
        int64_t piece = end < CANARY_BLOCK ? end : CANARY_BLOCK;
        MGB_TRY(site->backend->read(site->context, device, block,
                                    (unsigned char *)arena->base + end - piece, piece));
        int64_t k = piece;
        while (k > 0 && block[k - 1] == CANARY)
            k--;
        end -= piece - k;
        if (k > 0)
            break;
    }
    *bytes = end;
    return MGB_OK;
}

static bool request_equal(const struct mgb_queue_request *a, const struct mgb_queue_request *b)
{
    return a->use == b->use && a->device == b->device && a->from == b->from &&
           a->threads == b->threads;
}

enum mgb_status mgb_site_queue_get(struct mgb_site *site, struct mgb_queue **out,
                                   const struct mgb_queue_request *request)
{
    for (int i = 0; i < site->queues.count; i++) {
        struct mgb_site_queue *have = &site->queues.at[i];
        if (request_equal(&have->request, request)) {
            have->users++;
            *out = have->queue;
            return MGB_OK;
        }
    }
    if (!mgb_vector_reserve(&site->queues, 1))
        return mgb_fail(MGB_NO_MEMORY, "no memory for a queue");
    MGB_TRY(site->backend->queue_make(site->context, out, request));
    site->queues.at[site->queues.count++] = (struct mgb_site_queue){*request, *out, 1};
    return MGB_OK;
}

void mgb_site_queue_put(struct mgb_site *site, struct mgb_queue *queue)
{
    for (int i = 0; i < site->queues.count; i++)
        if (site->queues.at[i].queue == queue)
            site->queues.at[i].users--;
}

void mgb_site_trim(struct mgb_site *site)
{
    int kept = 0;
    for (int i = 0; i < site->queues.count; i++) {
        if (site->queues.at[i].users > 0)
            site->queues.at[kept++] = site->queues.at[i];
        else
            site->backend->queue_free(site->queues.at[i].queue);
    }
    site->queues.count = kept;
}
