/* Flat tasks of a plan: for which others each waits. Order within a queue is not among the waits:
 * queue and start tell it. Knows plans only. */
#ifndef APP_SESSION_TASKS_H
#define APP_SESSION_TASKS_H

#include <mgb/plan.h>

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
