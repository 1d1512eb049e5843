/* Figures of a segment from its step rows, and the runs of dead processes; see store.h. */
#include "db/store.h"

#include <stdlib.h>

#include "db/liveness.h"
#include "db/store_private.h"
#include "db/store_stat.h"

static void steps_done(struct mgb_segment_steps *steps)
{
    mgb_stats_done(&steps->stats);
    free(steps->number);
}

static enum mgb_status step_add(struct mgb_segment_steps *steps, const struct mgb_record_step *step)
{
    if (steps->stats.count == steps->capacity) {
        size_t capacity = steps->capacity ? 2 * steps->capacity : 256;
        int64_t *more = realloc(steps->number, capacity * sizeof *more);
        if (!more)
            return mgb_fail(MGB_NO_MEMORY, "no memory for the numbers of %zu steps", capacity);
        steps->number = more;
        steps->capacity = capacity;
    }
    steps->number[steps->stats.count] = step->step;
    return mgb_stats_add(&steps->stats, step);
}

static enum mgb_status steps_read(struct mgb_segment_steps *steps, struct mgb_sql *sql,
                                  int64_t segment)
{
    struct mgb_statement read;
    MGB_TRY(mgb_sql_prepare(&read, sql,
                            "SELECT warmup, start_ns, wall_ns, examples, loss, loss IS NOT NULL, "
                            "step FROM step WHERE segment_id = ? ORDER BY step"));
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
                                       .has_loss = mgb_column_int(&read, 5) != 0,
                                       .step = mgb_column_int(&read, 6)};
        enum mgb_status status = step_add(steps, &step);
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
        "ci95_high_ns, interval_method, steady, unaccounted_ns, noise, interval_seed, drift, "
        "not_steady, outliers_mild, outliers_far, loss_last) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"));
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
    mgb_bind_maybe_real(&put, stat->noise);
    mgb_bind_maybe_int(&put, stat->interval_seed);
    mgb_bind_maybe_real(&put, stat->drift);
    mgb_bind_text(&put, stat->not_steady);
    mgb_bind_maybe_int(&put, stat->outliers_mild);
    mgb_bind_maybe_int(&put, stat->outliers_far);
    mgb_bind_maybe_real(&put, stat->loss_last);
    return mgb_statement_run(&put);
}

static enum mgb_status rule_read(bool *by_rule, struct mgb_sql *sql, int64_t segment)
{
    struct mgb_statement find;
    MGB_TRY(mgb_sql_prepare(&find, sql,
                            "SELECT id FROM segment WHERE id = ? AND warmup_rule = 'auto'"));
    mgb_bind_int(&find, segment);
    MGB_TRY(mgb_statement_step(by_rule, &find));
    if (*by_rule)
        mgb_statement_reset(&find);
    return MGB_OK;
}

static enum mgb_status segment_relabel(struct mgb_sql *sql, int64_t segment, int64_t warmup_steps)
{
    struct mgb_statement update;
    MGB_TRY(mgb_sql_prepare(
        &update, sql, "UPDATE segment SET warmup_rule = 'auto', warmup_steps = ? WHERE id = ?"));
    mgb_bind_int(&update, warmup_steps);
    mgb_bind_int(&update, segment);
    return mgb_statement_run(&update);
}

/* Sets the flags of the steps from position `from` to `to` of the segment. */
static enum mgb_status steps_flag(struct mgb_sql *sql, const struct mgb_record_segment_stat *stat,
                                  const struct mgb_segment_steps *steps, size_t from, size_t to)
{
    struct mgb_statement update;
    MGB_TRY(mgb_sql_prepare(&update, sql,
                            "UPDATE step SET warmup = step < ? WHERE segment_id = ? AND step >= ? "
                            "AND step <= ?"));
    size_t first = (size_t)stat->warmup_steps, last = steps->stats.count - 1;
    mgb_bind_int(&update,
                 first <= last ? steps->number[first] : steps->number[last] + 1); /* first timed */
    mgb_bind_int(&update, stat->segment);
    mgb_bind_int(&update, steps->number[from]);
    mgb_bind_int(&update, steps->number[to]);
    return mgb_statement_run(&update);
}

/* The rule's finding, where the rows say otherwise. */
static enum mgb_status warmup_set(struct mgb_sql *sql, const struct mgb_record_segment_stat *stat,
                                  const struct mgb_segment_steps *steps)
{
    size_t first = (size_t)stat->warmup_steps, flagged = steps->stats.flagged;
    MGB_TRY(segment_relabel(sql, stat->segment, stat->warmup_steps));
    if (first == flagged)
        return MGB_OK;
    return first < flagged ? steps_flag(sql, stat, steps, first, flagged - 1)
                           : steps_flag(sql, stat, steps, flagged, first - 1);
}

static enum mgb_status steps_boil(struct mgb_record_segment_stat *out, struct mgb_sql *sql,
                                  const struct mgb_segment_steps *steps, int64_t segment,
                                  const struct mgb_record_segment_end *end)
{
    MGB_TRY(mgb_stats_boil(out, &steps->stats));
    out->segment = segment;
    if (end->steady.known) {
        out->steady = end->steady;
        out->not_steady = end->steady.value ? NULL : out->not_steady;
    }
    if (steps->stats.auto_warmup)
        MGB_TRY(warmup_set(sql, out, steps));
    MGB_TRY(stat_put(sql, out));
    return mgb_store_put_outliers(sql, out, steps, end->ring_waits);
}

enum mgb_status mgb_store_boil(struct mgb_record_segment_stat *out, struct mgb_store *store,
                               int64_t segment, const struct mgb_record_segment_end *end)
{
    struct mgb_segment_steps steps = {0};
    bool by_rule;
    MGB_TRY(rule_read(&by_rule, &store->sql, segment));
    MGB_TRY(mgb_stats_init(&steps.stats, 256));
    steps.stats.auto_warmup = by_rule || end->auto_warmup;
    enum mgb_status status = steps_read(&steps, &store->sql, segment);
    if (status == MGB_OK)
        status = steps_boil(out, &store->sql, &steps, segment, end);
    steps_done(&steps);
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
