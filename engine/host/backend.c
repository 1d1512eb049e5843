/* The host backend's table: opening and closing, events, and commands packed for their queues. */
#include "engine/host/queue.h"

#include "engine/base/memory.h"
#include <stdlib.h>
#include <string.h>

static enum mgb_status devices_make(struct mgb_host *host, const struct mgb_topology *topology,
                                    const struct mgb_backend_options *options)
{
    host->devices = mgb_alloc((size_t)topology->device_count * sizeof *host->devices);
    if (!host->devices)
        return mgb_fail(MGB_NO_MEMORY, "no memory to open %d CPU devices", topology->device_count);
    host->device_count = topology->device_count;
    for (int i = 0; i < host->device_count; i++) {
        struct mgb_host_device *device = &host->devices[i];
        const struct mgb_device *from = &topology->devices[i];
        mgb_device_format(device->name, from->name);
        device->limit = from->memory_bytes;
        bool lower = device->limit == 0 || options->gpu_memory < device->limit;
        if (options->gpu_memory > 0 && from->name.kind == MGB_DEVICE_GPU && lower)
            device->limit = options->gpu_memory;
    }
    return MGB_OK;
}

static void host_close(void *context)
{
    struct mgb_host *host = context;
    if (!host)
        return;
    mgb_host_cache_done(&host->kernels);
    mgb_crowd_done(&host->crowd);
    pthread_mutex_destroy(&host->failure_lock);
    mgb_release(host->collectives);
    mgb_release(host->devices);
    mgb_release(host);
}

static enum mgb_status host_open(void **out, const struct mgb_topology *topology,
                                 const struct mgb_backend_options *options)
{
    struct mgb_host *host = mgb_alloc(sizeof *host);
    if (!host)
        return mgb_fail(MGB_NO_MEMORY, "no memory to open the CPU devices");
    pthread_mutex_init(&host->failure_lock, NULL);
    enum mgb_status status = devices_make(host, topology, options);
    if (status == MGB_OK)
        status = mgb_host_faults_read(&host->faults, getenv("MGBENCH_FAULT"), topology);
    if (status == MGB_OK)
        status = mgb_host_collectives_grow(host);
    if (status != MGB_OK) {
        host_close(host);
        return status;
    }
    *out = host;
    return MGB_OK;
}

static bool host_can(void *context, enum mgb_capability capability, int device, int other)
{
    (void)context;
    (void)device;
    (void)other;
    switch (capability) {
    case MGB_CAN_ALLREDUCE:
    case MGB_CAN_PEER_COPY:
    case MGB_CAN_PROTECT:
    case MGB_CAN_LIMIT_MEMORY:
        return true;
    case MGB_CAN_REPLAY:
        break;
    }
    return false;
}

/* The prepared operator knows its facts, and whoever asks for facts mostly wants the operator next. */
static enum mgb_status host_describe(void *context, int device, const struct mgb_node_use *use,
                                     struct mgb_operator_facts *out)
{
    struct mgb_kernel *kernel;
    MGB_TRY(mgb_host_cache_get(&((struct mgb_host *)context)->kernels, &kernel, use, device));
    *out = kernel->facts;
    return MGB_OK;
}

static enum mgb_status host_kernel(void *context, struct mgb_kernel **out,
                                   const struct mgb_kernel_request *request)
{
    return mgb_host_cache_get(&((struct mgb_host *)context)->kernels, out, &request->use,
                              request->device);
}

static enum mgb_status host_write(void *context, int device, void *address, const void *host,
                                  int64_t bytes)
{
    (void)context;
    (void)device;
    memcpy(address, host, (size_t)bytes);
    return MGB_OK;
}

static enum mgb_status host_read(void *context, int device, void *host, const void *address,
                                 int64_t bytes)
{
    (void)context;
    (void)device;
    memcpy(host, address, (size_t)bytes);
    return MGB_OK;
}

static enum mgb_status host_event_make(void *context, struct mgb_event **out, int device)
{
    (void)context;
    (void)device;
    *out = mgb_alloc(sizeof **out);
    return *out ? MGB_OK : mgb_fail(MGB_NO_MEMORY, "no memory for an event");
}

static void host_event_free(struct mgb_event *event)
{
    mgb_release(event);
}

static enum mgb_status host_record(struct mgb_queue *queue, struct mgb_event *event)
{
    struct mgb_command command = {.kind = MGB_COMMAND_RECORD,
                                  .order = {event, event->recorded + 1}};
    MGB_TRY(mgb_host_push(queue, &command));
    event->recorded++;
    return MGB_OK;
}

static enum mgb_status host_wait(struct mgb_queue *queue, struct mgb_event *event)
{
    struct mgb_command command = {.kind = MGB_COMMAND_WAIT, .order = {event, event->recorded}};
    return mgb_host_push(queue, &command);
}

static enum mgb_status host_event_time(struct mgb_event *event, int64_t *ns,
                                       int64_t *uncertainty_ns)
{
    if (event->recorded == 0 || atomic_load(&event->reached) < event->recorded)
        return mgb_fail(MGB_STATE,
                        "the time of an event that has not happened; record it and drain first");
    *ns = atomic_load_explicit(&event->time_ns, memory_order_relaxed);
    if (uncertainty_ns)
        *uncertainty_ns = 0; /* read from the session clock itself */
    return MGB_OK;
}

static enum mgb_status host_launch(struct mgb_queue *queue, struct mgb_kernel *kernel,
                                   const struct mgb_launch *launch)
{
    if (kernel->use.threads != queue->request.threads)
        return mgb_fail(MGB_STATE,
                        "%s was prepared for %d threads, its queue has %d; ask for facts with the "
                        "threads of the "
                        "queue",
                        mgb_op_name(kernel->use.kind), kernel->use.threads, queue->request.threads);
    struct mgb_command command = {.kind = MGB_COMMAND_LAUNCH, .launch = {kernel, *launch}};
    return mgb_host_push(queue, &command);
}

static enum mgb_status host_copy(struct mgb_queue *queue, void *to, const void *from, int64_t bytes)
{
    struct mgb_command command = {.kind = MGB_COMMAND_COPY, .copy = {to, from, bytes}};
    return mgb_host_push(queue, &command);
}

static enum mgb_status host_fill(struct mgb_queue *queue, void *to, int64_t bytes)
{
    struct mgb_command command = {.kind = MGB_COMMAND_FILL, .copy = {.to = to, .bytes = bytes}};
    return mgb_host_push(queue, &command);
}

static enum mgb_status host_reduce(struct mgb_queue *queue, float *to, const float *const *sources,
                                   int source_count, int64_t count)
{
    struct mgb_command command = {
        .kind = MGB_COMMAND_REDUCE,
        .sum = {.to = to, .sources = sources, .source_count = source_count, .count = count}};
    return mgb_host_push(queue, &command);
}

static enum mgb_status host_merge(struct mgb_queue *queue, float *mean, float *variance,
                                  const float *const *sources, const int64_t *rows, int towers,
                                  int64_t count)
{
    struct mgb_command command = {.kind = MGB_COMMAND_MERGE,
                                  .merge = {.mean = mean,
                                            .variance = variance,
                                            .sources = sources,
                                            .rows = rows,
                                            .count = count,
                                            .towers = towers}};
    return mgb_host_push(queue, &command);
}

static enum mgb_status host_norm(struct mgb_queue *queue, float *to, const float *const *sources,
                                 const int64_t *counts, int source_count)
{
    struct mgb_command command = {
        .kind = MGB_COMMAND_NORM,
        .sum = {.to = to, .sources = sources, .counts = counts, .source_count = source_count}};
    return mgb_host_push(queue, &command);
}

static enum mgb_status host_clip(struct mgb_queue *queue, float *to, const float *const *sources,
                                 const int64_t *counts, int source_count, struct mgb_clip clip)
{
    struct mgb_command command = {.kind = MGB_COMMAND_CLIP,
                                  .sum = {.to = to,
                                          .sources = sources,
                                          .counts = counts,
                                          .source_count = source_count,
                                          .clip = clip}};
    return mgb_host_push(queue, &command);
}

static enum mgb_status host_update(struct mgb_queue *queue, const struct mgb_update *update)
{
    struct mgb_command command = {.kind = MGB_COMMAND_UPDATE, .update = *update};
    return mgb_host_push(queue, &command);
}

static enum mgb_status host_cast(struct mgb_queue *queue, void *to, const void *from, int64_t count,
                                 enum mgb_wire_type type, enum mgb_cast way)
{
    struct mgb_command command = {.kind = MGB_COMMAND_CAST, .cast = {to, from, count, type, way}};
    return mgb_host_push(queue, &command);
}

const struct mgb_backend mgb_host_backend = {
    .name = "host",
    .probe = mgb_host_probe,
    .open = host_open,
    .close = host_close,
    .can = host_can,
    .versions = mgb_host_versions,
    .core_peak = mgb_host_peak,
    .describe = host_describe,
    .kernel = host_kernel,
    .arena_make = mgb_host_arena_make,
    .arena_free = mgb_host_arena_free,
    .protect = mgb_host_protect,
    .write = host_write,
    .read = host_read,
    .queue_make = mgb_host_queue_make,
    .queue_free = mgb_host_queue_free,
    .event_make = host_event_make,
    .event_free = host_event_free,
    .record = host_record,
    .wait = host_wait,
    .event_time = host_event_time,
    .drain = mgb_host_drain,
    .launch = host_launch,
    .copy = host_copy,
    .fill = host_fill,
    .reduce = host_reduce,
    .merge = host_merge,
    .norm = host_norm,
    .clip = host_clip,
    .update = host_update,
    .cast = host_cast,
    .allreduce = mgb_host_allreduce,
    .allreduce_wire = mgb_host_allreduce_wire,
};
