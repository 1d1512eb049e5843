/* One line being typed: editing, history, completion. Used for ':' commands, '/' filters and questions. Knows no screen but
 * the canvas. */
#ifndef APP_TUI_PROMPT_H
#define APP_TUI_PROMPT_H

#include "app/tui/canvas.h"

#include <stddef.h>

enum { TUI_PROMPT_BYTES = 2000, TUI_PROMPT_HISTORY = 500 };

struct tui_prompt {
    bool open;
    char question[120]; /* ":" */
    char text[TUI_PROMPT_BYTES];
    size_t used, at; /* bytes; the cursor, on the border of a character */
    size_t lost; /* bytes that found no room: the line is not taken until something is deleted */
    int back;    /* how far in the history; 0: the line being typed */
    char typed[TUI_PROMPT_BYTES];
    int completion; /* of several, the one shown; -1: none */
    size_t completed_from;
    char stem[TUI_PROMPT_BYTES];
};

struct tui_history { /* of ':' lines, oldest first */
    int count;
    char *lines[TUI_PROMPT_HISTORY];
};
void tui_history_add(struct tui_history *history,
                     const char *line); /* not the same twice running */
bool tui_history_load(struct tui_history *history, const char *path);
bool tui_history_save(const struct tui_history *history, const char *path);
void tui_history_done(struct tui_history *history);

/* What may stand at the end of `line`: writes up to `most` whole words into `out`, and where the word begins; returns how
 * many. NULL in tui_prompt_key: nothing is completed. */
typedef int tui_complete(void *context, const char *line, char (*out)[160], int most, size_t *from);

enum tui_prompt_result { TUI_PROMPT_GOES_ON, TUI_PROMPT_DONE, TUI_PROMPT_GIVEN_UP };

void tui_prompt_open(struct tui_prompt *prompt, const char *question, const char *initial);
/* A key as in action.h. Enter ends it, unless it is too long (text is what was typed), Esc or Ctrl-C gives up; Ctrl-A E B F K U W D H, Alt is not
 * needed; Up and Down walk the history, Tab and Shift-Tab the completions. */
enum tui_prompt_result tui_prompt_key(struct tui_prompt *prompt, int key,
                                      const struct tui_history *history, tui_complete *complete,
                                      void *context);
/* Draws it into a row; *cursor is the column of the cursor there. */
void tui_prompt_draw(const struct tui_prompt *prompt, struct tui_canvas *canvas,
                     struct tui_rect row, int *cursor);

#endif
