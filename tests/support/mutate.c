/* See mutate.h. File format: sqlite.org/fileformat2.html. */
#include "tests/support/mutate.h"

#include <string.h>

#include "db/draw.h"

enum { PAGE = 4096 };

struct damage {
    unsigned char *data;
    size_t size, room;
    uint64_t seed, draws;
};

static size_t below(struct damage *damage, size_t n)
{
    return n == 0 ? 0 : mgb_draw_below(mgb_draw_at(damage->seed, 7, damage->draws++), (uint32_t)n);
}

static unsigned char byte_of(struct damage *damage)
{
    static const unsigned char corners[] = {0x00, 0x01, 0x7f, 0x80, 0x81, 0xfe, 0xff};
    return below(damage, 2) ? corners[below(damage, sizeof corners)]
                            : (unsigned char)below(damage, 256);
}

static size_t page_at(struct damage *damage)
{
    return below(damage, damage->size / PAGE) * PAGE;
}

static void any_bytes(struct damage *damage)
{
    for (size_t i = 0, count = 1 + below(damage, 8); i < count && damage->size > 0; i++)
        damage->data[below(damage, damage->size)] = byte_of(damage);
}

/* Page size, versions, counters, free list, encoding. */
static void file_header(struct damage *damage)
{
    for (size_t i = 0, count = 1 + below(damage, 3); i < count && damage->size >= 100; i++)
        damage->data[16 + below(damage, 84)] = byte_of(damage);
}

/* Kind, first free block, number of cells, and where cells lie. */
static void page_header(struct damage *damage)
{
    size_t page = page_at(damage);
    size_t begin = page == 0 ? 100 : page;
    for (size_t i = 0, count = 1 + below(damage, 4); i < count; i++)
        if (begin + 64 < damage->size)
            damage->data[begin + below(damage, 64)] = byte_of(damage);
}

/* Long variable-length integers: sizes, row ids, types of columns. */
static void cell_lengths(struct damage *damage)
{
    size_t at = page_at(damage) + below(damage, PAGE);
    for (size_t i = 0, count = 1 + below(damage, 9); i < count && at + i < damage->size; i++)
        damage->data[at + i] = (unsigned char)(0x80 | byte_of(damage));
}

static void pages_exchange(struct damage *damage)
{
    size_t from = page_at(damage), to = page_at(damage);
    if (from + PAGE <= damage->size && to + PAGE <= damage->size)
        memmove(damage->data + to, damage->data + from, PAGE);
}

static void page_clear(struct damage *damage)
{
    size_t page = page_at(damage);
    if (page + PAGE <= damage->size)
        memset(damage->data + page, byte_of(damage), PAGE);
}

static void length_change(struct damage *damage)
{
    if (below(damage, 2)) {
        damage->size = below(damage, damage->size + 1);
        return;
    }
    size_t more = below(damage, damage->room - damage->size + 1);
    memset(damage->data + damage->size, byte_of(damage), more);
    damage->size += more;
}

/* A word of the schema's text by another of the same length, anywhere it stands. */
static void schema_text(struct damage *damage)
{
    static const char *const words[][2] = {{"INTEGER", "BLOB   "},
                                           {"TEXT", "REAL"},
                                           {"STRICT", "      "},
                                           {"NOT NULL", "        "},
                                           {"PRIMARY", "UNIQUE "},
                                           {"CREATE TABLE", "CREATE VIEW "},
                                           {"CREATE VIEW", "CREATE TEMP"},
                                           {"REFERENCES", "CHECK(1=1)"},
                                           {"SELECT", "VALUES"},
                                           {"segment_id", "rowid + 1 "},
                                           {"step", "run "},
                                           {"WITHOUT ROWID", "             "},
                                           {"FROM", "JOIN"},
                                           {"CHECK (", "       "},
                                           {"wall_ns", "start_n"}};
    size_t pick = below(damage, sizeof words / sizeof *words), length = strlen(words[pick][0]);
    unsigned char *at = damage->data, *end = damage->data + damage->size;
    for (size_t skip = below(damage, 12); at; skip--) {
        at = memmem(at, (size_t)(end - at), words[pick][0], length);
        if (!at)
            return;
        if (skip == 0) {
            memcpy(at, words[pick][1], length);
            return;
        }
        at += length;
    }
}

void mutate_file(unsigned char *data, size_t *size, size_t room, uint64_t seed)
{
    static void (*const damages[])(struct damage * damage) = {
        any_bytes,      file_header, page_header,   page_header, cell_lengths, cell_lengths,
        pages_exchange, page_clear,  length_change, schema_text, schema_text};
    struct damage damage = {.data = data, .size = *size, .room = room, .seed = seed};
    for (size_t i = 0, count = 1 + below(&damage, 4); i < count; i++)
        damages[below(&damage, sizeof damages / sizeof *damages)](&damage);
    *size = damage.size;
}
