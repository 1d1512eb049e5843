/* mgbench check: the variable check of what a run would store. */
#include "app/cli/commands.h"
#include "app/cli/job.h"
#include <inttypes.h>
#include <mgb/preview.h>
#include <mgb/text.h>

static enum mgb_status findings_print(const struct mgb_check *check, const struct mgb_graph *graph,
                                      const struct mgb_topology *topology,
                                      enum mgb_table_format format)
{
    static const char *const names[] = {"variable", "kind", "device", "bytes", "of", "why"};
    struct mgb_table *table;
    MGB_TRY(mgb_table_make(&table, 6, names));
    for (int i = 0; i < check->finding_count; i++) {
        const struct mgb_finding *finding = &check->findings[i];
        char device[MGB_DEVICE_NAME_MAX];
        mgb_table_add_text(table, mgb_graph_variable_at(graph, finding->variable).name);
        mgb_table_add_text(table, finding->leftover ? "leftover" : "duplicate");
        mgb_table_add_text(table,
                           mgb_device_format(device, topology->devices[finding->device].name));
        mgb_table_add_integer(table, finding->bytes);
        mgb_table_add_text(table, mgb_graph_variable_at(graph, finding->twin).name);
        mgb_table_add_text(table, finding->why);
    }
    enum mgb_status status = mgb_table_print(table, format, stdout);
    mgb_table_free(table);
    return status;
}

static void summary_print(FILE *out, const struct mgb_check *check)
{
    char have[32], wanted[32], duplicates[32], leftovers[32];
    fprintf(out,
            "%d variables (%s), one tower has %d (%s); copies for each: %d\n"
            "%d duplicates (%s), %d leftovers (%s)\n",
            check->variables, mgb_format_bytes(have, sizeof have, check->master_bytes),
            check->expected_variables,
            mgb_format_bytes(wanted, sizeof wanted, check->expected_bytes),
            check->replicas_per_variable, check->duplicate_count,
            mgb_format_bytes(duplicates, sizeof duplicates, check->duplicate_bytes),
            check->leftover_count,
            mgb_format_bytes(leftovers, sizeof leftovers, check->leftover_bytes));
}

/* One object for a program that reads a clean check, where no finding is a row. */
static enum mgb_status clean_print(const struct mgb_check *check)
{
    static const char *const names[] = {"clean",  "variables",  "bytes",
                                        "copies", "duplicates", "leftovers"};
    struct mgb_table *table;
    MGB_TRY(mgb_table_make(&table, 6, names));
    mgb_table_add_boolean(table, true);
    mgb_table_add_integer(table, check->variables);
    mgb_table_add_integer(table, check->master_bytes);
    mgb_table_add_integer(table, check->replicas_per_variable);
    mgb_table_add_integer(table, 0);
    mgb_table_add_integer(table, 0);
    enum mgb_status status = mgb_table_print(table, MGB_TABLE_JSON, stdout);
    mgb_table_free(table);
    return status;
}

static int check_show(const struct mgb_invocation *in, const struct script_open_request *request,
                      struct mgb_preview *preview)
{
    struct mgb_check check;
    enum mgb_status status = mgb_check_make(&check, mgb_preview_plan(preview));
    if (status != MGB_OK)
        return mgb_cli_complain(in, mgb_cli_exit_code(status), "%s", mgb_message_get());
    bool clean = check.duplicate_count == 0 && check.leftover_count == 0;
    if (in->format == MGB_TABLE_TEXT && !in->quiet)
        summary_print(stdout, &check);
    if (clean && in->format == MGB_TABLE_JSON)
        status = clean_print(&check);
    else if (!clean || in->format != MGB_TABLE_TEXT)
        status = findings_print(&check, request->graph, mgb_preview_topology(preview), in->format);
    mgb_check_done(&check);
    return status == MGB_OK && clean ? MGB_EXIT_OK : MGB_EXIT_FAILED;
}

static int check_run(struct mgb_invocation *in)
{
    return mgb_cli_job_look(in, check_show);
}

static const struct mgb_flag check_flags[] = {
    MGB_CLI_OPTIMIZER_FLAGS, MGB_CLI_MODEL_FLAGS, {NULL, NULL, NULL, false}};

static const struct mgb_example examples[] = {
    {"mgbench check siamese --gpus 4", "is every variable stored once"},
    {"mgbench check siamese_unshared --gpus 4", "names each copy, its bytes and device: exit 1"},
    {NULL, NULL}};

const struct mgb_command mgb_command_check = {
    .name = "check",
    .usage = "MODEL [options] [placement options]",
    .summary = "the variable check; exit code 1 on a duplicate or leftover",
    .help = MGB_CLI_MODEL_HELP
    "Variables are told apart by their storage, not by their names, and "
    "compared with what one tower\n"
    "stores. The optimizer counts for its slots. Nothing is run.\n" MGB_CLI_REFUSAL_HELP,
    .examples = examples,
    .flags = check_flags,
    .more_flags = mgb_cli_placement_flags,
    .least_words = 1,
    .most_words = 1,
    .run = check_run,
};
