/* Figures of a segment; see stats.h. */
#include "db/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "db/bootstrap.h"
#include "db/outlier.h"

static enum mgb_status column_grow(int64_t **column, size_t capacity)
{
    int64_t *more = realloc(*column, capacity * sizeof *more);
    if (!more)
        return mgb_fail(MGB_NO_MEMORY, "no memory for the times of %zu steps", capacity);
    *column = more;
    return MGB_OK;
}

static enum mgb_status stats_grow(struct mgb_stats *stats, size_t capacity)
{
    MGB_TRY(column_grow(&stats->wall_ns, capacity));
    MGB_TRY(column_grow(&stats->start_ns, capacity));
    MGB_TRY(column_grow(&stats->examples, capacity));
    stats->capacity = capacity;
    return MGB_OK;
}

enum mgb_status mgb_stats_init(struct mgb_stats *out, size_t capacity)
{
    *out = (struct mgb_stats){0};
    enum mgb_status status = stats_grow(out, capacity > 0 ? capacity : 1);
    if (status != MGB_OK)
        mgb_stats_done(out);
    return status;
}

void mgb_stats_done(struct mgb_stats *stats)
{
    free(stats->wall_ns);
    free(stats->start_ns);
    free(stats->examples);
    *stats = (struct mgb_stats){0};
}

#define LARGEST ((int64_t)1 << 60)

int64_t mgb_stats_bound(int64_t value)
{
    return value > LARGEST ? LARGEST : value < -LARGEST ? -LARGEST : value;
}

enum mgb_status mgb_stats_add(struct mgb_stats *stats, const struct mgb_record_step *step)
{
    if (stats->count == stats->capacity)
        MGB_TRY(stats_grow(stats, 2 * stats->capacity));
    stats->loss_last = (struct mgb_maybe_real){step->loss, step->has_loss && isfinite(step->loss)};
    stats->wall_ns[stats->count] = mgb_stats_bound(step->wall_ns);
    stats->start_ns[stats->count] = mgb_stats_bound(step->start_ns);
    stats->examples[stats->count++] = mgb_stats_bound(step->examples);
    if (step->warmup)
        stats->flagged = stats->count;
    return MGB_OK;
}

struct mgb_steady mgb_stats_judge(const struct mgb_stats *stats)
{
    if (stats->auto_warmup)
        return mgb_steady_find(stats->wall_ns, stats->count);
    struct mgb_steady out =
        mgb_steady_judge(stats->wall_ns + stats->flagged, stats->count - stats->flagged);
    out.warmup_steps = out.floor_steps = stats->flagged;
    return out;
}

static void steadiness_set(struct mgb_record_segment_stat *out, const struct mgb_steady *steady,
                           bool auto_warmup)
{
    bool known = auto_warmup || steady->answer != MGB_STEADY_SHORT;
    out->steady = (struct mgb_maybe_int){steady->answer == MGB_STEADY, known};
    if (known && steady->answer != MGB_STEADY)
        out->not_steady = mgb_steadiness_text(steady->answer);
    out->drift = (struct mgb_maybe_real){steady->drift, out->timed_steps >= 4};
}

static void sums_set(struct mgb_record_segment_stat *out, const struct mgb_stats *stats,
                     size_t first)
{
    int64_t begin_ns = 0, end_ns = 0;
    for (size_t i = first; i < stats->count; i++) {
        int64_t end = stats->start_ns[i] + stats->wall_ns[i];
        if (i == first || stats->start_ns[i] < begin_ns)
            begin_ns = stats->start_ns[i];
        if (i == first || end > end_ns)
            end_ns = end;
        out->timed_ns = mgb_stats_bound(out->timed_ns + stats->wall_ns[i]);
        out->examples = mgb_stats_bound(out->examples + stats->examples[i]);
    }
    if (first == stats->count)
        return;
    out->unaccounted_ns = MGB_KNOWN_INT(end_ns - begin_ns - out->timed_ns);
    out->mean_ns = MGB_KNOWN_INT((out->timed_ns + out->timed_steps / 2) / out->timed_steps);
}

static int time_compare(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static struct mgb_maybe_int percentile(const int64_t *sorted, size_t count, size_t percent)
{
    return MGB_KNOWN_INT(sorted[(percent * count + 99) / 100 - 1]);
}

static enum mgb_status order_set(struct mgb_record_segment_stat *out, const int64_t *wall_ns,
                                 size_t count)
{
    int64_t *sorted = malloc(count * sizeof *sorted);
    if (!sorted)
        return mgb_fail(MGB_NO_MEMORY, "no memory to sort the times of %zu steps", count);
    memcpy(sorted, wall_ns, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, time_compare);
    int64_t low = sorted[(count - 1) / 2], high = sorted[count / 2];
    out->median_ns = MGB_KNOWN_INT(low + (high - low) / 2);
    out->min_ns = MGB_KNOWN_INT(sorted[0]);
    out->max_ns = MGB_KNOWN_INT(sorted[count - 1]);
    out->p5_ns = percentile(sorted, count, 5);
    out->p95_ns = percentile(sorted, count, 95);
    if (count >= 100)
        out->p99_ns = percentile(sorted, count, 99);
    free(sorted);
    return MGB_OK;
}

static enum mgb_status interval_set(struct mgb_record_segment_stat *out, const int64_t *wall_ns,
                                    size_t count)
{
    struct mgb_interval interval;
    if (count < MGB_BOOTSTRAP_MIN_STEPS)
        return MGB_OK;
    MGB_TRY(mgb_bootstrap_median(&interval, wall_ns, count, 0, 0));
    out->ci95_low_ns = MGB_KNOWN_INT(llrint(interval.low_ns));
    out->ci95_high_ns = MGB_KNOWN_INT(llrint(interval.high_ns));
    out->interval_method = mgb_bootstrap_method(count);
    out->interval_seed = MGB_KNOWN_INT((int64_t)interval.seed);
    if (interval.median_ns > 0)
        out->noise = MGB_KNOWN_REAL((interval.high_ns - interval.low_ns) / 2 / interval.median_ns);
    return MGB_OK;
}

static enum mgb_status outliers_set(struct mgb_record_segment_stat *out, const int64_t *wall_ns,
                                    size_t count)
{
    struct mgb_outliers found;
    MGB_TRY(mgb_outliers_find(&found, NULL, wall_ns, count, MGB_STATS_RESOLUTION_NS));
    const size_t *of = found.counts;
    out->outliers_mild =
        MGB_KNOWN_INT((int64_t)(of[MGB_OUTLIER_MILD_LOW] + of[MGB_OUTLIER_MILD_HIGH]));
    out->outliers_far =
        MGB_KNOWN_INT((int64_t)(of[MGB_OUTLIER_FAR_LOW] + of[MGB_OUTLIER_FAR_HIGH]));
    return MGB_OK;
}

enum mgb_status mgb_stats_boil(struct mgb_record_segment_stat *out, const struct mgb_stats *stats)
{
    struct mgb_steady steady = mgb_stats_judge(stats);
    size_t first = steady.warmup_steps, count = stats->count - first;
    const int64_t *wall_ns = stats->wall_ns + first;
    *out = (struct mgb_record_segment_stat){.timed_steps = (int64_t)count,
                                            .warmup_steps = (int64_t)first,
                                            .loss_last = stats->loss_last};
    sums_set(out, stats, first);
    if (count == 0)
        return MGB_OK;
    steadiness_set(out, &steady, stats->auto_warmup);
    MGB_TRY(order_set(out, wall_ns, count));
    MGB_TRY(outliers_set(out, wall_ns, count));
    return interval_set(out, wall_ns, count);
}
