/* Which memory was in use when, from the times of a traced step's tasks. See trace.h. */
#include "app/session/trace.h"

#include <stdlib.h>
#include <string.h>

struct span { /* of one instance of a buffer */
    int64_t begin, end;
    bool touched;
};

struct change {
    int64_t ns, bytes;
    int use, category;
};

struct reckoning {
    const struct mgb_plan *plan;
    int *first; /* instances of buffer b are spans[first[b]] .. spans[first[b + 1]] */
    struct span *spans;
    struct mgb_flat_operand *operands; /* of one task */
    struct change *changes;
    int change_count;
};

static int instance_count(const struct mgb_plan *plan, int buffer)
{
    int class = plan->buffers[buffer].class;
    return class == MGB_ROOT ? 1 : plan->classes[class].tower_count;
}

static bool reckoning_make(struct reckoning *out, const struct mgb_plan *plan)
{
    int spans = 0, operands = 0;
    *out = (struct reckoning){.plan = plan};
    out->first = calloc((size_t)plan->buffer_count + 1, sizeof *out->first);
    if (!out->first)
        return false;
    for (int b = 0; b < plan->buffer_count; b++) {
        out->first[b] = spans;
        spans += instance_count(plan, b);
    }
    out->first[plan->buffer_count] = spans;
    for (int t = 0; t < plan->task_count; t++)
        operands =
            plan->tasks[t].operand_count > operands ? plan->tasks[t].operand_count : operands;
    out->spans = calloc((size_t)spans + 1, sizeof *out->spans);
    out->changes = calloc(2 * (size_t)spans + 1, sizeof *out->changes);
    out->operands =
        calloc((size_t)operands * (size_t)(plan->tower_count + 1) + 1, sizeof *out->operands);
    return out->spans && out->changes && out->operands;
}

static void reckoning_done(struct reckoning *r)
{
    free(r->first);
    free(r->spans);
    free(r->changes);
    free(r->operands);
}

static void task_touch(struct reckoning *r, const struct mgb_task_time *time)
{
    int count = mgb_plan_operands(r->plan, time->task, time->tower, r->operands);
    int64_t end = time->start_ns + time->duration_ns;
    for (int i = 0; i < count; i++) {
        int tower = r->operands[i].tower;
        int buffer = r->plan->operands[r->operands[i].operand].buffer;
        int instance = tower < 0 ? 0 : r->plan->towers[tower].instance;
        struct span *span = &r->spans[r->first[buffer] + instance];
        if (!span->touched || time->start_ns < span->begin)
            span->begin = time->start_ns;
        if (!span->touched || end > span->end)
            span->end = end;
        span->touched = true;
    }
}

/* What the host reads after the step stays until then. */
static void results_keep(struct reckoning *r)
{
    for (int i = 0; i < r->plan->result_count; i++) {
        int buffer = r->plan->results[i].part.buffer;
        for (int s = r->first[buffer]; s < r->first[buffer + 1]; s++)
            r->spans[s].end = INT64_MAX;
    }
}

static int use_find(const struct mgb_plan *plan, int device)
{
    for (int u = 0; u < plan->use_count; u++)
        if (plan->uses[u].device == device)
            return u;
    return -1;
}

/* The tower whose instance of a class's buffer comes next; MGB_ROOT for what exists once; -2 at the end. */
static int tower_next(const struct mgb_plan *plan, int class, int before)
{
    if (class == MGB_ROOT)
        return before == -2 ? MGB_ROOT : -2;
    for (int t = before == -2 ? 0 : before + 1; t < plan->tower_count; t++)
        if (plan->towers[t].class == class)
            return t;
    return -2;
}

static void change_add(struct reckoning *r, int64_t ns, int64_t bytes, int use, int category)
{
    r->changes[r->change_count++] =
        (struct change){.ns = ns, .bytes = bytes, .use = use, .category = category};
}

/* Arenas give whole cache lines. */
static int64_t bytes_of(const struct mgb_buffer *buffer)
{
    return (buffer->bytes + 63) / 64 * 64 + buffer->flip;
}

static void buffer_add(struct reckoning *r, int index)
{
    const struct mgb_buffer *buffer = &r->plan->buffers[index];
    for (int t = tower_next(r->plan, buffer->class, -2); t != -2;
         t = tower_next(r->plan, buffer->class, t)) {
        int instance = t < 0 ? 0 : r->plan->towers[t].instance;
        struct span span = r->spans[r->first[index] + instance];
        int use = use_find(r->plan, mgb_plan_place(r->plan, index, t).device);
        bool lasts = buffer->arena != MGB_ARENA_STEP;
        if (use < 0 || (!lasts && !span.touched))
            continue;
        if (span.end <= span.begin) /* quicker than the clock */
            span.end = span.begin + 1;
        change_add(r, lasts ? INT64_MIN : span.begin, bytes_of(buffer), use, (int)buffer->category);
        change_add(r, lasts ? INT64_MAX : span.end, -bytes_of(buffer), use, (int)buffer->category);
    }
}

/* By time; what ends at a moment ends before what begins then. */
static int by_time(const void *a, const void *b)
{
    const struct change *x = a, *y = b;
    if (x->ns != y->ns)
        return x->ns < y->ns ? -1 : 1;
    return (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

static bool held_add(struct session_held_list *list, const struct session_held *held)
{
    if (list->count == list->capacity) {
        size_t capacity = list->capacity * 2 + 64;
        struct session_held *more = realloc(list->at, capacity * sizeof *more);
        if (!more)
            return false;
        list->at = more;
        list->capacity = capacity;
    }
    list->at[list->count++] = *held;
    return true;
}

struct playing { /* changes, one moment after the other */
    const struct reckoning *r;
    struct session_live *now;
    struct session_live *live; /* NULL: not wanted */
    int *touched;              /* device use and category, of the moment at hand */
    int touched_count;
    bool *is_touched;
};

static void change_play(struct playing *p, const struct change *change)
{
    int64_t *held = &p->now[change->use].peak[change->category];
    int which = change->use * MGB_MEMORY_CATEGORY_COUNT + change->category;
    *held += change->bytes;
    if (p->live) {
        int64_t *most = &p->live[change->use].peak[change->category];
        *most = *held > *most ? *held : *most;
    }
    if (!p->is_touched[which])
        p->touched[p->touched_count++] = which;
    p->is_touched[which] = true;
}

static bool moment_end(struct playing *p, struct session_held_list *list,
                       const struct mgb_step_result *result, int64_t at)
{
    bool kept = true, within = at <= result->wall_ns;
    for (int i = 0; i < p->touched_count; i++) {
        int use = p->touched[i] / MGB_MEMORY_CATEGORY_COUNT,
            category = p->touched[i] % MGB_MEMORY_CATEGORY_COUNT;
        p->is_touched[p->touched[i]] = false;
        struct session_held held = {.step = result->index,
                                    .at_ns = at,
                                    .bytes = p->now[use].peak[category],
                                    .device = p->r->plan->uses[use].device,
                                    .category = (enum mgb_memory_category)category};
        kept = kept && (!within || held_add(list, &held));
    }
    p->touched_count = 0;
    return kept;
}

/* What lasts is there from the start on, and at the end of the step everything stays as it is. */
static bool changes_play(struct playing *p, struct session_held_list *list,
                         const struct mgb_step_result *result)
{
    const struct reckoning *r = p->r;
    for (int i = 0; i < r->change_count; i++) {
        int64_t at = r->changes[i].ns < 0 ? 0 : r->changes[i].ns;
        change_play(p, &r->changes[i]);
        bool last = i + 1 == r->change_count || r->changes[i + 1].ns > at;
        if (last && !moment_end(p, list, result, at))
            return false;
    }
    return true;
}

static bool reckoning_play(const struct reckoning *r, struct session_live *live,
                           struct session_held_list *list, const struct mgb_step_result *result)
{
    size_t kinds = (size_t)(r->plan->use_count + 1) * MGB_MEMORY_CATEGORY_COUNT;
    struct playing p = {.r = r, .live = live};
    p.now = calloc((size_t)r->plan->use_count + 1, sizeof *p.now);
    p.touched = calloc(kinds, sizeof *p.touched);
    p.is_touched = calloc(kinds, sizeof *p.is_touched);
    bool played = p.now && p.touched && p.is_touched && changes_play(&p, list, result);
    free(p.now);
    free(p.touched);
    free(p.is_touched);
    return played;
}

bool mgb_session_live_add(struct session_live *live, struct session_held_list *held,
                          const struct mgb_step_result *result)
{
    struct reckoning r;
    bool made = reckoning_make(&r, result->plan);
    if (made) {
        for (int i = 0; i < result->task_count; i++)
            task_touch(&r, &result->tasks[i]);
        results_keep(&r);
        for (int b = 0; b < result->plan->buffer_count; b++)
            buffer_add(&r, b);
        qsort(r.changes, (size_t)r.change_count, sizeof *r.changes, by_time);
        made = reckoning_play(&r, live, held, result);
    }
    reckoning_done(&r);
    return made;
}
