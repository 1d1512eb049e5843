/* libvterm's part: the picture that a program's output makes. Uses only what 0.1 and 0.3 have alike. */
#include "tests/screens/emulator.h"

#include <regex.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static int property_set(VTermProp property, VTermValue *value, void *user)
{
    struct terminal *t = user;
    if (property == VTERM_PROP_ALTSCREEN)
        t->state.alternate = value->boolean;
    else if (property == VTERM_PROP_CURSORVISIBLE)
        t->state.cursor = value->boolean;
    else if (property == VTERM_PROP_MOUSE)
        t->state.mouse = value->number;
    return 1;
}

static int cursor_move(VTermPos now, VTermPos before, int visible, void *user)
{
    struct terminal *t = user;
    (void)before;
    (void)visible;
    t->state.y = now.row;
    t->state.x = now.col;
    return 1;
}

/* What a terminal answers, and keys. */
static void answer_send(const char *bytes, size_t count, void *user)
{
    terminal_write(user, bytes, count);
}

static const VTermScreenCallbacks callbacks = {.movecursor = cursor_move,
                                               .settermprop = property_set};

void emulator_make(struct terminal *t)
{
    t->vt = vterm_new(t->rows, t->columns);
    assert_non_null(t->vt);
    vterm_set_utf8(t->vt, 1);
    vterm_output_set_callback(t->vt, answer_send, t);
    t->screen = vterm_obtain_screen(t->vt);
    vterm_screen_enable_altscreen(t->screen, 1);
    vterm_screen_set_callbacks(t->screen, &callbacks, t);
    vterm_screen_reset(t->screen, 1);
    t->state.cursor = true;
    t->output = malloc(TERMINAL_KEPT + 1);
    assert_non_null(t->output);
}

void emulator_free(struct terminal *t)
{
    vterm_free(t->vt);
    free(t->output);
    free(t->text);
    free(t->line);
}

/* Several modes in one sequence, ESC [ ? 1006 ; 1000 h: libvterm 0.1 takes the first only, so each becomes its own. */
static void modes_write(struct terminal *t)
{
    char one[sizeof t->modes + 4], *rest = t->modes, end = t->modes[t->modes_used - 1];
    t->modes[t->modes_used - 1] = '\0';
    for (char *number; (number = strsep(&rest, ";"));)
        vterm_input_write(t->vt, one, (size_t)snprintf(one, sizeof one, "\033[?%s%c", number, end));
}

/* Between an ESC [ ? and its end the numbers are kept. */
static void byte_take(struct terminal *t, char byte)
{
    static const char begin[] = "\033[?";
    if (t->modes_begun < 3) {
        t->modes_begun = byte == begin[t->modes_begun] ? t->modes_begun + 1 : byte == begin[0];
        if (t->modes_begun < 3)
            vterm_input_write(t->vt, &byte, 1);
        t->modes_used = 0;
        return;
    }
    t->modes[t->modes_used++] = byte;
    bool more = ((byte >= '0' && byte <= '9') || byte == ';') && t->modes_used < sizeof t->modes;
    if (more)
        return;
    vterm_input_write(t->vt, "\030", 1); /* CAN: what had begun of it is given up */
    if (byte == 'h' || byte == 'l')
        modes_write(t);
    else {
        vterm_input_write(t->vt, begin, 3);
        vterm_input_write(t->vt, t->modes, t->modes_used);
    }
    t->modes_begun = 0;
}

void emulator_take(struct terminal *t, const char *bytes, size_t count)
{
    t->state.bytes += count;
    for (size_t i = 0; i < count; i++)
        byte_take(t, bytes[i]);
    if (t->kept + count > TERMINAL_KEPT) {
        size_t gone = t->kept + count - TERMINAL_KEPT;
        memmove(t->output, t->output + gone, t->kept - gone);
        t->kept -= gone;
    }
    memcpy(t->output + t->kept, bytes, count);
    t->kept += count;
}

void emulator_resize(struct terminal *t, int rows, int columns)
{
    t->rows = rows;
    t->columns = columns;
    vterm_set_size(t->vt, rows, columns);
}

static size_t point_write(char *out, uint32_t point)
{
    if (point < 0x80) {
        out[0] = (char)point;
        return 1;
    }
    size_t bytes = point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
    for (size_t i = bytes; i-- > 1; point >>= 6)
        out[i] = (char)(0x80 | (point & 0x3f));
    out[0] = (char)((0xf00 >> bytes & 0xff) | point);
    return bytes;
}

/* A cell as text; nothing for the right half of a wide character. `out` has room for 24 bytes. */
static size_t cell_write(struct terminal *t, int y, int x, char *out)
{
    size_t used = 0;
    VTermScreenCell cell;
    memset(&cell, 0, sizeof cell);
    if (!vterm_screen_get_cell(t->screen, (VTermPos){y, x}, &cell) || cell.chars[0] == UINT32_MAX)
        return 0;
    if (!cell.chars[0])
        out[used++] = ' ';
    for (int i = 0; i < VTERM_MAX_CHARS_PER_CELL && cell.chars[i]; i++)
        used += point_write(out + used, cell.chars[i]);
    return used;
}

/* One line without the blanks at its end; `out` has room for 24 bytes a column. */
static size_t line_write(struct terminal *t, int y, char *out)
{
    size_t used = 0;
    for (int x = 0; x < t->columns; x++)
        used += cell_write(t, y, x, out + used);
    while (used > 0 && out[used - 1] == ' ')
        used--;
    out[used] = '\0';
    return used;
}

static size_t line_room(const struct terminal *t)
{
    return (size_t)t->columns * 24 + 2;
}

const char *terminal_text(struct terminal *t)
{
    free(t->text);
    t->text = malloc(line_room(t) * (size_t)t->rows + 1);
    assert_non_null(t->text);
    size_t used = 0;
    for (int y = 0; y < t->rows; y++) {
        used += line_write(t, y, t->text + used);
        t->text[used++] = '\n';
    }
    t->text[used] = '\0';
    return t->text;
}

const char *terminal_line(struct terminal *t, int y)
{
    assert_in_range(y, 0, t->rows - 1);
    free(t->line);
    t->line = malloc(line_room(t));
    assert_non_null(t->line);
    line_write(t, y, t->line);
    return t->line;
}

bool terminal_has(struct terminal *t, const char *text)
{
    return strstr(terminal_text(t), text) != NULL;
}

bool terminal_matches(struct terminal *t, const char *regex)
{
    regex_t compiled;
    assert_int_equal(regcomp(&compiled, regex, REG_EXTENDED | REG_NEWLINE | REG_NOSUB), 0);
    bool matches = regexec(&compiled, terminal_text(t), 0, NULL, 0) == 0;
    regfree(&compiled);
    return matches;
}

bool terminal_find(struct terminal *t, const char *text, int *y, int *x)
{
    for (int row = 0; row < t->rows; row++) {
        const char *line = terminal_line(t, row), *at = strstr(line, text);
        if (!at)
            continue;
        char unused[24];
        *y = row;
        *x = 0;
        for (size_t bytes = 0; bytes < (size_t)(at - line); ++*x)
            bytes += cell_write(t, row, *x, unused);
        while (cell_write(t, row, *x, unused) == 0)
            ++*x;
        return true;
    }
    return false;
}

static int color_index(const VTermColor *color, bool is_default)
{
    return is_default ? -1 : VTERM_COLOR_IS_INDEXED(color) ? color->indexed.idx : 256;
}

struct terminal_cell terminal_cell(struct terminal *t, int y, int x)
{
    VTermScreenCell cell;
    memset(&cell, 0, sizeof cell);
    assert_true(vterm_screen_get_cell(t->screen, (VTermPos){y, x}, &cell));
    struct terminal_cell out = {
        .point = cell.chars[0] ? cell.chars[0] : ' ',
        .bold = cell.attrs.bold,
        .underline = cell.attrs.underline != 0,
        .reverse = cell.attrs.reverse,
        .front = color_index(&cell.fg, VTERM_COLOR_IS_DEFAULT_FG(&cell.fg)),
        .back = color_index(&cell.bg, VTERM_COLOR_IS_DEFAULT_BG(&cell.bg)),
    };
    out.colored = out.front >= 0 || out.back >= 0;
    return out;
}

int terminal_colored(struct terminal *t)
{
    int count = 0;
    for (int y = 0; y < t->rows; y++)
        for (int x = 0; x < t->columns; x++)
            count += terminal_cell(t, y, x).colored;
    return count;
}

struct terminal_state terminal_state(struct terminal *t)
{
    return t->state;
}

const char *terminal_output(struct terminal *t, size_t *size)
{
    *size = t->kept;
    t->output[t->kept] = '\0';
    return t->output;
}
