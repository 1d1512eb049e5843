/* Figures of sorted samples; see order.h. */
#include "db/order.h"

#include <math.h>
#include <stdlib.h>

static int value_compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void mgb_order_sort(double *values, size_t count)
{
    if (count > 1)
        qsort(values, count, sizeof *values, value_compare);
}

double mgb_order_median(const double *sorted, size_t count)
{
    double low = sorted[(count - 1) / 2], high = sorted[count / 2];
    return low + (high - low) / 2;
}

double mgb_order_percentile(const double *sorted, size_t count, double share)
{
    double at = share * (double)(count - 1);
    size_t below = (size_t)at;
    if (below + 1 >= count)
        return sorted[count - 1];
    return sorted[below] + (at - (double)below) * (sorted[below + 1] - sorted[below]);
}

double mgb_order_mad(double *values, size_t count)
{
    mgb_order_sort(values, count);
    double median = mgb_order_median(values, count);
    for (size_t i = 0; i < count; i++)
        values[i] = fabs(values[i] - median);
    mgb_order_sort(values, count);
    return mgb_order_median(values, count);
}
