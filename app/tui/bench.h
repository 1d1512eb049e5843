/* The parts of the bench view, each drawn into its rectangle, and the words they share. */
#ifndef APP_TUI_BENCH_H
#define APP_TUI_BENCH_H

#include "app/tui/desk.h"
#include "app/tui/layout.h"

struct bench_state {
    int top, rows, fits; /* the first device shown, how many there are, how many fit */
};

/* The lines of the placement: an option, its key or keys, and what it is called. */
struct bench_line {
    char keys[4]; /* "r", "gG" */
    const char *name;
    enum mgb_option_id option;
};
enum { BENCH_LINES = 6 };
/* The line's option as the placement in force has it: the batch is that of a GPU or of all. */
struct bench_line tui_bench_line(int line, const struct mgb_snapshot *snapshot);
/* What is known of the option in that direction; NULL: nothing. */
const struct mgb_pressed_row *tui_bench_row(const struct mgb_snapshot *snapshot,
                                            enum mgb_option_id option, int direction);

/* What pressing it would do, in up to `most` columns: "+37%*", "+190MB link", "n/a"; returns `out`. */
char *tui_bench_effect(char *out, size_t size, const struct mgb_pressed_row *row, size_t most);
enum tui_style tui_bench_effect_style(const struct mgb_pressed_row *row);
/* All that is known of it, in a line: "x1.370 [1.366, 1.374] slower, of 2 segments; link -190 MB"; returns `out`. */
char *tui_bench_known(char *out, size_t size, const struct mgb_pressed_row *row);
/* The option's value in effect, of the two short flags the place; "n/a" when it has no meaning; returns `out`. */
char *tui_bench_value(char *out, size_t size, const struct mgb_facts *facts,
                      enum mgb_option_id option);
/* GiB, or MiB where no device of the placement has a tenth of one: bytes. */
double tui_bench_unit(const struct mgb_snapshot *snapshot);
/* Whether one of the lines shows it, in these or other words. */
bool tui_bench_has_line(enum mgb_option_id option, const struct mgb_snapshot *snapshot);
/* "+190MB", "-1.2GB"; "+0.19GiB", "-12MiB"; returns `out`. */
char *tui_bench_traffic_change(char *out, size_t size, int64_t bytes);
char *tui_bench_memory_change(char *out, size_t size, int64_t bytes);

void tui_bench_draw_placement(struct tui_canvas *canvas, struct tui_rect area,
                              const struct tui_scene *scene);
void tui_bench_draw_answer(struct tui_canvas *canvas, struct tui_rect area,
                           const struct tui_scene *scene);
void tui_bench_draw_phases(struct tui_canvas *canvas, struct tui_rect area, int rows,
                           struct bench_state *state, const struct tui_scene *scene);
void tui_bench_draw_facts(struct tui_canvas *canvas, struct tui_rect area,
                          const struct tui_scene *scene);

/* Devices that the phases have a row for, towers first: indices into the facts' devices; at most MGB_BENCH_DEVICES. */
int tui_bench_devices(int *out, int *towers, const struct mgb_facts *facts);

/* Menus of all options (view_bench_menu.c). */
void tui_bench_options(const struct tui_scene *scene, struct tui_desk *desk);
void tui_bench_what_if(const struct tui_scene *scene, struct tui_desk *desk);

#endif
