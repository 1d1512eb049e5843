/* mgbench query: one read-only SQL statement. CSV and JSON lines leave row by row; aligned text needs to see its rows
 * first and is printed in pieces. */
#include "app/cli/asking.h"
#include "app/cli/commands.h"
#include "app/cli/hub.h"
#include "app/cli/stream.h"
#include <stdlib.h>

#define PIECE_ROWS 10000

struct piece { /* of a text table */
    struct mgb_table *table;
    int rows;
    bool printed; /* an earlier one was */
};

static enum mgb_status piece_columns_take(void *context, const char *const *names, int count)
{
    struct piece *piece = context;
    return count > 0 ? mgb_table_make(&piece->table, count, names)
                     : mgb_fail(MGB_INVALID, "query: the statement gives no columns");
}

static enum mgb_status piece_print(struct piece *piece)
{
    if (piece->printed)
        putchar('\n');
    piece->printed = true;
    return mgb_table_print(piece->table, MGB_TABLE_TEXT, stdout);
}

static enum mgb_status piece_row_take(void *context, const struct mgb_value *values, int count)
{
    struct piece *piece = context;
    if (mgb_cli_stream_stop(NULL))
        return mgb_fail(MGB_INTERRUPTED, "the query was stopped");
    if (piece->rows == PIECE_ROWS) {
        MGB_TRY(piece_print(piece));
        mgb_table_clear(piece->table);
        piece->rows = 0;
    }
    piece->rows++;
    for (int i = 0; i < count; i++)
        mgb_cli_value_add(piece->table, &values[i]);
    return MGB_OK;
}

static enum mgb_status text_print(const char *database, const char *sql)
{
    struct piece piece = {0};
    struct mgb_query_sink sink = {&piece, piece_columns_take, piece_row_take};
    enum mgb_status status = mgb_cli_stream(database, sql, &sink);
    if (status == MGB_OK || (status == MGB_INTERRUPTED && piece.rows > 0)) {
        enum mgb_status printed = piece_print(&piece);
        status = status == MGB_OK ? printed : status;
    }
    mgb_table_free(piece.table);
    return status;
}

static enum mgb_status rows_print(const char *database, const char *sql,
                                  enum mgb_export_format format)
{
    struct mgb_export writer = {
        .out = stdout, .format = format, .plain = true, .stop = mgb_cli_stream_stop};
    struct mgb_query_sink sink = mgb_export_sink(&writer);
    enum mgb_status status = mgb_cli_stream(database, sql, &sink);
    enum mgb_status ended = mgb_export_end(&writer, status == MGB_OK);
    return status == MGB_OK ? ended : status;
}

static enum mgb_status query_print(const char *database, const char *sql,
                                   enum mgb_table_format format)
{
    switch (format) {
    case MGB_TABLE_TEXT:
        return text_print(database, sql);
    case MGB_TABLE_CSV:
        return rows_print(database, sql, MGB_EXPORT_CSV);
    case MGB_TABLE_JSON:
        return rows_print(database, sql, MGB_EXPORT_JSONL);
    }
    return MGB_OK;
}

static int query_run(struct mgb_invocation *in)
{
    char *database = mgb_cli_database(in);
    enum mgb_status status =
        database ? query_print(database, in->words[0], in->format) : mgb_cli_no_database();
    free(database);
    return mgb_cli_stream_exit(in, status);
}

static const struct mgb_example examples[] = {
    {"mgbench query \"select run_id, gpus, step_ms_median from run_summary\"",
     "the runs there are, how many GPUs each had and how long a step took"},
    {"mgbench query \"select * from phase_share where segment_id = 1\" --csv",
     "where the time of a segment went, for another program"},
    {"mgbench query \"select name from sqlite_schema where type = 'view'\"",
     "the views that are made for questions"},
    {NULL, NULL}};

const struct mgb_command mgb_command_query = {
    .name = "query",
    .usage = "SQL",
    .summary = "one read-only SQL statement to the results database",
    .help =
        "The views are made for questions: run_summary, scaling, placement, step_stats, "
        "step_phase,\n"
        "phase_share. What each column means, and its unit: sqlite3 FILE .schema (mgbench info "
        "tells FILE).\n"
        "With --csv or --json rows leave as they come, however many; a text table of more than\n"
        "10000 rows is printed in pieces. Runs may be going on meanwhile.\n"
        "\n"
        "exit codes: 2 the statement is wrong or would change something, 4 there is no such "
        "file,\n"
        "130 stopped (what was printed are whole rows)\n",
    .examples = examples,
    .least_words = 1,
    .most_words = 1,
    .run = query_run,
};
