/* What watching costs: processor time of this program's threads that neither compute nor feed. One thread's. */
#ifndef APP_SESSION_WORKBENCH_OBSERVER_H
#define APP_SESSION_WORKBENCH_OBSERVER_H

#include <stdbool.h>
#include <stdint.h>

struct mgb_observer { /* zeroed: not looked yet */
    int64_t at_ns, cpu_ns;
};

/* Of screen, workbench, judge, archive, recorder and those that log, since each began. False: the system does not tell. */
bool mgb_observer_read(int64_t *cpu_ns);
/* At `now_ns`, often: every two seconds the share of one core since the last look goes to `share`. */
void mgb_observer_look(struct mgb_observer *observer, double *share, int64_t now_ns);
/* What comes is not to be counted. */
void mgb_observer_rest(struct mgb_observer *observer);

#endif
