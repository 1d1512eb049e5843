/* A traced step for displays: its tasks by device, and its critical path by phase. */
#include "app/session/workbench/live_private.h"
#include "app/session/workbench/pool.h"

#include "db/critical.h"

#include <stdio.h>
#include <stdlib.h>

void mgb_live_waits_forget(struct mgb_live *live)
{
    mgb_session_task_waits_done(&live->waits.list);
    live->waits.rows = 0;
}

static const struct session_task_waits *waits_get(struct mgb_live *live,
                                                  const struct mgb_plan *plan)
{
    struct mgb_flat flat;
    if (live->waits.rows == plan->global_rows)
        return &live->waits.list;
    mgb_live_waits_forget(live);
    if (mgb_plan_expand(&flat, plan) != MGB_OK)
        return NULL;
    if (mgb_session_task_waits_make(&live->waits.list, plan, &flat, flat.count) == MGB_OK)
        live->waits.rows = plan->global_rows;
    mgb_flat_done(&flat);
    return live->waits.rows ? &live->waits.list : NULL;
}

/* Which queue a task ran on, as a number that another queue does not have. */
static int64_t queue_key(const struct mgb_plan *plan, const struct mgb_task_time *time)
{
    bool copies = plan->tasks[time->task].queue == MGB_QUEUE_COPY;
    int64_t from = copies ? 1 + (time->from < 0 ? time->device : time->from) : 0;
    return (int64_t)time->device << 32 | from;
}

static int by_key(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Keys become numbers from 0 without holes. */
static bool queues_number(struct mgb_critical_task *tasks, const struct mgb_step_result *result)
{
    size_t count = (size_t)result->task_count;
    int64_t *keys = malloc((count + 1) * sizeof *keys);
    if (!keys)
        return false;
    for (size_t i = 0; i < count; i++)
        keys[i] = queue_key(result->plan, &result->tasks[i]);
    qsort(keys, count, sizeof *keys, by_key);
    for (size_t i = 0; i < count; i++) {
        int64_t key = queue_key(result->plan, &result->tasks[i]);
        const int64_t *at = bsearch(&key, keys, count, sizeof *keys, by_key);
        while (at > keys && at[-1] == key)
            at--;
        tasks[i].queue = (int)(at - keys);
    }
    free(keys);
    return true;
}

/* NULL: no memory. To be freed. */
static struct mgb_critical_part *path_find(struct mgb_live *live, int *count,
                                           const struct mgb_step_result *result)
{
    const struct session_task_waits *waits = waits_get(live, result->plan);
    struct mgb_critical_task *tasks = calloc((size_t)result->task_count + 1, sizeof *tasks);
    struct mgb_critical_part *parts = NULL;
    if (!waits || !tasks || !queues_number(tasks, result)) {
        free(tasks);
        return NULL;
    }
    for (int i = 0; i < result->task_count; i++) {
        tasks[i].start_ns = result->tasks[i].start_ns;
        tasks[i].duration_ns = result->tasks[i].duration_ns;
        if (i >= waits->count)
            continue;
        tasks[i].wait_begin = waits->begin[i];
        tasks[i].wait_count = waits->begin[i + 1] - waits->begin[i];
    }
    struct mgb_critical_request request = {tasks, result->task_count, waits->at, result->wall_ns};
    if (mgb_critical_find(&parts, count, &request) != MGB_OK)
        parts = NULL;
    free(tasks);
    return parts;
}

static void traced_free(void *part)
{
    struct mgb_bench_traced *traced = part;
    mgb_bench_pool_done(traced->memory);
    free(traced->memory);
    free(traced);
}

static struct mgb_bench_traced *traced_new(void)
{
    struct mgb_bench_traced *traced = calloc(1, sizeof *traced);
    struct mgb_bench_pool *pool = calloc(1, sizeof *pool);
    if (!traced || !pool) {
        free(traced);
        free(pool);
        return NULL;
    }
    atomic_init(&traced->shared.holders, 1);
    traced->shared.free = traced_free;
    traced->memory = pool;
    return traced;
}

static void tasks_fill(struct mgb_bench_traced *out, const struct mgb_step_result *result)
{
    struct mgb_bench_pool *pool = out->memory;
    const struct mgb_plan *plan = result->plan;
    size_t count = (size_t)result->task_count;
    const char **names = mgb_bench_pool_get(pool, (size_t)plan->task_count * sizeof *names);
    out->at = mgb_bench_pool_get(pool, count * sizeof *out->at);
    for (size_t i = 0; i < count && names && out->at; i++) {
        const struct mgb_task_time *time = &result->tasks[i];
        const struct mgb_task *task = &plan->tasks[time->task];
        if (!names[time->task])
            names[time->task] = mgb_bench_pool_text(pool, task->name);
        out->at[i] = (struct mgb_bench_task){
            .device = time->device,
            .from = time->from,
            .phase = task->phase,
            .begin_ns = time->start_ns,
            .end_ns = time->start_ns + time->duration_ns,
            .bytes = task->bytes,
            .name = names[time->task],
            .kind = mgb_task_kind_name(task->kind),
        };
    }
    out->count = result->task_count;
}

/* Before the tasks are sorted: parts speak of them by their place. A gap at the end of the step has no device. */
static void path_fill(struct mgb_bench_traced *out, const struct mgb_critical_part *parts,
                      int count)
{
    for (int i = 0; i < count; i++) {
        int64_t ns = parts[i].end_ns - parts[i].begin_ns;
        if (parts[i].task < 0) {
            out->critical_gap_ns += ns;
            continue;
        }
        out->at[parts[i].task].critical = true;
        out->critical_ns[out->at[parts[i].task].phase] += ns;
    }
}

struct share { /* of the critical path */
    int64_t ns;
    int device, phase;
};

static struct share share_find(const struct mgb_bench_traced *traced,
                               const struct mgb_critical_part *parts, int count, int devices)
{
    struct share best = {0};
    int64_t *ns = calloc((size_t)devices * MGB_PHASE_COUNT + 1, sizeof *ns);
    for (int i = 0; ns && i < count; i++) {
        if (parts[i].task < 0)
            continue;
        const struct mgb_bench_task *task = &traced->at[parts[i].task];
        int64_t *sum = &ns[task->device * MGB_PHASE_COUNT + (int)task->phase];
        *sum += parts[i].end_ns - parts[i].begin_ns;
        if (*sum > best.ns)
            best = (struct share){*sum, task->device, (int)task->phase};
    }
    free(ns);
    return best;
}

static int time_write(char *out, size_t size, int64_t ns, int64_t whole_ns)
{
    double ms = (double)ns / 1e6, whole = (double)whole_ns / 1e6;
    int digits = whole >= 100 ? 0 : whole >= 10 ? 1 : whole >= 1 ? 2 : 3;
    return snprintf(out, size, "%.*f", digits, ms);
}

static void bound_write(struct mgb_bench_traced *out, const struct mgb_topology *topology,
                        const struct mgb_critical_part *parts, int count)
{
    char name[MGB_DEVICE_NAME_MAX], part[32], whole[32];
    struct share share = share_find(out, parts, count, topology->device_count);
    if (out->critical_gap_ns > share.ns) {
        time_write(part, sizeof part, out->critical_gap_ns, out->wall_ns);
        time_write(whole, sizeof whole, out->wall_ns, out->wall_ns);
        snprintf(out->bound, sizeof out->bound, "waiting, %s of %s ms", part, whole);
        return;
    }
    if (share.ns == 0)
        return;
    mgb_device_format(name, topology->devices[share.device].name);
    time_write(part, sizeof part, share.ns, out->wall_ns);
    time_write(whole, sizeof whole, out->wall_ns, out->wall_ns);
    snprintf(out->bound, sizeof out->bound, "%s on %s, %s of %s ms",
             mgb_phase_name((enum mgb_phase)share.phase), *name == '/' ? name + 1 : name, part,
             whole);
}

static int by_device(const void *a, const void *b)
{
    const struct mgb_bench_task *x = a, *y = b;
    if (x->device != y->device)
        return x->device < y->device ? -1 : 1;
    if (x->begin_ns != y->begin_ns)
        return x->begin_ns < y->begin_ns ? -1 : 1;
    return (x->end_ns > y->end_ns) - (x->end_ns < y->end_ns);
}

struct mgb_bench_traced *mgb_live_trace(struct mgb_live *live, const struct mgb_step_result *result)
{
    struct mgb_bench_traced *traced = traced_new();
    if (!traced)
        return NULL;
    traced->step = result->index;
    traced->wall_ns = result->wall_ns;
    tasks_fill(traced, result);
    const struct mgb_bench_pool *pool = traced->memory;
    int count = 0;
    struct mgb_critical_part *parts = pool->failed ? NULL : path_find(live, &count, result);
    if (!parts) {
        mgb_shared_drop(traced);
        return NULL;
    }
    path_fill(traced, parts, count);
    bound_write(traced, result->plan->topology, parts, count);
    free(parts);
    qsort(traced->at, (size_t)traced->count, sizeof *traced->at, by_device);
    return traced;
}
