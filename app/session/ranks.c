/* See ranks.h. */
#include "app/session/ranks.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCK = 512 }; /* numbers in one, at most */

void mgb_session_ranks_clear(struct session_ranks *ranks)
{
    for (size_t i = 0; i < ranks->block_count; i++)
        free(ranks->blocks[i].at);
    free(ranks->blocks);
    *ranks = (struct session_ranks){0};
}

/* An empty block at `index`; false: no memory. */
static bool block_make(struct session_ranks *ranks, size_t index)
{
    if (ranks->block_count == ranks->block_capacity) {
        size_t capacity = ranks->block_capacity ? 2 * ranks->block_capacity : 16;
        struct session_ranks_block *more = realloc(ranks->blocks, capacity * sizeof *ranks->blocks);
        if (!more)
            return false;
        ranks->blocks = more;
        ranks->block_capacity = capacity;
    }
    int64_t *at = malloc(BLOCK * sizeof *at);
    if (!at)
        return false;
    struct session_ranks_block *block = ranks->blocks + index;
    memmove(block + 1, block, (ranks->block_count - index) * sizeof *block);
    *block = (struct session_ranks_block){at, 0};
    ranks->block_count++;
    return true;
}

/* The first block whose last number is not below `value`; the last one when there is none. */
static size_t block_find(const struct session_ranks *ranks, int64_t value)
{
    size_t low = 0, high = ranks->block_count - 1;
    while (low < high) {
        size_t middle = (low + high) / 2;
        const struct session_ranks_block *block = &ranks->blocks[middle];
        if (block->at[block->count - 1] < value)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The upper half of a full block becomes the next one. */
static bool block_split(struct session_ranks *ranks, size_t index)
{
    if (!block_make(ranks, index + 1))
        return false;
    struct session_ranks_block *low = &ranks->blocks[index], *high = low + 1;
    high->count = BLOCK / 2;
    low->count -= high->count;
    memcpy(high->at, low->at + low->count, high->count * sizeof *high->at);
    return true;
}

static void block_add(struct session_ranks_block *block, int64_t value)
{
    size_t low = 0, high = block->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (block->at[middle] < value)
            low = middle + 1;
        else
            high = middle;
    }
    memmove(block->at + low + 1, block->at + low, (block->count - low) * sizeof *block->at);
    block->at[low] = value;
    block->count++;
}

bool mgb_session_ranks_add(struct session_ranks *ranks, int64_t value)
{
    if (ranks->block_count == 0 && !block_make(ranks, 0))
        return false;
    size_t index = block_find(ranks, value);
    if (ranks->blocks[index].count == BLOCK) {
        if (!block_split(ranks, index))
            return false;
        const struct session_ranks_block *low = &ranks->blocks[index];
        index += low->at[low->count - 1] < value;
    }
    block_add(&ranks->blocks[index], value);
    ranks->count++;
    return true;
}

int64_t mgb_session_ranks_get(const struct session_ranks *ranks, size_t rank)
{
    const struct session_ranks_block *block = ranks->blocks;
    for (; rank >= block->count; block++)
        rank -= block->count;
    return block->at[rank];
}
