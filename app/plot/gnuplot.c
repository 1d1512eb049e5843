/* The sheet: heading, panels one under the other or in two columns, foot. See gnuplot.h. */
#include "app/plot/gnuplot_private.h"
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { EDGE = 14, WIDTH = 920, AXIS = 46, GAP = 14, LINES_HEIGHT = 300, TITLE_LINE = 22 };
/* Of a panel that can be read: its width, and the share of the usual height. Names of bars may take two lines. */
enum { LEAST_WIDTH = 400, LEAST_BARS_WIDTH = 480 };
#define LEAST_STRETCH 0.45
#define LEAST_BARS_STRETCH 0.85

enum mgb_status mgb_picture_format_find(enum mgb_picture_format *out, const char *path)
{
    const char *end = strrchr(path, '.');
    if (end && strcasecmp(end, ".svg") == 0)
        *out = MGB_PICTURE_SVG;
    else if (end && strcasecmp(end, ".png") == 0)
        *out = MGB_PICTURE_PNG;
    else
        return mgb_fail(MGB_INVALID, "a picture's file must end in .svg or .png, got '%s'", path);
    return MGB_OK;
}

enum mgb_status mgb_picture_size_read(struct mgb_picture_size *out, const char *text)
{
    char *end;
    long width = strtol(text, &end, 10), height = 0;
    if (end != text && *end == 'x' && end[1] >= '0' && end[1] <= '9')
        height = strtol(end + 1, &end, 10);
    if (*end || width < 200 || width > 10000 || height < 200 || height > 10000)
        return mgb_fail(MGB_INVALID,
                        "size: pixels expected as 900x500, each 200 to 10000, got '%s'", text);
    *out = (struct mgb_picture_size){(int)width, (int)height};
    return MGB_OK;
}

static int columns_of(const struct mgb_picture *picture)
{
    for (size_t i = 0; i < picture->count; i++)
        if (mgb_chart_is_bars(picture->panels[i]))
            return 1;
    return picture->count > 1 ? 2 : 1;
}

/* Height of the area between the axes, before it is stretched. */
static double plot_height(const struct mgb_chart *chart)
{
    double rows = (double)chart->category_count, series = (double)chart->series_count;
    if (!mgb_chart_is_bars(chart))
        return LINES_HEIGHT;
    return rows * (chart->kind == MGB_CHART_STACKED || series < 2 ? 34 : 20 * series + 10);
}

static double frame_height(const struct mgb_chart *chart, double width)
{
    struct mgb_sheet none = {0};
    struct mgb_box box = {0, 0, width, 0};
    return (chart->title ? mgb_sheet_paragraph(&none, chart->title, box, 13, "") + 4 : 0) +
           mgb_legend_height(chart, width) + AXIS + GAP;
}

static double heading(const struct mgb_sheet *sheet, const struct mgb_picture *picture)
{
    struct mgb_box box = {EDGE, EDGE - 4, sheet->width - EDGE, 0};
    box.top += mgb_sheet_paragraph(sheet, picture->title, box, 16.5, "left font ',16'");
    box.top += mgb_sheet_paragraph(sheet, picture->subtitle, box, 12, "left tc rgb '#444444'");
    return box.top + 12;
}

static double foot(const struct mgb_sheet *sheet, const struct mgb_picture *picture, double top)
{
    struct mgb_box box = {EDGE, top, sheet->width - EDGE, 0};
    return mgb_sheet_paragraph(sheet, picture->note, box, 11, "left font ',11' tc rgb '#444444'");
}

/* One panel whose frame begins at `box.top`; returns the height of its frame. */
static double panel_draw(const struct mgb_sheet *sheet, const struct mgb_chart *chart,
                         struct mgb_box box, size_t number)
{
    struct mgb_box where = box;
    double width = box.right - box.left, left = mgb_gnuplot_axis_width(chart);
    if (chart->title)
        where.top += 4 + mgb_sheet_paragraph(sheet, chart->title, where, 13, "left font ',13'");
    mgb_legend_draw(sheet, chart, where);
    where.top += mgb_legend_height(chart, width);
    where.bottom = where.top + plot_height(chart) * sheet->stretch;
    if (mgb_chart_is_bars(chart))
        left = mgb_gnuplot_names_width(chart, width * 0.42) + 8;
    where.left += left;
    where.right -= 12;
    fprintf(sheet->out, "set lmargin at screen ");
    mgb_sheet_number(sheet, where.left / sheet->width);
    fprintf(sheet->out, "\nset rmargin at screen ");
    mgb_sheet_number(sheet, where.right / sheet->width);
    fprintf(sheet->out, "\nset tmargin at screen ");
    mgb_sheet_number(sheet, 1 - where.top / sheet->height);
    fprintf(sheet->out, "\nset bmargin at screen ");
    mgb_sheet_number(sheet, 1 - where.bottom / sheet->height);
    fputc('\n', sheet->out);
    if (mgb_chart_is_bars(chart))
        mgb_gnuplot_bars(sheet, chart, where, number);
    else
        mgb_gnuplot_lines(sheet, chart, where, number);
    return where.bottom - box.top + AXIS + GAP;
}

/* Sums of the heights of all rows of panels: frames, and plots. */
static void heights_sum(const struct mgb_picture *picture, int columns, double width,
                        double *frames, double *plots)
{
    *frames = *plots = 0;
    for (size_t i = 0; i < picture->count; i += (size_t)columns) {
        double frame = 0, plot = 0;
        for (size_t k = i; k < picture->count && k < i + (size_t)columns; k++) {
            double f = frame_height(picture->panels[k], width), p = plot_height(picture->panels[k]);
            frame = f > frame ? f : frame;
            plot = p > plot ? p : plot;
        }
        *frames += frame;
        *plots += plot;
    }
}

/* Heights at that width: of all but the plots, and of the plots unstretched. */
static void heights_find(double *fixed, double *plots, const struct mgb_picture *picture,
                         int columns, int sheet_width)
{
    struct mgb_sheet none = {.width = sheet_width};
    double frames, width = (sheet_width - 2.0 * EDGE - GAP * (columns - 1)) / columns;
    heights_sum(picture, columns, width, &frames, plots);
    *fixed = heading(&none, picture) + foot(&none, picture, 0) + EDGE + frames;
}

/* Refuses what could not be read, with the least size that can. */
static enum mgb_status sheet_size(struct mgb_sheet *sheet, const struct mgb_picture *picture,
                                  int columns, const struct mgb_picture_size *size)
{
    bool bars = mgb_chart_is_bars(picture->panels[0]);
    int least_width = bars ? LEAST_BARS_WIDTH : columns * LEAST_WIDTH,
        width = size->width > 0 ? size->width : WIDTH;
    double fixed, plots;
    heights_find(&fixed, &plots, picture, columns, width < least_width ? least_width : width);
    int least_height = (int)(fixed + (bars ? LEAST_BARS_STRETCH : LEAST_STRETCH) * plots + 0.999);
    sheet->width = width;
    sheet->height = size->height > 0 ? size->height : (int)(fixed + plots + 0.5);
    sheet->stretch = (sheet->height - fixed) / plots;
    if (width >= least_width && sheet->height >= least_height)
        return MGB_OK;
    return mgb_fail(
        MGB_INVALID, "size: %dx%d is too small to read this picture; it needs %dx%d at least",
        sheet->width, sheet->height, width < least_width ? least_width : width, least_height);
}

static void terminal_put(const struct mgb_sheet *sheet, enum mgb_picture_format format)
{
    static const char *const font = "DejaVu Sans,12";
    fputs("set encoding utf8\nset decimalsign '.'\n", sheet->out);
    switch (format) {
    case MGB_PICTURE_SVG:
        fprintf(sheet->out,
                "set terminal svg size %d,%d font '%s' noenhanced background '#ffffff'\n",
                sheet->width, sheet->height, font);
        return;
    case MGB_PICTURE_PNG: /* cairo counts in points, 4/3 of a pixel */
        fprintf(sheet->out,
                "set terminal pngcairo size %d,%d font '%s' fontscale 0.75 noenhanced background "
                "'#ffffff'\n",
                sheet->width, sheet->height, font);
        return;
    }
}

enum mgb_status mgb_gnuplot_script(const struct mgb_picture *picture,
                                   enum mgb_picture_format format,
                                   const struct mgb_picture_size *size, FILE *out)
{
    struct mgb_picture_size own = {0, 0};
    struct mgb_sheet sheet = {.out = out};
    MGB_TRY(mgb_picture_check(picture));
    int columns = columns_of(picture);
    if (picture->count == 0)
        return mgb_fail(MGB_INVALID, "a picture needs something to show");
    MGB_TRY(sheet_size(&sheet, picture, columns, size ? size : &own));
    double width = (sheet.width - 2.0 * EDGE - GAP * (columns - 1)) / columns;
    terminal_put(&sheet, format);
    fputs("set multiplot\n", out);
    double top = heading(&sheet, picture), tallest = 0;
    for (size_t i = 0; i < picture->count; i++) {
        double left = EDGE + (double)(i % (size_t)columns) * (width + GAP);
        if (i > 0)
            fputs("reset\n", out);
        double height =
            panel_draw(&sheet, picture->panels[i], (struct mgb_box){left, top, left + width, 0}, i);
        tallest = height > tallest ? height : tallest;
        if ((i + 1) % (size_t)columns == 0 || i + 1 == picture->count) {
            top += tallest;
            tallest = 0;
        }
    }
    fputs("reset\nunset border\nunset tics\nunset key\nset xrange [0:1]\nset yrange [0:1]\n", out);
    foot(&sheet, picture, top);
    fputs("plot NaN notitle\nunset multiplot\n", out);
    return ferror(out) ? mgb_fail(MGB_IO, "writing a gnuplot script failed") : MGB_OK;
}
