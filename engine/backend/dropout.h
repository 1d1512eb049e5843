/* What a dropout mask is, for every backend alike: element `index` of a layer's output is kept when a 24-bit uniform
 * number is at least the rate. The number depends on seed, step, layer and the element's place in the *global* batch
 * (index = global row * elements of a row + element, plain order), never on towers, threads or layouts. Four neighbours
 * share one call of the generator: lane index % 4 of counter index / 4. */
#ifndef MGB_BACKEND_DROPOUT_H
#define MGB_BACKEND_DROPOUT_H

#include "engine/base/random.h"

/* The upper half of the counter; layers below 2^24, steps below 2^40. */
MGB_ANYWHERE uint64_t mgb_dropout_high(int64_t step, int key)
{
    return (uint64_t)key << 40 ^ (uint64_t)step;
}

/* Kept when the upper 24 bits of a random word are at least this: the rate in units of 2^-24, rounded up. */
MGB_ANYWHERE uint32_t mgb_dropout_threshold(float rate)
{
    float scaled = rate * 16777216.0f; /* exact: a power of two */
    uint32_t whole = (uint32_t)scaled;
    return whole + ((float)whole < scaled);
}

MGB_ANYWHERE int mgb_dropout_keeps(uint64_t seed, uint64_t high, uint64_t index, uint32_t threshold)
{
    struct mgb_random4 random = mgb_random_at(seed, index / 4, high);
    return random.v[index % 4] >> 8 >= threshold;
}

#endif
