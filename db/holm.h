/* Many tests at once: the chance that any of them is wrong is kept at the level of one. */
#ifndef MGB_DB_HOLM_H
#define MGB_DB_HOLM_H

#include <stddef.h>

#include <mgb/status.h>

/* Adjusted p-values, in the order given; `adjusted` may be `p`. NaN: a cell that was not tested; it stays NaN and does not
 * count. Holm, Scandinavian Journal of Statistics 6 (1979). */
enum mgb_status mgb_holm_adjust(double *adjusted, const double *p, size_t count);

#endif
