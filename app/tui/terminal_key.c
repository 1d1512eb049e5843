/* Keys as they come from ncurses, as numbers of ours. Sequences that the terminal's description does not have are swallowed
 * whole: their letters are nobody's keys. */
#include "app/tui/terminal_private.h"
#include <time.h>

#define DOUBLE_CLICK_NS 400000000LL

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static int function_key(wint_t code)
{
    static const struct {
        wint_t code;
        int key;
    } keys[] = {
        {KEY_UP, TUI_KEY_UP},          {KEY_DOWN, TUI_KEY_DOWN},
        {KEY_LEFT, TUI_KEY_LEFT},      {KEY_RIGHT, TUI_KEY_RIGHT},
        {KEY_PPAGE, TUI_KEY_PAGE_UP},  {KEY_NPAGE, TUI_KEY_PAGE_DOWN},
        {KEY_HOME, TUI_KEY_HOME},      {KEY_END, TUI_KEY_END},
        {KEY_FIND, TUI_KEY_HOME},      {KEY_SELECT, TUI_KEY_END},
        {KEY_IC, TUI_KEY_INSERT},      {KEY_DC, TUI_KEY_DELETE},
        {KEY_ENTER, TUI_KEY_ENTER},    {KEY_BACKSPACE, TUI_KEY_BACKSPACE},
        {KEY_BTAB, TUI_KEY_SHIFT_TAB}, {KEY_A1, TUI_KEY_HOME},
        {KEY_A3, TUI_KEY_PAGE_UP},     {KEY_C1, TUI_KEY_END},
        {KEY_C3, TUI_KEY_PAGE_DOWN},   {KEY_SR, TUI_KEY_UP},
        {KEY_SF, TUI_KEY_DOWN},        {KEY_SLEFT, TUI_KEY_LEFT},
        {KEY_SRIGHT, TUI_KEY_RIGHT},
    };
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (keys[i].code == code)
            return keys[i].key;
    if (code >= KEY_F(1) && code <= KEY_F(12))
        return TUI_KEY_F1 + (int)(code - KEY_F(1));
    return TUI_KEY_NONE;
}

static int character_key(wint_t c)
{
    switch (c) {
    case 0:
        return TUI_KEY_NONE;
    case '\b':
    case 0x7f:
        return TUI_KEY_BACKSPACE;
    case '\t':
        return TUI_KEY_TAB;
    case '\n':
    case '\r':
        return TUI_KEY_ENTER;
    case 27:
        return TUI_KEY_ESCAPE;
    default:
        return c < 0x7f || (tui_terminal.utf8 && c < 0x110000) ? (int)c : TUI_KEY_NONE;
    }
}

/* After an escape: the rest of a sequence that is not known, "[...letter" or "O letter", is read and dropped; true: there
 * was one. What else follows (Alt and a key) is two keys. */
static bool sequence_drop(void)
{
    wint_t first, next;
    if (wget_wch(tui_terminal.keys, &first) != OK)
        return false;
    if (first != '[' && first != 'O') {
        unget_wch((wchar_t)first);
        return false;
    }
    if (wget_wch(tui_terminal.keys, &next) != OK) {
        unget_wch((wchar_t)first);
        return false;
    }
    for (int i = 0; first == '[' && i < 32 && next >= 0x20 && next < 0x40; i++)
        if (wget_wch(tui_terminal.keys, &next) != OK)
            break;
    return true;
}

/* False: nothing that is meant for anybody. */
static bool mouse_take(struct tui_mouse *out)
{
    struct tui_terminal *t = &tui_terminal;
    MEVENT event;
    if (getmouse(&event) != OK || event.y < 0 || event.x < 0 || event.y >= getmaxy(stdscr) ||
        event.x >= getmaxx(stdscr))
        return false;
    *out = (struct tui_mouse){.y = event.y, .x = event.x};
    if (event.bstate & BUTTON4_PRESSED)
        out->wheel = -1;
    else if (event.bstate & BUTTON5_PRESSED)
        out->wheel = 1;
    else if (!(event.bstate & BUTTON1_PRESSED))
        return false;
    int64_t now = now_ns();
    out->twice = !out->wheel && !t->click.wheel && !t->click.twice && t->click.y == out->y &&
                 t->click.x == out->x && now - t->click_ns < DOUBLE_CLICK_NS;
    t->click = *out;
    t->click_ns = now;
    return true;
}

int tui_terminal_key(struct tui_mouse *mouse)
{
    wint_t c;
    if (!tui_terminal.screen)
        return TUI_KEY_NONE;
    if (tui_terminal_resized())
        return TUI_KEY_RESIZE;
    for (;;) {
        int key = TUI_KEY_NONE, kind = wget_wch(tui_terminal.keys, &c);
        if (kind == ERR)
            return TUI_KEY_NONE;
        if (kind == KEY_CODE_YES && c == KEY_MOUSE)
            key = mouse_take(mouse) ? TUI_KEY_MOUSE : TUI_KEY_NONE;
        else if (kind == KEY_CODE_YES)
            key = function_key(c);
        else if (c != 27 || !sequence_drop())
            key = character_key(c);
        if (key != TUI_KEY_NONE)
            return key;
    }
}
