/* Automatic block length; see block.h. */
#include "db/block.h"

#include <math.h>
#include <stdlib.h>

/* Autocovariances R(k) of a series, worked out when asked for: mostly few are, and each costs a pass. */
struct covariances {
    const double *series;
    size_t count, known; /* R(0) .. R(known - 1) are in `values` */
    double mean;
    double *values;
};

static double covariance_get(struct covariances *of, size_t k)
{
    for (; of->known <= k; of->known++) {
        double sum = 0;
        for (size_t i = of->known; i < of->count; i++)
            sum += (of->series[i] - of->mean) * (of->series[i - of->known] - of->mean) /
                   (double)of->count;
        of->values[of->known] = sum;
    }
    return of->values[k];
}

/* M, half the width of the lag window: twice the first of `run` lags in a row whose correlations are not significant, as
 * Patton's code has it (the papers' text says one lag less, which leaves no window where there is no correlation). */
static size_t lags_find(struct covariances *of, size_t most, size_t run)
{
    double n = (double)of->count;
    double bound = 2 * sqrt(log10(n) / n) * covariance_get(of, 0);
    size_t quiet = 0, last = 0;
    for (size_t k = 1; k <= most && quiet < run; k++) {
        if (fabs(covariance_get(of, k)) < bound) {
            quiet++;
        } else {
            quiet = 0;
            last = k;
        }
    }
    return 2 * (last + 1) < most ? 2 * (last + 1) : most;
}

static double length_largest(size_t n)
{
    return ceil(fmin(3 * sqrt((double)n), (double)n / 3));
}

enum mgb_status mgb_block_automatic(double *out, const double *series, size_t count)
{
    double n = (double)count;
    size_t run = (size_t)fmax(5, sqrt(log10(fmax(n, 1))));
    size_t most = (size_t)ceil(sqrt(n)) + run;
    *out = 0;
    if (count < 4)
        return MGB_OK;
    most = most < count ? most : count - 1;
    struct covariances of = {series, count, 0, 0, calloc(most + 1, sizeof *of.values)};
    if (!of.values)
        return mgb_fail(MGB_NO_MEMORY, "no memory to correlate %zu steps", count);
    for (size_t i = 0; i < count; i++)
        of.mean += series[i] / n;
    size_t lags = lags_find(&of, most, run);
    double spectrum = covariance_get(&of, 0), slope = 0; /* g(0) and G of the paper */
    for (size_t k = 1; k <= lags; k++) {
        double at = (double)k / (double)lags, weight = at <= 0.5 ? 1 : 2 * (1 - at);
        spectrum += 2 * weight * covariance_get(&of, k);
        slope += 2 * weight * (double)k * covariance_get(&of, k);
    }
    free(of.values);
    if (slope != 0)
        *out = fmin(cbrt(2 * slope * slope / (4.0 / 3 * spectrum * spectrum) * n),
                    length_largest(count));
    return MGB_OK;
}

size_t mgb_block_widen(double automatic, size_t count)
{
    double length = fmax(2.5 * automatic, 2 * cbrt((double)count));
    return (size_t)fmax(1, fmin(ceil(length), length_largest(count)));
}
