/* What views and commands may ask of the program: wishes to the workbench, lists of the archive, prompts, messages, other
 * screens. One struct of functions, so that a view can be tested against a fake. */
#ifndef APP_TUI_DESK_H
#define APP_TUI_DESK_H

#include "app/tui/view.h"

struct tui_choice {                        /* of a menu */
    char label[96], note[240], value[160]; /* note: dimmed beside it; value: what is handed over */
    bool disabled;
};

/* Called with what was typed or chosen; NULL: given up. */
typedef void tui_answer(void *context, struct tui_desk *desk, const char *text);

struct tui_desk {
    void *context;
    /* A refusal is told to the user by itself. */
    void (*ask)(struct tui_desk *desk, const struct mgb_wish *wish);
    void (*list)(struct tui_desk *desk, const struct mgb_list_request *request);
    /* A line at the foot, until the next key or a few seconds. */
    void (*say)(struct tui_desk *desk, enum mgb_line_kind kind, const char *text);
    /* Asks for a line at the foot; `initial` may be "". */
    void (*prompt)(struct tui_desk *desk, const char *question, const char *initial,
                   tui_answer *answer, void *context);
    /* "delete run 12? y/N": answer gets "y" or NULL. */
    void (*confirm)(struct tui_desk *desk, const char *question, tui_answer *answer, void *context);
    /* A menu over the body; the choices are copied. `chosen`: the one in hand at first. */
    void (*menu)(struct tui_desk *desk, const char *title, const struct tui_choice *choices,
                 int count, int chosen, tui_answer *answer, void *context);
    /* A line as if typed after ':'. */
    void (*command)(struct tui_desk *desk, const char *line);
    /* Shows lines in a view of their own, which Esc closes; `text` is copied. */
    void (*show)(struct tui_desk *desk, const char *title, const char *text);
    void (*go)(struct tui_desk *desk, enum tui_place place);
    void (*act)(struct tui_desk *desk, enum tui_action action); /* as if its key was pressed */
};

#endif
