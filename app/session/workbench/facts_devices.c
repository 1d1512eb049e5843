/* Devices with what is planned on them, and links with what a step moves over them. */
#include "app/session/links.h"
#include "app/session/workbench/facts_private.h"

#include <stdlib.h>
#include <string.h>

static void device_fill(struct mgb_facts_device *out, const struct mgb_device *device)
{
    mgb_device_format(out->name, device->name);
    memcpy(out->label, device->label, sizeof out->label);
    memcpy(out->uuid, device->uuid, sizeof out->uuid);
    memcpy(out->pci, device->pci, sizeof out->pci);
    out->class = device->class;
    out->capacity_bytes = device->memory_bytes;
}

/* As mgb_plan_admit limits it. */
static void capacity_limit(struct mgb_facts_device *out, const struct mgb_device *device,
                           int64_t gpu_memory)
{
    if (device->name.kind == MGB_DEVICE_GPU && gpu_memory > 0 &&
        (out->capacity_bytes == 0 || gpu_memory < out->capacity_bytes))
        out->capacity_bytes = gpu_memory;
}

void mgb_facts_add_devices(struct facts_work *work)
{
    const struct mgb_topology *topology = work->request->topology;
    const struct mgb_plan *plan = work->request->plan;
    struct mgb_facts_device *devices =
        mgb_bench_pool_get(work->pool, (size_t)topology->device_count * sizeof *devices);
    if (!devices)
        return;
    for (int i = 0; i < topology->device_count; i++) {
        device_fill(&devices[i], &topology->devices[i]);
        capacity_limit(&devices[i], &topology->devices[i], work->request->effective->gpu_memory);
    }
    for (int u = 0; u < plan->use_count; u++) {
        const struct mgb_device_use *use = &plan->uses[u];
        devices[use->device].used = true;
        devices[use->device].planned_bytes = use->peak_bytes;
        memcpy(devices[use->device].planned, use->peak, sizeof use->peak);
    }
    for (int t = 0; t < plan->tower_count; t++)
        devices[plan->towers[t].device].tower_rows += plan->towers[t].rows;
    work->facts->devices = devices;
    work->facts->device_count = topology->device_count;
}

static int by_ends(const void *a, const void *b)
{
    const struct mgb_facts_link *x = a, *y = b;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    return (x->to > y->to) - (x->to < y->to);
}

/* Two rows of one link, neighbours now, become one. */
static int links_join(struct mgb_facts_link *links, int count)
{
    int kept = 0;
    for (int i = 0; i < count; i++) {
        struct mgb_facts_link *last = kept > 0 ? &links[kept - 1] : NULL;
        if (!last || by_ends(last, &links[i]) != 0) {
            links[kept++] = links[i];
            continue;
        }
        last->bytes += links[i].bytes;
        last->gbps = last->gbps > 0 ? last->gbps : links[i].gbps;
        last->latency_us = last->latency_us > 0 ? last->latency_us : links[i].latency_us;
        last->there = last->there || links[i].there;
        last->peer = last->peer || links[i].peer;
    }
    return kept;
}

/* What the topology does not tell. */
static void link_known(void *context, const char *from, const char *to, double gbps,
                       double latency_us)
{
    struct mgb_facts *facts = context;
    const struct mgb_facts_link key = {.from = mgb_facts_find_device(facts, from),
                                       .to = mgb_facts_find_device(facts, to)};
    struct mgb_facts_link *link =
        bsearch(&key, facts->links, (size_t)facts->link_count, sizeof key, by_ends);
    if (!link || link->gbps > 0)
        return;
    link->gbps = gbps;
    link->latency_us = latency_us;
}

enum mgb_status mgb_facts_add_links(struct facts_work *work)
{
    const struct mgb_facts_request *request = work->request;
    const struct mgb_topology *topology = request->topology;
    const struct mgb_plan *plan = request->plan;
    size_t most = (size_t)topology->link_count + (size_t)plan->traffic_count;
    struct mgb_facts_link *links = mgb_bench_pool_get(work->pool, most * sizeof *links);
    int count = 0;
    if (!links)
        return MGB_OK; /* the pool knows */
    for (int i = 0; i < topology->link_count; i++) {
        const struct mgb_link *link = &topology->links[i];
        links[count++] = (struct mgb_facts_link){.from = link->from,
                                                 .to = link->to,
                                                 .gbps = link->gbps,
                                                 .latency_us = link->latency_us,
                                                 .there = true,
                                                 .peer = link->peer};
    }
    for (int i = 0; i < plan->traffic_count; i++) {
        links[count++] = (struct mgb_facts_link){.from = plan->traffic[i].from,
                                                 .to = plan->traffic[i].to,
                                                 .bytes = plan->traffic[i].bytes};
        work->facts->traffic_bytes += plan->traffic[i].bytes;
    }
    qsort(links, (size_t)count, sizeof *links, by_ends);
    work->facts->links = links;
    work->facts->link_count = links_join(links, count);
    if (request->hub) /* without a database they stay unknown */
        (void)mgb_session_links_known(request->hub, NULL, request->backend, link_known,
                                      work->facts);
    return MGB_OK;
}
