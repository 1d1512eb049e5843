/* Counter-based random numbers (Philox4x32-10; Salmon et al., SC 2011): the value depends on key and counter only, never
 * on call order, thread or placement. Kernels on every device use the same function, so that masks agree bit for bit. */
#ifndef MGB_BASE_RANDOM_H
#define MGB_BASE_RANDOM_H

#include <stdint.h>

/* How functions are declared that every device has; who compiles for another one says so before. */
#ifndef MGB_ANYWHERE
#define MGB_ANYWHERE static inline
#endif

struct mgb_random4 {
    uint32_t v[4];
};

MGB_ANYWHERE struct mgb_random4 mgb_random_at(uint64_t key, uint64_t counter_low,
                                              uint64_t counter_high)
{
    uint32_t k0 = (uint32_t)key, k1 = (uint32_t)(key >> 32);
    uint32_t c0 = (uint32_t)counter_low, c1 = (uint32_t)(counter_low >> 32);
    uint32_t c2 = (uint32_t)counter_high, c3 = (uint32_t)(counter_high >> 32);
    for (int round = 0; round < 10; round++) {
        uint64_t p0 = (uint64_t)0xD2511F53u * c0, p1 = (uint64_t)0xCD9E8D57u * c2;
        uint32_t n0 = (uint32_t)(p1 >> 32) ^ c1 ^ k0, n2 = (uint32_t)(p0 >> 32) ^ c3 ^ k1;
        c1 = (uint32_t)p1;
        c3 = (uint32_t)p0;
        c0 = n0;
        c2 = n2;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    struct mgb_random4 random = {{c0, c1, c2, c3}};
    return random;
}

/* Uniform in [0, 1) with 24 bits, exact in f32. */
MGB_ANYWHERE float mgb_random_unit(uint32_t bits)
{
    return (float)(bits >> 8) * (1.0f / 16777216.0f);
}

/* Uniform integer in [0, n), n >= 1, by multiply-shift. */
MGB_ANYWHERE uint32_t mgb_random_below(uint32_t bits, uint32_t n)
{
    return (uint32_t)(((uint64_t)bits * n) >> 32);
}

#endif
