/* Flat tasks of a plan: what kind one is of, and for which others each waits. Order within a queue is not among the waits:
 * queue and start tell it. Knows plans only. */
#ifndef APP_SESSION_TASKS_H
#define APP_SESSION_TASKS_H

#include <mgb/plan.h>

/* The word of the database contract ("compute"); static. */
const char *mgb_session_task_kind_name(enum mgb_task_kind kind);

struct session_task_waits {
    int count;  /* flat tasks that have a list: the first ones */
    int *begin; /* count + 1 of them, into at */
    int *at;    /* flat numbers */
};

/* Of the first `most` tasks of `flat`, which is the plan's. MGB_NO_MEMORY. */
enum mgb_status mgb_session_task_waits_make(struct session_task_waits *out,
                                            const struct mgb_plan *plan,
                                            const struct mgb_flat *flat, int most);
void mgb_session_task_waits_done(struct session_task_waits *waits);

#endif
