/* Figures of a segment from its step rows, and the runs of dead processes; see store.h. */
#include "db/store.h"

#include "db/liveness.h"
#include "db/stats.h"
#include "db/store_private.h"

static enum mgb_status steps_read(struct mgb_stats *stats, struct mgb_sql *sql, int64_t segment)
{
    struct mgb_statement read;
    MGB_TRY(mgb_sql_prepare(&read, sql,
                            "SELECT warmup, start_ns, wall_ns, examples, loss, loss IS NOT NULL "
                            "FROM step WHERE segment_id = ? ORDER BY step"));
    mgb_bind_int(&read, segment);
    for (;;) {
        bool row;
        MGB_TRY(mgb_statement_step(&row, &read));
        if (!row)
            return MGB_OK;
        struct mgb_record_step step = {.warmup = mgb_column_int(&read, 0) != 0,
                                       .start_ns = mgb_column_int(&read, 1),
                                       .wall_ns = mgb_column_int(&read, 2),
                                       .examples = mgb_column_int(&read, 3),
                                       .loss = sqlite3_column_double(read.compiled, 4),
                                       .has_loss = mgb_column_int(&read, 5) != 0};
        enum mgb_status status = mgb_stats_add(stats, &step);
        if (status != MGB_OK) {
            mgb_statement_reset(&read);
            return status;
        }
    }
}

static enum mgb_status stat_put(struct mgb_sql *sql, const struct mgb_record_segment_stat *stat)
{
    struct mgb_statement put;
    MGB_TRY(mgb_sql_prepare(
        &put, sql,
        "INSERT OR REPLACE INTO segment_stat (segment_id, timed_steps, warmup_steps, examples, "
        "timed_ns, median_ns, p5_ns, p95_ns, p99_ns, mean_ns, min_ns, max_ns, ci95_low_ns, "
        "ci95_high_ns, interval_method, steady, unaccounted_ns) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"));
    mgb_bind_int(&put, stat->segment);
    mgb_bind_int(&put, stat->timed_steps);
    mgb_bind_int(&put, stat->warmup_steps);
    mgb_bind_int(&put, stat->examples);
    mgb_bind_int(&put, stat->timed_ns);
    mgb_bind_maybe_int(&put, stat->median_ns);
    mgb_bind_maybe_int(&put, stat->p5_ns);
    mgb_bind_maybe_int(&put, stat->p95_ns);
    mgb_bind_maybe_int(&put, stat->p99_ns);
    mgb_bind_maybe_int(&put, stat->mean_ns);
    mgb_bind_maybe_int(&put, stat->min_ns);
    mgb_bind_maybe_int(&put, stat->max_ns);
    mgb_bind_maybe_int(&put, stat->ci95_low_ns);
    mgb_bind_maybe_int(&put, stat->ci95_high_ns);
    mgb_bind_text(&put, stat->interval_method);
    mgb_bind_maybe_int(&put, stat->steady);
    mgb_bind_maybe_int(&put, stat->unaccounted_ns);
    return mgb_statement_run(&put);
}

enum mgb_status mgb_store_boil(struct mgb_record_segment_stat *out, struct mgb_store *store,
                               int64_t segment, struct mgb_maybe_int steady)
{
    struct mgb_stats stats;
    MGB_TRY(mgb_stats_init(&stats, 256));
    enum mgb_status status = steps_read(&stats, &store->sql, segment);
    if (status == MGB_OK) {
        mgb_stats_boil(out, &stats);
        out->segment = segment;
        out->steady = steady;
        status = stat_put(&store->sql, out);
    }
    mgb_stats_done(&stats);
    return status;
}

static enum mgb_status run_crash(struct mgb_store *store, int64_t run)
{
    struct mgb_statement update;
    MGB_TRY(mgb_store_end_segments(store, run, MGB_OUTCOME_CRASHED, (struct mgb_maybe_int){0}));
    MGB_TRY(mgb_sql_prepare(&update, &store->sql,
                            "UPDATE run SET outcome = 'crashed', message = "
                            "'its process (pid ' || pid || ') ended without finishing the run' "
                            "WHERE id = ?"));
    mgb_bind_int(&update, run);
    return mgb_statement_run(&update);
}

/* The smallest running run above `after` whose process is gone; 0: none. */
static enum mgb_status run_find_dead(int64_t *run, struct mgb_store *store, int64_t after)
{
    struct mgb_statement find;
    *run = 0;
    MGB_TRY(mgb_sql_prepare(&find, &store->sql,
                            "SELECT id, " MGB_LIVENESS_COLUMNS
                            " FROM run WHERE outcome = 'running' AND id > ? ORDER BY id"));
    mgb_bind_int(&find, after);
    for (;;) {
        bool row;
        MGB_TRY(mgb_statement_step(&row, &find));
        if (!row)
            return MGB_OK;
        struct mgb_identity identity;
        mgb_liveness_read(&identity, &find, 1);
        /* We hold the writer lock: whose liveness cannot be told is not running on this file. */
        if (mgb_identity_liveness(&identity) != MGB_ALIVE) {
            *run = mgb_column_int(&find, 0);
            mgb_statement_reset(&find);
            return MGB_OK;
        }
    }
}

static enum mgb_status crashed_mark(int64_t *marked, struct mgb_store *store)
{
    int64_t run = 0;
    for (;;) {
        MGB_TRY(run_find_dead(&run, store, run));
        if (run == 0)
            return MGB_OK;
        MGB_TRY(run_crash(store, run));
        ++*marked;
    }
}

enum mgb_status mgb_db_mark_crashed(int64_t *marked, struct mgb_store *store)
{
    int64_t running, count = 0;
    if (marked)
        *marked = 0;
    MGB_TRY(
        mgb_sql_int(&running, &store->sql, "SELECT count(*) FROM run WHERE outcome = 'running'"));
    if (running == 0)
        return MGB_OK;
    MGB_TRY(mgb_store_begin(store, __func__));
    MGB_TRY(mgb_store_end(store, crashed_mark(&count, store)));
    if (marked)
        *marked = count;
    return MGB_OK;
}
