/* Memory that is taken piece by piece and given back all at once: what owns the arrays and texts of a snapshot's part. */
#ifndef APP_SESSION_WORKBENCH_POOL_H
#define APP_SESSION_WORKBENCH_POOL_H

#include <stdbool.h>
#include <stddef.h>

struct mgb_bench_pool {
    struct mgb_bench_piece *newest;
    bool failed; /* something asked for was not there */
};

/* Zeroed, for any type; NULL: no memory. `size` may be 0. */
void *mgb_bench_pool_get(struct mgb_bench_pool *pool, size_t size);
/* A copy; NULL: no memory. */
const char *mgb_bench_pool_text(struct mgb_bench_pool *pool, const char *text);
void mgb_bench_pool_done(struct mgb_bench_pool *pool);

#endif
