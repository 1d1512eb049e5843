/* Figures of listed segments that have none stored, from their steps; see archive_private.h. */
#include "app/session/workbench/archive_private.h"

#include <stdlib.h>

struct live { /* the steps of a segment without stored figures */
    int64_t *wall_ns;
    int64_t count, most;
    double examples;
};

static enum mgb_status step_take(void *context, const struct mgb_value *v, int count)
{
    struct live *live = context;
    (void)count;
    if (live->count < live->most)
        live->wall_ns[live->count] = mgb_value_int(&v[0]);
    live->count++;
    live->examples += (double)mgb_value_int(&v[1]);
    return MGB_OK;
}

static int time_compare(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* As they are worked out of stored figures. */
static void live_tell(struct mgb_list_row *row, struct live *live)
{
    row->steps = live->count;
    if (live->count == 0)
        return;
    size_t n = (size_t)live->count;
    qsort(live->wall_ns, n, sizeof *live->wall_ns, time_compare);
    row->step_ms = ((double)live->wall_ns[(n - 1) / 2] + (double)live->wall_ns[n / 2]) / 2 / 1e6;
    if (row->step_ms > 0)
        row->rate = live->examples / (double)n * 1e3 / row->step_ms;
}

/* Segments that run, or crashed and were not tidied up yet; the first ones, as far as there are not too many steps. */
enum mgb_status mgb_archive_live_fill(struct mgb_list *list, struct mgb_reader *reader)
{
    struct live live = {.most = ARCHIVE_LIVE};
    struct mgb_query_sink sink = {.context = &live, .row = step_take};
    enum mgb_status status = MGB_OK;
    for (int i = 0; status == MGB_OK && i < list->count && live.most > 0; i++) {
        struct mgb_list_row *row = &list->rows[i];
        struct mgb_value values[] = {mgb_value_of_int(row->segment),
                                     mgb_value_of_int(live.most + 1)};
        if (row->steps >= 0 || row->segment == 0)
            continue;
        if (!live.wall_ns && !(live.wall_ns = calloc(ARCHIVE_LIVE, sizeof *live.wall_ns)))
            return mgb_fail(MGB_NO_MEMORY, "listing runs: memory is exhausted");
        live.count = 0;
        live.examples = 0;
        status = mgb_query_run(reader,
                               "SELECT wall_ns, examples FROM step WHERE segment_id = ? AND "
                               "warmup = 0 LIMIT ?",
                               values, 2, &sink);
        if (status == MGB_OK && live.count <= live.most)
            live_tell(row, &live);
        live.most -= live.count;
    }
    free(live.wall_ns);
    return status;
}
