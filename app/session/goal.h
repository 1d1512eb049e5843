/* When a whole run has steps enough: its warm-up has ended, its median is as precise as was asked, or a bound is reached.
 * Knows step times only. */
#ifndef APP_SESSION_GOAL_H
#define APP_SESSION_GOAL_H

#include "app/session/series.h"

enum {
    MGB_GOAL_TIMES =
        4 /* an automatic warm-up that does not end stops at (steps + floor) times this */
};
#define MGB_GOAL_DEFAULT_NS INT64_C(60000000000) /* limit of time when only a noise is asked for */

struct session_goal {
    int64_t steps;       /* least number of timed ones */
    int64_t warmup;      /* before them; MGB_WARMUP_AUTO: found */
    double target_noise; /* half width of the median's interval over it; 0: none */
    int64_t max_time_ns; /* since the first step; 0: none */
    int64_t next;        /* step count at which to look again */
    const char *reason;  /* why it ended: "steps", "noise", "time"; NULL: it has not */
};

void mgb_session_goal_begin(struct session_goal *goal, int64_t steps);
/* Looks at the steps there are: sets `reason`, or `next` to a larger count. */
void mgb_session_goal_look(struct session_goal *goal, const struct session_series *series);
/* After every step: is the time up? Sets `reason` if so. */
bool mgb_session_goal_late(struct session_goal *goal, const struct session_series *series);

#endif
