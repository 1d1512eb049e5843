/* See models.h. Folders are read when the workbench opens, and from then on by its thread alone. */
#include "app/session/workbench/models.h"
#include "app/session/workbench/commands.h"

#include "app/script/models.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct names {
    char **at;
    int count, capacity;
    bool failed;
};

static void name_add(void *context, const char *name, const char *path)
{
    struct names *names = context;
    (void)path;
    if (names->count == names->capacity) {
        int capacity = names->capacity * 2 + 32;
        char **more = realloc(names->at, (size_t)capacity * sizeof *more);
        names->failed = names->failed || !more;
        if (!more)
            return;
        names->at = more;
        names->capacity = capacity;
    }
    names->at[names->count] = strdup(name);
    names->failed = names->failed || !names->at[names->count];
    names->count += names->at[names->count] != NULL;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

char *mgb_models_list(const char *const *lua_path, int lua_path_count)
{
    struct names names = {0};
    char *text = NULL;
    size_t size;
    bool whole = true,
         listed = mgb_models_each(lua_path, lua_path_count, name_add, &names) && !names.failed;
    FILE *out = listed ? open_memstream(&text, &size) : NULL;
    if (names.count)
        qsort(names.at, (size_t)names.count, sizeof *names.at, by_name);
    for (int i = 0; i < names.count; i++) {
        if (out && (i == 0 || strcmp(names.at[i], names.at[i - 1]) != 0))
            whole = fprintf(out, "%s\n", names.at[i]) >= 0 && whole;
    }
    for (int i = 0; i < names.count; i++)
        free(names.at[i]);
    free(names.at);
    if (out && fclose(out) == 0 && whole)
        return text;
    free(text);
    return NULL;
}

char *mgb_workbench_models(struct mgb_workbench *bench, bool again)
{
    pthread_mutex_lock(&bench->lock);
    char *copy = bench->models ? strdup(bench->models) : NULL;
    if (again) {
        bench->models_due = bench->woken = true;
        pthread_cond_signal(&bench->wake);
    }
    pthread_mutex_unlock(&bench->lock);
    return copy;
}

static bool models_take(struct mgb_workbench *bench)
{
    pthread_mutex_lock(&bench->lock);
    bool due = bench->models_due;
    bench->models_due = false;
    pthread_mutex_unlock(&bench->lock);
    return due;
}

void mgb_bench_models(struct mgb_workbench *bench)
{
    char *fresh = models_take(bench)
                      ? mgb_models_list(bench->options.lua_path, bench->options.lua_path_count)
                      : NULL;
    if (!fresh)
        return;
    pthread_mutex_lock(&bench->lock);
    char *old = bench->models;
    bench->models = fresh;
    bool changed = !old || strcmp(old, fresh) != 0; /* nobody else replaces it */
    pthread_mutex_unlock(&bench->lock);
    free(old);
    if (changed && bench->options.changed)
        bench->options.changed(bench->options.context);
}
