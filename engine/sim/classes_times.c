/* What a plan that was played in class form shows: where each device's time went, and tasks with their times. */
#include "engine/sim/classes.h"

#include <stdlib.h>
#include <string.h>

#define TRACE_MOST (1 << 20) /* instances; beyond that one tower of each kind stands for all */
#define KINDS_TRACED 64

static enum mgb_status no_memory(void)
{
    return mgb_fail(MGB_NO_MEMORY, "simulating tower classes: the host's memory is exhausted");
}

static bool span_begins(const struct mgb_sim_classes *k, int i)
{
    const struct mgb_sim_item *item = &k->items[i];
    int before = item->before;
    return before < 0 || k->items[i + 1].wait_begin > item->wait_begin || item->meet >= 0 ||
           k->items[before].meet >= 0 || k->plan->tasks[before].phase != k->plan->tasks[i].phase ||
           k->items[before].tower != item->tower;
}

/* Of singles by item, of crowds by member from the class's first; devices as lanes have them. */
static void spans_fill(struct mgb_sim_classes *k, int *span_of, int class)
{
    for (int i = 0; i < k->plan->task_count; i++) {
        const struct mgb_sim_item *item = &k->items[i];
        const struct mgb_sim_lane *lane = &k->lanes[item->lane];
        if (item->class != class)
            continue;
        int at = class == MGB_ROOT ? i : item->member - k->crowds[class].member_begin;
        if (span_begins(k, i)) {
            span_of[item->lane] = k->span_count;
            k->spans[k->span_count++] = (struct mgb_span){.first = at,
                                                          .device = lane->device,
                                                          .from = lane->from,
                                                          .phase = k->plan->tasks[i].phase,
                                                          .tower = item->tower};
        }
        k->spans[span_of[item->lane]].last = at;
    }
}

enum mgb_status mgb_sim_classes_spans(struct mgb_sim_classes *k)
{
    const struct mgb_plan *plan = k->plan;
    struct mgb_pool *pool = &k->ways.pool;
    int devices = plan->topology->device_count;
    int *span_of = mgb_alloc(((size_t)k->lane_count + 1) * sizeof *span_of);
    k->spans = mgb_pool_alloc(pool, ((size_t)plan->task_count + 1) * sizeof *k->spans);
    k->times = mgb_pool_alloc(pool, ((size_t)plan->use_count + 1) * sizeof *k->times);
    k->tower_of = mgb_pool_alloc(pool, ((size_t)devices + 1) * sizeof *k->tower_of);
    k->use_of = mgb_pool_alloc(pool, ((size_t)devices + 1) * sizeof *k->use_of);
    bool made = span_of && k->spans && k->times && k->tower_of && k->use_of;
    for (int c = 0; made && c < plan->class_count; c++) {
        k->crowds[c].span_begin = k->span_count;
        spans_fill(k, span_of, c);
        k->crowds[c].span_end = k->span_count;
    }
    if (made) {
        k->single_spans = k->span_count;
        spans_fill(k, span_of, MGB_ROOT);
        memset(k->tower_of, -1, (size_t)devices * sizeof *k->tower_of);
        memset(k->use_of, -1, (size_t)devices * sizeof *k->use_of);
        for (int u = 0; u < plan->use_count; u++)
            k->use_of[plan->uses[u].device] = u;
        for (int t = 0; t < plan->tower_count; t++)
            if (k->kind_of[t] >= 0)
                k->tower_of[plan->towers[t].device] = t;
    }
    mgb_release(span_of);
    return made ? MGB_OK : no_memory();
}

struct timing {
    struct mgb_sim_classes *k;
    const struct mgb_sim *sim;
    struct mgb_step_clock clock;
    mgb_vector(struct mgb_span) spans;  /* of one tower; then of one device that all use */
    mgb_vector(struct mgb_span) common; /* of towers, where they touch such devices */
    mgb_vector(struct mgb_boundary) boundaries;
    bool failed;
};

/* Those of the tower at place `l` of the block that was swept. */
static void tower_spans_push(struct timing *t, int tower, int l)
{
    const struct mgb_sim_classes *k = t->k;
    const struct mgb_tower *of = &k->plan->towers[tower];
    for (int n = k->crowds[of->class].span_begin; n < k->crowds[of->class].span_end; n++) {
        struct mgb_span span = k->spans[n];
        bool touches = span.device >= 0 || span.from >= 0;
        span.device = span.device == MGB_SELF ? of->device : span.device;
        span.from = span.from == -2 ? -1 : span.from == MGB_SELF ? of->device : span.from;
        span.tower = tower;
        span.start_ns = k->row_starts[(size_t)span.first * MGB_SIM_BLOCK + (size_t)l];
        span.end_ns = k->rows[(size_t)span.last * MGB_SIM_BLOCK + (size_t)l];
        if (span.end_ns <= span.start_ns)
            continue;
        if (!mgb_vector_push(&t->spans, span) || (touches && !mgb_vector_push(&t->common, span)))
            t->failed = true;
    }
}

static void times_fill(struct timing *t, struct mgb_device_times *out, int device)
{
    size_t room = MGB_BOUNDARIES(t->spans.count);
    if ((size_t)t->boundaries.capacity < room && !mgb_vector_reserve(&t->boundaries, (int)room))
        t->failed = true;
    else
        mgb_device_times_fill(out, t->boundaries.at, device, t->spans.at, t->spans.count,
                              &t->clock);
    t->spans.count = 0;
}

static void towers_fill(struct timing *t)
{
    struct mgb_sim_classes *k = t->k;
    for (int n = 0; n < k->kind_count; n++) {
        const struct mgb_sim_kind *kind = &k->kinds[n];
        for (int at = 0; at < kind->count; at++) {
            int tower = k->order[kind->begin + at], device = k->plan->towers[tower].device;
            if (at % MGB_SIM_BLOCK == 0)
                mgb_sim_classes_block(k, t->sim, kind, kind->begin + at);
            tower_spans_push(t, tower, at % MGB_SIM_BLOCK);
            if (k->use_of[device] >= 0)
                times_fill(t, &k->times[k->use_of[device]], device);
            t->spans.count = 0;
        }
    }
}

/* A device that all use: what is played once there, and what of towers passes it. */
static void common_fill(struct timing *t, struct mgb_device_times *out, int device)
{
    struct mgb_sim_classes *k = t->k;
    for (int n = k->single_spans; n < k->span_count; n++) {
        struct mgb_span span = k->spans[n];
        span.from = span.from == -2 ? -1 : span.from;
        span.start_ns = k->starts[span.first];
        span.end_ns = k->ends[span.last];
        if ((span.device == device || span.from == device) && !mgb_vector_push(&t->spans, span))
            t->failed = true;
    }
    for (int n = 0; n < t->common.count; n++)
        if ((t->common.at[n].device == device || t->common.at[n].from == device) &&
            !mgb_vector_push(&t->spans, t->common.at[n]))
            t->failed = true;
    times_fill(t, out, device);
}

/* Work for nothing of all work: forward and backward of replicas that were not waited for. */
static void wasted_set(struct mgb_sim_classes *k)
{
    int64_t all = 0, wasted = 0;
    for (int u = 0; u < k->plan->use_count; u++) {
        int tower = k->tower_of[k->plan->uses[u].device];
        int64_t busy = k->times[u].busy[MGB_PHASE_FORWARD] + k->times[u].busy[MGB_PHASE_BACKWARD];
        if (tower < 0)
            continue;
        all += busy;
        wasted += k->late[tower] ? busy : 0;
    }
    k->wasted = all > 0 ? (double)wasted / (double)all : 0;
}

static void uses_fill(struct timing *t)
{
    struct mgb_sim_classes *k = t->k;
    towers_fill(t);
    for (int u = 0; u < k->plan->use_count; u++) {
        int device = k->plan->uses[u].device, tower = k->tower_of[device];
        if (tower < 0) {
            common_fill(t, &k->times[u], device);
        } else if (k->alike) { /* as the first of its kind */
            int first = k->plan->towers[k->kinds[k->kind_of[tower]].tower].device;
            k->times[u] = k->times[k->use_of[first]];
            k->times[u].device = device;
        }
    }
}

enum mgb_status mgb_sim_classes_times(struct mgb_sim_classes *k, const struct mgb_sim *sim)
{
    struct timing t = {.k = k, .sim = sim, .clock = {.end_ns = k->wall_ns}};
    uses_fill(&t);
    mgb_vector_done(&t.spans);
    mgb_vector_done(&t.common);
    mgb_vector_done(&t.boundaries);
    if (k->backups > 0)
        wasted_set(k);
    return t.failed ? no_memory() : MGB_OK;
}

static struct mgb_task_time *time_put(struct mgb_sim_classes *k, int64_t at, int i, int tower)
{
    const struct mgb_task *task = &k->plan->tasks[i];
    int self = tower >= 0 ? k->plan->towers[tower].device : -1;
    bool copies = task->kind == MGB_TASK_COPY && task->queue == MGB_QUEUE_COPY;
    struct mgb_task_time *time = &k->trace[at];
    *time = (struct mgb_task_time){
        .task = i, .tower = tower, .device = task->device == MGB_SELF ? self : task->device};
    time->from = !copies ? -1 : task->from == MGB_SELF ? self : task->from;
    return time;
}

/* The times at place `l` of the block that was swept as those of `tower`; `all`: at their places in the flat form. */
static void tower_trace(struct mgb_sim_classes *k, int tower, int l, bool all)
{
    const struct mgb_tower *t = &k->plan->towers[tower];
    const struct mgb_sim_crowd *crowd = &k->crowds[t->class];
    for (int m = 0; m < crowd->member_end - crowd->member_begin; m++) {
        int i = k->members[crowd->member_begin + m].item;
        int64_t at = all ? k->items[i].first + t->instance : k->trace_count;
        struct mgb_task_time *time = time_put(k, at, i, tower);
        size_t row = (size_t)m * MGB_SIM_BLOCK + (size_t)l;
        time->start_ns = k->row_starts[row];
        time->duration_ns = k->rows[row] - k->row_starts[row];
        k->trace_count++;
    }
}

static void singles_trace(struct mgb_sim_classes *k, bool all)
{
    for (int i = 0; i < k->plan->task_count; i++) {
        if (k->items[i].class != MGB_ROOT)
            continue;
        struct mgb_task_time *time =
            time_put(k, all ? k->items[i].first : k->trace_count, i, k->items[i].tower);
        time->start_ns = k->starts[i];
        time->duration_ns = k->ends[i] - k->starts[i];
        k->trace_count++;
    }
}

/* Of all towers of a kind, or of the first alone. */
static void kind_trace(struct mgb_sim_classes *k, const struct mgb_sim *sim, int n, bool all)
{
    const struct mgb_sim_kind *kind = &k->kinds[n];
    for (int at = 0; at < (all ? kind->count : 1); at++) {
        if (at % MGB_SIM_BLOCK == 0)
            mgb_sim_classes_block(k, sim, kind, kind->begin + at);
        if (!k->alike || !all)
            tower_trace(k, k->order[kind->begin + at], at % MGB_SIM_BLOCK, all);
    }
    for (int t = 0; k->alike && all && t < k->plan->tower_count; t++)
        if (k->kind_of[t] == n)
            tower_trace(k, t, 0, true);
}

static int time_order(const void *a, const void *b)
{
    const struct mgb_task_time *x = a, *y = b;
    return x->task != y->task ? (x->task > y->task) - (x->task < y->task)
                              : (x->tower > y->tower) - (x->tower < y->tower);
}

enum mgb_status mgb_sim_classes_trace(struct mgb_sim_classes *k, const struct mgb_sim *sim)
{
    bool all = k->flat_count <= TRACE_MOST;
    int kinds = k->kind_count < KINDS_TRACED ? k->kind_count : KINDS_TRACED;
    size_t most = all ? (size_t)k->flat_count : (size_t)(kinds + 1) * (size_t)k->plan->task_count;
    if (!k->trace)
        k->trace = mgb_alloc((most + 1) * sizeof *k->trace);
    if (!k->trace)
        return mgb_fail(MGB_NO_MEMORY, "tracing a simulated step: the host's memory is exhausted");
    k->trace_count = 0;
    singles_trace(k, all);
    for (int n = 0; n < (all ? k->kind_count : kinds); n++)
        kind_trace(k, sim, n, all);
    if (!all)
        qsort(k->trace, (size_t)k->trace_count, sizeof *k->trace, time_order);
    return MGB_OK;
}
