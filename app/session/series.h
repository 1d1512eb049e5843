/* The steps of a segment so far, in their order, and what can be told of them while it goes on: where its warm-up ends, how
 * precisely the median is known, what grew in the first step. Knows neither sessions nor rows. */
#ifndef APP_SESSION_SERIES_H
#define APP_SESSION_SERIES_H

#include "app/session/ranks.h"
#include "db/stats.h"

#include <mgb/run.h>

struct session_series {
    struct mgb_stats stats;            /* all steps */
    bool cut;                          /* memory was exhausted: the rest is not here */
    int64_t first_ns[MGB_PHASE_COUNT]; /* exposed times of the first step, all devices together */
    int64_t timed_ns[MGB_PHASE_COUNT]; /* of the timed ones, sum */
    int64_t timed_steps;               /* that are in it */
    struct session_timed {             /* steps from `begin` on, as far as they were ordered */
        size_t begin, end;
        struct session_ranks wall_ns;
        int64_t sum_ns, examples;
    } timed;
};

/* Starts over. `automatic`: the warm-up is found by rule. Without memory it is cut from the start. */
void mgb_session_series_begin(struct session_series *series, bool automatic);
void mgb_session_series_done(struct session_series *series);
/* `row`: as the record has it. */
void mgb_session_series_add(struct session_series *series, const struct mgb_record_step *row,
                            const struct mgb_step_result *result);

/* All steps from `warmup` on, ordered by their time. Costs what the steps since the last call cost, unless the warm-up is
 * another one since; NULL: memory is exhausted. */
const struct session_timed *mgb_session_series_order(struct session_series *series, size_t warmup);

/* Phase that grew most in the first step against the mean of the timed ones: static text, NULL when not known. */
const char *mgb_session_series_grown(const struct session_series *series);

#endif
