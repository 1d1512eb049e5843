/* mgbench info: every path in use, and the versions of what the program stands on. */
#include "app/cli/commands.h"
#include "app/script/paths.h"
#include "app/script/state.h"
#include "db/query.h"
#include <mgb/run.h>
#include <stdlib.h>

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

static void database_add(struct mgb_table *table, const struct mgb_invocation *in)
{
    char *data = mgb_paths_data();
    char *file = in->db ? NULL : mgb_paths_join(data, "results.db");
    row_add(table, "database", in->db ? in->db : file);
    free(file);
    free(data);
}

/* What CPU devices stand on, "oneDNN 2.7.3, ..."; the CUDA plugin is not loaded for it. */
static void libraries_add(struct mgb_table *table)
{
    char members[256], text[256];
    size_t used = 0;
    if (mgb_backend_versions(members, sizeof members, "host") != MGB_OK)
        return;
    for (const char *at = members; *at && used + 3 < sizeof text; at++) {
        if (*at == ':' || *at == ',')
            used += (size_t)sprintf(text + used, *at == ',' ? ", " : " ");
        else if (*at != '"')
            text[used++] = *at;
    }
    text[used] = '\0';
    row_add(table, "backend host", text);
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
    enum mgb_status status = mgb_table_print(table, in->format, stdout);
    mgb_table_free(table);
    return mgb_cli_exit_code(status);
}

const struct mgb_command mgb_command_info = {
    .name = "info",
    .usage = "",
    .summary = "every path in use, and versions",
    .run = info_run,
};
