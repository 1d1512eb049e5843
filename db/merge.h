/* Bringing the runs of one results file into another: by the runs' uuid, so that what is there already is not doubled.
 * The source is only read; a source of an older schema is brought forward in a copy. */
#ifndef MGB_DB_MERGE_H
#define MGB_DB_MERGE_H

#include "db/store.h"

struct mgb_merge_counts { /* what was brought in */
    int64_t machines, models, runs, segments, steps, sweeps, tags, notes, baselines, noise_floors;
    int64_t runs_known;     /* there already; new tags, notes and baselines of them count above */
    int64_t runs_going;     /* left out: their process is still writing them */
    int64_t baselines_kept; /* of a name that means another segment in the target: that one stays */
};

struct mgb_merge_options {
    bool (*stop)(void *context);                  /* asked often; NULL: nobody is asked */
    void (*say)(void *context, const char *line); /* what was left out or kept; may be NULL */
    void *context;
};

/* Adds to `counts`. One transaction a run: what was brought in before a failure or a stop (MGB_INTERRUPTED) stays.
 * MGB_BUSY: a run is being written to the target. */
enum mgb_status mgb_merge(struct mgb_merge_counts *counts, struct mgb_store *target,
                          const char *source, const struct mgb_merge_options *options);

#endif
