/* The boiled-down figures of a segment, from its steps. Knows no database: a session whose log cannot be written uses it
 * as well. */
#ifndef MGB_DB_STATS_H
#define MGB_DB_STATS_H

#include <stddef.h>

#include <mgb/record.h>
#include <mgb/status.h>

struct mgb_stats {
    int64_t *wall_ns; /* of the timed steps */
    size_t count, capacity;
    int64_t warmup_steps, examples, timed_ns;
    int64_t first_start_ns, last_end_ns; /* over the timed steps */
    struct mgb_maybe_real loss_last;     /* of any step */
};

/* Room for `capacity` timed steps at once, so that adding them allocates nothing. */
enum mgb_status mgb_stats_init(struct mgb_stats *out, size_t capacity);
void mgb_stats_done(struct mgb_stats *stats);

enum mgb_status mgb_stats_add(struct mgb_stats *stats, const struct mgb_record_step *step);

/* Median of an even count: mean of the middle two. Percentiles: nearest rank. Interval of the median: order statistics
 * with exact binomial ranks, which takes steps for independent. Sorts in place; `segment` and `steady` are the caller's. */
void mgb_stats_boil(struct mgb_record_segment_stat *out, struct mgb_stats *stats);

/* The rank k, from 1, of the lower end of the 95 % interval of the median of `count` values, its upper end being the k-th
 * from above; 0 if there are too few. Conover, Practical Nonparametric Statistics, 3rd ed., 3.2. */
size_t mgb_stats_median_rank(size_t count);

#endif
