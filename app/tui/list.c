/* Lists, tables and numbers of views; see list.h. Knows no view and nothing of what the rows are. */
#include "app/tui/list.h"

#include <math.h>
#include <mgb/text.h>
#include <stdio.h>
#include <string.h>

enum { SIDE_STEP = 8, MOST_LEFT = 4000 };

static int clamp(int value, int low, int high)
{
    if (value > high)
        value = high;
    return value < low ? low : value;
}

void tui_list_fit(struct tui_list *list, int count, int fits)
{
    list->count = count > 0 ? count : 0;
    list->fits = fits > 0 ? fits : 0;
    list->at = list->count ? clamp(list->at, 0, list->count - 1) : -1;
    list->left = clamp(list->left, 0, MOST_LEFT);
    if (list->at < list->top)
        list->top = list->at;
    if (list->at >= list->top + list->fits)
        list->top = list->at - list->fits + 1;
    list->top = clamp(list->top, 0, clamp(list->count - list->fits, 0, list->count));
}

static bool list_move(struct tui_list *list, int to)
{
    list->at = to;
    tui_list_fit(list, list->count, list->fits);
    return true;
}

bool tui_list_act(struct tui_list *list, enum tui_action action)
{
    int page = list->fits > 1 ? list->fits - 1 : 1; /* a row stays, to read on from */
    if (action == TUI_ACT_UP)
        return list_move(list, list->at - 1);
    if (action == TUI_ACT_DOWN)
        return list_move(list, list->at + 1);
    if (action == TUI_ACT_PAGE_UP)
        return list_move(list, list->at - page);
    if (action == TUI_ACT_PAGE_DOWN)
        return list_move(list, list->at + page);
    if (action == TUI_ACT_FIRST)
        return list_move(list, 0);
    if (action == TUI_ACT_LAST)
        return list_move(list, list->count - 1);
    if (action == TUI_ACT_LEFT || action == TUI_ACT_RIGHT) {
        int by = action == TUI_ACT_LEFT ? -SIDE_STEP : SIDE_STEP;
        list->left = clamp(list->left + by, 0, MOST_LEFT);
        return true;
    }
    return false;
}

bool tui_list_click(struct tui_list *list, struct tui_rect rows, int y, int x, int wheel)
{
    enum { WHEEL_ROWS = 3 };
    int row = y - rows.y;
    if (row < 0 || row >= rows.rows || x < rows.x || x >= rows.x + rows.columns)
        return false;
    if (wheel)
        return list_move(list, list->at + (wheel > 0 ? WHEEL_ROWS : -WHEEL_ROWS));
    return list->top + row < list->count && list_move(list, list->top + row);
}

void tui_list_hand(struct tui_canvas *canvas, struct tui_rect row)
{
    tui_put(canvas, row, 0, 0, TUI_SELECTED, ">");
    tui_restyle(canvas, row, TUI_SELECTED);
}

void tui_list_mark(const struct tui_list *list, struct tui_canvas *canvas, struct tui_rect rect,
                   int y)
{
    char text[32];
    snprintf(text, sizeof text, "%d/%d", list->at + 1, list->count);
    tui_put_right(canvas, rect, y, rect.columns, TUI_DIM, text);
}

/* The locale of the terminal must not decide what a filter finds. */
static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool has_word(const char *text, const char *word, size_t length)
{
    char first = lower(word[0]);
    for (; *text; text++) {
        size_t same = 0;
        if (lower(*text) != first)
            continue;
        while (same < length && text[same] && lower(text[same]) == lower(word[same]))
            same++;
        if (same == length)
            return true;
    }
    return false;
}

bool tui_filter_finds(const char *filter, const char *const *texts, size_t count)
{
    for (const char *word = filter; *word;) {
        size_t length = strcspn(word, " \t"), i = 0;
        while (length && i < count && !has_word(texts[i], word, length))
            i++;
        if (length && i == count)
            return false;
        word += length;
        word += strspn(word, " \t");
    }
    return true;
}

void tui_list_keep(struct tui_list *list, struct tui_keep *keep, const int *order, int count,
                   const char *filter, bool moved)
{
    bool other = strncmp(keep->filter, filter, sizeof keep->filter - 1) != 0;
    if (!other) {
        keep->lost = keep->lost && !moved;
        if (!keep->lost && list->at >= 0 && list->at < count)
            keep->hand = order[list->at];
        return;
    }
    snprintf(keep->filter, sizeof keep->filter, "%s", filter);
    int at = 0;
    while (at < count && order[at] != keep->hand)
        at++;
    keep->lost = at == count;
    if (!keep->lost)
        list->at = at;
}

bool tui_filter_passes(const char *filter, const char *text)
{
    return tui_filter_finds(filter, &text, 1);
}

static int table_least(const struct tui_table *table, const struct tui_column *columns)
{
    int width = 0;
    for (int i = 0; i < table->count; i++)
        if (table->width[i])
            width += columns[i].least + 1;
    return width - 1;
}

/* Of those that are left the one of least worth, the last of several; -1 when only one is left. */
static int table_cheapest(const struct tui_table *table, const struct tui_column *columns)
{
    int cheapest = -1, left = 0;
    for (int i = 0; i < table->count; i++)
        if (table->width[i]) {
            left++;
            if (cheapest < 0 || columns[i].worth <= columns[cheapest].worth)
                cheapest = i;
        }
    return left > 1 ? cheapest : -1;
}

/* What is left over goes to columns with a limit first, a column of characters at a time, so that names grow evenly. */
static void table_widen(struct tui_table *table, const struct tui_column *columns, int room,
                        bool limited)
{
    for (bool grew = true; grew && room > 0;) {
        grew = false;
        for (int i = 0; i < table->count && room > 0; i++) {
            bool may = limited ? table->width[i] < columns[i].most : columns[i].most == 0;
            if (!table->width[i] || !may)
                continue;
            table->width[i]++;
            room--;
            grew = true;
        }
    }
}

void tui_table_fit(struct tui_table *out, const struct tui_column *columns, int count, int width)
{
    int cheapest;
    *out = (struct tui_table){.count = clamp(count, 0, TUI_MOST_COLUMNS)};
    for (int i = 0; i < out->count; i++)
        out->width[i] = columns[i].least;
    while (table_least(out, columns) > width && (cheapest = table_cheapest(out, columns)) >= 0)
        out->width[cheapest] = 0;
    table_widen(out, columns, width - table_least(out, columns), true);
    int used = -1;
    for (int i = 0; i < out->count; i++)
        used += out->width[i] ? out->width[i] + 1 : 0;
    table_widen(out, columns, width - used, false);
    for (int i = 0, x = 0; i < out->count; i++) {
        out->x[i] = x;
        if (out->width[i] > width - x)
            out->width[i] = clamp(width - x, 0, width);
        x += out->width[i] ? out->width[i] + 1 : 0;
    }
}

/* A text that is cut says so with its last character. */
static void cell_put(struct tui_canvas *canvas, struct tui_rect cell, enum tui_style style,
                     const char *text, bool right)
{
    int columns = tui_text_width(canvas, text);
    if (columns <= cell.columns) {
        tui_put(canvas, cell, 0, right ? cell.columns - columns : 0, style, text);
        return;
    }
    tui_put(canvas, cell, 0, 0, style, text);
    tui_fill(canvas, cell, 0, cell.columns - 1, 1, style, 0x2026, '>');
}

static struct tui_rect table_place(const struct tui_table *table, int column, struct tui_rect row)
{
    struct tui_rect cell = {row.y, row.x + table->x[column], 1, table->width[column]};
    return tui_rect_clip(cell, row);
}

void tui_table_head(const struct tui_table *table, const struct tui_column *columns,
                    struct tui_canvas *canvas, struct tui_rect row, int sorted, bool ascending)
{
    char title[64];
    for (int i = 0; i < table->count; i++) {
        if (!table->width[i])
            continue;
        const char *sign = i != sorted ? "" : ascending ? "^" : "v";
        snprintf(title, sizeof title, "%s%s", columns[i].title, sign);
        cell_put(canvas, table_place(table, i, row), i == sorted ? TUI_STRONG : TUI_DIM, title,
                 columns[i].right);
    }
}

void tui_table_cell(const struct tui_table *table, const struct tui_column *columns, int column,
                    struct tui_canvas *canvas, struct tui_rect row, enum tui_style style,
                    const char *text)
{
    if (column >= 0 && column < table->count && table->width[column])
        cell_put(canvas, table_place(table, column, row), style, text, columns[column].right);
}

int tui_table_column_at(const struct tui_table *table, int x)
{
    for (int i = 0; i < table->count; i++)
        if (table->width[i] && x >= table->x[i] && x < table->x[i] + table->width[i])
            return i;
    return -1;
}

char *tui_number(char *out, size_t size, double value)
{
    static const char units[] = "kMGTPE";
    double large = fabs(value);
    if (isnan(value))
        snprintf(out, size, "-");
    else if (isinf(value))
        snprintf(out, size, "%s", value > 0 ? "inf" : "-inf");
    else if (value == 0)
        snprintf(out, size, "0");
    else if (large < 9.9995)
        snprintf(out, size, large < 0.00095 ? "%.1e" : "%.3f", value);
    else if (large < 99.995)
        snprintf(out, size, "%.2f", value);
    else if (large < 999.95)
        snprintf(out, size, "%.1f", value);
    else if (large < 99999.5) /* whole numbers of five digits are still read at a glance */
        snprintf(out, size, "%.0f", value);
    else {
        int unit = -1;
        for (; fabs(value) >= 999.95 && unit < 5; unit++)
            value /= 1000;
        snprintf(out, size, fabs(value) < 99.995 ? "%.2f%c" : "%.1f%c", value, units[unit]);
    }
    return out;
}

char *tui_bytes(char *out, size_t size, int64_t bytes)
{
    if (bytes < 0)
        snprintf(out, size, "-");
    else
        mgb_format_bytes(out, size, bytes);
    return out;
}
