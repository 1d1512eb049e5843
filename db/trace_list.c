/* Which steps of a segment were traced. */
#include "db/trace.h"

#include <stdlib.h>

struct listing {
    struct mgb_trace_list *list;
    size_t capacity;
};

static enum mgb_status step_list(void *context, const struct mgb_value *values, int count)
{
    struct listing *listing = context;
    struct mgb_trace_list *list = listing->list;
    (void)count;
    if (list->count == listing->capacity) {
        size_t capacity = listing->capacity * 2 + 16;
        struct mgb_trace_listed *more = realloc(list->steps, capacity * sizeof *more);
        if (!more)
            return mgb_fail(MGB_NO_MEMORY, "listing traced steps: memory is exhausted");
        list->steps = more;
        listing->capacity = capacity;
    }
    list->steps[list->count++] =
        (struct mgb_trace_listed){values[0].integer, values[0].integer - values[1].integer};
    list->timed_steps = values[2].integer;
    return MGB_OK;
}

enum mgb_status mgb_trace_list(struct mgb_trace_list *out, struct mgb_reader *reader,
                               int64_t segment)
{
    /* Without a timed step all there are come before the first one. */
    static const char text[] =
        "WITH timed AS (SELECT coalesce(min(CASE WHEN warmup = 0 THEN step END), max(step) + 1, 0) "
        "AS first, "
        "count(CASE WHEN warmup = 0 THEN 1 END) AS count FROM step WHERE segment_id = ?1) "
        "SELECT DISTINCT task.step, timed.first, timed.count FROM task, timed WHERE "
        "task.segment_id = ?1 "
        "ORDER BY task.step";
    const struct mgb_value which = mgb_value_of_int(segment);
    *out = (struct mgb_trace_list){0};
    struct listing listing = {.list = out};
    struct mgb_query_sink sink = {.context = &listing, .row = step_list};
    enum mgb_status status = mgb_query_run(reader, text, &which, 1, &sink);
    if (status != MGB_OK)
        mgb_trace_list_done(out);
    return status;
}

void mgb_trace_list_done(struct mgb_trace_list *list)
{
    free(list->steps);
    *list = (struct mgb_trace_list){0};
}
