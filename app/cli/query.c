/* mgbench query: one read-only SQL statement. */
#include "app/cli/commands.h"
#include "app/cli/hub.h"
#include "db/query.h"
#include <stdlib.h>

static enum mgb_status columns_take(void *context, const char *const *names, int count)
{
    struct mgb_table **table = context;
    return count > 0 ? mgb_table_make(table, count, names)
                     : mgb_fail(MGB_INVALID, "query: the statement gives no columns");
}

static void value_add(struct mgb_table *table, const struct mgb_value *value)
{
    switch (value->kind) {
    case MGB_VALUE_NULL:
        mgb_table_add_empty(table);
        break;
    case MGB_VALUE_INT:
        mgb_table_add_integer(table, value->integer);
        break;
    case MGB_VALUE_REAL:
        mgb_table_add_number(table, value->real);
        break;
    case MGB_VALUE_TEXT:
        mgb_table_add_text(table, value->text);
        break;
    case MGB_VALUE_BLOB:
        mgb_table_add_text(table, "(blob)");
        break;
    }
}

static enum mgb_status row_take(void *context, const struct mgb_value *values, int count)
{
    struct mgb_table **table = context;
    for (int i = 0; i < count; i++)
        value_add(*table, &values[i]);
    return MGB_OK;
}

static enum mgb_status query_print(const struct mgb_invocation *in, const char *database)
{
    struct mgb_reader *reader;
    struct mgb_table *table = NULL;
    struct mgb_query_sink sink = {&table, columns_take, row_take};
    MGB_TRY(mgb_reader_open(&reader, database));
    enum mgb_status status = mgb_query_run(reader, in->words[0], NULL, 0, &sink);
    if (status == MGB_OK)
        status = mgb_table_print(table, in->format, stdout);
    mgb_table_free(table);
    mgb_reader_close(reader);
    return status;
}

static int query_run(struct mgb_invocation *in)
{
    char *database = mgb_cli_database(in);
    enum mgb_status status = database ? query_print(in, database) : mgb_cli_no_database();
    free(database);
    return status == MGB_OK
               ? MGB_EXIT_OK
               : mgb_cli_complain(in, mgb_cli_refusal_code(status), "%s", mgb_message_get());
}

const struct mgb_command mgb_command_query = {
    .name = "query",
    .usage = "SQL",
    .summary = "one read-only SQL statement to the results database",
    .help =
        "The views are made for questions: run_summary, scaling, placement, step_stats, "
        "step_phase,\n"
        "phase_share. What each column means, and its unit: sqlite3 FILE .schema (mgbench info "
        "tells FILE).\n"
        "\n"
        "example: mgbench query \"select gpus, batch_per_gpu, step_ms_median from run_summary\" "
        "--csv\n"
        "\n"
        "exit codes: 2 the statement is wrong or would change something, 4 there is no such file\n",
    .least_words = 1,
    .most_words = 1,
    .run = query_run,
};
