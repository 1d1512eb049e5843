/* Tukey's fences; see outlier.h. */
#include "db/outlier.h"

#include "db/order.h"

#include <math.h>
#include <stdlib.h>

static void fences_set(struct mgb_outliers *out, const double *sorted, size_t count,
                       double resolution_ns)
{
    double first = mgb_order_percentile(sorted, count, 0.25);
    double third = mgb_order_percentile(sorted, count, 0.75);
    double spread = third - first > resolution_ns ? third - first : resolution_ns;
    *out = (struct mgb_outliers){.first_quartile_ns = first,
                                 .third_quartile_ns = third,
                                 .mild_low_ns = first - 1.5 * spread,
                                 .mild_high_ns = third + 1.5 * spread,
                                 .far_low_ns = first - 3 * spread,
                                 .far_high_ns = third + 3 * spread};
}

static enum mgb_outlier flag_get(const struct mgb_outliers *fences, double ns)
{
    if (ns < fences->far_low_ns)
        return MGB_OUTLIER_FAR_LOW;
    if (ns < fences->mild_low_ns)
        return MGB_OUTLIER_MILD_LOW;
    if (ns > fences->far_high_ns)
        return MGB_OUTLIER_FAR_HIGH;
    return ns > fences->mild_high_ns ? MGB_OUTLIER_MILD_HIGH : MGB_OUTLIER_NONE;
}

enum mgb_status mgb_outliers_find(struct mgb_outliers *out, enum mgb_outlier *flags,
                                  const int64_t *wall_ns, size_t count, int64_t resolution_ns)
{
    *out = (struct mgb_outliers){.counts[MGB_OUTLIER_NONE] = count};
    for (size_t i = 0; flags && i < count; i++)
        flags[i] = MGB_OUTLIER_NONE;
    if (count < 4)
        return MGB_OK;
    double *sorted = malloc(count * sizeof *sorted);
    if (!sorted)
        return mgb_fail(MGB_NO_MEMORY, "no memory to sort the times of %zu steps", count);
    for (size_t i = 0; i < count; i++)
        sorted[i] = (double)wall_ns[i];
    mgb_order_sort(sorted, count);
    fences_set(out, sorted, count, (double)(resolution_ns > 0 ? resolution_ns : 0));
    free(sorted);
    for (size_t i = 0; i < count; i++) {
        enum mgb_outlier flag = flag_get(out, (double)wall_ns[i]);
        out->counts[flag]++;
        if (flags)
            flags[i] = flag;
    }
    return MGB_OK;
}

size_t mgb_repetitions_odd(bool *odd, const double *medians, size_t count)
{
    size_t found = 0;
    double *sorted = calloc(count ? count : 1, sizeof *sorted);
    struct mgb_outliers fences;
    for (size_t i = 0; i < count; i++) {
        odd[i] = false;
        if (sorted)
            sorted[i] = medians[i];
    }
    if (sorted && count > 1) {
        mgb_order_sort(sorted, count);
        fences_set(&fences, sorted, count, 0);
        double middle = sorted[(count - 1) / 2];
        for (size_t i = 0; i < count; i++) {
            bool far = medians[i] < fences.far_low_ns || medians[i] > fences.far_high_ns;
            bool near = fabs(medians[i] - middle) <= MGB_REPETITION_NEAR * middle;
            odd[i] = (far && !near) || medians[i] > 2 * middle || 2 * medians[i] < middle;
            found += odd[i];
        }
    }
    free(sorted);
    return found;
}
