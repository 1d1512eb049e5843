/* The one clock of a session: the engine's. */
#ifndef APP_SESSION_CLOCK_H
#define APP_SESSION_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline int64_t session_clock_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

#endif
