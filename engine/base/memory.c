/* Counted heap calls, and the pool: a chain of blocks handed out from the front, newest block first. */
#include "engine/base/memory.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define POOL_ALIGNMENT 16
#define POOL_FIRST_BYTES 4096
#define POOL_MOST_BYTES (1024 * 1024)

static atomic_llong alloc_count;
static atomic_llong fail_countdown; /* 0: off; 1: the next allocation fails */

static bool alloc_may_proceed(void)
{
    atomic_fetch_add_explicit(&alloc_count, 1, memory_order_relaxed);
    if (atomic_load_explicit(&fail_countdown, memory_order_relaxed) == 0)
        return true;
    return atomic_fetch_sub(&fail_countdown, 1) != 1;
}

void *mgb_alloc(size_t bytes)
{
    return alloc_may_proceed() ? calloc(1, bytes) : NULL;
}

void *mgb_realloc(void *block, size_t bytes)
{
    return alloc_may_proceed() ? realloc(block, bytes) : NULL;
}

void mgb_release(void *block)
{
    free(block);
}

char *mgb_copy_string(const char *text)
{
    size_t bytes = strlen(text) + 1;
    char *copy = mgb_alloc(bytes);
    if (copy)
        memcpy(copy, text, bytes);
    return copy;
}

long long mgb_alloc_count(void)
{
    return atomic_load(&alloc_count);
}

void mgb_alloc_fail_at(long long n)
{
    atomic_store(&fail_countdown, n);
}

struct mgb_pool_block {
    struct mgb_pool_block *next;
    size_t used, capacity; /* bytes, this head included */
};

static size_t bytes_align(size_t bytes)
{
    return (bytes + POOL_ALIGNMENT - 1) & ~(size_t)(POOL_ALIGNMENT - 1);
}

void mgb_pool_init(struct mgb_pool *pool)
{
    pool->block = NULL;
}

void mgb_pool_done(struct mgb_pool *pool)
{
    while (pool->block) {
        struct mgb_pool_block *next = pool->block->next;
        mgb_release(pool->block);
        pool->block = next;
    }
}

/* Blocks double up to a limit, so that a small graph stays small; a large request gets a block of its own size. */
static struct mgb_pool_block *pool_grow(struct mgb_pool *pool, size_t bytes)
{
    size_t head = bytes_align(sizeof(struct mgb_pool_block));
    size_t capacity = pool->block ? 2 * pool->block->capacity : POOL_FIRST_BYTES;
    if (capacity > POOL_MOST_BYTES)
        capacity = POOL_MOST_BYTES;
    if (capacity < head + bytes)
        capacity = head + bytes;
    struct mgb_pool_block *block = mgb_alloc(capacity);
    if (!block)
        return NULL;
    block->next = pool->block;
    block->used = head;
    block->capacity = capacity;
    pool->block = block;
    return block;
}

void *mgb_pool_alloc(struct mgb_pool *pool, size_t bytes)
{
    if (bytes > SIZE_MAX / 2)
        return NULL;
    size_t size = bytes_align(bytes ? bytes : 1);
    struct mgb_pool_block *block = pool->block;
    if (!block || block->capacity - block->used < size)
        block = pool_grow(pool, size);
    if (!block)
        return NULL;
    void *result = (char *)block + block->used;
    block->used += size;
    return result;
}

char *mgb_pool_copy(struct mgb_pool *pool, const char *text)
{
    size_t bytes = strlen(text) + 1;
    char *copy = mgb_pool_alloc(pool, bytes);
    if (copy)
        memcpy(copy, text, bytes);
    return copy;
}
