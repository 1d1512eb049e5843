/* After a crash: what ended the process before this one. */
#include "app/session/workbench/commands.h"

#include "app/session/calls.h"
#include "db/query.h"
#include <stdio.h>

enum { WHY_BYTES = 320 };

static enum mgb_status why_take(void *context, const struct mgb_value *values, int columns)
{
    (void)columns;
    if (values[0].text)
        snprintf(context, WHY_BYTES, ": %.300s", values[0].text);
    return MGB_OK;
}

void mgb_bench_say_fault(struct mgb_workbench *bench)
{
    char why[WHY_BYTES] = "";
    struct mgb_reader *reader;
    const struct mgb_value started[] = {mgb_value_of_int(bench->options.hub.started_ms)};
    struct mgb_query_sink sink = {.context = why, .row = why_take};
    if (bench->hub && mgb_hub_reader(bench->hub, &reader) == MGB_OK)
        (void)mgb_query_run(reader,
                            "SELECT CASE WHEN outcome IN ('crashed', 'timeout') THEN message END "
                            "FROM run WHERE started_ms >= ? ORDER BY id DESC LIMIT 1",
                            started, 1, &sink);
    mgb_bench_say(bench, MGB_LINE_NOTE,
                  "the session before ended by a fault%s; ready to begin it anew", why);
}
