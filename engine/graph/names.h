/* Making names unique. Private to engine/graph. */
#ifndef MGB_GRAPH_NAMES_H
#define MGB_GRAPH_NAMES_H

#include "engine/base/memory.h"
#include <mgb/status.h>
#include <stdbool.h>

/* Names made twice get _1, _2 in order of appearance. */
struct mgb_unique_name {
    int parent;       /* names with different parents do not clash */
    const char *raw;  /* in */
    const char *name; /* out, borrowed or in the pool */
    bool fixed;       /* keeps its name whatever happens */
};
enum mgb_status mgb_names_make_unique(struct mgb_pool *pool, struct mgb_unique_name *names,
                                      int count);

#endif
