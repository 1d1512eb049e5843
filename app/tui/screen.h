/* Everything that is on the screen: the views with their state, prompt, menu, messages. Draws itself on a canvas and takes
 * keys; knows no terminal, so that a test can press keys and read the picture. */
#ifndef APP_TUI_SCREEN_H
#define APP_TUI_SCREEN_H

#include "app/tui/command.h"
#include "app/tui/desk.h"
#include "app/tui/settings.h"

struct tui_screen;

struct tui_screen_options {          /* borrowed, but for texts, which are copied */
    struct mgb_workbench *workbench; /* NULL in tests that look at pictures alone */
    struct mgb_archive *archive;     /* NULL: no database */
    struct tui_log *log;
    struct tui_command_table commands;
    bool utf8, readonly;
    const char *record_dir; /* where R proposes to write */
};

enum mgb_status tui_screen_make(struct tui_screen **out, const struct tui_screen_options *options);
void tui_screen_free(struct tui_screen *screen);

/* Takes the newest snapshot, list and log in; true: something that is shown has changed. */
bool tui_screen_refresh(struct tui_screen *screen, int64_t now_ns);
/* For tests: this snapshot instead of the workbench's. Held. */
void tui_screen_set_snapshot(struct tui_screen *screen, const struct mgb_snapshot *snapshot);
void tui_screen_set_runs(struct tui_screen *screen, const struct mgb_list *runs);

/* Draws it; *cursor_y is negative when no line is being typed. */
void tui_screen_draw(struct tui_screen *screen, struct tui_canvas *canvas, int *cursor_y,
                     int *cursor_x);

enum tui_screen_wish {
    TUI_SCREEN_GOES_ON,
    TUI_SCREEN_QUIT,
    TUI_SCREEN_LEAVE, /* and wait two seconds at most for what does not end */
    TUI_SCREEN_SUSPEND,
    TUI_SCREEN_REDRAW
};
enum tui_screen_wish tui_screen_key(struct tui_screen *screen, int key, int64_t now_ns);
void tui_screen_click(struct tui_screen *screen, int y, int x, int wheel, bool twice);
/* A job of the command line ended: shows it. On the screen's thread. */
void tui_screen_job_ended(struct tui_screen *screen, const char *line, const char *text, int code);
/* How often each action has fired, for the test of random keys. */
const int *tui_screen_fired(const struct tui_screen *screen);
/* Appends that to the file that MGBENCH_PRESSED names, a line each; not set: nothing. */
void tui_screen_fired_tell(const struct tui_screen *screen);

void tui_screen_settings_load(struct tui_screen *screen, struct tui_settings *settings);
void tui_screen_settings_save(struct tui_screen *screen, struct tui_settings *settings);
bool tui_screen_go(struct tui_screen *screen, const char *place); /* by name */
/* What was typed after ':', to be loaded at the start and saved at the end. */
struct tui_history *tui_screen_history(struct tui_screen *screen);

#endif
