/* 16-bit numbers that gradients travel as: IEEE 754 binary16 and bfloat16, to and from f32 by bits alone, so that every
 * device and compiler gets the same. To nearest, ties to even, subnormals and infinities kept, NaN made quiet. The common
 * subset of C11 and CUDA C++; without branches on the value, so that loops over it vectorise. */
#ifndef MGB_BASE_HALF_H
#define MGB_BASE_HALF_H

#include <stdint.h>
#include <string.h>

#ifndef MGB_HALF /* device code says otherwise */
#define MGB_HALF static inline
#endif

MGB_HALF uint32_t mgb_bits_of_f32(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

MGB_HALF float mgb_f32_of_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* The three ranges are computed side by side and one is chosen. Subnormal: adding 0.5 lines the bits up and rounds them as
 * any f32 addition does (F. Giesen, "float_to_half_fast3_rtne", public domain). Normal: half of the last place less one,
 * plus the last bit kept, before the rest is cut off; a carry runs into the exponent and on to infinity. */
MGB_HALF uint16_t mgb_f16_of_f32(float value)
{
    uint32_t bits = mgb_bits_of_f32(value), sign = bits & 0x80000000u, size = bits ^ sign;
    uint32_t small = mgb_bits_of_f32(mgb_f32_of_bits(size) + 0.5f) - 0x3f000000u;
    uint32_t normal = (size + 0xc8000fffu + (size >> 13 & 1u)) >> 13;
    uint32_t big = size > 0x7f800000u ? 0x7e00u : 0x7c00u;
    uint32_t half = size < 0x38800000u ? small : size < 0x47800000u ? normal : big;
    return (uint16_t)(half | sign >> 16);
}

/* Exact. A subnormal is read as the fraction of 2^-14, which is then taken off. */
MGB_HALF float mgb_f32_of_f16(uint16_t half)
{
    uint32_t size = (uint32_t)(half & 0x7fffu) << 13, sign = (uint32_t)(half & 0x8000u) << 16;
    uint32_t finite = size + 0x38000000u;
    uint32_t small = mgb_bits_of_f32(mgb_f32_of_bits(size + 0x38800000u) - 0.00006103515625f);
    uint32_t bits = size >= 0x0f800000u ? size + 0x70000000u : size < 0x00800000u ? small : finite;
    return mgb_f32_of_bits(bits | sign);
}

MGB_HALF uint16_t mgb_bf16_of_f32(float value)
{
    uint32_t bits = mgb_bits_of_f32(value);
    uint32_t rounded = (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16;
    return (uint16_t)((bits & 0x7fffffffu) > 0x7f800000u ? bits >> 16 | 0x40u : rounded);
}

MGB_HALF float mgb_f32_of_bf16(uint16_t half)
{
    return mgb_f32_of_bits((uint32_t)half << 16);
}

#endif
