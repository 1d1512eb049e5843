/* The two clocks, and deadlines by the first. */
#include "engine/base/clock.h"

#include <time.h>

#define STOPPED_NS INT64_C(1000000000) /* not looked at for so long */

int64_t mgb_clock_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int64_t mgb_wall_clock_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

struct mgb_deadline mgb_deadline_make(int64_t timeout_ns)
{
    int64_t now = mgb_clock_ns();
    if (timeout_ns <= 0 || timeout_ns > INT64_MAX / 2) /* centuries: none */
        return (struct mgb_deadline){.seen_ns = now};
    return (struct mgb_deadline){.at_ns = now + timeout_ns, .seen_ns = now};
}

int64_t mgb_deadline_left_ns(struct mgb_deadline *deadline)
{
    if (!deadline->at_ns)
        return INT64_MAX;
    int64_t now = mgb_clock_ns(), unseen = now - deadline->seen_ns;
    if (unseen > STOPPED_NS)
        deadline->at_ns += unseen;
    deadline->seen_ns = now;
    return deadline->at_ns - now;
}
