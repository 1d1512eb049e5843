/* What a played plan shows: where each device's time went, and every task with its start and duration. */
#include "engine/sim/program.h"

#include <stdlib.h>

/* A run ends where the executor ends it: the phase changes, a tower's work and the root's meet, a task waits, towers meet. */
static bool span_begins(const struct mgb_sim_program *program, int task)
{
    const struct mgb_flat_task *flat = program->flat.tasks;
    int before = program->tasks[task].before;
    if (before < 0 || program->tasks[task + 1].wait_begin > program->tasks[task].wait_begin ||
        program->tasks[task].meet >= 0 || program->tasks[before].meet >= 0)
        return true;
    return program->plan->tasks[flat[before].task].phase !=
               program->plan->tasks[flat[task].task].phase ||
           flat[before].tower != flat[task].tower;
}

enum mgb_status mgb_sim_spans_add(struct mgb_sim_program *program)
{
    struct mgb_pool *pool = &program->pool;
    size_t most = (size_t)program->count + 1, uses = (size_t)program->plan->use_count + 1;
    int *span_of = mgb_pool_alloc(pool, ((size_t)program->queue_count + 1) * sizeof *span_of);
    program->spans = mgb_pool_alloc(pool, most * sizeof *program->spans);
    program->times = mgb_pool_alloc(pool, uses * sizeof *program->times);
    if (!span_of || !program->spans || !program->times)
        return mgb_fail(MGB_NO_MEMORY, "simulating a plan: the host's memory is exhausted");
    for (int i = 0; i < program->count; i++) {
        const struct mgb_flat_task *flat = &program->flat.tasks[i];
        int queue = program->tasks[i].queue;
        if (span_begins(program, i)) {
            span_of[queue] = program->span_count;
            program->spans[program->span_count++] =
                (struct mgb_sim_span){.first = i,
                                      .device = flat->device,
                                      .from = program->queues[queue].from,
                                      .phase = program->plan->tasks[flat->task].phase,
                                      .tower = flat->tower};
        }
        program->spans[span_of[queue]].last = i;
    }
    program->boundaries =
        mgb_pool_alloc(pool, (2 * (size_t)program->span_count + 1) * sizeof *program->boundaries);
    return program->boundaries
               ? MGB_OK
               : mgb_fail(MGB_NO_MEMORY, "simulating a plan: the host's memory is exhausted");
}

/* Which phase a moment belongs to when several run, as for measured steps. */
static const enum mgb_phase rank[] = {MGB_PHASE_FORWARD, MGB_PHASE_BACKWARD, MGB_PHASE_UPDATE,
                                      MGB_PHASE_SUM,     MGB_PHASE_JOIN,     MGB_PHASE_FETCH,
                                      MGB_PHASE_INPUT};

static void boundary_sift(struct mgb_sim_boundary *b, int root, int count)
{
    for (int child; (child = 2 * root + 1) < count; root = child) {
        if (child + 1 < count && b[child].ns < b[child + 1].ns)
            child++;
        if (b[root].ns >= b[child].ns)
            return;
        struct mgb_sim_boundary held = b[root];
        b[root] = b[child];
        b[child] = held;
    }
}

static void boundaries_sort(struct mgb_sim_boundary *b, int count)
{
    for (int i = count / 2 - 1; i >= 0; i--)
        boundary_sift(b, i, count);
    for (int end = count - 1; end > 0; end--) {
        struct mgb_sim_boundary held = b[0];
        b[0] = b[end];
        b[end] = held;
        boundary_sift(b, 0, end);
    }
}

static void stretch_add(struct mgb_device_times *out, const int depth[MGB_PHASE_COUNT], int64_t ns)
{
    bool hidden = false;
    for (size_t i = 0; i < sizeof rank / sizeof rank[0]; i++) {
        if (depth[rank[i]] <= 0)
            continue;
        out->busy[rank[i]] += ns;
        if (!hidden)
            out->exposed[rank[i]] += ns;
        hidden = true;
    }
    if (!hidden)
        out->exposed[MGB_PHASE_WAIT] += ns;
}

static void device_times(struct mgb_sim_program *program, struct mgb_device_times *out, int device)
{
    struct mgb_sim_boundary *b = program->boundaries;
    int depth[MGB_PHASE_COUNT] = {0}, count = 0;
    int64_t at = 0;
    *out = (struct mgb_device_times){.device = device};
    for (int i = 0; i < program->span_count; i++) {
        const struct mgb_sim_span *span = &program->spans[i];
        if (span->device != device && span->from != device)
            continue;
        int64_t begin = program->starts[span->first], end = program->ends[span->last];
        if (end > begin) {
            b[count++] = (struct mgb_sim_boundary){begin, (int)span->phase, 1};
            b[count++] = (struct mgb_sim_boundary){end, (int)span->phase, -1};
        }
        bool tower = span->tower >= 0 && span->from < 0 &&
                     (span->phase == MGB_PHASE_FORWARD || span->phase == MGB_PHASE_BACKWARD);
        if (tower && end > out->finish_ns)
            out->finish_ns = end;
    }
    boundaries_sort(b, count);
    for (int i = 0; i < count; i++) {
        stretch_add(out, depth, b[i].ns - at);
        at = b[i].ns;
        depth[b[i].phase] += b[i].step;
    }
    stretch_add(out, depth, program->wall_ns - at);
}

/* Replay leaves the ends alone. */
static int64_t start_of(const struct mgb_sim_program *program, int task)
{
    const int64_t *ns = program->scaled ? program->scaled : program->ns;
    return program->engine == MGB_SIM_EVENTS ? program->starts[task]
                                             : program->ends[task] - ns[task];
}

void mgb_sim_times_fill(struct mgb_sim_program *program)
{
    for (int i = 0; i < program->span_count; i++) {
        int first = program->spans[i].first;
        program->starts[first] = start_of(program, first);
    }
    for (int i = 0; i < program->plan->use_count; i++)
        device_times(program, &program->times[i], program->plan->uses[i].device);
}

enum mgb_status mgb_sim_trace_fill(struct mgb_sim_program *program)
{
    if (!program->trace)
        program->trace = mgb_alloc(((size_t)program->count + 1) * sizeof *program->trace);
    if (!program->trace)
        return mgb_fail(MGB_NO_MEMORY, "tracing a simulated step: the host's memory is exhausted");
    for (int i = 0; i < program->count; i++) {
        const struct mgb_flat_task *flat = &program->flat.tasks[i];
        int64_t start = start_of(program, i);
        program->trace[i] = (struct mgb_task_time){.task = flat->task,
                                                   .tower = flat->tower,
                                                   .device = flat->device,
                                                   .from = flat->from,
                                                   .start_ns = start,
                                                   .duration_ns = program->ends[i] - start};
    }
    return MGB_OK;
}
