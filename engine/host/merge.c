/* Means and variances of several parts of a batch, made those of the whole (Chan, Golub and LeVeque 1983, "Algorithms for
 * computing the sample variance", formula 1.5b), so that a large mean costs the variance no digits. */
#include "engine/host/cpu.h"

#include "engine/base/parallel.h"

#define GRAIN 4096 /* numbers a thread at least */

struct merge_work {
    float *mean, *variance;
    const float *const *sources;
    const int64_t *rows;
    int towers;
};

static void merge_range(void *context, long long begin, long long end)
{
    const struct merge_work *work = context;
    const float *const *means = work->sources, *const *variances = work->sources + work->towers;
    for (long long i = begin; i < end; i++) {
        double n = (double)work->rows[0], mean = (double)means[0][i];
        double spread = (double)variances[0][i] * n; /* sum of squared distances from the mean */
        for (int k = 1; k < work->towers; k++) {
            double more = (double)work->rows[k], away = (double)means[k][i] - mean, all = n + more;
            mean += away * (more / all);
            spread += (double)variances[k][i] * more + away * away * (n * more / all);
            n = all;
        }
        work->mean[i] = (float)mean;
        work->variance[i] = (float)(spread / n);
    }
}

void mgb_cpu_merge(float *mean, float *variance, const float *const *sources, const int64_t *rows,
                   int towers, int64_t count)
{
    struct merge_work work = {mean, variance, sources, rows, towers};
    mgb_parallel_for(count, GRAIN, merge_range, &work);
}
