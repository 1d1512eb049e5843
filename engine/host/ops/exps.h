/* Rows of exponentials, as softmax needs them: the largest element, and the sum of exp(x - max). Sums run in 16 lanes whatever the
 * vector width, so their bits do not depend on the machine. For use inside of MGB_SIMD functions. */
#ifndef MGB_HOST_OPS_EXPS_H
#define MGB_HOST_OPS_EXPS_H

#include "engine/host/simd.h"
#include "engine/host/vmath.h"
#include <string.h>

#define MGB_EXP_LANES 16
#define MGB_ROW_INLINE static inline __attribute__((always_inline))

MGB_ROW_INLINE float mgb_row_max(const float *x, int64_t count)
{
    float lane[MGB_EXP_LANES];
    for (int j = 0; j < MGB_EXP_LANES; j++)
        lane[j] = x[0];
    int64_t whole = count / MGB_EXP_LANES * MGB_EXP_LANES;
    for (int64_t i = 0; i < whole; i += MGB_EXP_LANES)
        for (int j = 0; j < MGB_EXP_LANES; j++)
            lane[j] = x[i + j] > lane[j] ? x[i + j] : lane[j];
    for (int64_t i = whole; i < count; i++)
        lane[0] = x[i] > lane[0] ? x[i] : lane[0];
    for (int j = 1; j < MGB_EXP_LANES; j++)
        lane[0] = lane[j] > lane[0] ? lane[j] : lane[0];
    return lane[0];
}

MGB_ROW_INLINE float mgb_row_lanes_sum(float lane[MGB_EXP_LANES])
{
    for (int half = MGB_EXP_LANES / 2; half > 0; half /= 2)
        for (int j = 0; j < half; j++)
            lane[j] += lane[j + half];
    return lane[0];
}

/* Lane j += exp(x[j] - max); the exponentials go to `e`. */
MGB_ROW_INLINE void mgb_row_exp_lanes(float *e, float *lane, const float *x, float max)
{
    for (int j = 0; j < MGB_EXP_LANES; j++)
        e[j] = mgb_exp(x[j] - max);
    for (int j = 0; j < MGB_EXP_LANES; j++)
        lane[j] += e[j];
}

/* The sum of exp(x - max); keeps the terms in `terms`, which may be x, unless it is NULL. */
MGB_ROW_INLINE float mgb_row_exp(float *terms, const float *x, int64_t count, float max)
{
    float lane[MGB_EXP_LANES] = {0}, e[MGB_EXP_LANES], rest[MGB_EXP_LANES];
    int64_t whole = count / MGB_EXP_LANES * MGB_EXP_LANES;
    for (int64_t i = 0; i < whole; i += MGB_EXP_LANES) {
        mgb_row_exp_lanes(e, lane, x + i, max);
        if (terms)
            memcpy(terms + i, e, sizeof e);
    }
    if (whole < count) {
        for (int j = 0; j < MGB_EXP_LANES; j++)
            rest[j] = max; /* computed along, not added */
        memcpy(rest, x + whole, sizeof(float) * (size_t)(count - whole));
        for (int j = 0; j < MGB_EXP_LANES; j++)
            e[j] = mgb_exp(rest[j] - max);
        for (int j = 0; j < (int)(count - whole); j++)
            lane[j] += e[j];
        if (terms)
            memcpy(terms + whole, e, sizeof(float) * (size_t)(count - whole));
    }
    return mgb_row_lanes_sum(lane);
}

MGB_ROW_INLINE float mgb_row_sum(const float *x, int64_t count)
{
    float lane[MGB_EXP_LANES] = {0};
    int64_t whole = count / MGB_EXP_LANES * MGB_EXP_LANES;
    for (int64_t i = 0; i < whole; i += MGB_EXP_LANES)
        for (int j = 0; j < MGB_EXP_LANES; j++)
            lane[j] += x[i + j];
    for (int64_t i = whole; i < count; i++)
        lane[i - whole] += x[i];
    return mgb_row_lanes_sum(lane);
}

/* The sum of x y. */
MGB_ROW_INLINE float mgb_row_dot(const float *x, const float *y, int64_t count)
{
    float lane[MGB_EXP_LANES] = {0};
    int64_t whole = count / MGB_EXP_LANES * MGB_EXP_LANES;
    for (int64_t i = 0; i < whole; i += MGB_EXP_LANES)
        for (int j = 0; j < MGB_EXP_LANES; j++)
            lane[j] += x[i + j] * y[i + j];
    for (int64_t i = whole; i < count; i++)
        lane[i - whole] += x[i] * y[i];
    return mgb_row_lanes_sum(lane);
}

#endif
