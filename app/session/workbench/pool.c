/* See pool.h. */
#include "app/session/workbench/pool.h"

#include <stdlib.h>
#include <string.h>

enum { PIECE = 1 << 14, ALIGNMENT = sizeof(max_align_t) };

struct mgb_bench_piece {
    struct mgb_bench_piece *next;
    size_t used, size;
    max_align_t at[];
};

static struct mgb_bench_piece *piece_add(struct mgb_bench_pool *pool, size_t least)
{
    size_t size = least > PIECE ? least : PIECE;
    struct mgb_bench_piece *piece = calloc(1, sizeof *piece + size);
    if (!piece)
        return NULL;
    piece->size = size;
    piece->next = pool->newest;
    return pool->newest = piece;
}

void *mgb_bench_pool_get(struct mgb_bench_pool *pool, size_t size)
{
    struct mgb_bench_piece *piece = pool->newest;
    size_t rounded = (size / ALIGNMENT + 1) * ALIGNMENT;
    if (!piece || piece->size - piece->used < rounded)
        piece = piece_add(pool, rounded);
    if (!piece) {
        pool->failed = true;
        return NULL;
    }
    void *out = (char *)piece->at + piece->used;
    piece->used += rounded;
    return out;
}

const char *mgb_bench_pool_text(struct mgb_bench_pool *pool, const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = mgb_bench_pool_get(pool, size);
    return copy ? memcpy(copy, text, size) : NULL;
}

void mgb_bench_pool_done(struct mgb_bench_pool *pool)
{
    while (pool->newest) {
        struct mgb_bench_piece *next = pool->newest->next;
        free(pool->newest);
        pool->newest = next;
    }
}
