/* Rows of traced steps: what they held when, and whether tracing them cost time. */
#include "app/session/rows.h"

#include <stdlib.h>

#define COST_TOLD 0.05 /* of a step; less is lost in the noise of most machines */

void mgb_session_ask_trace(struct script_session *session, int64_t first, int64_t last)
{
    mgb_session_trace_ask(&session->trace, first, last);
}

static size_t step_end(const struct session_held_list *held, size_t first)
{
    size_t end = first;
    while (end < held->count && held->at[end].step == held->at[first].step)
        end++;
    return end;
}

void mgb_session_record_traced(struct script_session *session)
{
    struct session_held_list *held = &session->trace.held;
    struct mgb_record_task_memory *rows = NULL;
    if (session->segment_id && session->hub->recorder)
        rows = calloc(held->count + 1, sizeof *rows);
    for (size_t i = 0; rows && i < held->count; i++)
        rows[i] = (struct mgb_record_task_memory){
            .device = session_device(session, held->at[i].device),
            .category = held->at[i].category,
            .at_ns = held->at[i].at_ns,
            .bytes = held->at[i].bytes,
        };
    for (size_t i = 0, end; rows && i < held->count; i = end) {
        end = step_end(held, i);
        mgb_recorder_put_task_memory(session->hub->recorder, session->segment_id, held->at[i].step,
                                     rows + i, end - i);
    }
    free(rows);
    held->count = 0;
}

void mgb_session_spill_traced(struct script_session *session)
{
    enum { MOST_HELD = 1 << 15 };
    if (session->trace.held.count > MOST_HELD)
        mgb_session_record_traced(session);
}

void mgb_session_warn_traced(struct script_session *session)
{
    double cost = mgb_session_trace_cost(&session->trace);
    if (cost > COST_TOLD)
        mgb_session_warn(session, "traced",
                         "tracing slowed the traced timed steps by %.0f %%, and they count in the "
                         "figures: for those, run without tracing",
                         100 * cost);
}
