/* The page of a report: pictures, table of measurements, environment, commands, words. See report_page.h. */
#include "app/cli/report_page.h"
#include "app/cli/asking.h"
#include "app/cli/plot_charts.h"
#include "app/cli/report_html.h"
#include "app/plot/gnuplot.h"
#include "app/plot/text.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <mgb/text.h>

static enum mgb_status no_memory(void)
{
    return mgb_fail(MGB_NO_MEMORY, "writing a report: memory is exhausted");
}

/* The picture as characters, where nothing draws it. */
static enum mgb_status picture_text(FILE *out, const struct mgb_picture *picture)
{
    struct mgb_text_style style = {.width = 100, .utf8 = true};
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    if (!stream)
        return no_memory();
    enum mgb_status status = mgb_picture_print(picture, &style, stream);
    if (fclose(stream) != 0 && status == MGB_OK)
        status = no_memory();
    if (status == MGB_OK) {
        fputs("<pre>", out);
        report_text(out, text);
        fputs("</pre>\n", out);
    }
    free(text);
    return status;
}

struct pictures {
    const struct report *report;
    FILE *missing;
    char failure[512]; /* of gnuplot, told last */
    bool hopeless;     /* it did not end: each further picture would take as long */
};

/* In the page beside each picture, on standard error once. */
static void failure_tell(struct pictures *p)
{
    const struct report *r = p->report;
    report_element(r->out, "p", "Drawn with characters, for %s", mgb_message_get());
    if (strcmp(p->failure, mgb_message_get()) == 0)
        return;
    snprintf(p->failure, sizeof p->failure, "%s", mgb_message_get());
    if (!r->in->quiet)
        mgb_cli_complain(r->in, 0, "report: %s; pictures are drawn with characters", p->failure);
}

static enum mgb_status picture_put(struct pictures *p, const struct mgb_picture *picture,
                                   const char *name)
{
    FILE *out = p->report->out;
    char *element = NULL, prefix[40];
    snprintf(prefix, sizeof prefix, "%s-", name);
    MGB_TRY(mgb_picture_check(picture));
    enum mgb_status drawn =
        p->hopeless ? MGB_MISSING : mgb_picture_inline(&element, picture, prefix);
    if (drawn == MGB_INTERRUPTED)
        return drawn;
    p->hopeless = p->hopeless || drawn == MGB_TIMEOUT;
    if (drawn != MGB_OK && drawn != MGB_MISSING)
        failure_tell(p);
    if (drawn != MGB_OK)
        return picture_text(out, picture);
    fputs("<figure role=\"img\" aria-label=\"", out);
    report_text(out, picture->title ? picture->title : name);
    fprintf(out, "\">\n%s</figure>\n", element);
    free(element);
    return MGB_OK;
}

static enum mgb_status kind_put(struct pictures *p, const struct plot_kind *kind)
{
    const struct report *r = p->report;
    struct mgb_picture picture;
    mgb_picture_init(&picture);
    enum mgb_status status = kind->from_cells ? kind->from_cells(&picture, r->cells)
                                              : kind->from_reader(&picture, r->cells, r->reader);
    if (status == MGB_MISSING) { /* the others are still worth a page */
        fprintf(p->missing, "%s: %s\n", kind->name, mgb_message_get());
        status = MGB_OK;
    } else if (status == MGB_OK) {
        status = picture_put(p, &picture, kind->name);
    }
    mgb_picture_done(&picture);
    return status;
}

enum mgb_status report_pictures(const struct report *r)
{
    char *missing = NULL;
    size_t size;
    struct pictures pictures = {.report = r, .missing = open_memstream(&missing, &size)};
    enum mgb_status status = MGB_OK;
    if (!pictures.missing)
        return no_memory();
    report_element(r->out, "h2", "Pictures");
    if (!mgb_gnuplot_there())
        report_element(r->out, "p", "Drawn with characters, for there was no gnuplot.");
    for (const struct plot_kind *kind = plot_kinds; status == MGB_OK && kind->name; kind++)
        status = kind_put(&pictures, kind);
    if (fclose(pictures.missing) != 0)
        status = status == MGB_OK ? no_memory() : status;
    else if (size > 0) {
        fputs("<p class=\"small\">Not drawn:</p>\n<ul class=\"small\">\n", r->out);
        for (char *line = strtok(missing, "\n"); line; line = strtok(NULL, "\n"))
            report_element(r->out, "li", "%s", line);
        fputs("</ul>\n", r->out);
    }
    free(missing);
    return status;
}

static void remarks_print(FILE *out, const struct plot_cell *cell)
{
    const char *before = "";
    fputs("<td>", out);
    const char *const texts[] = {cell->oom ? "out of memory" : NULL,
                                 cell->unsteady ? "not steady" : NULL,
                                 mgb_cli_wrong_text(cell->wrong),
                                 cell->oversubscribed ? "more threads than cores" : NULL,
                                 cell->simulated ? "simulated" : NULL,
                                 *cell->odd ? cell->odd : NULL};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (texts[i]) {
            fprintf(out, "%s%s", before, texts[i]);
            before = ", ";
        }
    fputs("</td>", out);
}

static void measurement_print(const struct report *r, const struct plot_cell *cell)
{
    FILE *out = r->out;
    char ms[40], low[40], high[40], rate[40];
    fputs("<tr>", out);
    report_figure(out, "%lld", (long long)cell->run);
    report_cell(out, cell->values[PLOT_MODEL]);
    report_cell(out, cell->values[PLOT_MACHINE]);
    report_cell(out, cell->values[PLOT_BACKEND]);
    report_figure(out, "%lld", (long long)cell->gpus);
    report_figure(out, "%lld", (long long)cell->global_batch);
    report_cell(out, cell->values[PLOT_BATCH_MODE]);
    report_cell(out, cell->values[PLOT_STRATEGY]);
    report_cell(out, cell->values[PLOT_PLACES]);
    if (cell->oom || !isfinite(cell->ms)) {
        report_cell(out, NULL);
        report_cell(out, NULL);
        report_cell(out, NULL);
    } else {
        bool interval = isfinite(cell->low_ms) && isfinite(cell->high_ms);
        report_figure(out, "%s%s%s%s%s%s", mgb_format_figure(ms, cell->ms), interval ? " [" : "",
                      interval ? mgb_format_figure(low, cell->low_ms) : "", interval ? ", " : "",
                      interval ? mgb_format_figure(high, cell->high_ms) : "", interval ? "]" : "");
        report_figure(out, "%dx%lld", cell->count, (long long)cell->steps);
        report_figure(out, "%s",
                      mgb_format_figure(rate, (double)cell->global_batch / cell->ms * 1e3));
    }
    remarks_print(out, cell);
    fputs("</tr>\n", out);
}

void report_measurements(const struct report *r)
{
    static const char *const head[] = {
        "run",          "model",      "machine",  "backend", "GPUs",
        "global batch", "scaling",    "strategy", "places",  "step, ms [95 %]",
        "runs x steps", "examples/s", "remarks",  NULL};
    report_element(r->out, "h2", "Measurements");
    report_table_begin(r->out, head);
    for (size_t i = 0; i < r->cells->count; i++)
        measurement_print(r, &r->cells->all[i]);
    report_table_end(r->out);
    report_element(r->out, "p",
                   "Equal placements are one row: the mean of their runs' median steps. "
                   "examples/s: global batch over that time.");
}

static enum mgb_status head_print(const struct report *r)
{
    char when[40] = "";
    time_t now = time(NULL);
    struct tm utc;
    if (gmtime_r(&now, &utc))
        strftime(when, sizeof when, "%Y-%m-%d %H:%M UTC", &utc);
    report_page_begin(r->out, r->title);
    report_element(r->out, "h1", "%s", r->title);
    fputs("<p>Made ", r->out);
    report_text(r->out, when);
    fputs(" by <code>", r->out);
    report_text(r->out, r->command);
    fputs("</code> (mgbench " MGB_VERSION ") from the results database <code>", r->out);
    report_text(r->out, r->database);
    fputs("</code>", r->out);
    if (r->words) {
        fputs(", of it <code>", r->out);
        report_text(r->out, r->words);
        fputs("</code>", r->out);
    }
    fputs(".</p>\n", r->out);
    return MGB_OK;
}

enum mgb_status report_page(const struct report *r)
{
    MGB_TRY(head_print(r));
    MGB_TRY(report_summary(r));
    MGB_TRY(report_pictures(r));
    report_measurements(r);
    MGB_TRY(report_environment(r));
    MGB_TRY(report_commands(r));
    report_words(r->out);
    report_page_end(r->out);
    return ferror(r->out) ? mgb_fail(MGB_IO, "writing a report failed (is the disk full?)")
                          : MGB_OK;
}
