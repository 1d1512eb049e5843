/* XXH64 of the xxHash specification, version 0.1.1 (Collet): four lanes of 8 bytes, little-endian on every machine. */
#include "engine/base/hash.h"

#include <string.h>

#define PRIME1 0x9E3779B185EBCA87ULL
#define PRIME2 0xC2B2AE3D27D4EB4FULL
#define PRIME3 0x165667B19E3779F9ULL
#define PRIME4 0x85EBCA77C2B2AE63ULL
#define PRIME5 0x27D4EB2F165667C5ULL

static uint64_t bits_rotate(uint64_t value, int by)
{
    return value << by | value >> (64 - by);
}

static uint64_t word_read(const unsigned char *at, int bytes)
{
    uint64_t value = 0;
    memcpy(&value, at, (size_t)bytes);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    value = __builtin_bswap64(value);
#endif
    return value;
}

static uint64_t lane_round(uint64_t lane, uint64_t input)
{
    return bits_rotate(lane + input * PRIME2, 31) * PRIME1;
}

static uint64_t lane_merge(uint64_t sum, uint64_t lane)
{
    return (sum ^ lane_round(0, lane)) * PRIME1 + PRIME4;
}

/* Consumes whole stripes of 32 bytes, moving *at. */
static uint64_t stripes_hash(uint64_t seed, const unsigned char **at, size_t stripes)
{
    uint64_t lanes[4] = {seed + PRIME1 + PRIME2, seed + PRIME2, seed, seed - PRIME1};
    for (; stripes > 0; stripes--)
        for (int i = 0; i < 4; i++, *at += 8)
            lanes[i] = lane_round(lanes[i], word_read(*at, 8));
    uint64_t sum = bits_rotate(lanes[0], 1) + bits_rotate(lanes[1], 7) + bits_rotate(lanes[2], 12) +
                   bits_rotate(lanes[3], 18);
    for (int i = 0; i < 4; i++)
        sum = lane_merge(sum, lanes[i]);
    return sum;
}

static uint64_t tail_hash(uint64_t sum, const unsigned char *at, size_t left)
{
    for (; left >= 8; left -= 8, at += 8)
        sum = bits_rotate(sum ^ lane_round(0, word_read(at, 8)), 27) * PRIME1 + PRIME4;
    if (left >= 4) {
        sum = bits_rotate(sum ^ word_read(at, 4) * PRIME1, 23) * PRIME2 + PRIME3;
        left -= 4;
        at += 4;
    }
    for (; left > 0; left--, at++)
        sum = bits_rotate(sum ^ *at * PRIME5, 11) * PRIME1;
    return sum;
}

uint64_t mgb_hash(uint64_t seed, const void *data, size_t bytes)
{
    const unsigned char *at = data;
    size_t stripes = bytes / 32;
    uint64_t sum = stripes > 0 ? stripes_hash(seed, &at, stripes) : seed + PRIME5;
    sum = tail_hash(sum + bytes, at, bytes % 32);
    sum = (sum ^ sum >> 33) * PRIME2;
    sum = (sum ^ sum >> 29) * PRIME3;
    return sum ^ sum >> 32;
}
