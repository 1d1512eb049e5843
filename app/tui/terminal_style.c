/* What styles look like. The colours are apart for every kind of colour blindness (blue against orange, after Okabe and Ito,
 * "Color Universal Design", 2008) and of middle brightness, to be read on light and dark backgrounds. */
#include "app/tui/terminal_private.h"

struct look {
    attr_t attributes;       /* with colours */
    short of_256, of_8;      /* -1: the terminal's own */
    attr_t plain_attributes; /* without */
};

static const struct look looks[TUI_STYLE_COUNT] = {
    [TUI_PLAIN] = {A_NORMAL, -1, -1, A_NORMAL},
    [TUI_DIM] = {A_DIM, -1, -1, A_DIM},
    [TUI_STRONG] = {A_BOLD, -1, -1, A_BOLD},
    [TUI_TITLE] = {A_BOLD, 32, COLOR_CYAN, A_BOLD},
    [TUI_KEY] = {A_BOLD, -1, -1, A_BOLD},
    [TUI_GOOD] = {A_BOLD, 33, COLOR_CYAN, A_BOLD},
    [TUI_BAD] = {A_BOLD, 208, COLOR_YELLOW, A_BOLD | A_UNDERLINE},
    [TUI_WARN] = {A_UNDERLINE, 172, COLOR_YELLOW, A_UNDERLINE},
    [TUI_SELECTED] = {A_REVERSE, -1, -1, A_REVERSE},
    [TUI_MARKED] = {A_BOLD, 133, COLOR_MAGENTA, A_BOLD | A_UNDERLINE},
    [TUI_SERIES] = {A_NORMAL, 32, COLOR_CYAN, A_NORMAL},
    [TUI_SERIES + 1] = {A_NORMAL, 208, COLOR_YELLOW, A_BOLD},
    [TUI_SERIES + 2] = {A_NORMAL, 37, COLOR_BLUE, A_UNDERLINE},
    [TUI_SERIES + 3] = {A_NORMAL, 133, COLOR_MAGENTA, A_DIM},
    [TUI_SERIES + 4] = {A_BOLD, 136, COLOR_YELLOW, A_BOLD | A_UNDERLINE},
    [TUI_SERIES + 5] = {A_BOLD, 68, COLOR_CYAN, A_BOLD},
    [TUI_SERIES + 6] = {A_NORMAL, 173, COLOR_MAGENTA, A_UNDERLINE},
    [TUI_SERIES + 7] = {A_DIM, -1, -1, A_DIM},
};

void tui_terminal_styles(bool color)
{
    struct tui_terminal *t = &tui_terminal;
    /* Without start_color no colour is ever sent, not even to take one back. */
    t->color = color && has_colors() && start_color() == OK && COLORS >= 8 && COLOR_PAIRS > 8;
    if (t->color)
        use_default_colors();
    short next = 1;
    for (int i = 0; i < TUI_STYLE_COUNT; i++) {
        const struct look *look = &looks[i];
        short index = COLORS >= 256 ? look->of_256 : look->of_8;
        t->attributes[i] = t->color ? look->attributes : look->plain_attributes;
        t->pairs[i] = 0;
        if (t->color && index >= 0 && next < COLOR_PAIRS && init_pair(next, index, -1) == OK)
            t->pairs[i] = next++;
    }
}
