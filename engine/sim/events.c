/* The event engine. A task that nobody can be in the way of gets its end as soon as the ends of all it waits for are known,
 * later ones included; only what queues for engines or shares rates goes through the queue of events, which is a
 * tournament among the plan's queues, each having one moment to come (shared/reference/simulation.md 3.2, tier B). */
#include "engine/sim/events.h"

#include <string.h>

static bool is_before(const struct mgb_sim_events *e, int a, int b)
{
    return e->times[a] != e->times[b] ? e->times[a] < e->times[b] : e->ties[a] < e->ties[b];
}

void mgb_sim_schedule(struct mgb_sim_events *e, int queue, int64_t ns, enum mgb_sim_moment what)
{
    e->times[queue] = ns;
    e->ties[queue] = (uint64_t)what << 32 | (uint32_t)e->slots[queue].task;
    for (int at = (e->leaves + queue) / 2; at > 0; at /= 2) {
        int a = e->winners[2 * at], b = e->winners[2 * at + 1];
        e->winners[at] = is_before(e, b, a) ? b : a;
    }
}

/* Its end is known; those that wait for it will be told. */
static void end_set(struct mgb_sim_events *e, int task, int64_t ns)
{
    e->program->ends[task] = ns;
    e->stack[e->depth++] = task;
}

static void meet_settle(struct mgb_sim_events *e, int number)
{
    const struct mgb_sim_program *program = e->program;
    const struct mgb_sim_meet *meet = &program->meets[number];
    int64_t ready = 0;
    if (--e->meet_left[number] > 0)
        return;
    for (int i = meet->begin; i < meet->end; i++)
        ready = program->ends[i] > ready ? program->ends[i] : ready;
    for (int i = meet->begin; i < meet->end; i++) {
        program->starts[i] = ready;
        end_set(e, i, ready + meet->ns);
    }
}

/* Nothing it waits for is still unknown: ends[] holds when it is ready. */
static void task_settle(struct mgb_sim_events *e, int task)
{
    struct mgb_sim_program *program = e->program;
    const struct mgb_sim_task *t = &program->tasks[task];
    const struct mgb_sim_queue *q = &program->queues[t->queue];
    int64_t ready = program->ends[task];
    program->events++;
    if (t->meet >= 0) {
        meet_settle(e, t->meet);
    } else if ((q->queues || q->shares) && e->ns[task] > 0) {
        e->slots[t->queue].task = task;
        mgb_sim_schedule(e, t->queue, ready, MGB_SIM_READY);
    } else {
        program->starts[task] = ready;
        end_set(e, task, ready + e->ns[task]);
    }
}

static void ends_tell(struct mgb_sim_events *e)
{
    const struct mgb_sim_program *program = e->program;
    int64_t *ends = program->ends;
    while (e->depth > 0) {
        int task = e->stack[--e->depth];
        for (int k = program->tasks[task].next_begin; k < program->tasks[task + 1].next_begin;
             k++) {
            int next = program->nexts[k];
            if (ends[next] < ends[task])
                ends[next] = ends[task];
            if (--e->waiting[next] == 0)
                task_settle(e, next);
        }
    }
}

static void share_begin(struct mgb_sim_events *e, int queue)
{
    const struct mgb_sim_queue *q = &e->program->queues[queue];
    struct mgb_sim_slot *slot = &e->slots[queue];
    slot->left = (double)(q->copies ? e->program->bytes[slot->task] : e->ns[slot->task]);
    mgb_sim_schedule(e, queue, slot->left > 0 ? INT64_MAX : e->now, MGB_SIM_END);
    if (slot->left > 0)
        mgb_sim_join(e, queue);
}

static void task_begin(struct mgb_sim_events *e, int queue)
{
    const struct mgb_sim_queue *q = &e->program->queues[queue];
    int task = e->slots[queue].task;
    e->program->starts[task] = e->now;
    if (!q->shares)
        mgb_sim_schedule(e, queue, e->now + e->ns[task], MGB_SIM_END);
    else if (q->latency_ns > 0)
        mgb_sim_schedule(e, queue, e->now + q->latency_ns, MGB_SIM_JOIN);
    else
        share_begin(e, queue);
}

static void task_ready(struct mgb_sim_events *e, int queue)
{
    if (!e->program->queues[queue].queues || mgb_sim_engines_take(e, queue))
        task_begin(e, queue);
    else
        mgb_sim_schedule(e, queue, INT64_MAX, MGB_SIM_END);
}

static void task_end(struct mgb_sim_events *e, int queue)
{
    const struct mgb_sim_queue *q = &e->program->queues[queue];
    int task = e->slots[queue].task;
    mgb_sim_schedule(e, queue, INT64_MAX, MGB_SIM_END);
    if (e->slots[queue].active)
        mgb_sim_leave(e, queue);
    if (q->queues)
        mgb_sim_engines_give(e, queue, task_begin);
    end_set(e, task, e->now);
    ends_tell(e);
}

static void events_run(struct mgb_sim_events *e)
{
    for (;;) {
        int queue = e->winners[1];
        if (e->times[queue] > e->now && e->dirty_count + e->loosened_count > 0) {
            mgb_sim_resolve(e); /* once for all that happened at this moment */
            continue;
        }
        if (e->times[queue] == INT64_MAX)
            return;
        e->now = e->times[queue];
        e->program->events++;
        switch ((enum mgb_sim_moment)(e->ties[queue] >> 32)) {
        case MGB_SIM_END:
            task_end(e, queue);
            break;
        case MGB_SIM_JOIN:
            share_begin(e, queue);
            break;
        case MGB_SIM_READY:
            task_ready(e, queue);
            break;
        }
    }
}

static void events_reset(struct mgb_sim_events *e, const int64_t *ns)
{
    struct mgb_sim_program *program = e->program;
    e->ns = ns;
    e->now = e->turns = 0;
    e->depth = 0;
    program->events = program->solves = 0;
    for (int q = 0; q < e->leaves; q++)
        e->times[q] = INT64_MAX;
    for (int at = e->leaves - 1; at > 0; at--)
        e->winners[at] = e->winners[2 * at];
    for (int k = 0; k < program->meet_count; k++)
        e->meet_left[k] = program->meets[k].end - program->meets[k].begin;
    for (int i = 0; i < program->count; i++) {
        e->waiting[i] = program->tasks[i].waiting;
        program->ends[i] = program->submit_ns > 0 ? mgb_sim_issued(program, i) : program->step_ns;
    }
}

static void queues_prepare(struct mgb_sim_events *e)
{
    const struct mgb_sim_program *program = e->program;
    for (int i = 0; i < program->engine_count; i++)
        e->engine_first[i] = e->engine_last[i] = -1;
    for (int i = 0; i < program->resource_count; i++)
        e->shorts[i] = (struct mgb_sim_short){.capacity = program->capacities[i], .first = -1};
    for (int q = 0; q < program->queue_count; q++) {
        const struct mgb_sim_queue *queue = &program->queues[q];
        for (int k = queue->use_begin; k < queue->use_begin + queue->use_count; k++)
            e->use_queues[k] = q;
        e->board_next[q] = q;
        for (int mate = 0; mate < q && queue->board >= 0; mate++)
            if (program->queues[mate].board == queue->board) {
                e->board_next[q] = e->board_next[mate];
                e->board_next[mate] = q;
                break;
            }
    }
    for (int q = 0; q < e->leaves; q++)
        e->winners[e->leaves + q] = q;
}

static bool arrays_make(struct mgb_sim_events *e, struct mgb_sim_program *program)
{
    struct mgb_pool *pool = &program->pool;
    size_t tasks = (size_t)program->count + 1, queues = (size_t)program->queue_count + 1;
    size_t resources = (size_t)program->resource_count + 1;
    size_t engines = (size_t)program->engine_count + 1, uses = 1;
    for (int q = 0; q < program->queue_count; q++)
        uses += (size_t)program->queues[q].use_count;
    size_t leaves = (size_t)e->leaves;
    return (e->waiting = mgb_pool_alloc(pool, tasks * sizeof *e->waiting)) &&
           (e->stack = mgb_pool_alloc(pool, tasks * sizeof *e->stack)) &&
           (e->meet_left = mgb_pool_alloc(pool, ((size_t)program->meet_count + 1) * sizeof(int))) &&
           (e->winners = mgb_pool_alloc(pool, 2 * leaves * sizeof *e->winners)) &&
           (e->times = mgb_pool_alloc(pool, leaves * sizeof *e->times)) &&
           (e->ties = mgb_pool_alloc(pool, leaves * sizeof *e->ties)) &&
           (e->slots = mgb_pool_alloc(pool, leaves * sizeof *e->slots)) &&
           (e->busy = mgb_pool_alloc(pool, engines * sizeof *e->busy)) &&
           (e->engine_first = mgb_pool_alloc(pool, engines * sizeof(int))) &&
           (e->engine_last = mgb_pool_alloc(pool, engines * sizeof(int))) &&
           (e->engine_links = mgb_pool_alloc(pool, 2 * queues * sizeof *e->engine_links)) &&
           (e->shorts = mgb_pool_alloc(pool, resources * sizeof *e->shorts)) &&
           (e->use_links = mgb_pool_alloc(pool, uses * sizeof *e->use_links)) &&
           (e->use_queues = mgb_pool_alloc(pool, uses * sizeof *e->use_queues)) &&
           (e->board_next = mgb_pool_alloc(pool, queues * sizeof *e->board_next)) &&
           (e->dirty = mgb_pool_alloc(pool, queues * sizeof *e->dirty)) &&
           (e->loosened = mgb_pool_alloc(pool, resources * sizeof *e->loosened)) &&
           (e->part = mgb_pool_alloc(pool, queues * sizeof *e->part)) &&
           (e->part_shorts = mgb_pool_alloc(pool, resources * sizeof *e->part_shorts));
}

static enum mgb_status events_make(struct mgb_sim_program *program)
{
    struct mgb_sim_events *e = mgb_pool_alloc(&program->pool, sizeof *e);
    if (!e)
        return mgb_fail(MGB_NO_MEMORY, "simulating a plan: the host's memory is exhausted");
    e->program = program;
    e->leaves = 2;
    while (e->leaves < program->queue_count)
        e->leaves *= 2;
    if (!arrays_make(e, program))
        return mgb_fail(MGB_NO_MEMORY, "simulating a plan: the host's memory is exhausted");
    queues_prepare(e);
    program->state = e;
    return MGB_OK;
}

enum mgb_status mgb_sim_events_play(struct mgb_sim_program *program, const int64_t *ns)
{
    if (!program->state)
        MGB_TRY(events_make(program));
    struct mgb_sim_events *e = program->state;
    events_reset(e, ns);
    for (int i = 0; i < program->count; i++)
        if (program->tasks[i].waiting == 0) {
            task_settle(e, i);
            ends_tell(e);
        }
    events_run(e);
    return MGB_OK;
}
