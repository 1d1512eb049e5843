/* What traced steps say of a segment: how long its links were busy, and how much each kind of memory held at most.
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
    *trace = (struct session_trace){.own_step = -1};
}

void mgb_session_trace_begin(struct session_trace *trace, const struct mgb_plan *plan,
                             int64_t warmup)
{
    mgb_session_trace_done(trace);
    trace->plan = plan;
    trace->link_ns = calloc((size_t)plan->traffic_count + 1, sizeof *trace->link_ns);
    trace->live = calloc((size_t)plan->use_count + 1, sizeof *trace->live);
    if (flat_count(plan) <= MOST_TASKS && warmup > 0)
        trace->own_step = warmup > 2 ? warmup - 2 : warmup - 1;
}

static int traffic_find(const struct mgb_plan *plan, int from, int to)
{
    for (int i = 0; i < plan->traffic_count; i++)
        if (plan->traffic[i].from == from && plan->traffic[i].to == to)
            return i;
    return -1;
}

void mgb_session_trace_add(struct session_trace *trace, const struct mgb_step_result *result)
{
    if (result->task_count == 0 || result->plan != trace->plan || !trace->link_ns || !trace->live)
        return; /* remainders move other numbers of bytes */
    trace->steps++;
    for (int i = 0; i < result->task_count; i++) {
        const struct mgb_task_time *time = &result->tasks[i];
        int at = time->from >= 0 ? traffic_find(trace->plan, time->from, time->device) : -1;
        if (at >= 0 && trace->plan->tasks[time->task].kind == MGB_TASK_COPY)
            trace->link_ns[at] += time->duration_ns;
    }
    trace->measured = mgb_session_live_add(trace->live, result) || trace->measured;
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
