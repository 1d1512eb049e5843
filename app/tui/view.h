/* A view: one screen's body, as a table of functions over a snapshot, and private state whose size it declares. Views draw
 * on a canvas and act through the context; none waits, reads a file or asks engine or database. */
#ifndef APP_TUI_VIEW_H
#define APP_TUI_VIEW_H

#include "app/session/workbench/archive.h"
#include "app/session/workbench/workbench.h"
#include "app/tui/action.h"
#include "app/tui/canvas.h"
#include "app/tui/log.h"

struct tui_desk; /* desk.h: what views may ask for */

/* What a view draws from: all borrowed for the call. */
struct tui_scene {
    const struct mgb_snapshot *snapshot; /* never NULL */
    const struct mgb_pending *pending;
    const struct mgb_list *runs; /* NULL: not read yet */
    struct tui_log *log;
    const char *filter;  /* of this view, as typed; "" : none */
    int64_t now_ns;      /* monotonic */
    enum tui_place from; /* the screen that help or output was opened from */
    bool ascii;          /* no character beyond ASCII */
    bool readonly;
};

struct tui_view {
    const char *name; /* "Bench": in the head line, after its number key */
    enum tui_place place;
    size_t state_size; /* zeroed at the start; moves with nothing */
    /* `area` is at least 40 x 6. `focus`: the keys are the view's, no prompt is open. */
    void (*draw)(void *state, struct tui_canvas *canvas, struct tui_rect area,
                 const struct tui_scene *scene);
    /* True: it was the view's and is done. Others go to the default (desk.h). */
    bool (*act)(void *state, enum tui_action action, const struct tui_scene *scene,
                struct tui_desk *desk);
    /* A click, a wheel turn (+-1), a double click counts as OPEN; coordinates of the canvas. NULL: none. */
    void (*click)(void *state, int y, int x, int wheel, const struct tui_scene *scene,
                  struct tui_desk *desk);
    /* The line below the body: what can be pressed; NULL: made of the actions of its place. */
    void (*hint)(void *state, struct tui_canvas *canvas, struct tui_rect row,
                 const struct tui_scene *scene);
    /* What a settings file keeps, as name and value; and takes back. NULL: nothing. */
    void (*save)(void *state, void (*put)(void *context, const char *name, const char *value),
                 void *context);
    bool (*load)(void *state, const char *name, const char *value);
    void (*done)(void *state); /* NULL: nothing to free */
};

extern const struct tui_view tui_view_bench, tui_view_devices, tui_view_variables, tui_view_plan,
    tui_view_runs, tui_view_sweep, tui_view_log, tui_view_help, tui_view_output;

#endif
