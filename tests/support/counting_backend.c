#include "tests/support/counting_backend.h"

#include "tests/support/check.h"

#define MOST_DEVICES 65
#define MOST_QUEUES 1024

static int64_t copied[MOST_DEVICES][MOST_DEVICES], reduced;
static int closed;
static bool peeking, lacking;
static struct {
    int device;
    void *base;
} arenas[3 * MOST_DEVICES];
static int arena_count;
static struct {
    struct mgb_queue *queue;
    struct mgb_queue_request request;
} known[MOST_QUEUES];
static int known_count;

void counting_reset(void)
{
    for (int i = 0; i < MOST_DEVICES; i++)
        for (int k = 0; k < MOST_DEVICES; k++)
            copied[i][k] = 0;
    reduced = 0;
    closed = 0;
}

int counting_closed(void)
{
    return closed;
}

void counting_peek(bool on)
{
    peeking = on;
}

void counting_lack_rows(bool on)
{
    lacking = on;
}

int64_t counting_copied(int from, int to)
{
    return copied[from][to];
}

int64_t counting_all_copied(void)
{
    int64_t sum = 0;
    for (int i = 0; i < MOST_DEVICES; i++)
        for (int k = 0; k < MOST_DEVICES; k++)
            sum += copied[i][k];
    return sum;
}

int64_t counting_reduced(void)
{
    return reduced;
}

static enum mgb_status counting_probe(struct mgb_topology *out)
{
    return mgb_host_backend.probe(out);
}

static enum mgb_status counting_open(void **out, const struct mgb_topology *topology,
                                     const struct mgb_backend_options *options)
{
    return mgb_host_backend.open(out, topology, options);
}

static void counting_close(void *context)
{
    mgb_host_backend.close(context);
}

static bool counting_can(void *context, enum mgb_capability capability, int device, int other)
{
    return mgb_host_backend.can(context, capability, device, other);
}

static enum mgb_status counting_describe(void *context, int device, const struct mgb_node_use *use,
                                         struct mgb_operator_facts *out)
{
    if (lacking && use->graph->nodes[use->node].kind == MGB_OP_EMBEDDING_ROWS)
        return mgb_fail(MGB_UNSUPPORTED, "'%s' shall not run here",
                        use->graph->nodes[use->node].name);
    return mgb_host_backend.describe(context, device, use, out);
}

static enum mgb_status counting_kernel(void *context, struct mgb_kernel **out,
                                       const struct mgb_kernel_request *request)
{
    return mgb_host_backend.kernel(context, out, request);
}

static enum mgb_status counting_arena_make(void *context, void **base, int device, int64_t bytes)
{
    MGB_TRY(mgb_host_backend.arena_make(context, base, device, bytes));
    assert_true(arena_count < 3 * MOST_DEVICES);
    arenas[arena_count].device = device;
    arenas[arena_count++].base = *base;
    return MGB_OK;
}

static void counting_arena_free(void *context, int device, void *base, int64_t bytes)
{
    for (int i = 0; i < arena_count; i++)
        if (arenas[i].base == base)
            arenas[i--] = arenas[--arena_count];
    mgb_host_backend.arena_free(context, device, base, bytes);
}

static enum mgb_status counting_protect(void *context, void *base, int64_t bytes, bool accessible)
{
    closed += !accessible;
    return mgb_host_backend.protect(context, base, bytes, accessible);
}

static enum mgb_status counting_write(void *context, int device, void *address, const void *host,
                                      int64_t bytes)
{
    return mgb_host_backend.write(context, device, address, host, bytes);
}

static enum mgb_status counting_read(void *context, int device, void *host, const void *address,
                                     int64_t bytes)
{
    return mgb_host_backend.read(context, device, host, address, bytes);
}

static enum mgb_status counting_queue_make(void *context, struct mgb_queue **out,
                                           const struct mgb_queue_request *request)
{
    MGB_TRY(mgb_host_backend.queue_make(context, out, request));
    assert_true(known_count < MOST_QUEUES);
    known[known_count].queue = *out;
    known[known_count++].request = *request;
    return MGB_OK;
}

static void counting_queue_free(struct mgb_queue *queue)
{
    for (int i = 0; i < known_count; i++)
        if (known[i].queue == queue)
            known[i--] = known[--known_count];
    mgb_host_backend.queue_free(queue);
}

static enum mgb_status counting_event_make(void *context, struct mgb_event **out, int device)
{
    return mgb_host_backend.event_make(context, out, device);
}

static void counting_event_free(struct mgb_event *event)
{
    mgb_host_backend.event_free(event);
}

static enum mgb_status counting_record(struct mgb_queue *queue, struct mgb_event *event)
{
    return mgb_host_backend.record(queue, event);
}

static enum mgb_status counting_wait(struct mgb_queue *queue, struct mgb_event *event)
{
    return mgb_host_backend.wait(queue, event);
}

static enum mgb_status counting_event_time(struct mgb_event *event, int64_t *ns,
                                           int64_t *uncertainty_ns)
{
    return mgb_host_backend.event_time(event, ns, uncertainty_ns);
}

static enum mgb_status counting_drain(void *context, int64_t timeout_ns)
{
    return mgb_host_backend.drain(context, timeout_ns);
}

static void others_read(struct mgb_queue *queue)
{
    for (int i = 0; i < known_count; i++)
        for (int k = 0; known[i].queue == queue && k < arena_count; k++)
            if (arenas[k].device != known[i].request.device)
                (void)*(volatile unsigned char *)arenas[k].base;
}

static enum mgb_status counting_launch(struct mgb_queue *queue, struct mgb_kernel *kernel,
                                       const struct mgb_launch *launch)
{
    if (peeking)
        others_read(queue);
    return mgb_host_backend.launch(queue, kernel, launch);
}

static enum mgb_status counting_copy(struct mgb_queue *queue, void *to, const void *from,
                                     int64_t bytes)
{
    for (int i = 0; i < known_count; i++)
        if (known[i].queue == queue && known[i].request.use == MGB_USE_COPY)
            copied[known[i].request.from][known[i].request.device] += bytes;
    return mgb_host_backend.copy(queue, to, from, bytes);
}

static enum mgb_status counting_fill(struct mgb_queue *queue, void *to, int64_t bytes)
{
    return mgb_host_backend.fill(queue, to, bytes);
}

static enum mgb_status counting_reduce(struct mgb_queue *queue, float *to,
                                       const float *const *sources, int source_count, int64_t count)
{
    return mgb_host_backend.reduce(queue, to, sources, source_count, count);
}

static enum mgb_status counting_merge(struct mgb_queue *queue, float *mean, float *variance,
                                      const float *const *sources, const int64_t *rows, int towers,
                                      int64_t count)
{
    return mgb_host_backend.merge(queue, mean, variance, sources, rows, towers, count);
}

static enum mgb_status counting_norm(struct mgb_queue *queue, float *to,
                                     const float *const *sources, const int64_t *counts,
                                     int source_count)
{
    return mgb_host_backend.norm(queue, to, sources, counts, source_count);
}

static enum mgb_status counting_clip(struct mgb_queue *queue, float *to,
                                     const float *const *sources, const int64_t *counts,
                                     int source_count, struct mgb_clip clip)
{
    return mgb_host_backend.clip(queue, to, sources, counts, source_count, clip);
}

static enum mgb_status counting_update(struct mgb_queue *queue, const struct mgb_update *update)
{
    return mgb_host_backend.update(queue, update);
}

static enum mgb_status counting_allreduce(struct mgb_queue *const *queues, float *const *buffers,
                                          int count_of_queues, int64_t count,
                                          enum mgb_allreduce algorithm)
{
    reduced += count * (int64_t)sizeof(float);
    return mgb_host_backend.allreduce(queues, buffers, count_of_queues, count, algorithm);
}

static enum mgb_status counting_allreduce_wire(struct mgb_queue *const *queues,
                                               void *const *buffers, int count_of_queues,
                                               int64_t count, enum mgb_allreduce algorithm,
                                               enum mgb_wire_type type)
{
    reduced += count * 2;
    return mgb_host_backend.allreduce_wire(queues, buffers, count_of_queues, count, algorithm,
                                           type);
}

static enum mgb_status counting_cast(struct mgb_queue *queue, void *to, const void *from,
                                     int64_t count, enum mgb_wire_type type, enum mgb_cast way)
{
    return mgb_host_backend.cast(queue, to, from, count, type, way);
}

const struct mgb_backend counting_backend = {
    .name = "counting",
    .probe = counting_probe,
    .open = counting_open,
    .close = counting_close,
    .can = counting_can,
    .describe = counting_describe,
    .kernel = counting_kernel,
    .arena_make = counting_arena_make,
    .arena_free = counting_arena_free,
    .protect = counting_protect,
    .write = counting_write,
    .read = counting_read,
    .queue_make = counting_queue_make,
    .queue_free = counting_queue_free,
    .event_make = counting_event_make,
    .event_free = counting_event_free,
    .record = counting_record,
    .wait = counting_wait,
    .event_time = counting_event_time,
    .drain = counting_drain,
    .launch = counting_launch,
    .copy = counting_copy,
    .fill = counting_fill,
    .reduce = counting_reduce,
    .merge = counting_merge,
    .norm = counting_norm,
    .clip = counting_clip,
    .update = counting_update,
    .cast = counting_cast,
    .allreduce = counting_allreduce,
    .allreduce_wire = counting_allreduce_wire,
};
