/* The plots: from measured placements to a picture. Each fails with MGB_MISSING and the measurements that are missing. */
#ifndef MGB_APP_CLI_PLOT_CHARTS_H
#define MGB_APP_CLI_PLOT_CHARTS_H

#include "app/cli/plot_cells.h"
#include "app/plot/chart.h"

enum { PLOT_PANELS = 12 }; /* in a picture at most; what is left out is said */

/* `out` is made with mgb_picture_init before and freed with mgb_picture_done after, whatever is returned. */
enum mgb_status plot_placement(struct mgb_picture *out, const struct plot_cells *cells);
enum mgb_status plot_scaling(struct mgb_picture *out, const struct plot_cells *cells);
enum mgb_status plot_batch(struct mgb_picture *out, const struct plot_cells *cells);
enum mgb_status plot_memory(struct mgb_picture *out, const struct plot_cells *cells,
                            struct mgb_reader *reader);
enum mgb_status plot_phases(struct mgb_picture *out, const struct plot_cells *cells,
                            struct mgb_reader *reader);

struct plot_kind {
    const char *name; /* "placement" */
    bool only_newest; /* of a model just its newest segment */
    /* one of the two */
    enum mgb_status (*from_cells)(struct mgb_picture *out, const struct plot_cells *cells);
    enum mgb_status (*from_reader)(struct mgb_picture *out, const struct plot_cells *cells,
                                   struct mgb_reader *reader);
};
extern const struct plot_kind plot_kinds[]; /* ended by a NULL name */

/* Inside of plots. Cells that belong into one panel. */
struct plot_panel {
    size_t *members;
    size_t count;
};
struct plot_panels {
    struct plot_panel *all;
    size_t count;
};
enum mgb_status plot_panels_make(struct plot_panels *out, const struct plot_cells *cells,
                                 bool (*same)(const struct plot_cell *, const struct plot_cell *));
void plot_panels_done(struct plot_panels *panels);

/* Same model, options, machine, backend and precision. */
bool plot_same_subject(const struct plot_cell *a, const struct plot_cell *b);
extern const enum plot_dimension plot_subject_dimensions[5];

/* "WHAT: subject" as the title; WHAT alone when there are several subjects. */
void plot_title(struct mgb_picture *picture, const char *what, const struct plot_cells *cells);
/* "mlp on vm, ...: " before the title of a panel when there are several; "" otherwise. To be freed. */
char *plot_prefix(const struct plot_cells *cells, const struct plot_cell *cell);
/* What a step's time is: "median step", or over repetitions "mean of the runs' median steps". */
const char *plot_step_text(const struct plot_cells *cells);
/* "n = 2 runs of 30 timed steps" over all cells; returns `out`. */
char *plot_count_text(char out[120], const struct plot_cells *cells);
/* What must be said of the figures: simulated, not steady, oversubscribed, older ones left out, panels left out. */
void plot_note(struct mgb_picture *picture, const struct plot_cells *cells, size_t left_out);

#endif
