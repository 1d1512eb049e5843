/* Whether there is a model of a name, before anything is opened for it. */
#include "app/cli/settings.h"
#include "app/script/paths.h"
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <mgb/text.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST_MODELS 512

static bool is_path(const char *word)
{
    size_t length = strlen(word);
    return strchr(word, '/') || (length > 4 && strcmp(word + length - 4, ".lua") == 0);
}

/* Adds the names of a folder's models to `names`; true when `wanted` is among them. */
static bool folder_look(const char *root, const char *wanted, char **names, int *count)
{
    bool found = false;
    char *folder = mgb_paths_join(root, "models");
    DIR *stream = folder ? opendir(folder) : NULL;
    for (struct dirent *entry; stream && (entry = readdir(stream));) {
        size_t length = strlen(entry->d_name);
        if (length <= 4 || strcmp(entry->d_name + length - 4, ".lua") != 0)
            continue;
        entry->d_name[length - 4] = '\0';
        found = found || strcmp(entry->d_name, wanted) == 0;
        if (*count < MOST_MODELS && (names[*count] = strdup(entry->d_name)))
            ++*count;
    }
    if (stream)
        closedir(stream);
    free(folder);
    return found;
}

static enum mgb_status name_check(const struct mgb_invocation *in, const char *wanted)
{
    char **roots = NULL, *names[MOST_MODELS], near[NAME_MAX + 1] = "";
    int root_count = 0, count = 0;
    bool found = false;
    if (!mgb_paths_modules(&roots, &root_count, in->lua_path, in->lua_path_count))
        return mgb_fail(MGB_NO_MEMORY, "looking for models: memory is exhausted");
    for (int i = 0; i < root_count; i++) {
        found = folder_look(roots[i], wanted, names, &count) || found;
        free(roots[i]);
    }
    free(roots);
    const char *nearest = mgb_nearest_name(wanted, (const char *const *)names, count);
    snprintf(near, sizeof near, "%s", nearest ? nearest : "");
    for (int i = 0; i < count; i++)
        free(names[i]);
    if (found)
        return MGB_OK;
    return mgb_fail(MGB_INVALID,
                    *near ? "there is no model '%s' (did you mean '%s'?)"
                          : "there is no model '%s'; mgbench models lists them, and a file has a "
                            "slash or ends in .lua%s",
                    wanted, near);
}

enum mgb_status mgb_cli_model_check(const struct mgb_invocation *in, const char *model)
{
    if (!is_path(model))
        return strchr(model, '.') ? MGB_OK : name_check(in, model);
    return access(model, R_OK) == 0
               ? MGB_OK
               : mgb_fail(MGB_INVALID, "cannot read model '%s': %s", model, strerror(errno));
}
