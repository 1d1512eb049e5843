/* See configuration.h. */
#include "app/cli/configuration.h"
#include "app/script/terminal.h"
#include <inttypes.h>
#include <mgb/text.h>
#include <stdlib.h>
#include <string.h>

static void line_print(FILE *out, const char *what, const char *value)
{
    mgb_say(out, "%-11s%s\n", what, value);
}

static void model_print(FILE *out, const struct script_open_request *request)
{
    char bytes[32];
    int64_t parameters = mgb_graph_parameters(request->graph);
    mgb_format_bytes(bytes, sizeof bytes, parameters * (int64_t)sizeof(float));
    mgb_say(out, "%-11s%s, %" PRId64 " parameters (%s)", "model", request->model, parameters,
            bytes);
    if (strcmp(request->model_options, "{}") != 0)
        mgb_say(out, ", %s", request->model_options);
    fputc('\n', out);
}

/* The towers' devices in merge order, and what they really are. */
static void devices_print(FILE *out, const struct mgb_cli_configuration *c)
{
    const struct mgb_effective *e = c->effective;
    mgb_say(out, "%-11s", "devices");
    for (int i = 0; i < e->tower_count && i < 16; i++) {
        char name[MGB_DEVICE_NAME_MAX];
        mgb_say(out, "%s ", mgb_device_format(name, c->topology->devices[e->tower_device[i]].name));
    }
    if (e->tower_count > 16)
        mgb_say(out, "and %d more ", e->tower_count - 16);
    const struct mgb_device *first = &c->topology->devices[e->tower_device[0]];
    mgb_say(out, "(%s%s)%s\n", first->label,
            first->class == MGB_CLASS_CPU && first->name.kind == MGB_DEVICE_GPU
                ? "; CPU devices that play GPUs"
                : "",
            e->oversubscribed ? ", more towers than cores" : "");
}

static void batch_print(FILE *out, const struct mgb_effective *e)
{
    mgb_say(out, "%-11s%d for each GPU, %d of all together (%s scaling)", "batch", e->batch_per_gpu,
            e->global_batch, e->batch_mode == MGB_BATCH_GLOBAL ? "strong" : "weak");
    if (e->global_batch < e->tower_count)
        mgb_say(out, "; %d of %d towers get no row", e->tower_count - e->global_batch,
                e->tower_count);
    fputc('\n', out);
}

/* What was given, and the places; n/a where it has no meaning under the strategy. */
static void placement_print(FILE *out, const struct mgb_cli_configuration *c)
{
    static const enum mgb_option_id always[] = {MGB_OPTION_STRATEGY, MGB_OPTION_WEIGHTS_AT,
                                                MGB_OPTION_JOIN_AT,  MGB_OPTION_LOSS_AT,
                                                MGB_OPTION_SUM_AT,   MGB_OPTION_UPDATE_AT};
    uint64_t shown = c->request->placement.given;
    for (size_t i = 0; i < sizeof always / sizeof *always; i++)
        shown |= UINT64_C(1) << always[i];
    shown &= ~(UINT64_C(1) << MGB_OPTION_GPUS | UINT64_C(1) << MGB_OPTION_BATCH |
               UINT64_C(1) << MGB_OPTION_GLOBAL_BATCH);
    mgb_say(out, "%-11s", "placement");
    const char *between = "";
    for (int i = 0; i < MGB_OPTION_COUNT; i++) {
        char text[512];
        if (!(shown >> i & 1))
            continue;
        if (i == MGB_OPTION_LIKE || i == MGB_OPTION_MERGE_AT) /* in effect they are the places */
            mgb_placement_get_text(text, sizeof text, &c->request->placement,
                                   (enum mgb_option_id)i);
        else
            mgb_effective_get_text(text, sizeof text, c->effective, c->topology,
                                   (enum mgb_option_id)i);
        mgb_say(out, "%s%s=%s", between, mgb_placement_options()[i].name, *text ? text : "n/a");
        between = " ";
    }
    fputc('\n', out);
    if (c->effective->gave_way[0])
        line_print(out, "gave way", c->effective->gave_way);
}

static void memory_print(FILE *out, const struct mgb_cli_configuration *c)
{
    mgb_say(out, "%-11s", "memory");
    for (int i = 0; i < c->plan->use_count && i < 16; i++) {
        char name[MGB_DEVICE_NAME_MAX], bytes[32];
        mgb_say(out, "%s%s %s", i ? ", " : "",
                mgb_device_format(name, c->topology->devices[c->plan->uses[i].device].name),
                mgb_format_bytes(bytes, sizeof bytes, c->plan->uses[i].peak_bytes));
    }
    fputs(c->plan->use_count > 16 ? ", ... (planned)\n" : " (planned)\n", out);
}

static bool is_simulated(const struct mgb_cli_configuration *c)
{
    return strcmp(c->backend, "sim") == 0;
}

static void backend_print(FILE *out, const struct mgb_cli_configuration *c)
{
    if (is_simulated(c))
        mgb_say(out, "%-11s%s: simulated %s, nothing is measured\n", "backend", c->backend,
                c->topology->machine);
    else
        mgb_say(out, "%-11s%s%s%s\n", "backend", c->backend, *c->remark ? ": " : "", c->remark);
}

static void surroundings_print(FILE *out, const struct mgb_cli_configuration *c)
{
    char text[512];
    mgb_cli_libraries_write(text, sizeof text, c->backend);
    mgb_say(out, "%-11smgbench " MGB_VERSION "%s%s\n", "versions", *text ? ", " : "", text);
    if (is_simulated(c)) /* whatever this machine does, it plays no part */
        return;
    mgb_cli_clocks_write(text, sizeof text);
    line_print(out, "clocks", text);
}

static void lines_print(FILE *out, const struct mgb_cli_configuration *c)
{
    model_print(out, c->request);
    line_print(out, "data", *c->request->data ? c->request->data : "random");
    backend_print(out, c);
    if (!c->brief)
        surroundings_print(out, c);
    devices_print(out, c);
    batch_print(out, c->effective);
    placement_print(out, c);
    mgb_say(out, "%-11s%s, lr %g; seed %" PRIu64 "\n", "training",
            mgb_optimizer_name(c->request->optimizer.kind), (double)c->request->optimizer.lr,
            c->request->seed);
    if (!c->brief)
        memory_print(out, c);
}

/* One line, broken at blanks where the terminal ends; what follows stands under its values. */
static void wrapped_print(FILE *out, const char *line, int width)
{
    enum { INDENT = 11 };
    int column = 0;
    while (*line) {
        int gap = (int)strspn(line, " "), length = (int)strcspn(line + gap, " ");
        char word[1024];
        snprintf(word, sizeof word, "%.*s", length, line + gap);
        int columns = mgb_text_width(word);
        if (length > 0 && column > INDENT && width > 0 && column + gap + columns > width) {
            mgb_say(out, "\n%*s", INDENT, "");
            column = INDENT;
            gap = 0, line += strspn(line, " ");
        }
        mgb_say(out, "%*s%.*s", gap, "", length, line + gap);
        column += gap + columns;
        line += gap + length;
    }
    fputc('\n', out);
}

void mgb_cli_configuration_print(FILE *out, const struct mgb_cli_configuration *c)
{
    char *text = NULL, *rest;
    size_t size;
    int width = mgb_terminal_width(fileno(out));
    FILE *lines = width > 0 ? open_memstream(&text, &size) : NULL;
    lines_print(lines ? lines : out, c);
    if (!lines || fclose(lines) != 0)
        return;
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
        wrapped_print(out, line, width);
    free(text);
}
