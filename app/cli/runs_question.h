/* What mgbench runs asks the database: a row a line of the list. Nothing of how it is shown is known here. */
#ifndef MGB_APP_CLI_RUNS_QUESTION_H
#define MGB_APP_CLI_RUNS_QUESTION_H

#include "db/query.h"
#include <stdbool.h>

/* Columns of a row. The names for programs are mgb_runs_columns. */
enum mgb_runs_column {
    MGB_RUNS_RUN,
    MGB_RUNS_SEGMENT_ID,
    MGB_RUNS_SEGMENT,
    MGB_RUNS_STARTED_MS,
    MGB_RUNS_STARTED,
    MGB_RUNS_MODEL,
    MGB_RUNS_OPTIONS,
    MGB_RUNS_BACKEND,
    MGB_RUNS_SIMULATED,
    MGB_RUNS_MACHINE,
    MGB_RUNS_STRATEGY,
    MGB_RUNS_GPUS,
    MGB_RUNS_BATCH,
    MGB_RUNS_GLOBAL_BATCH,
    MGB_RUNS_WEIGHTS_AT,
    MGB_RUNS_JOIN_AT,
    MGB_RUNS_SUM_AT,
    MGB_RUNS_STEP_MS,
    MGB_RUNS_LOW_MS,
    MGB_RUNS_HIGH_MS,
    MGB_RUNS_RATE,
    MGB_RUNS_STEPS,
    MGB_RUNS_STEADY,
    MGB_RUNS_OVERSUBSCRIBED,
    MGB_RUNS_LOG_COMPLETE,
    MGB_RUNS_THROTTLED,
    MGB_RUNS_DUPLICATES,
    MGB_RUNS_REPLICAS,
    MGB_RUNS_OUTCOME,
    MGB_RUNS_TAGS,
    MGB_RUNS_BASELINE,
    MGB_RUNS_BASELINE_RUN,
    MGB_RUNS_BASELINE_MS,
    MGB_RUNS_RATIO,
    MGB_RUNS_COLUMNS
};
extern const char *const mgb_runs_columns[MGB_RUNS_COLUMNS];

/* What the list is narrowed to; a value of no text: by nothing. */
enum mgb_runs_value {
    MGB_RUNS_OF_MODEL,
    MGB_RUNS_OF_TAG,
    MGB_RUNS_OF_SWEEP,
    MGB_RUNS_OF_OUTCOME, /* those that say "running" come all the same: they may have crashed */
    MGB_RUNS_OF_BASELINE,
    MGB_RUNS_MOST,   /* lines, -1: all */
    MGB_RUNS_CHECKS, /* those of selftest and verify, too */
    MGB_RUNS_VALUES
};

/* Newest first. `all_segments`: a row for each, else one a run, of its last segment that has figures. */
enum mgb_status mgb_runs_query(struct mgb_reader *reader,
                               const struct mgb_value values[MGB_RUNS_VALUES], bool all_segments,
                               const struct mgb_query_sink *sink);

#endif
