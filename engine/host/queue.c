/* Queues: a thread each and a ring of commands. The thread starts with the first command, sets its team size before
 * anything else and takes no signals.
 *
 * Capacity. Nothing is allocated while a step runs: a full ring makes the submitter wait, which cannot lock up, because
 * whatever a command waits for was pushed before it. A drain doubles the ring until the step that just ended would have
 * fitted, so that later steps do not wait. */
#include "engine/host/queue.h"

#include <mgb/thread.h>

#include "engine/base/clock.h"
#include "engine/base/memory.h"
#include "engine/base/parallel.h"
#include <stdio.h>

#define FIRST_CAPACITY 256

static void queue_name(char *out, size_t size, const struct mgb_queue *queue)
{
    const struct mgb_host_device *devices = queue->host->devices;
    if (queue->request.use == MGB_USE_COPY)
        snprintf(out, size, "%s>%s", devices[queue->request.from].name + 1,
                 devices[queue->request.device].name + 1);
    else
        snprintf(out, size, "%s", devices[queue->request.device].name + 1);
}

static bool has_work(void *context)
{
    struct mgb_queue *queue = context;
    return atomic_load(&queue->tail) != atomic_load(&queue->head) || atomic_load(&queue->stop);
}

static void queue_step(struct mgb_queue *queue)
{
    uint64_t head = atomic_load_explicit(&queue->head, memory_order_relaxed);
    const struct mgb_command *command = &queue->ring[head & (queue->capacity - 1)];
    atomic_store_explicit(&queue->doing, (int)command->kind, memory_order_relaxed);
    atomic_store_explicit(&queue->doing_name, mgb_host_command_name(command), memory_order_relaxed);
    enum mgb_status status = mgb_host_perform(queue, command);
    if (status != MGB_OK) {
        mgb_fail_in(status, "%s on %s", mgb_host_command_name(command),
                    queue->host->devices[queue->request.device].name);
        mgb_host_poison(queue->host, status);
    }
    atomic_store_explicit(&queue->doing, -1, memory_order_relaxed);
    atomic_store(&queue->head, head + 1);
    if (head + 1 >= atomic_load(&queue->wake_at))
        mgb_gate_notify(&queue->moved);
}

static void *queue_main(void *argument)
{
    struct mgb_queue *queue = argument;
    char name[2 * MGB_DEVICE_NAME_MAX];
    queue_name(name, sizeof name, queue);
    name[15] = '\0'; /* what the kernel takes */
    pthread_setname_np(pthread_self(), name);
    mgb_parallel_set_threads(queue->request.use == MGB_USE_COMPUTE ? queue->request.threads : 1);
    for (;;) {
        mgb_gate_wait(&queue->work, has_work, queue, NULL);
        if (atomic_load(&queue->tail) == atomic_load_explicit(&queue->head, memory_order_relaxed))
            return NULL; /* stopped, and nothing left to do */
        queue_step(queue);
    }
}

/* Queues come and go with placements; the largest crowd that those at work together needed stays. */
static void crowd_fit(struct mgb_host *host)
{
    int threads = 0, teams = 0;
    for (const struct mgb_queue *queue = host->queues; queue; queue = queue->next)
        if (queue->started && queue->request.use == MGB_USE_COMPUTE) {
            threads += queue->request.threads;
            teams++;
        }
    mgb_crowd_grow(&host->crowd, mgb_crowd_needed(threads, teams));
}

static enum mgb_status thread_start(struct mgb_queue *queue)
{
    int failed = mgb_thread_start(&queue->thread, NULL, queue_main, queue);
    if (failed) {
        char name[2 * MGB_DEVICE_NAME_MAX];
        queue_name(name, sizeof name, queue);
        return mgb_fail(MGB_DEVICE,
                        "no thread for queue %s (error %d); use fewer devices or raise ulimit -u",
                        name, failed);
    }
    queue->started = true;
    crowd_fit(queue->host);
    return MGB_OK;
}

static enum mgb_status request_check(const struct mgb_host *host,
                                     const struct mgb_queue_request *request)
{
    bool copy = request->use == MGB_USE_COPY;
    if (request->device < 0 || request->device >= host->device_count ||
        (copy && (request->from < 0 || request->from >= host->device_count)))
        return mgb_fail(MGB_MISSING, "a queue for device %d, but this machine has devices 0 to %d",
                        request->device, host->device_count - 1);
    if (!copy && (request->threads < 1 || request->threads > 1024))
        return mgb_fail(MGB_INVALID, "a compute queue of %s with %d threads; give it 1 to 1024",
                        host->devices[request->device].name, request->threads);
    return MGB_OK;
}

enum mgb_status mgb_host_queue_make(void *context, struct mgb_queue **out,
                                    const struct mgb_queue_request *request)
{
    struct mgb_host *host = context;
    MGB_TRY(request_check(host, request));
    struct mgb_queue *queue = mgb_alloc(sizeof *queue);
    struct mgb_command *ring = mgb_alloc(FIRST_CAPACITY * sizeof *ring);
    if (!queue || !ring) {
        mgb_release(queue);
        mgb_release(ring);
        return mgb_fail(MGB_NO_MEMORY, "no memory for a queue of %s",
                        host->devices[request->device].name);
    }
    queue->host = host;
    queue->request = *request;
    queue->ring = ring;
    queue->capacity = FIRST_CAPACITY;
    atomic_store(&queue->wake_at, UINT64_MAX);
    atomic_store(&queue->doing, -1);
    queue->next = host->queues;
    host->queues = queue;
    *out = queue;
    return MGB_OK;
}

void mgb_host_queue_free(struct mgb_queue *queue)
{
    if (!queue)
        return;
    if (queue->started) {
        atomic_store(&queue->stop, true);
        mgb_gate_notify(&queue->work);
        pthread_join(queue->thread, NULL);
    }
    struct mgb_queue **link = &queue->host->queues;
    while (*link != queue)
        link = &(*link)->next;
    *link = queue->next;
    mgb_release(queue->ring);
    mgb_release(queue);
}

static bool has_room(void *context)
{
    struct mgb_queue *queue = context;
    return atomic_load(&queue->head) >= atomic_load_explicit(&queue->wake_at, memory_order_relaxed);
}

/* Until `head` commands are done; false after the deadline (NULL: none). */
static bool queue_await(struct mgb_queue *queue, uint64_t head, struct mgb_deadline *deadline)
{
    atomic_store(&queue->wake_at, head);
    bool done = mgb_gate_wait(&queue->moved, has_room, queue, deadline);
    atomic_store(&queue->wake_at, UINT64_MAX);
    return done;
}

enum mgb_status mgb_host_push(struct mgb_queue *queue, const struct mgb_command *command)
{
    if (queue->host->sticky)
        return mgb_host_failure_get(queue->host);
    if (!queue->started)
        MGB_TRY(thread_start(queue));
    uint64_t tail = atomic_load_explicit(&queue->tail, memory_order_relaxed);
    if (tail - atomic_load(&queue->head) == queue->capacity) {
        queue->waited++;
        queue_await(queue, tail - queue->capacity / 2, NULL);
    }
    queue->ring[tail & (queue->capacity - 1)] = *command;
    atomic_store(&queue->tail, tail + 1);
    mgb_gate_notify(&queue->work);
    return MGB_OK;
}

/* The queue is empty and its thread asleep or about to be: it reads the ring again only after the next push. */
static enum mgb_status queue_grow(struct mgb_queue *queue)
{
    uint64_t tail = atomic_load(&queue->tail), needed = tail - queue->mark,
             capacity = queue->capacity;
    bool waited = queue->waited > 0;
    queue->mark = tail;
    queue->waited = 0;
    if (!waited)
        return MGB_OK;
    while (capacity < needed)
        capacity *= 2;
    struct mgb_command *ring = mgb_alloc(capacity * sizeof *ring);
    if (!ring)
        return mgb_fail(MGB_NO_MEMORY, "no memory for a queue of %llu commands",
                        (unsigned long long)capacity);
    mgb_release(queue->ring);
    queue->ring = ring;
    queue->capacity = capacity;
    return MGB_OK;
}

/* The queue to name when nothing moves: one at work rather than one that waits for another. */
static struct mgb_queue *queue_stuck(struct mgb_host *host)
{
    struct mgb_queue *stuck = NULL;
    for (struct mgb_queue *queue = host->queues; queue; queue = queue->next) {
        int doing = atomic_load_explicit(&queue->doing, memory_order_relaxed);
        if (doing >= 0 && (!stuck || (doing != MGB_COMMAND_WAIT && doing != MGB_COMMAND_ALLREDUCE)))
            stuck = queue;
    }
    return stuck;
}

static enum mgb_status drain_give_up(struct mgb_host *host, int64_t timeout_ns)
{
    struct mgb_queue *queue = queue_stuck(host);
    char name[2 * MGB_DEVICE_NAME_MAX] = "";
    const char *work = "what was launched"; /* all of it ends just now */
    if (queue) {
        queue_name(name, sizeof name, queue);
        work = atomic_load_explicit(&queue->doing_name, memory_order_relaxed);
    }
    atomic_store(&host->abandoned, true);
    enum mgb_status status =
        mgb_fail(MGB_TIMEOUT, "%s%s%s did not end within %.6g s; the backend can only be closed",
                 work, queue ? " on /" : "", name, (double)timeout_ns * 1e-9);
    mgb_host_failure_clear(host);
    mgb_host_poison(host, status);
    host->sticky = true;
    return status;
}

enum mgb_status mgb_host_drain(void *context, int64_t timeout_ns)
{
    struct mgb_host *host = context;
    struct mgb_deadline deadline = mgb_deadline_make(timeout_ns);
    if (host->sticky)
        return mgb_host_failure_get(host);
    for (struct mgb_queue *queue = host->queues; queue; queue = queue->next)
        if (!queue_await(queue, atomic_load_explicit(&queue->tail, memory_order_relaxed),
                         &deadline))
            return drain_give_up(host, timeout_ns);
    for (struct mgb_queue *queue = host->queues; queue; queue = queue->next)
        MGB_TRY(queue_grow(queue));
    MGB_TRY(mgb_host_collectives_grow(host));
    if (!atomic_load(&host->poisoned))
        return MGB_OK;
    enum mgb_status status = mgb_host_failure_get(host);
    host->sticky = status == MGB_DEVICE;
    if (!host->sticky)
        mgb_host_failure_clear(host);
    return status;
}
