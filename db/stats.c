/* Figures of a segment; see stats.h. */
#include "db/stats.h"

#include <math.h>
#include <stdlib.h>

enum mgb_status mgb_stats_init(struct mgb_stats *out, size_t capacity)
{
    *out = (struct mgb_stats){.capacity = capacity > 0 ? capacity : 1};
    out->wall_ns = calloc(out->capacity, sizeof *out->wall_ns);
    if (!out->wall_ns)
        return mgb_fail(MGB_NO_MEMORY, "no memory for the times of %zu steps", capacity);
    return MGB_OK;
}

void mgb_stats_done(struct mgb_stats *stats)
{
    free(stats->wall_ns);
    *stats = (struct mgb_stats){0};
}

enum mgb_status mgb_stats_add(struct mgb_stats *stats, const struct mgb_record_step *step)
{
    stats->loss_last = (struct mgb_maybe_real){step->loss, step->has_loss && isfinite(step->loss)};
    if (step->warmup) {
        stats->warmup_steps++;
        return MGB_OK;
    }
    if (stats->count == stats->capacity) {
        int64_t *more = realloc(stats->wall_ns, 2 * stats->capacity * sizeof *more);
        if (!more)
            return mgb_fail(MGB_NO_MEMORY, "no memory for the times of %zu steps",
                            2 * stats->capacity);
        stats->wall_ns = more;
        stats->capacity *= 2;
    }
    int64_t end_ns = step->start_ns + step->wall_ns;
    if (stats->count == 0 || step->start_ns < stats->first_start_ns)
        stats->first_start_ns = step->start_ns;
    if (stats->count == 0 || end_ns > stats->last_end_ns)
        stats->last_end_ns = end_ns;
    stats->wall_ns[stats->count++] = step->wall_ns;
    stats->timed_ns += step->wall_ns;
    stats->examples += step->examples;
    return MGB_OK;
}

size_t mgb_stats_median_rank(size_t count)
{
    /* P(X < k) for X ~ Binomial(count, 1/2), term by term; logarithms, since 2^-count underflows. */
    double below = 0, term = -(double)count * log(2);
    size_t rank = 0;
    for (size_t i = 0; i < count / 2; i++) {
        below += exp(term);
        if (below > 0.025)
            break;
        rank = i + 1;
        term += log((double)(count - i)) - log((double)(i + 1));
    }
    return rank;
}

static int time_compare(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static struct mgb_maybe_int percentile(const struct mgb_stats *stats, size_t percent)
{
    return MGB_KNOWN_INT(stats->wall_ns[(percent * stats->count + 99) / 100 - 1]);
}

void mgb_stats_boil(struct mgb_record_segment_stat *out, struct mgb_stats *stats)
{
    size_t n = stats->count;
    const int64_t *sorted = stats->wall_ns;
    *out = (struct mgb_record_segment_stat){.timed_steps = (int64_t)n,
                                            .warmup_steps = stats->warmup_steps,
                                            .examples = stats->examples,
                                            .timed_ns = stats->timed_ns,
                                            .loss_last = stats->loss_last};
    if (n == 0)
        return;
    qsort(stats->wall_ns, n, sizeof *stats->wall_ns, time_compare);
    int64_t low = sorted[(n - 1) / 2], high = sorted[n / 2];
    out->median_ns = MGB_KNOWN_INT(low + (high - low) / 2);
    out->mean_ns = MGB_KNOWN_INT((stats->timed_ns + (int64_t)n / 2) / (int64_t)n);
    out->min_ns = MGB_KNOWN_INT(sorted[0]);
    out->max_ns = MGB_KNOWN_INT(sorted[n - 1]);
    out->p5_ns = percentile(stats, 5);
    out->p95_ns = percentile(stats, 95);
    if (n >= 100)
        out->p99_ns = percentile(stats, 99);
    size_t rank = mgb_stats_median_rank(n);
    if (rank > 0) {
        out->ci95_low_ns = MGB_KNOWN_INT(sorted[rank - 1]);
        out->ci95_high_ns = MGB_KNOWN_INT(sorted[n - rank]);
        out->interval_method = "binomial order statistics of independent steps";
    }
    out->unaccounted_ns =
        MGB_KNOWN_INT(stats->last_end_ns - stats->first_start_ns - stats->timed_ns);
}
