/* All-reduce in the process: the queues of all participants meet, and each adds its share of the range over all buffers in
 * their order and writes the sum to all of them: every byte is read once and written once. Nobody leaves before all have
 * finished, so a buffer is complete for whatever follows on its queue. In one memory no ring could move less; a tree adds in
 * its own order.
 *
 * Several may be in flight: one thread submits, so all queues come to the meetings in the same order. The meetings live in
 * a ring; when all are taken the submitter waits for the oldest, and a drain makes the ring larger. */
#include "engine/host/queue.h"

#include "engine/base/memory.h"
#include "engine/host/cpu.h"

#define FIRST_CAPACITY 32
#define ALIGNMENT 16 /* floats: shares begin on cache lines of aligned buffers */

enum mgb_status mgb_host_collectives_grow(struct mgb_host *host)
{
    uint64_t needed = host->collective_count - host->collective_mark;
    host->collective_mark = host->collective_count;
    if (needed <= (uint64_t)host->collective_capacity && host->collective_capacity > 0)
        return MGB_OK;
    int capacity = FIRST_CAPACITY;
    while ((uint64_t)capacity < needed)
        capacity *= 2;
    struct mgb_host_collective *ring = mgb_alloc((size_t)capacity * sizeof *ring);
    if (!ring)
        return mgb_fail(MGB_NO_MEMORY, "no memory for %d all-reduces", capacity);
    mgb_release(host->collectives);
    host->collectives = ring;
    host->collective_capacity = capacity;
    host->collective_count = host->collective_mark = 0;
    return MGB_OK;
}

static bool all_left(void *context)
{
    struct mgb_host_collective *meeting = context;
    return atomic_load(&meeting->left) == meeting->queues;
}

static enum mgb_status meeting_push(struct mgb_queue *const *queues, void *const *buffers,
                                    int count_of_queues, int64_t count,
                                    enum mgb_allreduce algorithm, enum mgb_wire_type type)
{
    struct mgb_host *host = queues[0]->host;
    if (host->sticky)
        return mgb_host_failure_get(host);
    struct mgb_host_collective *meeting =
        &host->collectives[host->collective_count % (uint64_t)host->collective_capacity];
    mgb_gate_wait(&meeting->free, all_left, meeting, NULL);
    host->collective_count++;
    meeting->buffers = buffers;
    meeting->count = count;
    meeting->queues = count_of_queues;
    meeting->algorithm = algorithm;
    meeting->type = type;
    atomic_store(&meeting->arrived, 0);
    atomic_store(&meeting->finished, 0);
    atomic_store(&meeting->left, 0);
    for (int k = 0; k < count_of_queues; k++) {
        struct mgb_command command = {.kind = MGB_COMMAND_ALLREDUCE, .collective = {meeting, k}};
        MGB_TRY(mgb_host_push(queues[k], &command));
    }
    return MGB_OK;
}

enum mgb_status mgb_host_allreduce(struct mgb_queue *const *queues, float *const *buffers,
                                   int count_of_queues, int64_t count, enum mgb_allreduce algorithm)
{
    return meeting_push(queues, (void *const *)buffers, count_of_queues, count, algorithm,
                        MGB_WIRE_F32);
}

enum mgb_status mgb_host_allreduce_wire(struct mgb_queue *const *queues, void *const *buffers,
                                        int count_of_queues, int64_t count,
                                        enum mgb_allreduce algorithm, enum mgb_wire_type type)
{
    return meeting_push(queues, buffers, count_of_queues, count, algorithm, type);
}

struct meeting_wait {
    struct mgb_host_collective *meeting;
    atomic_int *counter;
    struct mgb_host *host;
};

static bool all_there(void *context)
{
    struct meeting_wait *wait = context;
    return atomic_load(wait->counter) >= wait->meeting->queues ||
           atomic_load(&wait->host->abandoned);
}

static void meeting_await(struct mgb_host *host, struct mgb_host_collective *meeting,
                          atomic_int *counter)
{
    struct meeting_wait wait = {meeting, counter, host};
    mgb_gate_wait(&meeting->gate, all_there, &wait, NULL);
}

static void share_add(const struct mgb_host_collective *meeting, int index)
{
    int64_t blocks = (meeting->count + ALIGNMENT - 1) / ALIGNMENT;
    int64_t begin = blocks * index / meeting->queues * ALIGNMENT;
    int64_t end = blocks * (index + 1) / meeting->queues * ALIGNMENT;
    if (end > meeting->count)
        end = meeting->count;
    if (begin >= end)
        return;
    if (meeting->type != MGB_WIRE_F32)
        mgb_cpu_allreduce_wire(meeting->buffers, meeting->queues, begin, end, meeting->type);
    else if (meeting->algorithm == MGB_ALLREDUCE_TREE)
        mgb_cpu_allreduce_tree((float *const *)meeting->buffers, meeting->queues, begin, end);
    else
        mgb_cpu_allreduce((float *const *)meeting->buffers, meeting->queues, begin, end);
}

void mgb_host_meet(struct mgb_queue *queue, const struct mgb_command *command)
{
    struct mgb_host_collective *meeting = command->collective.meeting;
    struct mgb_host *host = queue->host;
    const int queues = meeting->queues; /* once all have left the place may be given away */
    bool last_in = false;
    /* The last to arrive decides for all whether there is anything to add. */
    int before = atomic_load(&meeting->arrived);
    do {
        last_in = before + 1 == queues;
        if (last_in)
            atomic_store(&meeting->skip, atomic_load(&host->poisoned));
    } while (!atomic_compare_exchange_weak(&meeting->arrived, &before, before + 1));
    if (last_in)
        mgb_gate_notify(&meeting->gate);
    else
        meeting_await(host, meeting, &meeting->arrived);
    if (!atomic_load(&meeting->skip) && !atomic_load(&host->abandoned))
        share_add(meeting, command->collective.index);
    if (atomic_fetch_add(&meeting->finished, 1) + 1 == queues)
        mgb_gate_notify(&meeting->gate);
    else
        meeting_await(host, meeting, &meeting->finished);
    if (atomic_fetch_add(&meeting->left, 1) + 1 == queues)
        mgb_gate_notify(&meeting->free);
}
