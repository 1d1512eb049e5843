/* The engine's own heap calls, so that tests can count them, cap them and make the n-th one fail. Everything in engine/
 * and db/ allocates through these. Memory from mgb_alloc is zeroed. */
#ifndef MGB_BASE_MEMORY_H
#define MGB_BASE_MEMORY_H

#include <stddef.h>

void *mgb_alloc(size_t bytes); /* zeroed; NULL when exhausted; never called with 0 */
/* The new part is not zeroed; NULL leaves `block` as it was. */
void *mgb_realloc(void *block, size_t bytes);
void mgb_release(void *block);           /* NULL is fine */
char *mgb_copy_string(const char *text); /* NULL when exhausted */

/* For tests: calls to mgb_alloc/mgb_realloc so far in the process. */
long long mgb_alloc_count(void);
/* For tests: the n-th allocation from now fails (0: none does). Process-wide. */
void mgb_alloc_fail_at(long long n);

/* A bump arena: objects that live and die together (a graph, a plan). Freed whole. */
struct mgb_pool {
    struct mgb_pool_block *block;
};
void mgb_pool_init(struct mgb_pool *pool);
void mgb_pool_done(struct mgb_pool *pool);
/* Zeroed, 16-byte aligned; NULL when exhausted. */
void *mgb_pool_alloc(struct mgb_pool *pool, size_t bytes);
char *mgb_pool_copy(struct mgb_pool *pool, const char *text);

#endif
