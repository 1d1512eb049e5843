/* What a played plan shows: where each device's time went, and every task with its start and duration. */
#include "engine/sim/program.h"

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
                (struct mgb_span){.first = i,
                                  .device = flat->device,
                                  .from = program->queues[queue].from,
                                  .phase = program->plan->tasks[flat->task].phase,
                                  .tower = flat->tower};
        }
        program->spans[span_of[queue]].last = i;
    }
    program->boundaries =
        mgb_pool_alloc(pool, MGB_BOUNDARIES(program->span_count) * sizeof *program->boundaries);
    return program->boundaries
               ? MGB_OK
               : mgb_fail(MGB_NO_MEMORY, "simulating a plan: the host's memory is exhausted");
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
    const struct mgb_step_clock clock = {.end_ns = program->wall_ns};
    for (int i = 0; i < program->span_count; i++) {
        struct mgb_span *span = &program->spans[i];
        span->start_ns = start_of(program, span->first);
        span->end_ns = program->ends[span->last];
    }
    for (int i = 0; i < program->plan->use_count; i++)
        mgb_device_times_fill(&program->times[i], program->boundaries,
                              program->plan->uses[i].device, program->spans, program->span_count,
                              &clock);
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
