/* See damage.h. */
#include "tests/engine/io/damage.h"

#include "db/draw.h"
#include <stdio.h>
#include <string.h>

struct damage {
    unsigned char *data;
    size_t size, room;
    uint64_t seed, draws;
};

static size_t below(struct damage *damage, size_t n)
{
    return n == 0 ? 0 : mgb_draw_below(mgb_draw_at(damage->seed, 8, damage->draws++), (uint32_t)n);
}

/* Bytes of the header that are there, whatever the first eight say. */
static size_t header_size(const struct damage *damage)
{
    uint64_t size = 0;
    if (damage->size < 8)
        return 0;
    memcpy(&size, damage->data, 8);
    return size < damage->size - 8 ? (size_t)size : damage->size - 8;
}

/* Puts `length` bytes where `cut` were; the header's length follows (half of the time) or not. */
static void splice(struct damage *damage, size_t at, size_t cut, const char *with, size_t length)
{
    uint64_t header = 0;
    if (damage->size < 8 || at + cut > damage->size || damage->size - cut + length > damage->room)
        return;
    memmove(damage->data + at + length, damage->data + at + cut, damage->size - at - cut);
    memcpy(damage->data + at, with, length);
    damage->size += length - cut;
    memcpy(&header, damage->data, 8);
    header += length - cut;
    if (below(damage, 4))
        memcpy(damage->data, &header, 8);
}

static void any_bytes(struct damage *damage)
{
    for (size_t i = 0, count = 1 + below(damage, 8); i < count && damage->size > 0; i++)
        damage->data[below(damage, damage->size)] = (unsigned char)below(damage, 256);
}

static void header_bytes(struct damage *damage)
{
    static const char odd[] = "{}[]:,\"\\ 0123456789-eE.\n\x01\x80\xff";
    size_t header = header_size(damage);
    for (size_t i = 0, count = 1 + below(damage, 3); i < count && header > 0; i++)
        damage->data[8 + below(damage, header)] = (unsigned char)odd[below(damage, sizeof odd)];
}

static void header_length(struct damage *damage)
{
    static const uint64_t odd[] = {0,         1,         7, UINT64_C(1) << 31, UINT64_C(1) << 60,
                                   INT64_MAX, UINT64_MAX};
    uint64_t size;
    if (damage->size < 8)
        return;
    memcpy(&size, damage->data, 8);
    size = below(damage, 2) ? odd[below(damage, 7)] : size + below(damage, 17) - 8;
    memcpy(damage->data, &size, 8);
}

/* A number of the header by another one. */
static void number_change(struct damage *damage)
{
    static const char *const odd[] = {"0",
                                      "1",
                                      "4",
                                      "-1",
                                      "1e3",
                                      "00",
                                      "NaN",
                                      "4294967296",
                                      "2305843009213693952",
                                      "9223372036854775807",
                                      "9223372036854775808",
                                      "1152921504606846976"};
    size_t header = header_size(damage), at = 8 + below(damage, header), length = 0;
    while (at < 8 + header && (damage->data[at] < '0' || damage->data[at] > '9'))
        at++;
    while (at + length < 8 + header && damage->data[at + length] >= '0' &&
           damage->data[at + length] <= '9')
        length++;
    const char *with = odd[below(damage, sizeof odd / sizeof *odd)];
    if (length)
        splice(damage, at, length, with, strlen(with));
}

/* A word of the header by another one, or a piece of it once more. */
static void word_change(struct damage *damage)
{
    static const char *const words[] = {
        "F32",          "F16",          "BF16",         "F64",        "dtype", "shape",
        "data_offsets", "__metadata__", "dense/kernel", "dense/bias", "adam",  "sgd",
        "mgbench",      "weights",      "\"",           "}",          "{",     "[[[[",
        "\\ud800",      "\\u0000"};
    size_t header = header_size(damage), count = sizeof words / sizeof *words;
    const char *from = words[below(damage, count)], *to = words[below(damage, count)];
    unsigned char *at = header ? memmem(damage->data + 8, header, from, strlen(from)) : NULL;
    for (size_t skip = below(damage, 6); at && skip > 0; skip--) {
        size_t next = (size_t)(at - damage->data) + 1;
        at = memmem(damage->data + next, 8 + header - next, from, strlen(from));
    }
    if (at)
        splice(damage, (size_t)(at - damage->data), strlen(from), to, strlen(to));
}

static void piece_repeat(struct damage *damage)
{
    char piece[200];
    size_t header = header_size(damage), length = below(damage, header < 200 ? header : 200);
    if (!length)
        return;
    memcpy(piece, damage->data + 8 + below(damage, header - length), length);
    splice(damage, 8 + below(damage, header), 0, piece, length);
}

static void end_change(struct damage *damage)
{
    if (below(damage, 3) == 0) {
        size_t more = below(damage, 64);
        if (damage->size + more <= damage->room) {
            memset(damage->data + damage->size, 0x55, more);
            damage->size += more;
        }
        return;
    }
    size_t cut = below(damage, 2) ? below(damage, 16) : below(damage, damage->size + 1);
    damage->size -= cut < damage->size ? cut : damage->size;
}

void io_damage(unsigned char *data, size_t *size, size_t room, uint64_t seed)
{
    static void (*const damages[])(struct damage * damage) = {
        any_bytes,     header_bytes, header_bytes, header_length, number_change,
        number_change, word_change,  word_change,  piece_repeat,  end_change};
    struct damage damage = {.data = data, .size = *size, .room = room, .seed = seed};
    for (size_t i = 0, count = 1 + below(&damage, 3); i < count; i++)
        damages[below(&damage, sizeof damages / sizeof *damages)](&damage);
    *size = damage.size;
}
