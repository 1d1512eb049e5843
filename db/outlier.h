/* Steps that took unusually short or long, by Tukey's fences. They are flagged and stay in every figure. */
#ifndef MGB_DB_OUTLIER_H
#define MGB_DB_OUTLIER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <mgb/status.h>

enum mgb_outlier {
    MGB_OUTLIER_NONE = 0,
    MGB_OUTLIER_FAR_LOW,  /* more than 3 IQR below the first quartile */
    MGB_OUTLIER_MILD_LOW, /* more than 1.5 IQR */
    MGB_OUTLIER_MILD_HIGH,
    MGB_OUTLIER_FAR_HIGH,
    MGB_OUTLIER_COUNT
};

struct mgb_outliers {
    size_t counts[MGB_OUTLIER_COUNT];
    double first_quartile_ns, third_quartile_ns;
    double mild_low_ns, mild_high_ns, far_low_ns, far_high_ns; /* the fences */
};

/* Flags of `count` steady steps into `flags` (count of them, may be NULL). Tukey, Exploratory Data Analysis (1977), 2D,
 * with quartiles as mgb_order_percentile has them. Where the IQR is below the clock's resolution, the resolution stands
 * in for it: equal steps and steps that differ by one tick have no outliers. Fewer than four steps have none. */
enum mgb_status mgb_outliers_find(struct mgb_outliers *out, enum mgb_outlier *flags,
                                  const int64_t *wall_ns, size_t count, int64_t resolution_ns);

#define MGB_REPETITION_NEAR 0.05 /* repetitions as near as that to the middle one are like it */

/* Which repetitions' medians (all positive) lie so far from the others' that something else was going on: beyond Tukey's
 * far fences and beyond MGB_REPETITION_NEAR, or more than twice or less than half the middle one, of an even count the
 * lower middle one: what disturbs makes slow. `odd` has `count`. Returns how many; they stay in every figure. Nothing is
 * found when memory is out. */
size_t mgb_repetitions_odd(bool *odd, const double *medians, size_t count);

#endif
