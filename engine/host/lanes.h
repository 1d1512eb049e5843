/* Eight channels at once, as two of the compiler's vectors of four floats, which every machine of interest has: what
 * gcc and clang make of it does not depend on how well a loop happens to vectorise. */
#ifndef MGB_HOST_LANES_H
#define MGB_HOST_LANES_H

#include <stdint.h>
#include <string.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#define MGB_LANES 8
#define MGB_LANES_INLINE static inline __attribute__((always_inline))

typedef float mgb_float4 __attribute__((vector_size(16)));
typedef int32_t mgb_int4 __attribute__((vector_size(16)));

struct mgb_lanes {
    mgb_float4 a, b;
};
struct mgb_winners { /* a number a lane */
    mgb_int4 a, b;
};

MGB_LANES_INLINE struct mgb_lanes mgb_lanes_load(const float *from)
{
    struct mgb_lanes lanes;
    memcpy(&lanes.a, from, 16);
    memcpy(&lanes.b, from + 4, 16);
    return lanes;
}

MGB_LANES_INLINE void mgb_lanes_store(float *to, struct mgb_lanes lanes)
{
    memcpy(to, &lanes.a, 16);
    memcpy(to + 4, &lanes.b, 16);
}

MGB_LANES_INLINE struct mgb_lanes mgb_lanes_add(struct mgb_lanes x, struct mgb_lanes y)
{
    return (struct mgb_lanes){x.a + y.a, x.b + y.b};
}

MGB_LANES_INLINE struct mgb_winners mgb_winners_all(int32_t cell)
{
    mgb_int4 all = {cell, cell, cell, cell};
    return (struct mgb_winners){all, all};
}

/* Where in > best or in is NaN, best becomes in and winner becomes cell. */
MGB_LANES_INLINE void mgb_max4(mgb_float4 *best, mgb_int4 *winner, mgb_float4 in, mgb_int4 cell)
{
    mgb_int4 more = (mgb_int4)(in > *best) | (mgb_int4)(in != in);
    *best = (mgb_float4)(((mgb_int4)in & more) | ((mgb_int4)*best & ~more));
    *winner = (cell & more) | (*winner & ~more);
}

MGB_LANES_INLINE void mgb_lanes_max(struct mgb_lanes *best, struct mgb_winners *winner,
                                    const float *from, int32_t cell)
{
    struct mgb_lanes in = mgb_lanes_load(from);
    mgb_int4 cells = {cell, cell, cell, cell};
    mgb_max4(&best->a, &winner->a, in.a, cells);
    mgb_max4(&best->b, &winner->b, in.b, cells);
}

/* Numbers below 256 as bytes, and back. */
MGB_LANES_INLINE void mgb_winners_store(uint8_t *to, struct mgb_winners winner)
{
#if defined(__SSE2__)
    __m128i half = _mm_packs_epi32((__m128i)winner.a, (__m128i)winner.b);
    _mm_storel_epi64((__m128i *)(void *)to, _mm_packus_epi16(half, half));
#else
    int32_t number[MGB_LANES];
    memcpy(number, &winner, sizeof number);
    for (int j = 0; j < MGB_LANES; j++)
        to[j] = (uint8_t)number[j];
#endif
}

MGB_LANES_INLINE struct mgb_winners mgb_winners_load(const uint8_t *from)
{
    struct mgb_winners winner;
#if defined(__SSE2__)
    __m128i bytes = _mm_loadl_epi64((const __m128i *)(const void *)from),
            zero = _mm_setzero_si128();
    __m128i half = _mm_unpacklo_epi8(bytes, zero);
    winner.a = (mgb_int4)_mm_unpacklo_epi16(half, zero);
    winner.b = (mgb_int4)_mm_unpackhi_epi16(half, zero);
#else
    int32_t number[MGB_LANES];
    for (int j = 0; j < MGB_LANES; j++)
        number[j] = from[j];
    memcpy(&winner, number, sizeof number);
#endif
    return winner;
}

/* value where the winner is cell, else 0. */
MGB_LANES_INLINE struct mgb_lanes mgb_lanes_where(struct mgb_lanes value, struct mgb_winners winner,
                                                  int32_t cell)
{
    mgb_int4 cells = {cell, cell, cell, cell};
    return (struct mgb_lanes){(mgb_float4)((mgb_int4)value.a & (winner.a == cells)),
                              (mgb_float4)((mgb_int4)value.b & (winner.b == cells))};
}

#endif
