/* Inside of the workbench: wishes that wait, and changes that can be undone. */
#ifndef APP_SESSION_WORKBENCH_WISHES_H
#define APP_SESSION_WORKBENCH_WISHES_H

#include "app/session/workbench/workbench.h"

enum { MGB_UNDO_MOST = 100 };

struct mgb_assignment { /* of a placement option, as mgb_placement_set takes it; "nil" unsets */
    enum mgb_option_id option;
    char value[512];
};

struct mgb_queued { /* a wish that waits */
    struct mgb_queued *next;
    enum mgb_wish_kind kind;
    char *text; /* owned; NULL */
    int64_t run;
    uint64_t serial;
    int count; /* placement wishes: what they set */
    struct mgb_assignment at[MGB_OPTION_COUNT];
};

struct mgb_undo { /* what was asked before a change */
    uint64_t serial;
    struct mgb_placement before;
};

enum mgb_status mgb_bench_ask(struct mgb_workbench *bench, const struct mgb_wish *wish);
void mgb_bench_pending(struct mgb_workbench *bench, struct mgb_pending *out); /* locked */
/* What makes `to` of `from`, added to a wish. */
void mgb_bench_difference(struct mgb_queued *out, const struct mgb_placement *from,
                          const struct mgb_placement *to);
/* The next wish, to be freed with mgb_bench_wish_free; placement wishes that follow each other come as a list. NULL: none.
 * Takes interrupts back, unless the program ends: then there is none. */
struct mgb_queued *mgb_bench_take(struct mgb_workbench *bench);
void mgb_bench_wish_free(struct mgb_queued *wishes); /* a list; NULL is allowed */
/* A taken placement wish was refused: it is no change to be undone. */
void mgb_bench_refused(struct mgb_workbench *bench, const struct mgb_queued *wish);
/* What is in force has changed, or a wish was refused: `wanted` is made anew. `before`: an expression changed it, which can
 * be undone; NULL otherwise. */
void mgb_bench_in_force(struct mgb_workbench *bench, const struct mgb_placement *before);

#endif
