/* What the judge desk asks the database, a question at a time. On the desk's thread; knows no thread itself. */
#ifndef APP_SESSION_WORKBENCH_JUDGED_PRIVATE_H
#define APP_SESSION_WORKBENCH_JUDGED_PRIVATE_H

#include "app/session/workbench/judged.h"
#include "db/query.h"

/* Everything but the speed-up: `now` against `before` (0: none), each with the segments of its run that have the same
 * placement in effect and timed steps. */
enum mgb_status mgb_judged_verdict(struct mgb_bench_answer *out, struct mgb_reader *reader,
                                   int64_t run, int64_t now, int64_t before);

/* What `of` is scaled against, found once a segment: of the baselines that view scaling knows rather one of enough steps. */
struct mgb_judged_base {
    int64_t of; /* 0: nothing was looked for */
    bool found, strong;
    int64_t run, gpus, batch, global_batch; /* batch: what the baseline's global batch must be */
    bool based;
    int64_t base_run, base_number, base_threads, threads, base_steps;
    bool base_steady; /* or not judged */
    double step_ns;   /* of the baseline */
    int64_t base_batch;
};

/* Speed-up and efficiency of `now` and the words for them; `base` is filled unless it is of `now`. */
enum mgb_status mgb_judged_scaling(struct mgb_bench_answer *out, struct mgb_reader *reader,
                                   int64_t now, struct mgb_judged_base *base);

/* Median of the timed steps so far, as segment_stat will have it; 0: there are none. */
enum mgb_status mgb_judged_median(int64_t *out_ns, struct mgb_reader *reader, int64_t segment);

/* The segment and the run of it that stand for what was not run yet; 0: none is stored. */
enum mgb_status mgb_judged_stand_in(int64_t *segment, int64_t *run, struct mgb_reader *reader,
                                    const struct mgb_stand_in *of);

/* MGB_INVALID: a column that does not tell placements apart. */
enum mgb_status mgb_judged_look_up(struct mgb_looked_up *out, struct mgb_reader *reader,
                                   int64_t now, const struct mgb_lookup *lookup);

#endif
