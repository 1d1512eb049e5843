/* Figures of sorted samples: median, percentiles, median absolute deviation. Know neither steps nor databases. */
#ifndef MGB_DB_ORDER_H
#define MGB_DB_ORDER_H

#include <stddef.h>

/* Ascending, in place; the values must not be NaN. */
void mgb_order_sort(double *values, size_t count);

/* Of sorted values; count >= 1. Of an even count: mean of the middle two. */
double mgb_order_median(const double *sorted, size_t count);

/* Of sorted values, 0 <= share <= 1: linear between order statistics, definition 7 of Hyndman and Fan, The American
 * Statistician 50 (1996), which is what NumPy, R and criterion use. (segment_stat's p5 to p99 are nearest rank.) */
double mgb_order_percentile(const double *sorted, size_t count, double share);

/* Median of |value - median|, unscaled; times 1.4826 it estimates the standard deviation of a normal sample. Sorts
 * `values` and overwrites them by their sorted deviations. */
double mgb_order_mad(double *values, size_t count);

#endif
