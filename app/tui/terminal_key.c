/* Keys as they come from ncurses, as numbers of ours. Sequences that the terminal's description does not have are swallowed
 * whole: their letters are nobody's keys. Characters are put together here: wget_wch takes up to eight keys that follow a
 * byte that is no text for parts of it. */
#include "app/tui/terminal_private.h"
#include <mgb/text.h>
#include <time.h>

#define DOUBLE_CLICK_NS 400000000LL

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static int function_key(int code)
{
    static const struct {
        int code, key;
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
        return TUI_KEY_F1 + (code - KEY_F(1));
    return TUI_KEY_NONE;
}

static int control_key(int c)
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
        return c;
    }
}

/* Bytes of a character that begins with this one. */
static int bytes_of(int byte)
{
    return byte < 0xc2 || byte > 0xf4 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
}

/* What is no part of the character is the next key; false: its end is not there yet, and is waited for. */
static bool character_take(int *key, int first)
{
    int count = tui_terminal.utf8 ? bytes_of(first) : 1, next = 0x80;
    char bytes[4] = {(char)first};
    uint32_t point;
    *key = TUI_KEY_NONE;
    for (int i = 1; i < count && (next & ~0x3f) == 0x80; i++) {
        next = wgetch(tui_terminal.keys);
        if (next == ERR) {
            while (i-- > 0)
                ungetch((unsigned char)bytes[i]);
            return false;
        }
        if ((next & ~0x3f) != 0x80)
            ungetch(next);
        else
            bytes[i] = (char)next;
    }
    if ((first < 0x80 || tui_terminal.utf8) &&
        mgb_character_read(&point, bytes, (size_t)count) == (size_t)count)
        *key = control_key((int)point);
    return true;
}

/* After an escape: the rest of a sequence that is not known, "[...letter" or "O letter", is read and dropped; true: there
 * was one. What else follows (Alt and a key) is two keys. */
static bool sequence_drop(void)
{
    int first = wgetch(tui_terminal.keys);
    if (first == ERR)
        return false;
    int next = first == '[' || first == 'O' ? wgetch(tui_terminal.keys) : ERR;
    if (next == ERR) {
        ungetch(first);
        return false;
    }
    for (int i = 0; first == '[' && i < 32 && next >= 0x20 && next < 0x40; i++)
        if ((next = wgetch(tui_terminal.keys)) == ERR)
            break;
    return true;
}

/* ncurses reads what comes in one go as one key, and hands out the newest event first. */
static void mouse_read(void)
{
    struct tui_terminal *t = &tui_terminal;
    for (t->event_count = 0; t->event_count < TUI_EVENTS; t->event_count++)
        if (getmouse(&t->events[t->event_count]) != OK)
            break;
}

/* The oldest event that waits. False: it is not meant for anybody. */
static bool mouse_take(struct tui_mouse *out)
{
    struct tui_terminal *t = &tui_terminal;
    const MEVENT *event = &t->events[--t->event_count];
    if (event->y < 0 || event->x < 0 || event->y >= getmaxy(stdscr) || event->x >= getmaxx(stdscr))
        return false;
    *out = (struct tui_mouse){.y = event->y, .x = event->x};
    if (event->bstate & BUTTON4_PRESSED)
        out->wheel = -1;
    else if (event->bstate & BUTTON5_PRESSED)
        out->wheel = 1;
    else if (!(event->bstate & BUTTON1_PRESSED))
        return false;
    int64_t now = now_ns();
    out->twice = !out->wheel && !t->click.wheel && !t->click.twice && t->click.y == out->y &&
                 t->click.x == out->x && now - t->click_ns < DOUBLE_CLICK_NS;
    t->click = *out;
    t->click_ns = now;
    return true;
}

/* A key that is nobody's is TUI_KEY_NONE; false: there is no more. */
static bool key_take(int *key, struct tui_mouse *mouse)
{
    *key = TUI_KEY_NONE;
    if (tui_terminal.event_count > 0) {
        *key = mouse_take(mouse) ? TUI_KEY_MOUSE : TUI_KEY_NONE;
        return true;
    }
    int c = wgetch(tui_terminal.keys);
    if (c == ERR)
        return false;
    if (c == KEY_MOUSE)
        mouse_read();
    else if (c >= KEY_MIN)
        *key = function_key(c);
    else if (c != 27 || !sequence_drop())
        return character_take(key, c);
    return true;
}

int tui_terminal_key(struct tui_mouse *mouse)
{
    int key = TUI_KEY_NONE;
    if (!tui_terminal.screen)
        return TUI_KEY_NONE;
    if (tui_terminal_resized())
        return TUI_KEY_RESIZE;
    while (key == TUI_KEY_NONE && key_take(&key, mouse))
        ;
    return key;
}
