/* Where the warm-up of a segment ends, with "it never settled" as an answer. Pure: step times in, a finding out. */
#ifndef MGB_DB_STEADY_H
#define MGB_DB_STEADY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The rule's numbers (shared/reference/ecosystem.md 5.2, item 3). */
enum {
    MGB_STEADY_FLOOR_STEPS = 10,
    MGB_STEADY_FLOOR_NS = 1000000000,
    MGB_STEADY_WINDOW = 20,     /* steps */
    MGB_STEADY_AGREEMENTS = 2,  /* in a row */
    MGB_STEADY_CAP_PERCENT = 25 /* of the segment's steps */
};
#define MGB_STEADY_TOLERANCE 0.02
#define MGB_STEADY_HALVES                                                                          \
    0.05 /* the timed steps' halves may differ by that, after a fixed warm-up */

/* Names the rule in records. */
#define MGB_STEADY_RULE                                                                            \
    "auto: 1 + 10 steps and 1 s, windows of 20 agree within 2 % twice, at most 25 %"

enum mgb_steadiness {
    MGB_STEADY,        /* figures after the warm-up may be trusted and compared */
    MGB_STEADY_SHORT,  /* not steady: the segment is too short for floor, cap and three windows */
    MGB_STEADY_DRIFTS, /* not steady: no three windows agreed before the cap */
    MGB_STEADY_HALVES_DIFFER, /* not steady: the second half's median is another than the first's */
};

struct mgb_steady {
    enum mgb_steadiness answer;
    size_t
        warmup_steps; /* to leave out; unless steady, the floor or the cap, whichever is less, at least one step */
    size_t floor_steps; /* where the search began */
    double
        drift; /* second half of the kept steps over its first half, medians, less 1: what came too late for
                            the rule (throttling); 0 below 4 kept steps */
};

/* The whole first step is warm-up and not on its clock: it pays for loading, handles and tuning. Then at least 10 steps
 * and 1 s. Steps are dropped from there until the window that begins at the first kept one, the next and the one after
 * have medians that agree within 2 %, each with its neighbour. Windows look ahead, so that a segment which is steady at
 * the floor loses only the floor; a live run must have seen them before it asks. */
struct mgb_steady mgb_steady_find(const int64_t *wall_ns, size_t count);

/* Whether the timed steps after a warm-up of fixed length are steady: three windows in a row agree, beginning in the first
 * quarter, and the halves' medians differ by at most 5 %. Nothing can be dropped here, so that spread must not pass for
 * drift: where three standard errors of the difference allow for more than 2 % or 5 %, that much is let pass (the spread
 * of a step from its differences to its neighbour). SHORT below three windows; warmup_steps is 0. */
struct mgb_steady mgb_steady_judge(const int64_t *wall_ns, size_t count);

/* "steady", or why not, for people. */
const char *mgb_steadiness_text(enum mgb_steadiness answer);

#endif
