/* See vocabulary.h. A table of open addressing, half full at most; sorted once by merging. */
#include "engine/data/vocabulary.h"

#include "engine/base/hash.h"
#include "engine/base/memory.h"
#include <stdbool.h>
#include <string.h>

enum { FIRST_SLOTS = 1024, MOST_WORDS = 1 << 29 };

const char *mgb_vocabulary_text(const struct mgb_vocabulary *v, int32_t word)
{
    return v->chars + v->words[word].text;
}

static enum mgb_status memory_fail(const struct mgb_vocabulary *v)
{
    return mgb_fail(MGB_NO_MEMORY, "no memory for a vocabulary of %d words", (int)v->count + 1);
}

/* The slot of the word, or the empty one it belongs to. */
static int32_t slot_find(const struct mgb_vocabulary *v, const char *text, size_t length,
                         uint32_t hash)
{
    int32_t slot = (int32_t)(hash & (uint32_t)(v->slot_count - 1));
    for (; v->slots[slot]; slot = (slot + 1) & (v->slot_count - 1)) {
        const struct mgb_word *word = &v->words[v->slots[slot] - 1];
        const char *have = v->chars + word->text;
        if (word->hash == hash && strlen(have) == length && memcmp(have, text, length) == 0)
            break;
    }
    return slot;
}

static bool slots_grow(struct mgb_vocabulary *v)
{
    int32_t count = v->slot_count ? 2 * v->slot_count : FIRST_SLOTS;
    int32_t *slots = mgb_alloc((size_t)count * sizeof *slots);
    if (!slots)
        return false;
    for (int32_t i = 0; i < v->count; i++) {
        int32_t slot = (int32_t)(v->words[i].hash & (uint32_t)(count - 1));
        while (slots[slot])
            slot = (slot + 1) & (count - 1);
        slots[slot] = i + 1;
    }
    mgb_release(v->slots);
    v->slots = slots;
    v->slot_count = count;
    return true;
}

static bool room_make(struct mgb_vocabulary *v, size_t length)
{
    if (v->count == v->capacity) {
        int32_t capacity = v->capacity ? 2 * v->capacity : FIRST_SLOTS / 2;
        void *words = mgb_realloc(v->words, (size_t)capacity * sizeof *v->words);
        if (!words)
            return false;
        v->words = words;
        v->capacity = capacity;
    }
    if (v->room - v->used <= (int64_t)length) {
        int64_t room = 2 * v->room + (int64_t)length + 4096;
        char *chars = mgb_realloc(v->chars, (size_t)room);
        if (!chars)
            return false;
        v->chars = chars;
        v->room = room;
    }
    return 2 * (v->count + 1) <= v->slot_count || slots_grow(v);
}

enum mgb_status mgb_vocabulary_add(int32_t *word, struct mgb_vocabulary *v, const char *text,
                                   size_t length)
{
    uint32_t hash = (uint32_t)mgb_hash(0, text, length);
    if (v->count == MOST_WORDS)
        return mgb_fail(MGB_INVALID, "a vocabulary of more than %d words", (int)MOST_WORDS);
    if (!room_make(v, length))
        return memory_fail(v);
    int32_t slot = slot_find(v, text, length, hash);
    if (!v->slots[slot]) {
        memcpy(v->chars + v->used, text, length);
        v->chars[v->used + (int64_t)length] = '\0';
        v->words[v->count] = (struct mgb_word){.text = v->used, .hash = hash};
        v->used += (int64_t)length + 1;
        v->slots[slot] = ++v->count;
    }
    *word = v->slots[slot] - 1;
    v->words[*word].seen++;
    return MGB_OK;
}

int32_t mgb_vocabulary_find(const struct mgb_vocabulary *v, const char *text, size_t length)
{
    if (!v->slot_count)
        return -1;
    return v->slots[slot_find(v, text, length, (uint32_t)mgb_hash(0, text, length))] - 1;
}

/* Stable, so that equals stay in order of appearance. */
static void merge_sort(const struct mgb_vocabulary *v, int32_t *order, int32_t *other)
{
    for (int64_t width = 1; width < v->count; width *= 2) {
        for (int64_t begin = 0; begin < v->count; begin += 2 * width) {
            int64_t middle = begin + width < v->count ? begin + width : v->count;
            int64_t end = middle + width < v->count ? middle + width : v->count;
            for (int64_t i = begin, a = begin, b = middle; i < end; i++) {
                bool left =
                    a < middle && (b == end || v->words[order[a]].seen >= v->words[order[b]].seen);
                other[i] = left ? order[a++] : order[b++];
            }
        }
        memcpy(order, other, (size_t)v->count * sizeof *order);
    }
}

enum mgb_status mgb_vocabulary_rank(struct mgb_vocabulary *v, int32_t first, int64_t most)
{
    size_t bytes = ((size_t)v->count + 1) * sizeof(int32_t);
    v->rank = mgb_alloc(bytes);
    v->ranked = mgb_alloc(bytes);
    if (!v->rank || !v->ranked)
        return memory_fail(v);
    for (int32_t i = 0; i < v->count; i++)
        v->ranked[i] = i;
    merge_sort(v, v->ranked, v->rank);
    v->kept = most > 0 && most < v->count ? (int32_t)most : v->count;
    for (int32_t i = 0; i < v->count; i++)
        v->rank[v->ranked[i]] = i < v->kept ? first + i : -1;
    return MGB_OK;
}

static bool part_copy(void *out, const void *from, size_t bytes)
{
    void *copy = mgb_alloc(bytes ? bytes : 1);
    if (copy && from)
        memcpy(copy, from, bytes);
    memcpy(out, &copy, sizeof copy);
    return copy;
}

enum mgb_status mgb_vocabulary_copy(struct mgb_vocabulary *out, const struct mgb_vocabulary *from)
{
    size_t ranks = ((size_t)from->count + 1) * sizeof(int32_t);
    *out = *from;
    out->words = NULL;
    out->chars = NULL;
    out->slots = out->rank = out->ranked = NULL;
    out->capacity = from->count;
    out->room = from->used;
    bool copied = part_copy(&out->words, from->words, (size_t)from->count * sizeof *from->words) &&
                  part_copy(&out->chars, from->chars, (size_t)from->used) &&
                  part_copy(&out->slots, from->slots, (size_t)from->slot_count * sizeof(int32_t)) &&
                  part_copy(&out->rank, from->rank, ranks) &&
                  part_copy(&out->ranked, from->ranked, ranks);
    return copied ? MGB_OK : memory_fail(from);
}

void mgb_vocabulary_done(struct mgb_vocabulary *v)
{
    mgb_release(v->words);
    mgb_release(v->chars);
    mgb_release(v->slots);
    mgb_release(v->rank);
    mgb_release(v->ranked);
    *v = (struct mgb_vocabulary){0};
}
