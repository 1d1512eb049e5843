/* Inside of the report: the page and its sections. */
#ifndef MGB_APP_CLI_REPORT_PAGE_H
#define MGB_APP_CLI_REPORT_PAGE_H

#include "app/cli/cli.h"
#include "app/cli/plot_cells.h"
#include <stdio.h>

struct report {
    const struct mgb_invocation *in;
    FILE *out;
    struct mgb_reader *reader;
    const struct plot_cells *cells;
    const char *title, *database, *words, *command; /* words: what was chosen, NULL: nothing */
};

/* The whole page. Fails on the database, on lack of memory and when the user asks to stop; a picture that cannot be drawn
 * is one of text, which the page and standard error tell. */
enum mgb_status report_page(const struct report *report);

/* Sections, in the order of the page. */
enum mgb_status report_summary(const struct report *report);
enum mgb_status report_pictures(const struct report *report);
void report_measurements(const struct report *report);
enum mgb_status report_environment(const struct report *report);
enum mgb_status report_commands(const struct report *report);
void report_words(FILE *out);

#endif
