/* Holm's step-down correction; see holm.h. */
#include "db/holm.h"

#include <math.h>
#include <stdlib.h>

struct cell {
    double p;
    size_t at;
};

static int cell_compare(const void *a, const void *b)
{
    const struct cell *x = a, *y = b;
    if (x->p != y->p)
        return x->p > y->p ? 1 : -1;
    return (x->at > y->at) - (x->at < y->at);
}

enum mgb_status mgb_holm_adjust(double *adjusted, const double *p, size_t count)
{
    size_t tested = 0;
    struct cell *cells = calloc(count ? count : 1, sizeof *cells);
    if (!cells)
        return mgb_fail(MGB_NO_MEMORY, "no memory to correct %zu comparisons", count);
    for (size_t i = 0; i < count; i++) {
        if (!isnan(p[i]))
            cells[tested++] = (struct cell){p[i], i};
        adjusted[i] = p[i];
    }
    qsort(cells, tested, sizeof *cells, cell_compare);
    double largest = 0;
    for (size_t i = 0; i < tested; i++) {
        largest = fmin(1, fmax(largest, (double)(tested - i) * cells[i].p));
        adjusted[cells[i].at] = largest;
    }
    free(cells);
    return MGB_OK;
}
