/* Verdicts in words, and the noise floor they are held against; see compare.h. */
#include "db/compare.h"

#include "db/order.h"

#include <math.h>
#include <stdlib.h>

enum mgb_status mgb_compare_measure_floor(double *out, const double *ratios, size_t count)
{
    *out = MGB_COMPARE_FLOOR;
    if (count == 0)
        return MGB_OK;
    double *distances = calloc(count, sizeof *distances);
    if (!distances)
        return mgb_fail(MGB_NO_MEMORY, "no memory for the ratios of %zu A/A checks", count);
    for (size_t i = 0; i < count; i++)
        distances[i] = fabs(log(ratios[i]));
    mgb_order_sort(distances, count);
    *out = fmax(MGB_COMPARE_FLOOR, expm1(mgb_order_percentile(distances, count, 0.95)));
    free(distances);
    return MGB_OK;
}

const char *mgb_verdict_name(enum mgb_verdict verdict)
{
    switch (verdict) {
    case MGB_VERDICT_UNDECIDED:
        return "undecided";
    case MGB_VERDICT_FASTER:
        return "faster";
    case MGB_VERDICT_SLOWER:
        return "slower";
    case MGB_VERDICT_SAME:
        return "same";
    case MGB_VERDICT_REFUSED:
        return "refused";
    }
    return "unknown";
}

const char *mgb_reason_text(enum mgb_reason reason)
{
    switch (reason) {
    case MGB_REASON_NONE:
        return "";
    case MGB_REASON_WIDE:
        return "the interval reaches across the noise floor";
    case MGB_REASON_EDGE:
        return "the ratio is too near the noise floor's edge for repetitions to settle it";
    case MGB_REASON_SINGLE:
        return "one repetition says nothing of the spread between repetitions";
    case MGB_REASON_FEW_STEPS:
        return "one repetition with too few steady steps";
    case MGB_REASON_MANY_CELLS:
        return "decided alone, but not as one of so many comparisons";
    case MGB_REASON_NOT_STEADY:
        return "a repetition never became steady";
    case MGB_REASON_NO_STEPS:
        return "a repetition without timed steps";
    }
    return "unknown";
}
