/* mgbench plan: what a run would do, on paper. */
#include "app/cli/commands.h"
#include "app/cli/configuration.h"
#include "app/cli/job.h"
#include "app/cli/plan_text.h"
#include <mgb/preview.h>
#include <mgb/text.h>
#include <string.h>

/* Every figure of a plan is a row: what, where from, where to, of which kind, value. */
struct rows {
    struct mgb_table *table;
    const struct mgb_topology *topology;
};

static void row_add(struct rows *rows, const char *what, int from, int to, const char *kind,
                    int64_t value)
{
    const int devices[] = {from, to};
    mgb_table_add_text(rows->table, what);
    for (int i = 0; i < 2; i++) {
        char name[MGB_DEVICE_NAME_MAX];
        if (devices[i] < 0)
            mgb_table_add_empty(rows->table);
        else
            mgb_table_add_text(rows->table,
                               mgb_device_format(name, rows->topology->devices[devices[i]].name));
    }
    mgb_table_add_text(rows->table, kind);
    mgb_table_add_integer(rows->table, value);
}

static enum mgb_status tasks_add(struct rows *rows, const struct mgb_plan *plan)
{
    int64_t counts[MGB_CLI_TASK_KINDS], all;
    MGB_TRY(mgb_cli_plan_count(counts, &all, plan));
    for (int kind = 0; kind < MGB_CLI_TASK_KINDS; kind++)
        if (counts[kind] > 0)
            row_add(rows, "tasks", -1, -1, mgb_task_kind_name((enum mgb_task_kind)kind),
                    counts[kind]);
    row_add(rows, "tasks", -1, -1, "all", all);
    return MGB_OK;
}

static void memory_add(struct rows *rows, const struct mgb_plan *plan)
{
    for (int i = 0; i < plan->use_count; i++) {
        const struct mgb_device_use *use = &plan->uses[i];
        for (int c = 0; c < MGB_MEMORY_CATEGORY_COUNT; c++)
            if (use->peak[c] > 0)
                row_add(rows, "bytes held", use->device, -1,
                        mgb_memory_category_name((enum mgb_memory_category)c), use->peak[c]);
        row_add(rows, "bytes held", use->device, -1, "peak", use->peak_bytes);
    }
}

static enum mgb_status rows_print(const struct mgb_plan *plan, enum mgb_table_format format,
                                  int64_t largest)
{
    static const char *const names[] = {"what", "at", "to", "kind", "value"};
    struct rows rows = {.topology = plan->topology};
    MGB_TRY(mgb_table_make(&rows.table, 5, names));
    for (int i = 0; i < plan->tower_count; i++)
        row_add(&rows, "rows of tower", plan->towers[i].device, -1, NULL, plan->towers[i].rows);
    enum mgb_status status = tasks_add(&rows, plan);
    memory_add(&rows, plan);
    for (int i = 0; i < plan->traffic_count; i++)
        row_add(&rows, "bytes moved", plan->traffic[i].from, plan->traffic[i].to, NULL,
                plan->traffic[i].bytes);
    for (int v = 0; v < mgb_graph_variable_count(plan->graph); v++) {
        int64_t bytes;
        if (mgb_plan_packers(plan, v, &bytes) > 0)
            row_add(&rows, "bytes of rows sent", -1, -1, mgb_graph_variable_at(plan->graph, v).name,
                    bytes);
    }
    if (largest >= 0)
        row_add(&rows, "largest batch", -1, -1, "per GPU", largest);
    if (status == MGB_OK)
        status = mgb_table_print(rows.table, format, stdout);
    mgb_table_free(rows.table);
    return status;
}

static enum mgb_status tasks_print(const struct mgb_plan *plan)
{
    char *text;
    MGB_TRY(mgb_plan_text(&text, plan));
    fputs(text, stdout);
    mgb_text_free(text);
    return MGB_OK;
}

/* -1 when nothing limits it; why is told where it is asked for. */
static enum mgb_status largest_find(const struct mgb_invocation *in, struct mgb_preview *preview,
                                    int64_t *largest)
{
    bool asked = mgb_cli_find_flag(in, "--largest");
    enum mgb_status status = mgb_preview_largest_batch(preview, largest);
    if (status == MGB_OK)
        return MGB_OK;
    *largest = -1;
    if (asked && status != MGB_UNSUPPORTED)
        return status;
    if (asked && !in->quiet)
        fprintf(stderr, "%s: largest batch: %s\n", in->program, mgb_message_get());
    return MGB_OK;
}

static enum mgb_status plan_show(const struct mgb_invocation *in,
                                 const struct script_open_request *request,
                                 struct mgb_preview *preview)
{
    const struct mgb_plan *plan = mgb_preview_plan(preview);
    struct mgb_cli_configuration c = {.request = request,
                                      .backend = mgb_preview_backend(preview),
                                      .remark = mgb_preview_remark(preview),
                                      .topology = mgb_preview_topology(preview),
                                      .effective = mgb_preview_effective(preview),
                                      .plan = plan,
                                      .brief = true};
    int64_t largest;
    if (mgb_cli_find_flag(in, "--tasks"))
        return tasks_print(plan);
    MGB_TRY(largest_find(in, preview, &largest));
    if (in->format == MGB_TABLE_TEXT && !in->quiet)
        mgb_cli_configuration_print(stdout, &c);
    if (in->format == MGB_TABLE_TEXT)
        MGB_TRY(mgb_cli_plan_print(plan, largest));
    else
        MGB_TRY(rows_print(plan, in->format, largest));
    return mgb_plan_admit(plan, NULL, c.effective->gpu_memory);
}

static int plan_look(const struct mgb_invocation *in, const struct script_open_request *request,
                     struct mgb_preview *preview)
{
    enum mgb_status status = plan_show(in, request, preview);
    return status == MGB_OK
               ? MGB_EXIT_OK
               : mgb_cli_complain(in, mgb_cli_exit_code(status), "%s", mgb_message_get());
}

static int plan_run(struct mgb_invocation *in)
{
    return mgb_cli_job_look(in, plan_look);
}

static const struct mgb_flag plan_flags[] = {
    {"--tasks", NULL, "instead of the figures, the plan itself: every task and buffer", false},
    {"--largest", NULL, "say why, where no largest batch is shown", false},
    MGB_CLI_OPTIMIZER_FLAGS,
    MGB_CLI_MODEL_FLAGS,
    {NULL, NULL, NULL, false}};

static const struct mgb_example examples[] = {
    {"mgbench plan mnist_cnn --gpus 4", "memory by device and bytes by link"},
    {"mgbench plan mnist_cnn --gpus 4 --weights-at spread",
     "the same with the weights on all GPUs"},
    {"mgbench plan mlp --gpus 2 --gpu-memory 64MiB", "the largest batch that would fit"},
    {NULL, NULL}};

const struct mgb_command mgb_command_plan = {
    .name = "plan",
    .usage = "MODEL [options] [placement options]",
    .summary = "tasks, memory by device, bytes by link, largest batch; no run",
    .help = MGB_CLI_MODEL_HELP
    "Nothing is run, and nothing allocated on a device. Figures are of one step with a full "
    "batch.\n"
    "Sizes are MiB; --csv and --json give bytes. grads, activ and work are gradients, activations\n"
    "and workspace.\n"
    "Where a device has a limit (--gpu-memory sets one), the largest batch of a GPU is shown too:\n"
    "its plan fits, and that of one example more does not.\n"
    "Exit code 1 when the plan does not fit in memory; it is shown all the "
    "same.\n" MGB_CLI_REFUSAL_HELP,
    .examples = examples,
    .flags = plan_flags,
    .more_flags = mgb_cli_placement_flags,
    .least_words = 1,
    .most_words = 1,
    .run = plan_run,
};
