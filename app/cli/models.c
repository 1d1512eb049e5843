/* mgbench models: the model files that scripts and commands find by name. */
#include "app/cli/commands.h"
#include "app/script/models.h"

static void model_add(void *table, const char *name, const char *path)
{
    mgb_table_add_text(table, name);
    mgb_table_add_text(table, path);
}

static int models_run(struct mgb_invocation *in)
{
    static const char *const names[] = {"model", "file"};
    struct mgb_table *table;
    if (mgb_table_make(&table, 2, names) != MGB_OK)
        return mgb_cli_complain(in, MGB_EXIT_FAILED, "listing models: memory is exhausted");
    if (!mgb_models_each(in->lua_path, in->lua_path_count, model_add, table)) {
        mgb_table_free(table);
        return mgb_cli_complain(in, MGB_EXIT_FAILED, "listing models: memory is exhausted");
    }
    enum mgb_status status = mgb_table_print(table, in->format, stdout);
    mgb_table_free(table);
    return mgb_cli_exit_code(status);
}

static const struct mgb_example examples[] = {
    {"mgbench models", "their names, and the files they are in"}, {NULL, NULL}};

const struct mgb_command mgb_command_models = {
    .name = "models",
    .usage = "",
    .summary = "the models there are",
    .help = "The user's own lie in $XDG_DATA_HOME/mgbench/lua/models/ and in models/ under a "
            "--lua-path.\n",
    .examples = examples,
    .run = models_run,
};
