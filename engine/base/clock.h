/* The session clock: CLOCK_MONOTONIC in integer nanoseconds. */
#ifndef MGB_BASE_CLOCK_H
#define MGB_BASE_CLOCK_H

#include <stdint.h>

int64_t mgb_clock_ns(void);      /* monotonic */
int64_t mgb_wall_clock_ms(void); /* UTC, milliseconds since 1970, for records only */

/* A deadline of a thread that looks at it ten times a second at least. Time in which it did not, because the process was stopped
 * or the machine stood still, does not count. */
struct mgb_deadline {
    int64_t at_ns; /* 0: there is none */
    int64_t seen_ns;
};
struct mgb_deadline mgb_deadline_make(int64_t timeout_ns); /* 0: none */
/* What is left, 0 or less: it has passed; INT64_MAX without one. */
int64_t mgb_deadline_left_ns(struct mgb_deadline *deadline);

#endif
