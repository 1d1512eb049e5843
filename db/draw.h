/* Counter-based random numbers for resampling: the value depends on seed, stream and counter only, never on call order.
 * The mixer is SplitMix64's (Steele, Lea, Flood, OOPSLA 2014). Not for anything that must be hard to guess. */
#ifndef MGB_DB_DRAW_H
#define MGB_DB_DRAW_H

#include <stdint.h>

/* What the statistics use where the caller names no other seed; stored beside every interval. */
#define MGB_DRAW_SEED UINT64_C(20260131)

static inline uint64_t mgb_draw_mix(uint64_t z)
{
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

/* 64 random bits. */
static inline uint64_t mgb_draw_at(uint64_t seed, uint64_t stream, uint64_t counter)
{
    const uint64_t golden = UINT64_C(0x9E3779B97F4A7C15);
    uint64_t key = mgb_draw_mix(seed + golden * (stream + 1));
    return mgb_draw_mix(key + golden * (counter + 1));
}

/* Uniform in [0, n), 1 <= n < 2^32, by multiply-shift; its bias is below n / 2^32. */
static inline uint32_t mgb_draw_below(uint64_t bits, uint32_t n)
{
    return (uint32_t)(((bits >> 32) * n) >> 32);
}

/* Uniform in (0, 1): never an end, so that its logarithm exists. */
static inline double mgb_draw_unit(uint64_t bits)
{
    return ((double)(bits >> 12) + 0.5) * 0x1p-52;
}

#endif
