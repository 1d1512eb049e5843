/* Arithmetic of scaling; see scaling.h. */
#include "db/scaling.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

static bool point_known(const struct mgb_scaling_point *point)
{
    return point->gpus > 0 && point->global_batch > 0 && point->step_ns > 0;
}

static struct mgb_maybe_real known(double value)
{
    return (struct mgb_maybe_real){value, true};
}

static const struct mgb_maybe_real unknown;

struct mgb_maybe_real mgb_scaling_weak(const struct mgb_scaling_point *one,
                                       const struct mgb_scaling_point *many)
{
    if (!point_known(one) || !point_known(many) || one->gpus != 1 ||
        many->global_batch != many->gpus * one->global_batch)
        return unknown;
    return known(one->step_ns / many->step_ns);
}

struct mgb_maybe_real mgb_scaling_strong(const struct mgb_scaling_point *one,
                                         const struct mgb_scaling_point *many)
{
    if (!point_known(one) || !point_known(many) || one->gpus != 1 ||
        many->global_batch != one->global_batch)
        return unknown;
    return known(one->step_ns / ((double)many->gpus * many->step_ns));
}

struct mgb_maybe_real mgb_scaling_epoch_ns(const struct mgb_scaling_point *point, int64_t examples)
{
    if (!point_known(point) || examples <= 0)
        return unknown;
    int64_t steps = (examples - 1) / point->global_batch + 1;
    return known((double)steps * point->step_ns);
}

struct mgb_maybe_real mgb_scaling_epoch(const struct mgb_scaling_point *one,
                                        const struct mgb_scaling_point *many, int64_t examples)
{
    struct mgb_maybe_real alone = mgb_scaling_epoch_ns(one, examples);
    struct mgb_maybe_real together = mgb_scaling_epoch_ns(many, examples);
    if (!alone.known || !together.known || one->gpus != 1)
        return unknown;
    return known(alone.value / ((double)many->gpus * together.value));
}

struct mgb_maybe_real mgb_scaling_throughput(int64_t examples, int64_t timed_ns)
{
    if (timed_ns <= 0)
        return unknown;
    return known((double)examples * 1e9 / (double)timed_ns);
}

/* Examples/s of `to` over those of `from`. */
static double rates_divide(const struct mgb_scaling_point *to, const struct mgb_scaling_point *from)
{
    return (double)to->global_batch / (double)from->global_batch * (from->step_ns / to->step_ns);
}

struct mgb_scaling_split mgb_scaling_separate(const struct mgb_scaling_point *from,
                                              const struct mgb_scaling_point *to,
                                              const struct mgb_scaling_point *corner)
{
    struct mgb_scaling_split out = {0};
    if (!point_known(from) || !point_known(to))
        return out;
    out.speedup = known(rates_divide(to, from));
    if (!corner || !point_known(corner))
        return out;
    if (corner->gpus == from->gpus && corner->global_batch == to->global_batch) {
        out.batch_first = 1;
        out.batch_effect = known(rates_divide(corner, from));
        out.gpu_effect = known(rates_divide(to, corner));
    } else if (corner->gpus == to->gpus && corner->global_batch == from->global_batch) {
        out.gpu_effect = known(rates_divide(corner, from));
        out.batch_effect = known(rates_divide(to, corner));
    }
    return out;
}

struct mgb_scaling_exchange mgb_scaling_exchange(const struct mgb_scaling_point *merged,
                                                 const struct mgb_scaling_point *independent)
{
    struct mgb_scaling_exchange out = {0};
    if (!point_known(merged) || !point_known(independent) || merged->gpus != independent->gpus ||
        merged->global_batch != independent->global_batch)
        return out;
    out.cost_ns = known(merged->step_ns - independent->step_ns);
    out.share = known(out.cost_ns.value / merged->step_ns);
    return out;
}

int mgb_scaling_exchange_told(double cost, double merged_low, double merged_high,
                              double independent_low, double independent_high)
{
    double half = 0;
    if (merged_high > merged_low && merged_low > 0)
        half = hypot(half, (merged_high - merged_low) / 2);
    if (independent_high > independent_low && independent_low > 0)
        half = hypot(half, (independent_high - independent_low) / 2);
    return cost > half;
}
