/* A sweep that runs or ran: its progress, and a row a cell. */
#ifndef APP_TUI_SWEEP_TABLE_H
#define APP_TUI_SWEEP_TABLE_H

#include "app/tui/list.h"
#include "app/tui/view.h"

/* Rows before the first cell: progress, the best, the heads of the columns. */
enum { SWEEP_TABLE_ABOVE = 4 };

/* Draws it into `area`; `list` is of its cells, *rows where they are. */
void sweep_table_draw(struct tui_canvas *canvas, struct tui_rect area, struct tui_list *list,
                      struct tui_rect *rows, const struct tui_scene *scene, bool in_hand);
/* All that is known of the cell in hand, into `out`. */
void sweep_table_detail(char *out, size_t size, const struct mgb_bench_sweep *sweep, int at);

#endif
