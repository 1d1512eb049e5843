/* See models.h. */
#include "app/script/models.h"
#include "app/script/paths.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

static int is_model(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name);
    return entry->d_name[0] != '.' && length > 4 && strcmp(entry->d_name + length - 4, ".lua") == 0;
}

void mgb_models_each_in(const char *root, const char *kind,
                        void (*each)(void *context, const char *name, const char *path),
                        void *context)
{
    char *folder = mgb_paths_join(root, kind);
    struct dirent **entries = NULL;
    int count = folder ? scandir(folder, &entries, is_model, alphasort) : 0;
    for (int i = 0; i < count; i++) {
        char *path = mgb_paths_join(folder, entries[i]->d_name);
        entries[i]->d_name[strlen(entries[i]->d_name) - 4] = '\0';
        each(context, entries[i]->d_name, path);
        free(path);
        free(entries[i]);
    }
    free(entries);
    free(folder);
}

static bool files_each(const char *const *extra, int extra_count, const char *kind,
                       void (*each)(void *context, const char *name, const char *path),
                       void *context)
{
    char **roots = NULL;
    int count = 0;
    if (!mgb_paths_modules(&roots, &count, extra, extra_count))
        return false;
    for (int i = 0; i < count; i++) {
        mgb_models_each_in(roots[i], kind, each, context);
        free(roots[i]);
    }
    free(roots);
    return true;
}

bool mgb_models_each(const char *const *extra, int extra_count,
                     void (*each)(void *context, const char *name, const char *path), void *context)
{
    return files_each(extra, extra_count, "models", each, context);
}

bool mgb_machines_each(const char *const *extra, int extra_count,
                       void (*each)(void *context, const char *name, const char *path),
                       void *context)
{
    return files_each(extra, extra_count, "machines", each, context);
}
