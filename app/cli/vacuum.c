/* mgbench vacuum: the disk that deleted runs took is given back. */
#include "app/cli/commands.h"
#include "app/cli/hub.h"
#include "app/cli/stream.h"
#include "app/script/terminal.h"
#include "db/keep.h"
#include <mgb/text.h>
#include <stdlib.h>

static int sizes_print(const struct mgb_invocation *in, const char *database,
                       const struct mgb_keep_sizes *sizes)
{
    static const char *const names[] = {"database", "before_bytes", "after_bytes"};
    struct mgb_table *table;
    char before[32], after[32];
    if (in->format == MGB_TABLE_TEXT) {
        mgb_say(stdout, "%s: %s (%lld bytes) before, %s (%lld bytes) now\n", database,
                mgb_format_bytes(before, sizeof before, sizes->before), (long long)sizes->before,
                mgb_format_bytes(after, sizeof after, sizes->after), (long long)sizes->after);
        return MGB_EXIT_OK;
    }
    if (mgb_table_make(&table, 3, names) != MGB_OK)
        return mgb_cli_complain(in, MGB_EXIT_FAILED, "%s", mgb_message_get());
    mgb_table_add_text(table, database);
    mgb_table_add_integer(table, sizes->before);
    mgb_table_add_integer(table, sizes->after);
    enum mgb_status status = mgb_table_print(table, in->format, stdout);
    mgb_table_free(table);
    return mgb_cli_exit_code(status);
}

static int vacuum_run(struct mgb_invocation *in)
{
    struct mgb_keep_sizes sizes;
    const struct mgb_keep_options options = {.stop = mgb_cli_stream_stop};
    char *database = mgb_cli_database(in);
    enum mgb_status status =
        database ? mgb_keep_vacuum(&sizes, database, &options) : mgb_cli_no_database();
    int code = status == MGB_OK
                   ? sizes_print(in, database, &sizes)
                   : mgb_cli_complain(in, mgb_cli_exit_code(status), "%s", mgb_message_get());
    free(database);
    return code;
}

static const struct mgb_example examples[] = {
    {"mgbench vacuum", "gives back the disk that deleted runs took"}, {NULL, NULL}};

const struct mgb_command mgb_command_vacuum = {
    .name = "vacuum",
    .usage = "",
    .summary = "compacts the results database",
    .help = "Rewrites the file without what was deleted; the disk must have twice its content "
            "free\n"
            "meanwhile. Refused while a run is going; others may read.\n"
            "\n"
            "exit codes: 1 in use or not enough disk, 4 there is no such file, 130 interrupted\n"
            "(nothing was changed)\n",
    .examples = examples,
    .run = vacuum_run,
};
