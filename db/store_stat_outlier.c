/* Rows of outlying steps, and what the first step waited for; see store_stat.h. */
#include "db/store_stat.h"

#include <math.h>
#include <stdlib.h>

#include "db/outlier.h"

/* A flagged step: its place among the segment's steps. */
struct found {
    size_t at;
    enum mgb_outlier flag;
    int64_t distance_ns; /* from the median */
};

static int found_compare(const void *a, const void *b)
{
    const struct found *x = a, *y = b;
    if (x->distance_ns != y->distance_ns)
        return x->distance_ns < y->distance_ns ? 1 : -1; /* the farthest first */
    return (x->at > y->at) - (x->at < y->at);
}

static size_t found_collect(struct found *found, const enum mgb_outlier *flags,
                            const struct mgb_record_segment_stat *stat,
                            const struct mgb_segment_steps *steps)
{
    size_t count = 0;
    for (size_t i = 0; i < (size_t)stat->timed_steps; i++) {
        size_t at = (size_t)stat->warmup_steps + i;
        if (flags[i] != MGB_OUTLIER_NONE)
            found[count++] = (struct found){
                at, flags[i], llabs(steps->stats.wall_ns[at] - stat->median_ns.value)};
    }
    qsort(found, count, sizeof *found, found_compare);
    return count < MGB_OUTLIERS_KEPT ? count : MGB_OUTLIERS_KEPT;
}

/* `found` is the caller's to free; NULL if there are none. */
static enum mgb_status outliers_find(struct found **out, size_t *count,
                                     const struct mgb_record_segment_stat *stat,
                                     const struct mgb_segment_steps *steps)
{
    struct mgb_outliers fences;
    size_t most = (size_t)(stat->outliers_mild.value + stat->outliers_far.value);
    size_t timed = (size_t)stat->timed_steps;
    *out = NULL;
    *count = 0;
    if (most == 0)
        return MGB_OK;
    enum mgb_outlier *flags = calloc(timed, sizeof *flags);
    *out = calloc(most, sizeof **out);
    enum mgb_status status = MGB_OK;
    if (!flags || !*out)
        status = mgb_fail(MGB_NO_MEMORY, "no memory for %zu outlying steps", most);
    else
        status = mgb_outliers_find(&fences, flags, steps->stats.wall_ns + stat->warmup_steps, timed,
                                   MGB_STATS_RESOLUTION_NS);
    if (status == MGB_OK)
        *count = found_collect(*out, flags, stat, steps);
    free(flags);
    return status;
}

static enum mgb_status outlier_put(const struct mgb_causes *causes, const struct found *found,
                                   const struct mgb_segment_steps *steps)
{
    struct mgb_statement put;
    char cause[MGB_CAUSE_SIZE];
    int64_t wall_ns = steps->stats.wall_ns[found->at];
    bool high = found->flag == MGB_OUTLIER_MILD_HIGH || found->flag == MGB_OUTLIER_FAR_HIGH;
    bool far = found->flag == MGB_OUTLIER_FAR_LOW || found->flag == MGB_OUTLIER_FAR_HIGH;
    MGB_TRY(mgb_causes_find(cause, causes, steps->number[found->at],
                            steps->stats.start_ns[found->at], wall_ns));
    MGB_TRY(mgb_sql_prepare(&put, causes->sql,
                            "INSERT INTO outlier (segment_id, step, side, far, ratio, cause) "
                            "VALUES (?, ?, ?, ?, ?, ?)"));
    mgb_bind_int(&put, causes->segment);
    mgb_bind_int(&put, steps->number[found->at]);
    mgb_bind_text(&put, high ? "high" : "low");
    mgb_bind_int(&put, far);
    mgb_bind_real(&put, (double)wall_ns / fmax(1, (double)causes->median_ns));
    mgb_bind_text(&put, cause[0] ? cause : NULL);
    return mgb_statement_run(&put);
}

static enum mgb_status outliers_put(const struct mgb_causes *causes, const struct found *found,
                                    size_t count, const struct mgb_segment_steps *steps)
{
    for (size_t i = 0; i < count; i++)
        MGB_TRY(outlier_put(causes, &found[i], steps));
    return MGB_OK;
}

/* A first step is worth a word from one and a half medians on. */
static bool first_is_slow(const struct mgb_record_segment_stat *stat,
                          const struct mgb_segment_steps *steps)
{
    return steps->stats.wall_ns[0] > stat->median_ns.value + stat->median_ns.value / 2;
}

static enum mgb_status first_put(const struct mgb_causes *causes, bool slow,
                                 const struct mgb_segment_steps *steps)
{
    struct mgb_statement update;
    char cause[MGB_CAUSE_SIZE] = "";
    if (slow)
        MGB_TRY(mgb_causes_find(cause, causes, steps->number[0], steps->stats.start_ns[0],
                                steps->stats.wall_ns[0]));
    MGB_TRY(mgb_sql_prepare(&update, causes->sql,
                            "UPDATE segment_stat SET first_step_ns = ?, first_step_cause = ? "
                            "WHERE segment_id = ?"));
    mgb_bind_int(&update, steps->stats.wall_ns[0]);
    mgb_bind_text(&update, cause[0] ? cause : NULL);
    mgb_bind_int(&update, causes->segment);
    return mgb_statement_run(&update);
}

static enum mgb_status outliers_clear(struct mgb_sql *sql, int64_t segment)
{
    struct mgb_statement clear;
    MGB_TRY(mgb_sql_prepare(&clear, sql, "DELETE FROM outlier WHERE segment_id = ?"));
    mgb_bind_int(&clear, segment);
    return mgb_statement_run(&clear);
}

static enum mgb_status run_find(int64_t *run, struct mgb_sql *sql, int64_t segment)
{
    struct mgb_statement find;
    bool row;
    *run = 0;
    MGB_TRY(mgb_sql_prepare(&find, sql, "SELECT run_id FROM segment WHERE id = ?"));
    mgb_bind_int(&find, segment);
    MGB_TRY(mgb_statement_step(&row, &find));
    if (!row)
        return MGB_OK;
    *run = mgb_column_int(&find, 0);
    mgb_statement_reset(&find);
    return MGB_OK;
}

enum mgb_status mgb_store_put_outliers(struct mgb_sql *sql,
                                       const struct mgb_record_segment_stat *stat,
                                       const struct mgb_segment_steps *steps,
                                       struct mgb_maybe_int ring_waits)
{
    struct mgb_causes causes = {.sql = sql,
                                .segment = stat->segment,
                                .median_ns = stat->median_ns.value,
                                .ring_waits = ring_waits};
    struct found *found;
    size_t count;
    MGB_TRY(outliers_clear(sql, stat->segment));
    if (stat->timed_steps == 0)
        return MGB_OK;
    MGB_TRY(run_find(&causes.run, sql, stat->segment));
    enum mgb_status status = outliers_find(&found, &count, stat, steps);
    bool slow = first_is_slow(stat, steps);
    if (status == MGB_OK && (count > 0 || slow))
        status =
            mgb_causes_read(&causes, steps->number + stat->warmup_steps, (size_t)stat->timed_steps);
    if (status == MGB_OK)
        status = outliers_put(&causes, found, count, steps);
    if (status == MGB_OK)
        status = first_put(&causes, slow, steps);
    mgb_causes_done(&causes);
    free(found);
    return status;
}
