/* Traced steps of one segment, boiled down: busy time a link, measured peak a category of memory. Knows plans and task
 * times only, neither sessions nor rows. */
#ifndef APP_SESSION_TRACE_H
#define APP_SESSION_TRACE_H

#include <mgb/record.h>
#include <mgb/run.h>

struct session_live { /* of one device the plan uses */
    int64_t peak[MGB_MEMORY_CATEGORY_COUNT];
};

struct session_trace {
    const struct mgb_plan *plan; /* of the full step; borrowed while the segment lasts */
    int64_t own_step;            /* of the segment, traced unasked; -1: none */
    int64_t steps;               /* traced full steps so far */
    int64_t *link_ns;            /* by index into plan->traffic, sum over them */
    struct session_live *live;   /* by index into plan->uses, most of all of them */
    bool measured;
};

/* Starts over for a segment. Memory that cannot be had leaves figures unknown. */
void mgb_session_trace_begin(struct session_trace *trace, const struct mgb_plan *plan,
                             int64_t warmup);
void mgb_session_trace_done(struct session_trace *trace);
/* Takes a step in; ignores those that were not traced or played another plan. */
void mgb_session_trace_add(struct session_trace *trace, const struct mgb_step_result *result);
/* Mean busy time of plan->traffic[traffic] a step by copies. */
struct mgb_maybe_int mgb_session_trace_link(const struct session_trace *trace, int traffic);
struct mgb_maybe_int mgb_session_trace_peak(const struct session_trace *trace, int use,
                                            enum mgb_memory_category category);

/* live.c: raises `live` (by index into the plan's uses) to what a traced step held: a buffer of the step arena from the
 * start of the first task that touches it to the end of the last one, by the clock; one that lasts throughout. False
 * when there is no memory to find out. */
bool mgb_session_live_add(struct session_live *live, const struct mgb_step_result *result);

#endif
