/* A list of rows with a row in hand, that scrolls and can be clicked: what every table view keeps. Knows how many rows there
 * are and how many fit, nothing of what is in them. */
#ifndef APP_TUI_LIST_H
#define APP_TUI_LIST_H

#include "app/tui/action.h"
#include "app/tui/canvas.h"

#include <stddef.h>

struct tui_list {
    int count, top, at; /* rows; the first that is shown; the one in hand, -1: none */
    int fits;           /* rows on the screen when last drawn */
    int left;           /* columns scrolled away */
};

/* There are `count` rows now and `fits` of them can be seen: keeps the row in hand and the view on it. */
void tui_list_fit(struct tui_list *list, int count, int fits);
/* UP to LAST; false: another action. */
bool tui_list_act(struct tui_list *list, enum tui_action action);
/* A click into `rows`, where the list was drawn, takes the row there in hand; the wheel moves by three rows. False: it was
 * neither. */
bool tui_list_click(struct tui_list *list, struct tui_rect rows, int y, int x, int wheel);
/* Makes a row the one in hand to look at: reverse, and '>' in its first column, which rows of lists leave free. */
void tui_list_hand(struct tui_canvas *canvas, struct tui_rect row);
/* "12/345" at the right of row y. */
void tui_list_mark(const struct tui_list *list, struct tui_canvas *canvas, struct tui_rect rect,
                   int y);

/* Does `text` have all words of `filter`, in any case of ASCII letters? "" passes everything. */
bool tui_filter_passes(const char *filter, const char *text);
/* The same of several texts: each word must be in one of them. */
bool tui_filter_finds(const char *filter, const char *const *texts, size_t count);

/* Which of the things that `order` has as rows is in hand, so that it stays so where another filter lets it pass. */
struct tui_keep {
    char filter[128];
    int hand;
    bool
        lost; /* it did not pass: it is taken again where it does, unless another row is taken meanwhile */
};
/* After `order` was made for `filter`, and before the list is fitted to it; `moved`: a key or a click has changed the row. */
void tui_list_keep(struct tui_list *list, struct tui_keep *keep, const int *order, int count,
                   const char *filter, bool moved);

/* A table: columns by what they are worth when there is little room. */
struct tui_column {
    const char *title;
    int least, most; /* columns wide; most 0: as wide as there is room */
    bool right;      /* numbers */
    int worth;       /* the least worth goes first when not all fit */
};
enum { TUI_MOST_COLUMNS = 16 };
struct tui_table {
    int count;
    int x[TUI_MOST_COLUMNS], width[TUI_MOST_COLUMNS]; /* width 0: no room */
};
void tui_table_fit(struct tui_table *out, const struct tui_column *columns, int count, int width);
void tui_table_head(const struct tui_table *table, const struct tui_column *columns,
                    struct tui_canvas *canvas, struct tui_rect row, int sorted, bool ascending);
void tui_table_cell(const struct tui_table *table, const struct tui_column *columns, int column,
                    struct tui_canvas *canvas, struct tui_rect row, enum tui_style style,
                    const char *text);

/* The column of the table, drawn from column 0 on, that has `x`; -1: none. */
int tui_table_column_at(const struct tui_table *table, int x);

/* Numbers as screens show them: 4 digits, "-" for NaN; sizes in MiB and GiB, "-" below 0. Return `out`. */
char *tui_number(char *out, size_t size, double value);
char *tui_bytes(char *out, size_t size, int64_t bytes);

#endif
