/* mgbench models: the model files that scripts and commands find by name. */
#include "app/cli/commands.h"
#include "app/script/paths.h"
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

static int is_model(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name);
    return entry->d_name[0] != '.' && length > 4 && strcmp(entry->d_name + length - 4, ".lua") == 0;
}

static void folder_list(struct mgb_table *table, const char *root)
{
    char *folder = mgb_paths_join(root, "models");
    struct dirent **entries = NULL;
    int count = folder ? scandir(folder, &entries, is_model, alphasort) : 0;
    for (int i = 0; i < count; i++) {
        char *path = mgb_paths_join(folder, entries[i]->d_name);
        entries[i]->d_name[strlen(entries[i]->d_name) - 4] = 0;
        mgb_table_add_text(table, entries[i]->d_name);
        mgb_table_add_text(table, path);
        free(path);
        free(entries[i]);
    }
    free(entries);
    free(folder);
}

static int models_run(struct mgb_invocation *in)
{
    static const char *const names[] = {"model", "file"};
    struct mgb_table *table;
    char **roots = NULL;
    int count = 0;
    if (mgb_table_make(&table, 2, names) != MGB_OK ||
        !mgb_paths_modules(&roots, &count, in->lua_path, in->lua_path_count))
        return mgb_cli_complain(in, MGB_EXIT_FAILED, "listing models: memory is exhausted");
    for (int i = 0; i < count; i++) {
        folder_list(table, roots[i]);
        free(roots[i]);
    }
    free(roots);
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
