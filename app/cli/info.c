/* mgbench info: every path in use, and the versions of what the program stands on. Opens and makes nothing. */
#include "app/cli/commands.h"
#include "app/cli/configuration.h"
#include "app/cli/hub.h"
#include "app/cli/programs.h"
#include "app/script/paths.h"
#include "app/script/state.h"
#include "db/query.h"
#include <gnu/libc-version.h>
#include <mgb/run.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

static void row_add(struct mgb_table *table, const char *what, const char *value)
{
    mgb_table_add_text(table, what);
    mgb_table_add_text(table, value);
}

static void path_add(struct mgb_table *table, const char *what, char *path)
{
    row_add(table, what, path);
    free(path);
}

/* A file beside the database: its name, and whether it is there. */
static void beside_add(struct mgb_table *table, const char *what, const char *database,
                       const char *ending, const char *absent)
{
    char *path = NULL, *text = NULL;
    if (asprintf(&path, "%s%s", database, ending) < 0)
        path = NULL;
    if (path && access(path, F_OK) != 0 && asprintf(&text, "%s (%s)", path, absent) < 0)
        text = NULL;
    row_add(table, what, text ? text : path);
    free(text);
    free(path);
}

static void database_add(struct mgb_table *table, const struct mgb_invocation *in)
{
    char *file = mgb_cli_database(in);
    row_add(table, "database", file);
    if (file) {
        beside_add(table, "write-ahead log", file, "-wal", "not there: nothing waits in it");
        beside_add(table, "lock file", file, ".lock", "not there: nobody has written yet");
    }
    free(file);
}

/* What CPU devices stand on, "oneDNN 2.7.3, ..."; the CUDA plugin is not loaded for it. */
static void libraries_add(struct mgb_table *table)
{
    char text[256];
    mgb_cli_libraries_write(text, sizeof text, "host");
    if (*text)
        row_add(table, "backend host", text);
}

static void plugin_add(struct mgb_table *table)
{
    char path[4096];
    bool there = mgb_backend_plugin_find(path, sizeof path) == MGB_OK;
    row_add(table, "backend cuda", there ? path : mgb_message_get());
}

static void program_add(struct mgb_table *table)
{
    char program[4096];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    program[length > 0 ? length : 0] = '\0';
    row_add(table, "program", length > 0 ? program : NULL);
    char *gnuplot = mgb_cli_program_find("gnuplot");
    char *beside = mgb_cli_program_beside("mgbench-tui");
    row_add(table, "terminal program", beside ? beside : "not there: mgbench-tui was not built");
    free(beside);
    row_add(table, "gnuplot", gnuplot ? gnuplot : "not there: plots are drawn as text");
    free(gnuplot);
}

static void system_add(struct mgb_table *table)
{
    struct utsname name;
    char text[sizeof name.sysname + sizeof name.release + sizeof name.machine + 4];
    row_add(table, "libc", gnu_get_libc_version());
    if (uname(&name) != 0)
        return;
    snprintf(text, sizeof text, "%s %s %s", name.sysname, name.release, name.machine);
    row_add(table, "system", text);
}

static int info_run(struct mgb_invocation *in)
{
    static const char *const names[] = {"what", "value"};
    struct mgb_table *table;
    if (mgb_table_make(&table, 2, names) != MGB_OK)
        return mgb_cli_complain(in, MGB_EXIT_FAILED, "%s", mgb_message_get());
    row_add(table, "version", MGB_VERSION);
    row_add(table, "sqlite", mgb_db_library_version());
    row_add(table, "lua", mgb_script_lua_version());
    libraries_add(table);
    plugin_add(table);
    system_add(table);
    database_add(table, in);
    path_add(table, "configuration", mgb_paths_config());
    path_add(table, "data", mgb_paths_data());
    path_add(table, "state", mgb_paths_state());
    path_add(table, "shipped scripts", mgb_paths_share());
    char **roots = NULL;
    int count = 0;
    if (mgb_paths_modules(&roots, &count, in->lua_path, in->lua_path_count))
        for (int i = 0; i < count; i++)
            path_add(table, "modules", roots[i]);
    free(roots);
    program_add(table);
    enum mgb_status status = mgb_table_print(table, in->format, stdout);
    mgb_table_free(table);
    return mgb_cli_exit_code(status);
}

static const struct mgb_example examples[] = {
    {"mgbench info", "where the database, the scripts and the configuration lie"},
    {"mgbench info --json", "the same for another program"},
    {NULL, NULL}};

const struct mgb_command mgb_command_info = {
    .name = "info",
    .usage = "",
    .summary = "every path in use, and versions",
    .help = "Nothing is opened or made for it. Whether all is well with it: mgbench doctor.\n",
    .examples = examples,
    .run = info_run,
};
