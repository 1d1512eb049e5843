/* Steps of segments from the database into the shape that comparing wants. */
#ifndef MGB_DB_LOAD_H
#define MGB_DB_LOAD_H

#include "db/compare.h"
#include "db/query.h"

/* The timed steps (warm-up left out) of one side's segments, one series a segment, in their order. Of a segment that still
 * runs those so far; where its warm-up is found by the rule, by what the rule says of the steps so far. */
struct mgb_loaded_side {
    struct mgb_side side; /* borrows from the two below */
    struct mgb_series *
        series; /* `side.count` of them; steady: what was stored of the segment, true if nobody judged */
    int64_t *wall_ns; /* of all segments, one after the other */
};

/* A segment without timed steps gives an empty series; MGB_MISSING: no such segment. */
enum mgb_status mgb_side_load(struct mgb_loaded_side *out, struct mgb_reader *reader,
                              const int64_t *segments, int count);
void mgb_side_done(struct mgb_loaded_side *side);

/* The same with each step's time divided by its examples, in picoseconds, so that sides with other global batches can be
 * compared: what comparing says in ns is then ps an example. */
enum mgb_status mgb_side_load_per_example(struct mgb_loaded_side *out, struct mgb_reader *reader,
                                          const int64_t *segments, int count);

#endif
