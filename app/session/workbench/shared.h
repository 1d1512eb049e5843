/* Parts of snapshots that several of them hold: made once, read by any thread, freed by the last holder. */
#ifndef APP_SESSION_WORKBENCH_SHARED_H
#define APP_SESSION_WORKBENCH_SHARED_H

#include <stdatomic.h>

struct mgb_shared { /* the first member of such a part */
    atomic_int holders;
    void (*free)(void *part); /* frees the part itself too */
};

/* One more holder; NULL is passed on. */
static inline void *mgb_shared_hold(const void *part)
{
    struct mgb_shared *shared = (struct mgb_shared *)part;
    if (shared)
        atomic_fetch_add(&shared->holders, 1);
    return shared;
}

static inline void mgb_shared_drop(const void *part) /* NULL is allowed */
{
    struct mgb_shared *shared = (struct mgb_shared *)part;
    if (shared && atomic_fetch_sub(&shared->holders, 1) == 1)
        shared->free(shared);
}

#endif
