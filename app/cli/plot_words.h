/* Inside of plots: words for placements. */
#ifndef MGB_APP_CLI_PLOT_WORDS_H
#define MGB_APP_CLI_PLOT_WORDS_H

#include "app/cli/plot_cells.h"

/* Fills the dimension PLOT_PLACES from the others; of a run that did not fit, from what was asked. false: no memory. */
bool plot_places_fill(struct plot_cell *cell);

#endif
