/* The boiled-down figures of a segment, from its steps. Knows no database: a session whose log cannot be written uses it
 * as well. */
#ifndef MGB_DB_STATS_H
#define MGB_DB_STATS_H

#include <stdbool.h>
#include <stddef.h>

#include <mgb/record.h>
#include <mgb/status.h>

#include "db/steady.h"

/* What the clock and the reading of it cannot tell apart between two steps: spreads below it have no outliers. */
enum { MGB_STATS_RESOLUTION_NS = 1000 };

/* Every step in its order, 24 bytes each. */
struct mgb_stats {
    int64_t *wall_ns, *start_ns, *examples;
    size_t count, capacity;
    size_t flagged; /* steps up to the last one that came flagged as warm-up */
    bool
        auto_warmup; /* the rule of steady.h finds the warm-up and the flags mean nothing; the caller sets it after
                         mgb_stats_init */
    struct mgb_maybe_real loss_last; /* of any step */
};

/* Room for `capacity` steps at once, so that adding them allocates nothing; beyond, it doubles. */
enum mgb_status mgb_stats_init(struct mgb_stats *out, size_t capacity);
void mgb_stats_done(struct mgb_stats *stats);

/* A damaged file may hold any number: none that a sum or a difference of a few could carry beyond 64 bits. */
int64_t mgb_stats_bound(int64_t value);

enum mgb_status mgb_stats_add(struct mgb_stats *stats, const struct mgb_record_step *step);

/* How many of the steps so far are warm-up, and whether the rest is steady: by mgb_steady_find where auto_warmup is set,
 * else the flagged ones and mgb_steady_judge. Allocates nothing, O(steps): for the question "may measuring end?", ask it
 * every so many steps. */
struct mgb_steady mgb_stats_judge(const struct mgb_stats *stats);

/* Median of an even count: mean of the middle two. Percentiles: nearest rank. Interval: mgb_bootstrap_median over the timed
 * steps, none below 20. Steadiness: mgb_stats_judge; unknown where a fixed warm-up leaves too few steps to judge, 0 where
 * the rule could not find a warm-up. `segment` is the caller's. Leaves `stats` as it is, so that more steps may follow;
 * costs 1 ms at 400 steps, 70 ms at 100,000. MGB_NO_MEMORY: the counts and sums are right, other figures are unknown. */
enum mgb_status mgb_stats_boil(struct mgb_record_segment_stat *out, const struct mgb_stats *stats);

#endif
