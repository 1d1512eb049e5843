/* Words, places, colours and legends of a gnuplot script. See gnuplot_private.h. */
#include "app/plot/gnuplot_private.h"
#include <string.h>

/* Okabe and Ito (2008), without their greens, reordered so that neighbours differ in lightness; lines are never so light
 * that white swallows them. */
static const struct mgb_look looks[] = {
    {"#0072B2", "#ffffff", "#0072B2", 1}, {"#E69F00", "#000000", "#E69F00", 2},
    {"#56B4E9", "#000000", "#56B4E9", 4}, {"#333333", "#ffffff", "#333333", 3},
    {"#F0E442", "#000000", "#994F00", 5}, {"#CC79A7", "#000000", "#CC79A7", 1},
    {"#BBBBBB", "#000000", "#888888", 2}, {"#5D3A9B", "#ffffff", "#5D3A9B", 4},
    {"#EEEEEE", "#000000", "#8C7A00", 3}};

const struct mgb_look *mgb_look_get(int style)
{
    return &looks[(size_t)style % (sizeof looks / sizeof *looks)];
}

/* Another cycle than the colours', so that the tenth line is not the first again. */
int mgb_look_shape(int style)
{
    static const int shapes[] = {7, 5, 9, 13, 11, 6, 4, 8};
    return shapes[(size_t)style % (sizeof shapes / sizeof *shapes)];
}

void mgb_sheet_number(const struct mgb_sheet *sheet, double value)
{
    char text[40];
    snprintf(text, sizeof text, "%.10g", value);
    char *comma = strchr(text, ',');
    if (comma)
        *comma = '.';
    fputs(text, sheet->out);
}

void mgb_sheet_quote(const struct mgb_sheet *sheet, const char *text, int length)
{
    fputc('\'', sheet->out);
    for (int i = 0; length < 0 ? text[i] != '\0' : i < length; i++) {
        if (text[i] == '\'')
            fputc('\'', sheet->out);
        fputc((unsigned char)text[i] < ' ' ? ' ' : text[i], sheet->out);
    }
    fputc('\'', sheet->out);
}

void mgb_sheet_place(const struct mgb_sheet *sheet, double x, double y)
{
    fputs("screen ", sheet->out);
    mgb_sheet_number(sheet, x / sheet->width);
    fputs(",screen ", sheet->out);
    mgb_sheet_number(sheet, 1 - y / sheet->height);
}

void mgb_sheet_words(const struct mgb_sheet *sheet, const char *text, int length, double x,
                     double y, const char *how)
{
    fputs("set label ", sheet->out);
    mgb_sheet_quote(sheet, text, length);
    fputs(" at ", sheet->out);
    mgb_sheet_place(sheet, x, y);
    fprintf(sheet->out, " front %s\n", how);
}

double mgb_sheet_paragraph(const struct mgb_sheet *sheet, const char *text, struct mgb_box where,
                           double size, const char *how)
{
    double height = 0, line = size * 1.45;
    int columns = (int)((where.right - where.left) / (size * MGB_SHEET_LETTER / 12));
    for (const char *rest; text && *text; text = rest, height += line) {
        int length = mgb_plot_wrap(text, columns < 10 ? 10 : columns, &rest);
        if (sheet->out && length > 0)
            mgb_sheet_words(sheet, text, length, where.left, where.top + height + line / 2, how);
    }
    return height;
}

enum { ENTRY_LINE = 19, SWATCH = 26 };

struct entry { /* of the legend */
    const char *label;
    const struct mgb_chart_series *series; /* NULL: a stroke */
    bool ideal;
    int stroke; /* number of the kind of stroke */
};

/* Whether an earlier mark says the same. */
static bool mark_told(const struct mgb_chart *chart, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (chart->marks[k].kind == MGB_MARK_LIMIT &&
            strcmp(chart->marks[k].label, chart->marks[i].label) == 0)
            return true;
    return false;
}

/* Entry `at` of the legend; false behind the last. */
static bool entry_get(const struct mgb_chart *chart, size_t at, struct entry *out)
{
    for (size_t s = 0; s < chart->series_count; s++)
        if (*chart->series[s].label && at-- == 0) {
            *out = (struct entry){chart->series[s].label, &chart->series[s], false, 0};
            return true;
        }
    if (chart->ideal.count > 0 && at-- == 0) {
        *out = (struct entry){chart->ideal.label, &chart->ideal, true, 0};
        return true;
    }
    int stroke = 0;
    for (size_t i = 0; i < chart->mark_count; i++)
        if (chart->marks[i].kind == MGB_MARK_LIMIT && !mark_told(chart, i)) {
            if (at-- == 0) {
                *out = (struct entry){chart->marks[i].label, NULL, false, stroke};
                return true;
            }
            stroke++;
        }
    return false;
}

static void swatch_draw(const struct mgb_sheet *sheet, const struct mgb_chart *chart,
                        const struct entry *entry, double x, double y)
{
    bool line = entry->ideal || chart->kind == MGB_CHART_LINES;
    if (!entry->series) {
        fputs("set arrow from ", sheet->out);
        mgb_sheet_place(sheet, x + 12, y - 7);
        fputs(" to ", sheet->out);
        mgb_sheet_place(sheet, x + 12, y + 7);
        fprintf(sheet->out, " nohead front lw 2.5 lc rgb '%s'\n",
                entry->stroke == 0 ? "#D55E00" : "#000000");
        return;
    }
    const struct mgb_look *look = mgb_look_get(entry->series->style);
    if (mgb_chart_is_bars(chart)) {
        fputs("set object rect from ", sheet->out);
        mgb_sheet_place(sheet, x + 4, y + 6);
        fputs(" to ", sheet->out);
        mgb_sheet_place(sheet, x + 20, y - 6);
        fprintf(sheet->out, " front fc rgb '%s' fs solid 1 border lc rgb '#666666'\n", look->color);
    }
    if (line) {
        fputs("set arrow from ", sheet->out);
        mgb_sheet_place(sheet, x, y);
        fputs(" to ", sheet->out);
        mgb_sheet_place(sheet, x + 22, y);
        fprintf(sheet->out, " nohead front lw 2 dt %d lc rgb '%s'\n", entry->ideal ? 2 : look->dash,
                entry->ideal ? "#777777" : look->line);
    }
    if (!mgb_chart_is_bars(chart) && !entry->ideal) {
        char how[80];
        snprintf(how, sizeof how, "point pt %d ps 0.9 lc rgb '%s'",
                 mgb_look_shape(entry->series->style), look->line);
        mgb_sheet_words(sheet, "", 0, x + 11, y, how);
    }
}

/* Walks the legend's lines; draws when there is a sheet. Returns the height. */
static double legend_walk(const struct mgb_sheet *sheet, const struct mgb_chart *chart,
                          struct mgb_box where)
{
    struct entry entry;
    double x = where.left, y = where.top + ENTRY_LINE / 2.0;
    size_t count = 0;
    for (; entry_get(chart, count, &entry); count++) {
        double width = SWATCH + MGB_SHEET_LETTER * mgb_plot_width(entry.label) + 18;
        if (x > where.left && x + width > where.right) {
            x = where.left;
            y += ENTRY_LINE;
        }
        if (sheet) {
            swatch_draw(sheet, chart, &entry, x, y);
            mgb_sheet_words(sheet, entry.label, -1, x + SWATCH, y, "left");
        }
        x += width;
    }
    return count == 0 ? 0 : y - where.top + ENTRY_LINE / 2.0 + 4;
}

double mgb_legend_height(const struct mgb_chart *chart, double width)
{
    return legend_walk(NULL, chart, (struct mgb_box){0, 0, width, 0});
}

void mgb_legend_draw(const struct mgb_sheet *sheet, const struct mgb_chart *chart,
                     struct mgb_box where)
{
    legend_walk(sheet, chart, where);
}
