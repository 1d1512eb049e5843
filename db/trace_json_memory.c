/* Counters of memory: one a device, with a series a category. */
#include "db/trace_json_private.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct counter { /* of a device, over one step */
    char device[64];
    int64_t held[MGB_MEMORY_CATEGORY_COUNT];
    bool seen[MGB_MEMORY_CATEGORY_COUNT];
};

struct counting {
    struct mgb_trace_json *writer;
    const struct mgb_trace_step *step;
    struct counter now; /* of the device and moment at hand */
    int64_t at_ns;
    bool any;
};

static enum mgb_status counter_write(struct counting *c)
{
    if (!c->any)
        return MGB_OK;
    const struct mgb_trace_thread *thread =
        mgb_trace_json_thread(c->writer, MGB_TRACK_COMPUTE, c->now.device, NULL);
    if (!thread)
        return mgb_fail(MGB_NO_MEMORY, "writing a trace: memory is exhausted");
    FILE *out = c->writer->out;
    mgb_trace_json_event(c->writer, 'C', "memory", thread, c->step->start_ns + c->at_ns);
    fputs(",\"args\":{", out);
    for (int i = 0, written = 0; i < MGB_MEMORY_CATEGORY_COUNT; i++)
        if (c->now.seen[i])
            fprintf(out, "%s\"%s\":%" PRId64, written++ ? "," : "",
                    mgb_memory_category_name((enum mgb_memory_category)i), c->now.held[i]);
    fputs("}}", out);
    return MGB_OK;
}

static int category_find(const char *name)
{
    for (int i = 0; i < MGB_MEMORY_CATEGORY_COUNT; i++)
        if (strcmp(mgb_memory_category_name((enum mgb_memory_category)i), name) == 0)
            return i;
    return -1;
}

/* Rows come by device and time. */
static enum mgb_status held_take(void *context, const struct mgb_value *values, int count)
{
    struct counting *c = context;
    const char *device = mgb_value_text(&values[0]);
    int category = category_find(mgb_value_text(&values[1]));
    (void)count;
    if (category < 0)
        return MGB_OK;
    bool other = !c->any || strncmp(c->now.device, device, sizeof c->now.device - 1) != 0;
    if (other || values[2].integer != c->at_ns)
        MGB_TRY(counter_write(c));
    if (other) {
        c->now = (struct counter){0};
        snprintf(c->now.device, sizeof c->now.device, "%s", device);
    }
    c->any = true;
    c->at_ns = values[2].integer;
    c->now.held[category] = values[3].integer;
    c->now.seen[category] = true;
    return MGB_OK;
}

enum mgb_status mgb_trace_json_memory(struct mgb_trace_json *writer, struct mgb_reader *reader,
                                      int64_t segment, const struct mgb_trace_step *step)
{
    const struct mgb_value which[] = {mgb_value_of_int(segment), mgb_value_of_int(step->at.step)};
    struct counting counting = {.writer = writer, .step = step};
    struct mgb_query_sink sink = {.context = &counting, .row = held_take};
    MGB_TRY(mgb_query_run(reader,
                          "SELECT device, category, at_ns, bytes FROM task_memory "
                          "WHERE segment_id = ? AND step = ? ORDER BY device, at_ns",
                          which, 2, &sink));
    return counter_write(&counting);
}
