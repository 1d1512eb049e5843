/* Lines of text broken to the width of the screen, where they are prose: a table keeps its lines, which scroll, and what is
 * narrow enough stays as it is. */
#ifndef APP_TUI_FOLD_H
#define APP_TUI_FOLD_H

#include "app/tui/canvas.h"

/* A part of a line as it is drawn: `length` bytes of `text` from column `indent` on. */
struct tui_piece {
    const char *text;
    int length, indent, line;
};

struct tui_fold {
    struct tui_piece *pieces; /* owned; the text is not */
    int count;
};

/* The pieces of `count` lines in their order, each line having one at least. `canvas` tells how wide characters are. False:
 * no memory, and there are none. What `out` had before is freed. */
bool tui_fold_make(struct tui_fold *out, const struct tui_canvas *canvas, char *const *lines,
                   int count, int width);
void tui_fold_done(struct tui_fold *fold);

#endif
