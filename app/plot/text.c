/* Heading, panels and foot as text. See text.h. */
#include "app/plot/text.h"
#include <langinfo.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

struct mgb_text_style mgb_text_style_find(void)
{
    struct winsize size = {0};
    bool known = isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0;
    const char *told = getenv("MGBENCH_COLUMNS"); /* by mgbench-tui, where there is no terminal */
    int columns = known ? size.ws_col : told ? atoi(told) : 0;
    int width = columns >= 40 ? columns : 80;
    return (struct mgb_text_style){width > 160 ? 160 : width,
                                   strcmp(nl_langinfo(CODESET), "UTF-8") == 0};
}

static void paragraph_print(const char *text, int width, FILE *out)
{
    for (const char *rest; text && *text; text = rest) {
        int length = mgb_plot_wrap(text, width, &rest);
        fprintf(out, "%.*s\n", length, text);
    }
}

enum mgb_status mgb_picture_print(const struct mgb_picture *picture,
                                  const struct mgb_text_style *style, FILE *out)
{
    struct mgb_text_style used = {style->width > 0 ? style->width : 80, style->utf8};
    MGB_TRY(mgb_picture_check(picture));
    paragraph_print(picture->title, used.width, out);
    paragraph_print(picture->subtitle, used.width, out);
    for (size_t i = 0; i < picture->count; i++) {
        const struct mgb_chart *chart = picture->panels[i];
        fputc('\n', out);
        paragraph_print(chart->title, used.width, out);
        if (mgb_chart_is_bars(chart))
            mgb_text_bars_print(chart, &used, out);
        else
            mgb_text_grid_print(chart, &used, out);
    }
    if (picture->note && *picture->note)
        fputc('\n', out);
    paragraph_print(picture->note, used.width, out);
    return ferror(out) ? mgb_fail(MGB_IO, "writing a picture as text failed (is the disk full?)")
                       : MGB_OK;
}
