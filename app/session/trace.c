/* What traced steps say of a segment: how long its links were busy, and how much each kind of memory held when, and at most.
 *
 * When the script asks for no traces, one warm-up step a segment is traced, so that the timed ones are untouched: the last
 * but one, so that the last runs as the timed ones will. */
#include "app/session/trace.h"

#include "app/session/private.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_TASKS = 2000 }; /* flat; beyond it nobody would read them, and they cost space */

static int64_t flat_count(const struct mgb_plan *plan)
{
    int64_t count = 0;
    for (int i = 0; i < plan->task_count; i++)
        count +=
            plan->tasks[i].class == MGB_ROOT ? 1 : plan->classes[plan->tasks[i].class].tower_count;
    return count;
}

void mgb_session_trace_done(struct session_trace *trace)
{
    free(trace->link_ns);
    free(trace->live);
    free(trace->held.at);
    mgb_session_task_texts_free(trace->texts);
    *trace = (struct session_trace){.own_step = -1, .last = -1};
}

void mgb_session_trace_begin(struct session_trace *trace, const struct mgb_plan *plan,
                             int64_t warmup)
{
    mgb_session_trace_done(trace);
    trace->plan = plan;
    trace->warmup = warmup;
    trace->link_ns = calloc((size_t)plan->traffic_count + 1, sizeof *trace->link_ns);
    trace->live = calloc((size_t)plan->use_count + 1, sizeof *trace->live);
    if (flat_count(plan) <= MOST_TASKS && warmup > 0)
        trace->own_step = warmup > 2 ? warmup - 2 : warmup - 1;
}

void mgb_session_trace_simulated(struct session_trace *trace)
{
    if (flat_count(trace->plan) <= MOST_TASKS)
        trace->own_step = 0;
}

void mgb_session_trace_ask(struct session_trace *trace, int64_t first, int64_t last)
{
    trace->first = first <= last ? trace->warmup + first : 0;
    trace->last = first <= last ? trace->warmup + last : -1;
}

static bool is_traced(const struct session_trace *trace, int64_t step)
{
    return step == trace->own_step || (step >= trace->first && step <= trace->last);
}

int64_t mgb_session_trace_alike(const struct session_trace *trace, int64_t done, bool *traced)
{
    const int64_t edges[] = {trace->own_step, trace->own_step + 1, trace->first, trace->last + 1};
    int64_t most = INT64_MAX;
    *traced = is_traced(trace, done);
    for (size_t i = 0; i < sizeof edges / sizeof *edges; i++)
        if (edges[i] > done && edges[i] - done < most && is_traced(trace, edges[i]) != *traced)
            most = edges[i] - done;
    return most;
}

static int traffic_find(const struct mgb_plan *plan, int from, int to)
{
    for (int i = 0; i < plan->traffic_count; i++)
        if (plan->traffic[i].from == from && plan->traffic[i].to == to)
            return i;
    return -1;
}

static void links_add(struct session_trace *trace, const struct mgb_step_result *result)
{
    for (int i = 0; i < result->task_count; i++) {
        const struct mgb_task_time *time = &result->tasks[i];
        int at = time->from >= 0 ? traffic_find(trace->plan, time->from, time->device) : -1;
        if (at >= 0 && trace->plan->tasks[time->task].kind == MGB_TASK_COPY)
            trace->link_ns[at] += time->duration_ns;
    }
}

void mgb_session_trace_add(struct session_trace *trace, const struct mgb_step_result *result,
                           bool warmup)
{
    struct session_speeds *speeds = result->task_count > 0 ? &trace->traced : &trace->untraced;
    if (!warmup)
        speeds->ns[speeds->count++ % MOST_SPEEDS] = result->wall_ns;
    if (result->task_count == 0 || !trace->link_ns || !trace->live)
        return;
    bool full = result->plan == trace->plan;
    bool lived = mgb_session_live_add(full ? trace->live : NULL, &trace->held, result);
    if (!full)
        return;
    trace->measured = lived || trace->measured;
    trace->steps++;
    links_add(trace, result);
}

struct mgb_maybe_int mgb_session_trace_link(const struct session_trace *trace, int traffic)
{
    if (trace->steps == 0 || trace->link_ns[traffic] == 0)
        return (struct mgb_maybe_int){0};
    return MGB_KNOWN_INT(trace->link_ns[traffic] / trace->steps);
}

struct mgb_maybe_int mgb_session_trace_peak(const struct session_trace *trace, int use,
                                            enum mgb_memory_category category)
{
    if (!trace->measured)
        return (struct mgb_maybe_int){0};
    return MGB_KNOWN_INT(trace->live[use].peak[category]);
}

static int by_size(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* The time that `share` of them do not exceed. */
static int64_t quantile_ns(const struct session_speeds *speeds, double share)
{
    int64_t sorted[MOST_SPEEDS];
    size_t count = speeds->count < MOST_SPEEDS ? (size_t)speeds->count : MOST_SPEEDS;
    memcpy(sorted, speeds->ns, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, by_size);
    return sorted[(size_t)((double)(count - 1) * share + 0.5)];
}

double mgb_session_trace_cost(const struct session_trace *trace)
{
    enum { FEWEST = 3 };
    if (trace->traced.count < FEWEST || trace->untraced.count < FEWEST)
        return 0;
    int64_t with = quantile_ns(&trace->traced, 0.5);
    int64_t without = quantile_ns(&trace->untraced, 0.5);
    if (without <= 0 || with <= quantile_ns(&trace->untraced, 0.9))
        return 0;
    return (double)with / (double)without - 1;
}
