/* Sixteen channels at once, in small arrays and loops of constant length that gcc and clang vectorise in every version
 * that simd.h makes. Choices are written with masks of bits: as conditions they come out element by element. (The
 * compiler's vector types would not do: gcc takes them apart before it knows the version's instruction set.) */
#ifndef MGB_HOST_LANES_H
#define MGB_HOST_LANES_H

#include <stdint.h>
#include <string.h>

#define MGB_LANES 16
#define MGB_LANES_INLINE static inline __attribute__((always_inline))

/* Lane by lane: if in > best or in is NaN, best becomes in and winner becomes cell. */
MGB_LANES_INLINE void mgb_lanes_max(float *best, int32_t *winner, const float *in, int32_t cell)
{
    for (int j = 0; j < MGB_LANES; j++) {
        int32_t more = -(in[j] > best[j]) | -(in[j] != in[j]), bits, old;
        memcpy(&bits, &in[j], sizeof bits);
        memcpy(&old, &best[j], sizeof old);
        bits = (bits & more) | (old & ~more);
        memcpy(&best[j], &bits, sizeof bits);
        winner[j] = (cell & more) | (winner[j] & ~more);
    }
}

/* Lane by lane: adds value where index is cell. */
MGB_LANES_INLINE void mgb_lanes_add_where(float *sum, const float *value, const uint8_t *index,
                                          int32_t cell)
{
    for (int j = 0; j < MGB_LANES; j++) {
        int32_t bits;
        float chosen;
        memcpy(&bits, &value[j], sizeof bits);
        bits &= -(index[j] == cell);
        memcpy(&chosen, &bits, sizeof chosen);
        sum[j] += chosen;
    }
}

#endif
