/* What the judge desk asks the database, a question at a time. On the desk's thread; knows no thread itself. */
#ifndef APP_SESSION_WORKBENCH_JUDGED_PRIVATE_H
#define APP_SESSION_WORKBENCH_JUDGED_PRIVATE_H

#include "app/session/workbench/judged.h"
#include "db/query.h"

/* Everything but the speed-up: `now` against `before` (0: none), each with the segments of its run that have the same
 * placement in effect and timed steps. */
enum mgb_status mgb_judged_verdict(struct mgb_bench_answer *out, struct mgb_reader *reader,
                                   int64_t now, int64_t before);

/* Speed-up and efficiency of `now`, with the baseline that view scaling would take, and the words for them. */
enum mgb_status mgb_judged_scaling(struct mgb_bench_answer *out, struct mgb_reader *reader,
                                   int64_t now);

/* Median of the timed steps so far, as segment_stat will have it; 0: there are none. */
enum mgb_status mgb_judged_median(int64_t *out_ns, struct mgb_reader *reader, int64_t segment);

/* MGB_INVALID: a column that does not tell placements apart. */
enum mgb_status mgb_judged_look_up(struct mgb_looked_up *out, struct mgb_reader *reader,
                                   int64_t now, const struct mgb_lookup *lookup);

#endif
