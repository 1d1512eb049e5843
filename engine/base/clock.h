/* The session clock: CLOCK_MONOTONIC in integer nanoseconds. */
#ifndef MGB_BASE_CLOCK_H
#define MGB_BASE_CLOCK_H

#include <stdint.h>

int64_t mgb_clock_ns(void);      /* monotonic */
int64_t mgb_wall_clock_ms(void); /* UTC, milliseconds since 1970, for records only */

#endif
