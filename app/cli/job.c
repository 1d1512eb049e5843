/* See job.h. */
#include "app/cli/job.h"
#include "app/script/mgb_lua_cli.h"
#include "app/script/paths.h"
#include "app/script/state.h"
#include <dirent.h>
#include <errno.h>
#include <mgb/text.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST_MODELS 512

struct running {
    const struct mgb_cli_job *job;
    struct mgb_script *script;
};

static void job_stop(void *context)
{
    struct running *running = context;
    if (running->job->stop)
        running->job->stop(running->job->context);
    mgb_script_interrupt(running->script);
}

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

static enum mgb_status model_check(const struct mgb_invocation *in)
{
    const char *model = in->words[0];
    if (!is_path(model))
        return strchr(model, '.') ? MGB_OK : name_check(in, model);
    return access(model, R_OK) == 0
               ? MGB_OK
               : mgb_fail(MGB_INVALID, "cannot read model '%s': %s", model, strerror(errno));
}

static enum mgb_status job_run(const struct mgb_cli_job *job, const char **words, int count,
                               char **text)
{
    const struct mgb_invocation *in = job->in;
    struct mgb_script_settings settings = {.lua_path = in->lua_path,
                                           .lua_path_count = in->lua_path_count,
                                           .words = words,
                                           .word_count = count,
                                           .services = job->services,
                                           .backend = in->backend,
                                           .machine = in->machine,
                                           .format = in->format};
    struct running running = {.job = job};
    MGB_TRY(mgb_script_make(&running.script, &settings));
    mgb_interrupt_target(job_stop, &running);
    enum mgb_status status = mgb_script_run_inner(running.script, mgb_lua_cli);
    mgb_interrupt_target(NULL, NULL);
    if (status != MGB_OK)
        *text = strdup(mgb_script_error_get(running.script)->text);
    char message[512];
    snprintf(message, sizeof message, "%s", mgb_message_get());
    mgb_script_free(running.script); /* closes its sessions */
    return status == MGB_OK ? MGB_OK : mgb_fail(status, "%s", message);
}

enum mgb_status mgb_cli_job_run(const struct mgb_cli_job *job, const char *verb,
                                const struct mgb_cli_settings *settings, char **text)
{
    *text = NULL;
    enum mgb_status status = model_check(job->in);
    if (status != MGB_OK) {
        *text = strdup(mgb_message_get());
        return status;
    }
    const char **words = calloc((size_t)settings->count + 3, sizeof *words);
    if (!words)
        return mgb_fail(MGB_NO_MEMORY, "starting: memory is exhausted");
    words[0] = verb;
    words[1] = job->in->words[0];
    words[2] = job->in->format == MGB_TABLE_TEXT ? "text" : "rows";
    for (int i = 0; i < settings->count; i++)
        words[i + 3] = settings->words[i];
    status = job_run(job, words, settings->count + 3, text);
    free(words);
    return status;
}

int mgb_cli_job_complain(const struct mgb_invocation *in, enum mgb_status status,
                         enum mgb_status refused, const char *text)
{
    if (status == MGB_INTERRUPTED) {
        if (!in->quiet && !mgb_interrupt_pipe_closed())
            fprintf(stderr, "%s: interrupted; what was recorded is kept\n", in->program);
        return MGB_EXIT_INTERRUPTED;
    }
    int code = refused != MGB_OK ? mgb_cli_refusal_code(refused) : mgb_cli_exit_code(status);
    return mgb_cli_complain(in, code, "%s", text ? text : mgb_message_get());
}
