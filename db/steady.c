/* The end of the warm-up; see steady.h. */
#include "db/steady.h"

#include <math.h>
#include <stdlib.h>

enum { NEEDED = MGB_STEADY_WINDOW * (MGB_STEADY_AGREEMENTS + 1) };

/* Median of a window by insertion: windows are short. */
static double window_median(const int64_t *wall_ns)
{
    int64_t sorted[MGB_STEADY_WINDOW];
    for (int i = 0; i < MGB_STEADY_WINDOW; i++) {
        int at = i;
        for (; at > 0 && sorted[at - 1] > wall_ns[i]; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = wall_ns[i];
    }
    return ((double)sorted[(MGB_STEADY_WINDOW - 1) / 2] + (double)sorted[MGB_STEADY_WINDOW / 2]) /
           2;
}

static bool windows_agree(const int64_t *wall_ns, double tolerance)
{
    double before = window_median(wall_ns);
    for (int i = 1; i <= MGB_STEADY_AGREEMENTS; i++) {
        double after = window_median(wall_ns + i * MGB_STEADY_WINDOW);
        if (fabs(after - before) > tolerance * before)
            return false;
        before = after;
    }
    return true;
}

static size_t floor_find(const int64_t *wall_ns, size_t count)
{
    size_t at = 1;
    for (int64_t clock_ns = 0;
         at < count && (at < 1 + MGB_STEADY_FLOOR_STEPS || clock_ns < MGB_STEADY_FLOOR_NS); at++)
        clock_ns += wall_ns[at];
    return at;
}

static int64_t value_get(const int64_t *wall_ns, size_t i, bool differences)
{
    return differences ? llabs(wall_ns[i + 1] - wall_ns[i]) : wall_ns[i];
}

/* The value that half of the values are not above: bisection on the value, so that nothing is sorted or allocated. With
 * `differences`, of the distances between neighbours; there are then `count` of those. */
static double half_find(const int64_t *wall_ns, size_t count, bool differences)
{
    int64_t low = value_get(wall_ns, 0, differences), high = low;
    for (size_t i = 1; i < count; i++) {
        int64_t value = value_get(wall_ns, i, differences);
        low = value < low ? value : low;
        high = value > high ? value : high;
    }
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        size_t below = 0;
        for (size_t i = 0; i < count; i++)
            below += value_get(wall_ns, i, differences) <= middle;
        if (below >= (count + 1) / 2)
            high = middle;
        else
            low = middle + 1;
    }
    return (double)low;
}

static double drift_get(const int64_t *wall_ns, size_t count)
{
    if (count < 4)
        return 0;
    double first = half_find(wall_ns, count / 2, false);
    double second = half_find(wall_ns + count - count / 2, count / 2, false);
    return first > 0 ? second / first - 1 : 0;
}

struct mgb_steady mgb_steady_find(const int64_t *wall_ns, size_t count)
{
    size_t floor = floor_find(wall_ns, count), cap = count * MGB_STEADY_CAP_PERCENT / 100;
    struct mgb_steady out = {.answer = MGB_STEADY_DRIFTS, .floor_steps = floor};
    if (floor > cap || floor + NEEDED > count)
        out.answer = MGB_STEADY_SHORT;
    out.warmup_steps = out.answer == MGB_STEADY_SHORT && floor < cap ? floor : cap;
    for (size_t at = floor; out.answer == MGB_STEADY_DRIFTS && at <= cap && at + NEEDED <= count;
         at++) {
        if (windows_agree(wall_ns + at, MGB_STEADY_TOLERANCE)) {
            out.answer = MGB_STEADY;
            out.warmup_steps = at;
        }
    }
    if (out.warmup_steps == 0 && count > 1)
        out.warmup_steps = 1;
    out.drift = drift_get(wall_ns + out.warmup_steps, count - out.warmup_steps);
    return out;
}

/* Three standard errors of the difference of two medians of `count` steps each, relative to the median: a median's is
 * 1.2533 s / sqrt(count) of normal steps, and the median distance of neighbours 0.6745 sqrt(2) s. */
static double noise_allow(const int64_t *wall_ns, size_t count, double each)
{
    double median = half_find(wall_ns, count, false);
    double spread = half_find(wall_ns, count - 1, true) / (0.6745 * sqrt(2));
    return median > 0 ? 3 * 1.2533 * spread / median * sqrt(2 / each) : 0;
}

struct mgb_steady mgb_steady_judge(const int64_t *wall_ns, size_t count)
{
    struct mgb_steady out = {.answer = MGB_STEADY_SHORT, .drift = drift_get(wall_ns, count)};
    if (count < NEEDED)
        return out;
    double windows = noise_allow(wall_ns, count, MGB_STEADY_WINDOW);
    double halves = noise_allow(wall_ns, count, (double)count / 2);
    size_t cap = count * MGB_STEADY_CAP_PERCENT / 100;
    out.answer = MGB_STEADY_DRIFTS;
    for (size_t at = 0; out.answer != MGB_STEADY && at <= cap && at + NEEDED <= count; at++)
        if (windows_agree(wall_ns + at, fmax(MGB_STEADY_TOLERANCE, windows)))
            out.answer = MGB_STEADY;
    if (out.answer == MGB_STEADY && fabs(out.drift) > fmax(MGB_STEADY_HALVES, halves))
        out.answer = MGB_STEADY_HALVES_DIFFER;
    return out;
}

const char *mgb_steadiness_text(enum mgb_steadiness answer)
{
    switch (answer) {
    case MGB_STEADY:
        return "steady";
    case MGB_STEADY_SHORT:
        return "not steady: too few steps to tell";
    case MGB_STEADY_DRIFTS:
        return "not steady: step times still drift at 25 % of the segment";
    case MGB_STEADY_HALVES_DIFFER:
        return "not steady: the second half's median step is more than 5 % off the first half's";
    }
    return "unknown";
}
