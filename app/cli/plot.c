/* mgbench plot: a picture of what was measured, as text or into a file. */
#include "app/cli/commands.h"
#include "app/cli/hub.h"
#include "app/cli/plot_charts.h"
#include "app/plot/gnuplot.h"
#include "app/plot/text.h"
#include <mgb/text.h>
#include <stdlib.h>
#include <string.h>

const struct plot_kind plot_kinds[] = {
    {"placement", false, plot_placement, NULL}, {"scaling", false, plot_scaling, NULL},
    {"batch", false, plot_batch, NULL},         {"memory", true, NULL, plot_memory},
    {"phases", true, NULL, plot_phases},        {NULL, false, NULL, NULL}};

static const struct plot_kind *kind_find(const char *name)
{
    for (const struct plot_kind *k = plot_kinds; k->name; k++)
        if (strcmp(k->name, name) == 0)
            return k;
    return NULL;
}

static int kind_refuse(const struct mgb_invocation *in, const char *name)
{
    const char *names[8];
    int count = 0;
    for (const struct plot_kind *k = plot_kinds; k->name; k++)
        names[count++] = k->name;
    const char *near = mgb_nearest_name(name, names, count);
    return mgb_cli_complain(in, MGB_EXIT_USAGE,
                            "plot: placement, scaling, memory, phases or batch expected, got "
                            "'%s'%s%s%s",
                            name, near ? " (did you mean '" : "", near ? near : "",
                            near ? "'?)" : "");
}

static enum mgb_status picture_show(const struct mgb_invocation *in,
                                    const struct mgb_picture *picture,
                                    const struct mgb_picture_size *size)
{
    const char *file = mgb_cli_find_flag(in, "--file");
    struct mgb_text_style style = mgb_text_style_find();
    return file ? mgb_picture_write(picture, file, size)
                : mgb_picture_print(picture, &style, stdout);
}

static enum mgb_status picture_make(const struct mgb_invocation *in, const char *database,
                                    const struct plot_kind *kind,
                                    const struct mgb_picture_size *size)
{
    struct mgb_reader *reader;
    struct plot_cells cells = {0};
    struct mgb_picture picture;
    mgb_picture_init(&picture);
    MGB_TRY(mgb_reader_open(&reader, database));
    enum mgb_status status = plot_cells_load(
        &cells, reader, in->word_count > 1 ? in->words[1] : NULL, kind->only_newest);
    if (status == MGB_OK)
        status = kind->from_cells ? kind->from_cells(&picture, &cells)
                                  : kind->from_reader(&picture, &cells, reader);
    if (status == MGB_OK)
        status = picture_show(in, &picture, size);
    mgb_picture_done(&picture);
    plot_cells_done(&cells);
    mgb_reader_close(reader);
    return status;
}

static int plot_run(struct mgb_invocation *in)
{
    const struct plot_kind *kind = kind_find(in->words[0]);
    const char *file = mgb_cli_find_flag(in, "--file"), *pixels = mgb_cli_find_flag(in, "--size");
    enum mgb_picture_format format;
    struct mgb_picture_size size = {0, 0};
    if (!kind)
        return kind_refuse(in, in->words[0]);
    if (in->format != MGB_TABLE_TEXT)
        return mgb_cli_complain(in, MGB_EXIT_USAGE,
                                "plot: it makes pictures, --json and --csv are "
                                "for tables; the figures: mgbench export");
    if (pixels && !file)
        return mgb_cli_complain(in, MGB_EXIT_USAGE, "plot: --size is for --file");
    if ((file && mgb_picture_format_find(&format, file) != MGB_OK) ||
        (pixels && mgb_picture_size_read(&size, pixels) != MGB_OK))
        return mgb_cli_complain(in, MGB_EXIT_USAGE, "plot: %s", mgb_message_get());
    char *database = mgb_cli_database(in);
    enum mgb_status status =
        database ? picture_make(in, database, kind, &size) : mgb_cli_no_database();
    free(database);
    if (status == MGB_INTERRUPTED)
        return in->quiet ? MGB_EXIT_INTERRUPTED
                         : mgb_cli_complain(in, MGB_EXIT_INTERRUPTED,
                                            "plot %s: interrupted; no picture was written, an "
                                            "older one is as it was",
                                            kind->name);
    return status == MGB_OK ? MGB_EXIT_OK
                            : mgb_cli_complain(in, mgb_cli_refusal_code(status), "plot %s: %s",
                                               kind->name, mgb_message_get());
}

static const struct mgb_example examples[] = {
    {"mgbench plot placement", "which placement of the newest run's model is fastest"},
    {"mgbench plot scaling mlp", "what further GPUs give, beside the ideal"},
    {"mgbench plot memory last", "what fills each device, planned and measured"},
    {"mgbench plot phases last --file phases.svg", "where each device's time goes, as a file"},
    {"mgbench plot batch mlp --file batch.png --size 800x500",
     "throughput by batch up to the edge of memory"},
    {NULL, NULL}};

static const struct mgb_flag flags[] = {
    {"--file", "FILE", "write an .svg or .png (needs gnuplot) instead of text", false},
    {"--size", "WxH", "pixels of the file; default: what the contents need", false},
    {NULL, NULL, NULL, false}};

const struct mgb_command mgb_command_plot = {
    .name = "plot",
    .usage = "placement|scaling|memory|phases|batch [RUN|sweep:NAME|MODEL] [options]",
    .summary = "a picture of the results, as text or SVG or PNG",
    .help =
        "placement  median step time of each placement, with 95 % intervals\n"
        "scaling    throughput by number of GPUs, with the ideal line\n"
        "memory     bytes by category and device, planned beside measured\n"
        "phases     share of the step's time by phase and device\n"
        "batch      throughput by batch, up to where memory ends\n"
        "\n"
        "Without further words: the model of the newest run. MODEL is a model's name: the newest\n"
        "measurement of each of its placements (memory, phases: the newest run). RUN may be 12,\n"
        "12.2, last, tag:NAME, baseline:NAME, sweep:NAME, sweep:NAME/3, or several with commas:\n"
        "equal placements count as repetitions.\n"
        "\n"
        "exit codes: 1 the file cannot be written, 2 wrong words, 4 no gnuplot for a file, or the\n"
        "measurements for this plot are not there (it tells which, and the command for them)\n",
    .examples = examples,
    .flags = flags,
    .least_words = 1,
    .most_words = 2,
    .run = plot_run,
};
