/* What a report tells about how its figures came to be: machines, devices, versions, commands; and what words mean. */
#include "app/cli/report_html.h"
#include "app/cli/report_page.h"
#include "db/scaling.h"
#include <mgb/text.h>
#include <stdlib.h>

struct rows {
    FILE *out;
    int bytes_column; /* shown as a size; -1: none */
};

static enum mgb_status row_print(void *context, const struct mgb_value *values, int count)
{
    struct rows *rows = context;
    char size[40];
    fputs("<tr>", rows->out);
    for (int i = 0; i < count; i++)
        switch (values[i].kind) {
        case MGB_VALUE_TEXT:
            report_cell(rows->out, values[i].text);
            break;
        case MGB_VALUE_INT:
            if (i == rows->bytes_column)
                report_figure(rows->out, "%s",
                              mgb_format_bytes(size, sizeof size, (long long)values[i].integer));
            else
                report_figure(rows->out, "%lld", (long long)values[i].integer);
            break;
        case MGB_VALUE_REAL:
            report_figure(rows->out, "%.4g", values[i].real);
            break;
        case MGB_VALUE_NULL:
        case MGB_VALUE_BLOB:
            report_cell(rows->out, NULL);
            break;
        }
    fputs("</tr>\n", rows->out);
    return MGB_OK;
}

/* The runs of the report as "(1,2,3)"; to be freed. */
static char *segments_text(const struct report *r)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    const char *before = "(";
    for (size_t i = 0; i < r->cells->count; i++)
        for (int k = 0; k < r->cells->all[i].count; k++) {
            fprintf(out, "%s%lld", before, (long long)r->cells->all[i].segments[k]);
            before = ",";
        }
    fputc(')', out);
    if (fclose(out) != 0) {
        free(text);
        return NULL;
    }
    return text;
}

/* A table of what `select` gives; %s in it stands for the list of segments. */
static enum mgb_status table_print(const struct report *r, const char *const *head,
                                   const char *before, const char *after, int bytes_column)
{
    struct rows rows = {r->out, bytes_column};
    struct mgb_query_sink sink = {&rows, NULL, row_print};
    char *sql, *list = segments_text(r);
    if (!list || asprintf(&sql, "%s%s%s", before, list, after) < 0) {
        free(list);
        return mgb_fail(MGB_NO_MEMORY, "writing a report: memory is exhausted");
    }
    report_table_begin(r->out, head);
    enum mgb_status status = mgb_query_run(r->reader, sql, NULL, 0, &sink);
    report_table_end(r->out);
    free(sql);
    free(list);
    return status;
}

enum mgb_status report_environment(const struct report *r)
{
    static const char *const machines[] = {"machine", "processor", "cores",     "threads", "memory",
                                           "system",  "kernel",    "simulated", "source",  NULL};
    static const char *const devices[] = {"machine", "backend", "device", "kind",
                                          "product", "memory",  "driver", NULL};
    static const char *const programs[] = {"mgbench", "libraries and drivers", "settings", "runs",
                                           NULL};
    report_element(r->out, "h2", "Environment");
    MGB_TRY(table_print(r, machines,
                        "SELECT name, cpu, cores, threads, memory_bytes, os, kernel, CASE simulated"
                        " WHEN 1 THEN 'yes' ELSE 'no' END, source FROM machine WHERE id IN (SELECT"
                        " r.machine_id FROM run r JOIN segment s ON s.run_id = r.id WHERE s.id IN ",
                        ")", 4));
    MGB_TRY(table_print(r, devices,
                        "SELECT DISTINCT h.name, d.backend, d.name, d.kind, d.product,"
                        " d.memory_bytes, d.driver_version FROM segment s JOIN run r ON r.id ="
                        " s.run_id JOIN machine h ON h.id = r.machine_id JOIN device d ON"
                        " d.machine_id = h.id AND d.backend = r.backend JOIN memory_total t ON"
                        " t.segment_id = s.id AND t.device = d.name WHERE s.id IN ",
                        " ORDER BY h.name, d.backend, d.name", 5));
    return table_print(r, programs,
                       "SELECT r.program_version, replace(r.versions, ',\"', ', \"'),"
                       " replace(json_remove(r.environment, '$.load_average'), ',\"', ', \"'),"
                       " count(DISTINCT r.id)"
                       " FROM run r JOIN segment s ON s.run_id = r.id WHERE s.id IN ",
                       " GROUP BY 1, 2, 3 ORDER BY 1, 2, 3", -1);
}

enum mgb_status report_commands(const struct report *r)
{
    static const char *const head[] = {"command",   "script's digest", "runs",
                                       "from, UTC", "to, UTC",         NULL};
    report_element(r->out, "h2", "Commands that made these measurements");
    return table_print(r, head,
                       "SELECT r.command, r.script_digest, count(DISTINCT r.id),"
                       " datetime(min(r.started_ms) / 1000, 'unixepoch'),"
                       " datetime(max(r.started_ms) / 1000, 'unixepoch')"
                       " FROM run r JOIN segment s ON s.run_id = r.id WHERE s.id IN ",
                       " GROUP BY r.command, r.script_digest ORDER BY min(r.id)", -1);
}

void report_words(FILE *out)
{
    static const char *const words[][2] = {
        {"step",
         "one forward and backward pass over a global batch, exchange and update, timed from "
         "start to end on the host's clock. Warm-up steps are left out of every figure."},
        {"step, ms", "the median of the timed steps; of several runs the mean of their medians."},
        {"[low, high]",
         "the 95 % interval of that: block bootstrap, runs first and blocks of steps "
         "within them, because neighbouring steps are alike."},
        {"faster, slower, same, undecided",
         "the whole interval of the ratio lies below, above or within the noise floor; or none of "
         "these. Refused: the figures may not be compared."},
        {"weak scaling", "each GPU keeps its batch. Efficiency, " MGB_SCALING_WEAK_TEXT "."},
        {"strong scaling", "one global batch is divided. Efficiency, " MGB_SCALING_STRONG_TEXT "."},
        {"weights, join, sum, merge",
         "the devices where the master weights live, where the towers' outputs are joined, where "
         "gradients are summed; merge: both at once."},
        {"outputs, gradients, allreduce, independent",
         "strategies: one loss over the joined outputs; each tower's own loss and summed "
         "gradients; "
         "weights on every GPU and all-reduced gradients; no exchange at all, as the measure of "
         "what "
         "exchanging costs."},
        {"exposed", "the time of a phase during which its device computes nothing else."},
        {"backend host", "CPU devices that stand for GPUs: real training, real copies, no GPU."},
        {"simulated", "played on a virtual clock from a description of a machine: not measured."}};
    report_element(out, "h2", "Words");
    fputs("<dl>\n", out);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        report_element(out, "dt", "%s", words[i][0]);
        report_element(out, "dd", "%s", words[i][1]);
    }
    fputs("</dl>\n", out);
}
