/* The table of the runs view: its columns, and a row drawn. */
#ifndef APP_TUI_RUNS_H
#define APP_TUI_RUNS_H

#include "app/session/workbench/archive.h"
#include "app/tui/list.h"

enum { RUNS_COLUMNS = 13 };
extern const struct tui_column tui_runs_columns[RUNS_COLUMNS];

/* What a column is sorted by, -1: it is not; and the column that shows what is sorted by. */
int tui_runs_sort_of(int column);
int tui_runs_column_of(enum mgb_list_column sort);
/* Words of settings; -1: none of that name. */
const char *tui_runs_sort_name(enum mgb_list_column sort);
int tui_runs_sort_find(const char *name);
/* The order that is looked for first: the newest, the fastest, names from A. */
bool tui_runs_ascends(enum mgb_list_column sort);

/* Draws a row; `marked`: a '+' before it. */
void tui_runs_draw(struct tui_canvas *canvas, struct tui_rect row, const struct tui_table *table,
                   const struct mgb_list_row *run, bool marked);

#endif
