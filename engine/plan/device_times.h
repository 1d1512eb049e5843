/* The partition of a step's time by what each device did; see struct mgb_device_times. Allocates nothing. */
#ifndef MGB_PLAN_DEVICE_TIMES_H
#define MGB_PLAN_DEVICE_TIMES_H

#include <mgb/run.h>

/* A run of tasks of one phase on one queue: from the first task's begin to the last one's end. */
struct mgb_span {
    int first, last;  /* flat tasks */
    int device, from; /* from -1: compute */
    enum mgb_phase phase;
    int tower; /* -1: the root's */
    int64_t start_ns, end_ns;
};

struct mgb_boundary { /* scratch */
    int64_t ns;
    int phase, step; /* +1 begins, -1 ends */
};
/* So many for so many spans. */
#define MGB_BOUNDARIES(spans) (2 * ((size_t)(spans) + 1))

struct mgb_step_clock {                 /* on the clock of the spans */
    int64_t start_ns, input_ns, end_ns; /* asked for the batch; had it; ended */
};

/* Of one device, whose times relate to the step's start. Spans are clipped to the step. */
void mgb_device_times_fill(struct mgb_device_times *out, struct mgb_boundary *scratch, int device,
                           const struct mgb_span *spans, int span_count,
                           const struct mgb_step_clock *clock);

#endif
