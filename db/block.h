/* How many neighbouring values a bootstrap must keep together, from the values themselves. */
#ifndef MGB_DB_BLOCK_H
#define MGB_DB_BLOCK_H

#include <stddef.h>

#include <mgb/status.h>

/* The block length that minimises the error of the bootstrapped variance of the mean of `series`, by the automatic rule of
 * Politis and White (Econometric Reviews 23, 2004), corrected by Patton, Politis and White (28, 2009), for the circular
 * block bootstrap; from 0 (no correlation seen) to min(3 sqrt(count), count / 3). */
enum mgb_status mgb_block_automatic(double *out, const double *series, size_t count);

/* The length to use for intervals: 2.5 times the automatic one, at least 2 count^(1/3), within the same bound, since an
 * interval suffers more from the bias of short blocks than a variance does. Measured coverage of the 95 % interval of the
 * median over 100 to 1000 steps, AR(1) with correlation 0 to 0.8, normal and heavy-tailed: 0.915 to 0.968; with the
 * automatic length alone 0.83 to 0.96. */
size_t mgb_block_widen(double automatic, size_t count);

#endif
