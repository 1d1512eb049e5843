/* The newest traced step as a chart: a row a queue (a device's compute queue, its collectives, a link), time from left to
 * right, phases as letters, capitals where the critical path runs. */
#ifndef APP_TUI_TIMELINE_H
#define APP_TUI_TIMELINE_H

#include "app/session/workbench/bench.h"
#include "app/tui/canvas.h"

struct timeline_queue {
    int device, from; /* from: of a link into the device, else -1 */
    bool collective;
};
bool tui_timeline_same(struct timeline_queue a, struct timeline_queue b);
/* "gpu:0", "gpu:0 all" of collectives, "cpu:0>gpu:0". */
void tui_timeline_name(char *out, size_t size, const struct mgb_facts *facts,
                       struct timeline_queue queue);

struct timeline_view { /* which part is looked at */
    int zoom;          /* the step's time is shown divided by 2^zoom */
    int64_t begin_ns;
};
enum { TIMELINE_MOST_ZOOM = 12 };
void tui_timeline_zoom(struct timeline_view *view, const struct mgb_bench_traced *traced, int by);
/* By quarters of what is shown. */
void tui_timeline_move(struct timeline_view *view, const struct mgb_bench_traced *traced, int by);

/* How many rows it wants in all. */
int tui_timeline_rows(const struct mgb_bench_traced *traced);
/* With its rule, into as many rows as there are, 2 at least; `hand`: a queue that must be among those shown. */
void tui_timeline_draw(struct tui_canvas *canvas, struct tui_rect area,
                       const struct mgb_facts *facts, const struct mgb_bench_traced *traced,
                       const struct timeline_view *view, struct timeline_queue hand);

#endif
