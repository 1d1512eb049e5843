/* What a queue's thread does with a command. After a failure anywhere, work is skipped, but events are still reached and
 * meetings still met, so that every queue runs empty. */
#include "engine/host/queue.h"

#include "engine/base/clock.h"
#include "engine/host/cpu.h"
#include <string.h>
#include <time.h>

struct event_wait {
    struct mgb_event *event;
    uint64_t generation;
    struct mgb_host *host;
};

static bool event_reached(void *context)
{
    struct event_wait *wait = context;
    return atomic_load(&wait->event->reached) >= wait->generation ||
           atomic_load(&wait->host->abandoned);
}

static void event_record(struct mgb_event *event, uint64_t generation)
{
    atomic_store_explicit(&event->time_ns, mgb_clock_ns(), memory_order_relaxed);
    atomic_store(&event->reached, generation);
    mgb_gate_notify(&event->gate);
}

static bool stopped(void *context)
{
    return atomic_load(&((struct mgb_queue *)context)->stop);
}

/* Plays a planted fault; MGB_OK when the launch may go on. */
static enum mgb_status fault_play(struct mgb_queue *queue, const struct mgb_kernel *kernel)
{
    struct mgb_host *host = queue->host;
    int device = queue->request.device;
    long long launch = atomic_fetch_add(&host->devices[device].launches, 1) + 1;
    const struct mgb_fault *slow =
        mgb_host_fault_find(&host->faults, device, launch, MGB_FAULT_SLOW);
    if (slow) {
        struct timespec time = {slow->value / 1000000, slow->value % 1000000 * 1000};
        nanosleep(&time, NULL);
    }
    if (mgb_host_fault_find(&host->faults, device, launch, MGB_FAULT_HANG)) {
        mgb_gate_wait(&queue->work, stopped, queue, NULL);
        return mgb_fail(MGB_DEVICE, "planted fault: the operator hung until its queue was freed");
    }
    if (mgb_host_fault_find(&host->faults, device, launch, MGB_FAULT_OOM)) {
        long long needed = kernel->facts.workspace_bytes;
        for (int i = 0; i < MGB_MAX_OUTPUTS; i++)
            needed += kernel->facts.out_bytes[i];
        return mgb_fail_oom(host->devices[device].name, needed, 0, "planted fault");
    }
    return MGB_OK;
}

static enum mgb_status kernel_launch(struct mgb_queue *queue, const struct mgb_command *command)
{
    struct mgb_kernel *kernel = command->launch.kernel;
    if (queue->host->faults.count > 0)
        MGB_TRY(fault_play(queue, kernel));
    return mgb_host_kernel_run(kernel, &command->launch.launch);
}

/* Commands that keep queues in step run even after a failure; true when this was one of them. */
static bool order_perform(struct mgb_queue *queue, const struct mgb_command *command)
{
    if (command->kind == MGB_COMMAND_RECORD) {
        event_record(command->order.event, command->order.generation);
    } else if (command->kind == MGB_COMMAND_WAIT) {
        struct event_wait wait = {command->order.event, command->order.generation, queue->host};
        mgb_gate_wait(&wait.event->gate, event_reached, &wait, NULL);
    } else if (command->kind == MGB_COMMAND_ALLREDUCE) {
        mgb_host_meet(queue, command);
    } else {
        return false;
    }
    return true;
}

enum mgb_status mgb_host_perform(struct mgb_queue *queue, const struct mgb_command *command)
{
    if (order_perform(queue, command) || atomic_load(&queue->host->poisoned))
        return MGB_OK;
    switch (command->kind) {
    case MGB_COMMAND_LAUNCH:
        return kernel_launch(queue, command);
    case MGB_COMMAND_COPY:
        mgb_cpu_copy(command->copy.to, command->copy.from, command->copy.bytes);
        break;
    case MGB_COMMAND_FILL:
        mgb_cpu_fill(command->copy.to, command->copy.bytes);
        break;
    case MGB_COMMAND_REDUCE:
        mgb_cpu_reduce(command->sum.to, command->sum.sources, command->sum.source_count,
                       command->sum.count);
        break;
    case MGB_COMMAND_NORM:
        mgb_cpu_norm(command->sum.to, command->sum.sources, command->sum.counts,
                     command->sum.source_count);
        break;
    case MGB_COMMAND_CLIP:
        mgb_cpu_clip(command->sum.to, command->sum.sources, command->sum.counts,
                     command->sum.source_count, command->sum.clip);
        break;
    case MGB_COMMAND_UPDATE:
        mgb_cpu_update(&command->update);
        break;
    case MGB_COMMAND_CAST:
        mgb_cpu_cast(command->cast.to, command->cast.from, command->cast.count, command->cast.type,
                     command->cast.way);
        break;
    case MGB_COMMAND_MERGE:
        mgb_cpu_merge(command->merge.mean, command->merge.variance, command->merge.sources,
                      command->merge.rows, command->merge.towers, command->merge.count);
        break;
    case MGB_COMMAND_RECORD:
    case MGB_COMMAND_WAIT:
    case MGB_COMMAND_ALLREDUCE:
        break;
    }
    return MGB_OK;
}

const char *mgb_host_command_name(const struct mgb_command *command)
{
    switch (command->kind) {
    case MGB_COMMAND_RECORD:
        return "recording an event";
    case MGB_COMMAND_WAIT:
        return "waiting for an event";
    case MGB_COMMAND_LAUNCH:
        return mgb_op_name(command->launch.kernel->use.kind);
    case MGB_COMMAND_COPY:
        return "a copy";
    case MGB_COMMAND_FILL:
        return "a fill";
    case MGB_COMMAND_REDUCE:
        return "a sum";
    case MGB_COMMAND_NORM:
        return "a norm";
    case MGB_COMMAND_CLIP:
        return "clipping";
    case MGB_COMMAND_UPDATE:
        return "an update";
    case MGB_COMMAND_ALLREDUCE:
        return "an all-reduce";
    case MGB_COMMAND_CAST:
        return "a cast";
    case MGB_COMMAND_MERGE:
        return "merging statistics";
    }
    return "work";
}
