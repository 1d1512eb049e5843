/* See canvas.h. A wide character is its point and a cell of point 0 right of it; whoever draws over one half leaves the
 * other alone, which may be another rectangle's, and tui_cell_point shows it as a blank. */
#include "app/tui/canvas.h"
#include <mgb/text.h>
#include <limits.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#define BLANK ((struct tui_cell){.point = ' ', .style = TUI_PLAIN})

bool tui_canvas_init(struct tui_canvas *canvas, int rows, int columns, bool utf8)
{
    *canvas = (struct tui_canvas){.utf8 = utf8};
    return tui_canvas_resize(canvas, rows, columns);
}

void tui_canvas_done(struct tui_canvas *canvas)
{
    free(canvas->cells);
    *canvas = (struct tui_canvas){.utf8 = canvas->utf8};
}

bool tui_canvas_resize(struct tui_canvas *canvas, int rows, int columns)
{
    rows = rows > 0 && columns > 0 ? rows : 0;
    columns = rows > 0 ? columns : 0;
    struct tui_cell *cells = NULL;
    if (rows > 0) {
        size_t count = (size_t)rows * (size_t)columns;
        cells = count <= INT_MAX ? malloc(count * sizeof *cells) : NULL;
    }
    free(canvas->cells);
    canvas->cells = cells;
    canvas->rows = cells ? rows : 0;
    canvas->columns = cells ? columns : 0;
    tui_canvas_blank(canvas);
    return cells || rows == 0;
}

void tui_canvas_blank(struct tui_canvas *canvas)
{
    size_t count = (size_t)canvas->rows * (size_t)canvas->columns;
    for (size_t i = 0; i < count; i++)
        canvas->cells[i] = BLANK;
}

struct tui_rect tui_canvas_whole(const struct tui_canvas *canvas)
{
    return (struct tui_rect){.rows = canvas->rows, .columns = canvas->columns};
}

/* The common part of two spans, which may reach beyond what an int holds. */
static void span_clip(int *at, int *count, int within, int within_count)
{
    int64_t first = *at > within ? *at : within;
    int64_t end = (int64_t)*at + (*count > 0 ? *count : 0);
    int64_t within_end = (int64_t)within + (within_count > 0 ? within_count : 0);
    end = end < within_end ? end : within_end;
    *at = (int)first;
    *count = end > first ? (int)(end - first) : 0;
}

struct tui_rect tui_rect_clip(struct tui_rect rect, struct tui_rect within)
{
    span_clip(&rect.y, &rect.rows, within.y, within.rows);
    span_clip(&rect.x, &rect.columns, within.x, within.columns);
    return rect;
}

static int sum_clamp(int a, int b)
{
    int64_t sum = (int64_t)a + b;
    return sum > INT_MAX ? INT_MAX : sum < INT_MIN ? INT_MIN : (int)sum;
}

struct tui_rect tui_rect_row(struct tui_rect rect, int row)
{
    bool there = row >= 0 && row < rect.rows;
    rect.y = sum_clamp(rect.y, row);
    rect.rows = there ? 1 : 0;
    return rect;
}

static void span_cut(int *at, int *count, int by)
{
    by = by < 0 ? 0 : by;
    *at = sum_clamp(*at, by);
    *count = *count > by ? *count - by : 0;
}

struct tui_rect tui_rect_inside(struct tui_rect rect, int rows, int columns)
{
    span_cut(&rect.y, &rect.rows, rows);
    span_cut(&rect.x, &rect.columns, columns);
    return rect;
}

/* What stands for a point where there is no UTF-8. */
static char ascii_twin(uint32_t point)
{
    static const struct {
        uint32_t point;
        char twin;
    } twins[] = {
        {0xa0, ' '},    {0xb0, 'o'},    {0xb1, '+'},   {0xb2, '2'},   {0xb3, '3'},   {0xb5, 'u'},
        {0xb7, '.'},    {0xd7, 'x'},    {0x3bc, 'u'},  {0x3c3, 's'},  {0x2013, '-'}, {0x2014, '-'},
        {0x2018, '\''}, {0x2019, '\''}, {0x201c, '"'}, {0x201d, '"'}, {0x2022, '*'}, {0x2026, '.'},
        {0x2190, '<'},  {0x2191, '^'},  {0x2192, '>'}, {0x2193, 'v'}, {0x2212, '-'}, {0x2248, '~'},
        {0x2260, '#'},  {0x2264, '<'},  {0x2265, '>'}, {0x2500, '-'}, {0x2502, '|'}, {0x25b2, '^'},
        {0x25b6, '>'},  {0x25bc, 'v'},  {0x25c0, '<'}, {0x25cf, '*'}, {0x2713, 'v'}, {0x2717, 'x'},
    };
    for (size_t i = 0; i < sizeof twins / sizeof *twins; i++)
        if (twins[i].point == point)
            return twins[i].twin;
    if (point >= 0x2500 && point < 0x2580)
        return '+';                                       /* corners and crossings of lines */
    return point >= 0x2580 && point < 0x25a0 ? '#' : '?'; /* blocks */
}

/* Columns of a point that is shown; 0 for what only changes the character before it. */
static int point_width(const struct tui_canvas *canvas, uint32_t point)
{
    if (!canvas->utf8 || point < 0x7f)
        return 1;
    int width = wcwidth((wchar_t)point);
    return width < 0 ? 1 : width > 2 ? 2 : width;
}

/* A character of `width` columns at column x of the canvas; one that is cut by the border is a blank there. */
static void cell_put(struct tui_canvas *canvas, struct tui_rect clip, int64_t x, int width,
                     enum tui_style style, uint32_t point)
{
    int64_t end = (int64_t)clip.x + clip.columns;
    bool whole = x >= clip.x && x + width <= end;
    struct tui_cell *row = canvas->cells + (size_t)clip.y * (size_t)canvas->columns;
    for (int i = 0; i < width; i++)
        if (x + i >= clip.x && x + i < end)
            row[x + i] = (struct tui_cell){.point = !whole ? ' '
                                                    : i    ? 0
                                                           : point,
                                           .style = (uint8_t)style};
}

/* Row y of `rect` as far as the canvas has it; no rows: nothing to draw on. */
static struct tui_rect row_clip(const struct tui_canvas *canvas, struct tui_rect rect, int y)
{
    return tui_rect_clip(tui_rect_row(rect, y), tui_canvas_whole(canvas));
}

static int column_clamp(int64_t column)
{
    return column > INT_MAX ? INT_MAX : column < INT_MIN ? INT_MIN : (int)column;
}

/* The next character of a text as it is shown, and how many bytes it was. */
static size_t character_take(char shown[MGB_CHARACTER_SHOWN], size_t *used, const char *at,
                             size_t left)
{
    if (*at == '\n' || *at == '\r' || *at == '\t') {
        *used = 1;
        memcpy(shown, " ", 2);
        return 1;
    }
    return mgb_character_show(shown, used, at, left);
}

/* Draws one character, or the several of an escape, from canvas column x on; returns its width. */
static int character_put(struct tui_canvas *canvas, const struct tui_rect *clip, int64_t x,
                         enum tui_style style, const char *shown, size_t length)
{
    int columns = 0;
    uint32_t point;
    for (size_t used; length > 0; shown += used, length -= used) {
        used = mgb_character_read(&point, shown, length);
        if (used == 0) {
            point = '?';
            used = 1;
        }
        if (!canvas->utf8 && point >= 0x7f)
            point = (unsigned char)ascii_twin(point);
        int width = point_width(canvas, point);
        if (clip && clip->rows > 0)
            cell_put(canvas, *clip, x + columns, width, style, point);
        columns += width;
    }
    return columns;
}

/* `clip` NULL: measures only. `x`: of the canvas. Returns the width. */
static int64_t text_put(struct tui_canvas *canvas, const struct tui_rect *clip, int64_t x,
                        enum tui_style style, const char *text)
{
    char shown[MGB_CHARACTER_SHOWN];
    int64_t width = 0;
    for (size_t left = strlen(text), used; left > 0; text += used, left -= used) {
        size_t length = character_take(shown, &used, text, left);
        width += character_put(canvas, clip, x + width, style, shown, length);
    }
    return width;
}

int tui_put(struct tui_canvas *canvas, struct tui_rect rect, int y, int x, enum tui_style style,
            const char *text)
{
    struct tui_rect clip = row_clip(canvas, rect, y);
    return column_clamp(x + text_put(canvas, &clip, (int64_t)rect.x + x, style, text));
}

int tui_print(struct tui_canvas *canvas, struct tui_rect rect, int y, int x, enum tui_style style,
              const char *format, ...)
{
    char text[1024], *longer = NULL;
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int length = vsnprintf(text, sizeof text, format, args);
    if (length >= (int)sizeof text && vasprintf(&longer, format, again) < 0)
        longer = NULL; /* what fits is drawn */
    va_end(again);
    va_end(args);
    int end = length < 0 ? x : tui_put(canvas, rect, y, x, style, longer ? longer : text);
    free(longer);
    return end;
}

int tui_text_width(const struct tui_canvas *canvas, const char *text)
{
    struct tui_canvas nothing = {.utf8 = canvas->utf8};
    return column_clamp(text_put(&nothing, NULL, 0, TUI_PLAIN, text));
}

int tui_put_right(struct tui_canvas *canvas, struct tui_rect rect, int y, int x,
                  enum tui_style style, const char *text)
{
    return tui_put(canvas, rect, y, column_clamp((int64_t)x - tui_text_width(canvas, text)), style,
                   text);
}

void tui_fill(struct tui_canvas *canvas, struct tui_rect rect, int y, int x, int count,
              enum tui_style style, uint32_t point, char ascii)
{
    struct tui_rect clip = row_clip(canvas, rect, y);
    bool plain = canvas->utf8 ? mgb_character_is_shown(point) : point >= ' ' && point < 0x7f;
    if (!plain || point_width(canvas, point) != 1)
        point = (unsigned char)ascii;
    int64_t first = (int64_t)rect.x + x, end = first + count;
    first = first > clip.x ? first : clip.x;
    end = end < (int64_t)clip.x + clip.columns ? end : (int64_t)clip.x + clip.columns;
    for (int64_t at = first; clip.rows > 0 && at < end; at++)
        cell_put(canvas, clip, at, 1, style, point);
}

void tui_restyle(struct tui_canvas *canvas, struct tui_rect rect, enum tui_style style)
{
    rect = tui_rect_clip(rect, tui_canvas_whole(canvas));
    for (int y = rect.y; y < rect.y + rect.rows; y++)
        for (int x = rect.x; x < rect.x + rect.columns; x++)
            canvas->cells[(size_t)y * (size_t)canvas->columns + (size_t)x].style = (uint8_t)style;
}

void tui_rule(struct tui_canvas *canvas, struct tui_rect rect, int y, const char *title,
              const char *right)
{
    tui_fill(canvas, rect, y, 0, rect.columns, TUI_DIM, 0x2500, '-');
    if (right && *right) {
        int end = rect.columns > 3 ? rect.columns - 3 : 0, width = tui_text_width(canvas, right);
        int least = title && *title ? 4 + tui_text_width(canvas, title) : 3;
        if (end - width > least) /* else the title alone */
            tui_print(canvas, rect, y, end - width - 1, TUI_PLAIN, " %s ", right);
    }
    if (title && *title)
        tui_print(canvas, rect, y, 2, TUI_TITLE, " %s ", title);
}

uint32_t tui_cell_point(const struct tui_canvas *canvas, int y, int x)
{
    if (y < 0 || x < 0 || y >= canvas->rows || x >= canvas->columns)
        return ' ';
    const struct tui_cell *row = canvas->cells + (size_t)y * (size_t)canvas->columns;
    uint32_t point = row[x].point;
    if (point == 0)
        return x > 0 && row[x - 1].point && point_width(canvas, row[x - 1].point) == 2 ? 0 : ' ';
    bool cut = point_width(canvas, point) == 2 && (x + 1 >= canvas->columns || row[x + 1].point);
    return cut ? ' ' : point;
}

size_t tui_point_write(char out[5], uint32_t point)
{
    size_t length = 0;
    if (point < 0x80) {
        out[length++] = (char)point;
    } else if (point < 0x800) {
        out[length++] = (char)(0xc0 | point >> 6);
    } else if (point < 0x10000) {
        out[length++] = (char)(0xe0 | point >> 12);
        out[length++] = (char)(0x80 | (point >> 6 & 0x3f));
    } else {
        out[length++] = (char)(0xf0 | (point >> 18 & 7));
        out[length++] = (char)(0x80 | (point >> 12 & 0x3f));
        out[length++] = (char)(0x80 | (point >> 6 & 0x3f));
    }
    if (point >= 0x80)
        out[length++] = (char)(0x80 | (point & 0x3f));
    out[length] = '\0';
    return length;
}

char *tui_canvas_text(const struct tui_canvas *canvas)
{
    size_t most = (size_t)canvas->rows * ((size_t)canvas->columns * 4 + 1) + 1;
    char *text = malloc(most + 4), *to = text;
    if (!text)
        return NULL;
    for (int y = 0; y < canvas->rows; y++) {
        char *end = to; /* of what is not blank */
        for (int x = 0; x < canvas->columns; x++) {
            uint32_t point = tui_cell_point(canvas, y, x);
            to += point ? tui_point_write(to, point) : 0;
            end = point != ' ' ? to : end;
        }
        *end = '\n';
        to = end + 1;
    }
    *to = '\0';
    return text;
}
