/* The order of rows in an epoch: a permutation that depends on seed and epoch only. */
#ifndef MGB_DATA_ORDER_H
#define MGB_DATA_ORDER_H

#include <mgb/status.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct mgb_order {
    int64_t rows;
    uint64_t seed;
    int64_t epoch;         /* of `permutation`; -1: none made yet */
    uint32_t *permutation; /* NULL: stored order always */
    pthread_mutex_t lock;  /* two runs may share a source, each reading ahead on its thread */
};

/* MGB_INVALID for more rows than 32 bits count, MGB_NO_MEMORY. */
enum mgb_status mgb_order_init(struct mgb_order *out, int64_t rows, bool shuffle);
void mgb_order_done(struct mgb_order *order);
/* Makes the permutation of this epoch current and keeps it until the end; epoch -1 is the stored order. */
void mgb_order_begin(struct mgb_order *order, uint64_t seed, int64_t epoch);
void mgb_order_end(struct mgb_order *order);
/* The stored row at a position of the epoch begun. */
int64_t mgb_order_at(const struct mgb_order *order, int64_t epoch, int64_t position);

/* Refuses a request outside a source of `of` rows (0: endless), naming both. */
enum mgb_status mgb_rows_check(const char *what, int64_t of, int64_t first, int64_t rows);

#endif
