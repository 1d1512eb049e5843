/* What the plots are made of: placements that were measured, the repetitions of each taken together, with words for what
 * tells them apart. Nothing here draws. */
#ifndef MGB_APP_CLI_PLOT_CELLS_H
#define MGB_APP_CLI_PLOT_CELLS_H

#include "db/query.h"
#include <stdbool.h>

/* What can differ between two segments; the texts are plot_dimension_name's. */
enum plot_dimension {
    PLOT_MODEL,
    PLOT_OPTIONS,
    PLOT_MACHINE,
    PLOT_BACKEND,
    PLOT_PRECISION,
    PLOT_GPUS,
    PLOT_BATCH_MODE,
    PLOT_BATCH_PER_GPU,
    PLOT_GLOBAL_BATCH,
    PLOT_STRATEGY,
    PLOT_PLACES, /* "weights /gpu:0, merge /cpu:0": what the next seven say, for people */
    PLOT_FIRST_DETAIL,
    PLOT_DIMENSIONS = PLOT_FIRST_DETAIL + 26
};

struct plot_cell {
    char *values[PLOT_DIMENSIONS]; /* NULL: no meaning, or not known of a run that did not fit */
    int64_t run;                   /* of the newest segment */
    int64_t *segments;             /* newest first */
    int count;                     /* of segments: repetitions */
    int older;   /* segments of the same placement that are left out, for there are newer ones */
    char *sweep; /* of which point of a sweep they are repetitions; NULL: of none */
    int64_t *repeats; /* as many as segments: their numbers in the sweep */
    int64_t threads;  /* CPU threads a CPU device; 0: not known, or of no account */
    int64_t gpus, batch_per_gpu, global_batch, steps; /* steps: timed, of each repetition */
    double ms, low_ms,
        high_ms; /* median step time, of several the mean of the medians; NaN: none */
    bool oom, simulated, oversubscribed, unsteady;
    int64_t wrong; /* see mgb_cli_wrong_text */
    char odd[160]; /* of a repetition unlike the others: "run 5 took 40 ms, the others ..."; "" */
};

struct plot_cells {
    struct plot_cell *all;
    size_t count;
};

/* What `words` names: a model (every placement of it, the newest measurement of each), else runs as mgb_select takes them;
 * NULL: the model of the newest run. `only_newest`: of a model just its newest segment. MGB_MISSING when nothing is there. */
enum mgb_status plot_cells_load(struct plot_cells *out, struct mgb_reader *reader,
                                const char *words, bool only_newest);
void plot_cells_done(struct plot_cells *cells);
/* Cells without a backend of their own take over that of what else ran, and all get their order; false: memory is out. */
bool plot_cells_settle(struct plot_cells *cells);

/* The two have the same value of the dimension. */
bool plot_same(const struct plot_cell *a, const struct plot_cell *b, enum plot_dimension dimension);
/* Same in all of the first `count` dimensions of the list. */
bool plot_alike(const struct plot_cell *a, const struct plot_cell *b,
                const enum plot_dimension *list, int count);

/* Cells side by side, and what tells them apart: the dimensions of `always`, then of all others not in `fixed` those that
 * split what the dimensions so far do not. */
struct plot_scope {
    const struct plot_cells *cells;
    const size_t *members;
    size_t member_count;
    const enum plot_dimension *always, *fixed;
    int always_count, fixed_count;
    enum plot_dimension told[PLOT_DIMENSIONS]; /* found by plot_scope_settle */
    int told_count;
};
void plot_scope_settle(struct plot_scope *scope);
/* The told dimensions of `cell` in words. To be freed; NULL: memory is out. */
char *plot_label(const struct plot_scope *scope, const struct plot_cell *cell);

/* "mlp on vm, CPU devices (backend host)": what is measured, and by what, with the model's options where they differ among
 * the cells; to be freed. */
char *plot_subject(const struct plot_cells *cells, const struct plot_cell *cell);
/* "GPUs", "CPU devices", "simulated GPUs". */
const char *plot_device_word(const struct plot_cell *cell);

#endif
