/* How fast links are, measured by copies. A large copy gives the bandwidth, from the events around it; a small one the
 * latency, from its submission to its end, since a copy that waits for nothing else costs just that. */
#include "engine/exec/run_state.h"

#include "engine/base/clock.h"
#include <mgb/preview.h>
#include <string.h>

#define LARGE_BYTES ((int64_t)16 << 20)
#define SMALL_BYTES 64
#define LARGE_TRIES 2
#define SMALL_TRIES 5
#define BLOCK_BYTES (1 << 20)

struct probe {
    struct mgb_run *run;
    void **bases;         /* an arena a device, or NULL */
    bool *refused;        /* the device has no memory for one */
    unsigned char *block; /* something to write */
};

/* An arena whose pages are there: what is measured is the copy, not the kernel that finds pages for it. */
static enum mgb_status arena_get(struct probe *probe, int device)
{
    struct mgb_site *site = probe->run->site;
    if (probe->bases[device] || probe->refused[device])
        return MGB_OK;
    void *base;
    enum mgb_status status = site->backend->arena_make(site->context, &base, device, LARGE_BYTES);
    probe->refused[device] = status == MGB_OOM;
    if (status != MGB_OK)
        return status == MGB_OOM ? MGB_OK : status;
    probe->bases[device] = base;
    for (int64_t at = 0; at < LARGE_BYTES; at += BLOCK_BYTES)
        MGB_TRY(site->backend->write(site->context, device, (unsigned char *)base + at,
                                     probe->block, BLOCK_BYTES));
    return MGB_OK;
}

struct timed_copy {
    struct mgb_queue *queue;
    struct mgb_event *begin, *end;
    void *to;
    const void *from;
    int64_t timeout_ns;
};

static enum mgb_status copy_time(const struct mgb_site *site, const struct timed_copy *copy,
                                 int64_t bytes, int64_t *queued_ns, int64_t *whole_ns)
{
    const struct mgb_backend *backend = site->backend;
    int64_t submitted = mgb_clock_ns(), begin, end, uncertain_ns;
    MGB_TRY(backend->record(copy->queue, copy->begin));
    MGB_TRY(backend->copy(copy->queue, copy->to, copy->from, bytes));
    MGB_TRY(backend->record(copy->queue, copy->end));
    MGB_TRY(backend->drain(site->context, copy->timeout_ns));
    int64_t drained = mgb_clock_ns();
    MGB_TRY(backend->event_time(copy->begin, &begin, NULL));
    MGB_TRY(backend->event_time(copy->end, &end, &uncertain_ns));
    *queued_ns = end - begin;
    /* A device's clock is known on ours with an uncertainty; below it, our own reading is at least an upper bound. */
    *whole_ns = end - submitted > uncertain_ns ? end - submitted : drained - submitted;
    return MGB_OK;
}

static enum mgb_status copy_measure(const struct mgb_site *site, const struct timed_copy *copy,
                                    struct mgb_link *link)
{
    int64_t best = INT64_MAX, queued, whole;
    for (int i = 0; i < LARGE_TRIES; i++) {
        MGB_TRY(copy_time(site, copy, LARGE_BYTES, &queued, &whole));
        best = queued < best ? queued : best;
    }
    link->gbps = best > 0 ? (double)LARGE_BYTES / (double)best : 0.0; /* bytes a ns: 1e9 a second */
    best = INT64_MAX;
    for (int i = 0; i < SMALL_TRIES; i++) {
        MGB_TRY(copy_time(site, copy, SMALL_BYTES, &queued, &whole));
        best = whole < best ? whole : best;
    }
    link->latency_us = best > 0 ? (double)best / 1e3 : 0.0;
    return MGB_OK;
}

static enum mgb_status link_measure(struct probe *probe, struct mgb_link *link)
{
    struct mgb_site *site = probe->run->site;
    const struct mgb_backend *backend = site->backend;
    struct mgb_queue_request request = {
        .use = MGB_USE_COPY, .device = link->to, .from = link->from, .threads = 1};
    struct timed_copy copy = {.to = probe->bases[link->to],
                              .from = probe->bases[link->from],
                              .timeout_ns = probe->run->step_timeout_ns};
    if (!copy.to || !copy.from)
        return MGB_OK;
    MGB_TRY(backend->queue_make(site->context, &copy.queue, &request));
    enum mgb_status status = backend->event_make(site->context, &copy.begin, link->to);
    if (status == MGB_OK)
        status = backend->event_make(site->context, &copy.end, link->to);
    if (status == MGB_OK)
        status = copy_measure(site, &copy, link);
    if (status == MGB_OK && backend->path)
        status = backend->path(site->context, link);
    backend->queue_free(copy.queue);
    if (copy.begin)
        backend->event_free(copy.begin);
    if (copy.end)
        backend->event_free(copy.end);
    return status;
}

static enum mgb_status links_measure(struct probe *probe, struct mgb_link *links, int count,
                                     int64_t budget_ns, int *measured)
{
    int64_t start = mgb_clock_ns(), before = start, last = 0;
    for (int i = 0; i < count; i++) {
        if (before - start + last > budget_ns)
            break;
        MGB_TRY(arena_get(probe, links[i].from));
        MGB_TRY(arena_get(probe, links[i].to));
        MGB_TRY(link_measure(probe, &links[i]));
        int64_t now = mgb_clock_ns();
        last = now - before;
        before = now;
        *measured = i + 1;
    }
    return MGB_OK;
}

enum mgb_status mgb_preview_paths(struct mgb_topology *topology, const char *backend)
{
    const struct mgb_backend *found = mgb_backend_find(backend);
    const struct mgb_backend_options options = {.peer_access = MGB_CHOICE_AUTO,
                                                .pinned = MGB_CHOICE_AUTO};
    void *context;
    if (!found)
        return MGB_MISSING;
    MGB_TRY(found->open(&context, topology, &options));
    enum mgb_status status = MGB_OK;
    for (int i = 0; i < topology->link_count && status == MGB_OK && found->path; i++)
        status = found->path(context, &topology->links[i]);
    found->close(context);
    return status;
}

enum mgb_status mgb_run_path(struct mgb_run *run, struct mgb_link *link)
{
    MGB_TRY(mgb_run_usable(run));
    return run->backend && run->backend->path
               ? mgb_run_failed(run, run->backend->path(run->site->context, link))
               : MGB_OK;
}

static bool links_present(const struct mgb_run *run, const struct mgb_link *links, int count)
{
    for (int i = 0; i < count; i++)
        if (links[i].from < 0 || links[i].from >= run->topology.device_count || links[i].to < 0 ||
            links[i].to >= run->topology.device_count || links[i].from == links[i].to)
            return false;
    return true;
}

enum mgb_status mgb_run_measure_links(struct mgb_run *run, struct mgb_link *links, int count,
                                      int64_t budget_ns, int *measured)
{
    size_t devices = (size_t)run->topology.device_count;
    *measured = 0;
    MGB_TRY(mgb_run_needs_values(run, "measuring links"));
    if (!links_present(run, links, count))
        return mgb_fail(MGB_INVALID, "measuring links: one leads to a device that is not there");
    struct probe probe = {.run = run,
                          .bases = mgb_alloc(devices * sizeof *probe.bases),
                          .refused = mgb_alloc(devices * sizeof *probe.refused),
                          .block = mgb_alloc(BLOCK_BYTES)};
    enum mgb_status status = MGB_OK;
    if (!probe.bases || !probe.refused || !probe.block) {
        status = mgb_fail(MGB_NO_MEMORY, "no memory to measure links");
    } else {
        memset(probe.block, 1, BLOCK_BYTES);
        status = links_measure(&probe, links, count, budget_ns, measured);
    }
    for (int device = 0; probe.bases && device < (int)devices; device++)
        if (probe.bases[device])
            run->site->backend->arena_free(run->site->context, device, probe.bases[device],
                                           LARGE_BYTES);
    mgb_release(probe.bases);
    mgb_release(probe.refused);
    mgb_release(probe.block);
    return mgb_run_failed(run, status);
}
