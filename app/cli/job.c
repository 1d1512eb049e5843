/* See job.h. */
#include "app/cli/job.h"
#include "app/cli/machine.h"
#include "app/script/mgb_lua_cli.h"
#include "app/script/state.h"
#include <stdlib.h>
#include <string.h>

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

static enum mgb_status job_run(const struct mgb_cli_job *job, const char **words, int count,
                               char **text, enum mgb_status *refused)
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
    const struct mgb_script_error *error = mgb_script_error_get(running.script);
    if (status != MGB_OK)
        *text = strdup(error->usage ? error->message : error->text);
    if (status != MGB_OK && error->usage)
        *refused = MGB_INVALID;
    char message[512];
    snprintf(message, sizeof message, "%s", mgb_message_get());
    if (status != MGB_OK && status != MGB_INTERRUPTED && job->fail)
        job->fail(job->context, error->message);
    mgb_script_free(running.script); /* closes its sessions */
    return status == MGB_OK ? MGB_OK : mgb_fail(status, "%s", message);
}

enum mgb_status mgb_cli_machine_check(const struct mgb_invocation *in)
{
    char fault[500];
    struct mgb_machine *machine;
    const char *backend = in->backend ? in->backend : "auto";
    bool simulated = strcmp(backend, "sim") == 0;
    if (simulated && !in->machine)
        return mgb_fail(MGB_INVALID,
                        "--backend sim: which machine is to be simulated? Name one with --machine "
                        "(mgbench machines lists them)");
    if (in->machine && !simulated && strcmp(backend, "auto") != 0)
        return mgb_fail(MGB_INVALID, "--machine: backend %s cannot play on it; leave --backend out",
                        backend);
    if (!in->machine)
        return MGB_OK;
    enum mgb_status status = mgb_cli_machine_read(&machine, fault, sizeof fault, in, in->machine);
    if (status != MGB_OK)
        return mgb_fail(status, "%s", fault);
    mgb_machine_free(machine);
    return MGB_OK;
}

enum mgb_status mgb_cli_job_prepare(struct mgb_cli_settings *out, const struct mgb_invocation *in)
{
    MGB_TRY(mgb_cli_model_check(in, in->words[0]));
    MGB_TRY(mgb_cli_machine_check(in));
    MGB_TRY(mgb_cli_settings_make(out, in));
    enum mgb_status status = mgb_cli_training_check(in);
    if (status != MGB_OK)
        mgb_cli_settings_done(out);
    return status;
}

enum mgb_status mgb_cli_job_run(const struct mgb_cli_job *job, const char *verb,
                                const struct mgb_cli_settings *settings, char **text,
                                enum mgb_status *refused)
{
    *text = NULL;
    const char **words = calloc((size_t)settings->count + 3, sizeof *words);
    if (!words)
        return mgb_fail(MGB_NO_MEMORY, "starting: memory is exhausted");
    words[0] = verb;
    words[1] = job->in->words[0];
    words[2] = job->in->format != MGB_TABLE_TEXT ? "rows" : job->in->quiet ? "quiet" : "text";
    for (int i = 0; i < settings->count; i++)
        words[i + 3] = settings->words[i];
    enum mgb_status status = job_run(job, words, settings->count + 3, text, refused);
    free(words);
    return status;
}

int mgb_cli_job_complain(const struct mgb_invocation *in, enum mgb_status status,
                         enum mgb_status refused, const char *text)
{
    if (status == MGB_INTERRUPTED) {
        if (!in->quiet)
            mgb_cli_complain(in, MGB_EXIT_INTERRUPTED, "interrupted; what was recorded is kept");
        return MGB_EXIT_INTERRUPTED;
    }
    int code = refused != MGB_OK ? mgb_cli_refusal_code(refused) : mgb_cli_exit_code(status);
    return mgb_cli_complain(in, code, "%s", text ? text : mgb_message_get());
}
