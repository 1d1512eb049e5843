/* mgbench compare: a sweep's points against one configuration, and rows for programs. */
#ifndef MGB_APP_CLI_COMPARE_CELLS_H
#define MGB_APP_CLI_COMPARE_CELLS_H

#include "app/cli/cli.h"
#include "app/session/judge.h"

/* How many configurations a selection is: points of sweeps, and all else as one. */
size_t mgb_compare_points(const struct mgb_selection *selection);
/* How many rows from `first` on are the same point. */
size_t mgb_compare_run_length(const struct mgb_selection *selection, size_t first);

/* Each point of `b` against `a`; prints them. */
enum mgb_status mgb_compare_cells(const struct mgb_invocation *in, struct mgb_reader *reader,
                                  const struct mgb_selection *a, const struct mgb_selection *b,
                                  const struct mgb_judge_options *options, int *code);

/* compare.c: evidence, reason and remarks under a line; the exit code that verdicts ask for. */
void mgb_compare_remarks_print(const char *remarks);
void mgb_compare_notes_print(const struct mgb_judgement *judgement);
int mgb_compare_exit_code(const struct mgb_invocation *in, const struct mgb_judgement *cells,
                          size_t count);

/* For --csv and --json: one row a comparison, in ms. */
enum mgb_status mgb_compare_table_make(struct mgb_table **out);
void mgb_compare_row_add(struct mgb_table *table, const char *a, const char *b,
                         const struct mgb_judgement *judgement, const char *differs);

#endif
