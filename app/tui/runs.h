/* Parts of the runs view: its state, the table with its columns, and what it asks about a run. */
#ifndef APP_TUI_RUNS_H
#define APP_TUI_RUNS_H

#include "app/session/workbench/archive.h"
#include "app/tui/desk.h"
#include "app/tui/list.h"

enum { RUNS_COLUMNS = 12, RUNS_MARKS = 2 };
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

struct runs_mark {
    int64_t run; /* 0: none */
    int number;
};

struct runs_state {
    struct tui_list list; /* of all that pass the filter */
    bool sorts;           /* `sort` and `ascending` were chosen */
    enum mgb_list_column sort;
    bool ascending;
    char asked[128]; /* the filter that was asked for */
    int64_t first;   /* of the window that was asked for */
    struct runs_mark marks[RUNS_MARKS];
    struct runs_mark
        keep; /* in hand when another filter was asked for; run 0: nothing to be found again */
    struct runs_mark target; /* of the question that is asked */
    bool target_is_ours;     /* it is the run on the bench: the workbench writes to it */
    bool recording;          /* this program writes to the results file: no command can */
    struct tui_table table;
    struct tui_rect rows;
};

/* What it is labelled with, in a line: baseline, tags, notes. */
void tui_runs_draw_labels(struct tui_canvas *canvas, struct tui_rect row,
                          const struct mgb_list_row *run);
/* "412.2", or the run alone. Returns `out`. */
const char *tui_runs_name(char *out, size_t size, const struct runs_mark *run);
/* Asks for a tag, a note, the name of a baseline, or whether to delete; does it when answered. About state->target. */
bool tui_runs_ask(struct runs_state *state, enum tui_action action, const struct mgb_list_row *row,
                  struct tui_desk *desk);
/* Takes its model and placement to the bench. */
void tui_runs_use(const struct mgb_list_row *row, struct tui_desk *desk);

#endif
