/* Numbers in their order while more and more come: which is the n-th smallest, without sorting all of them each time. Sorted
 * blocks in a row; of a million numbers each costs well below a microsecond. Knows nothing of steps. */
#ifndef APP_SESSION_RANKS_H
#define APP_SESSION_RANKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct session_ranks { /* zeroed: none */
    struct session_ranks_block {
        int64_t *at; /* ascending, and none is greater than any of the next block */
        size_t count;
    } * blocks;
    size_t block_count, block_capacity;
    size_t count;
};

/* Takes all of them out again. */
void mgb_session_ranks_clear(struct session_ranks *ranks);
/* False: memory is exhausted, and it is not among them. */
bool mgb_session_ranks_add(struct session_ranks *ranks, int64_t value);
/* The smallest is 0; rank < count. */
int64_t mgb_session_ranks_get(const struct session_ranks *ranks, size_t rank);

#endif
