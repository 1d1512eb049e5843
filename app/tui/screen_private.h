/* What the files of the screen share: its parts, who has the keys, and what leads from one to another. */
#ifndef APP_TUI_SCREEN_PRIVATE_H
#define APP_TUI_SCREEN_PRIVATE_H

#include "app/tui/layout.h"
#include "app/tui/menu.h"
#include "app/tui/prompt.h"
#include "app/tui/screen.h"

enum { /* in the order of the tabs; help and output have none */
       SCREEN_BENCH,
       SCREEN_RUNS = 4,
       SCREEN_LOG = 6,
       SCREEN_TABS = 7,
       SCREEN_HELP = SCREEN_TABS,
       SCREEN_OUTPUT,
       SCREEN_VIEWS
};

struct screen_view {
    const struct tui_view *view;
    void *state;
    char filter[128];
};

enum screen_prompt { SCREEN_COMMAND, SCREEN_FILTER, SCREEN_QUESTION };

struct screen_confirm {
    bool open;
    char question[240];
    tui_answer *answer;
    void *context;
};

enum { SCREEN_HELD = 4 };

struct screen_held { /* a wish that waits for an answer */
    enum mgb_wish_kind kind;
    char *text; /* owned */
};

struct tui_screen {
    struct tui_screen_options options;
    struct tui_desk desk;
    char *record_dir, *models; /* owned; models: those of the menu, NULL: none */
    struct screen_view views[SCREEN_VIEWS];
    int at, from; /* from: where help and output lead back to */

    const struct mgb_snapshot *snapshot; /* held, as is the list */
    const struct mgb_list *runs;
    struct mgb_pending pending;
    bool fixed;                                               /* the snapshot is a test's */
    int64_t now_ns, log_count, key_ms, listed_ns, changed_ns; /* of the list, of the bench */
    bool dirty; /* something is to be drawn that came between keys */
    bool shows; /* output came while something was asked: its view is for after the answer */

    struct tui_prompt prompt;
    enum screen_prompt prompt_is;
    tui_answer *prompt_answer;
    void *prompt_context;
    struct screen_confirm confirm;
    struct screen_held held[SCREEN_HELD];
    int held_count;
    struct tui_menu menu;
    struct tui_history history;

    char message[600], warning[600]; /* ours; of the log */
    enum mgb_line_kind message_kind, warning_kind;
    int64_t message_until_ns, stop_ns; /* stop_ns: when Ctrl-C was pressed; 0: not lately */
    bool stop_waits;                   /* for an answer to it */

    int fired[TUI_ACT_COUNT];
    enum tui_screen_wish wish;
    struct tui_layout layout; /* as last drawn */
    int tab_x[SCREEN_TABS + 1];
};

/* screen.c */
struct tui_scene screen_scene(const struct tui_screen *screen);
void screen_go(struct tui_screen *screen, int at);
int screen_find(enum tui_place place);
int64_t screen_wall_ms(void); /* UTC */
bool screen_list_is_due(const struct tui_screen *screen);
/* screen_desk.c */
void screen_desk_make(struct tui_screen *screen);
void screen_wish(struct tui_screen *screen, const struct mgb_wish *wish); /* asked at once */
/* screen_hold.c: whether a question is put first, or the text said that none is wanted; false: it is to be asked for. */
bool screen_hold(struct tui_screen *screen, const struct mgb_wish *wish);
void screen_hold_done(struct tui_screen *screen);
void screen_say(struct tui_screen *screen, enum mgb_line_kind kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* screen_keys.c */
bool screen_asks(const struct tui_screen *screen); /* a line, a question or a menu has the keys */
void screen_act(struct tui_screen *screen, enum tui_action action);
/* screen_actions.c: what an action does where the view has nothing of its own for it. */
void screen_act_default(struct tui_screen *screen, enum tui_action action);
bool screen_changes(enum tui_action action); /* which --readonly refuses */
/* screen_stop.c */
void screen_stop(struct tui_screen *screen);
bool screen_stop_look(struct tui_screen *screen); /* true: it told that nothing answers */
/* screen_models.c: the menu of models; while it is open, those that there are meanwhile. */
void screen_models_choose(struct tui_screen *screen);
bool screen_models_follow(struct tui_screen *screen); /* true: there are others now */
void screen_layout_save(struct tui_screen *screen);   /* screen_settings.c */

/* screen_draw.c: keys and what they do, as many as there is room for; returns the column after them. */
struct tui_hint {
    const char *key, *what;
};
int tui_hints_draw(struct tui_canvas *canvas, struct tui_rect row, const struct tui_hint *hints,
                   int count);
/* What Space does: "run" or "pause". */
const char *tui_run_word(const struct mgb_snapshot *snapshot);

/* view_runs.c: the rows of runs are chosen by the archive, which must hear of a new filter. */
void tui_runs_filter(void *state, const struct tui_scene *scene, struct tui_desk *desk);
/* view_output.c; false: no memory. */
bool tui_output_put(void *state, const char *title, const char *text);

#endif
