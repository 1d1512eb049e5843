/* mgbench -e: runs a script file or a text. See script.h. */
#include "app/cli/commands.h"
#include "app/cli/script.h"
#include "app/cli/help.h"
#include "app/cli/interrupt.h"
#include "app/script/paths.h"
#include "app/script/state.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A file if it ends in .lua or has a slash; but `3 / 2` has one too, so a slash among blanks or brackets must be one of a
 * file that is there. */
static bool is_file_name(const char *word)
{
    size_t length = strlen(word);
    if (length > 4 && strcmp(word + length - 4, ".lua") == 0)
        return true;
    return strchr(word, '/') && (!strpbrk(word, " \t\n(=;") || access(word, F_OK) == 0);
}

struct script_job {
    const struct mgb_cli_script_use *use;
    struct mgb_cli_hub hub;
    struct mgb_script *script;
};

static void job_stop(void *context)
{
    struct script_job *job = context;
    mgb_cli_hub_interrupt(&job->hub);
    mgb_script_interrupt(job->script);
}

static int help_show(const struct mgb_script *script, const struct mgb_command *command,
                     const char *name)
{
    const char *flags = mgb_script_help_get(script);
    printf("usage: mgbench %s %s [options] [-- words]\n\n%s%s", command->name, name,
           *flags ? "options of the script:\n" : "The script declares no options of its own.\n",
           flags);
    if (command->flags)
        printf("\noptions of mgbench %s:\n", command->name);
    mgb_help_print_flags(stdout, command->flags);
    fputs("\noptions of every command:\n", stdout);
    mgb_help_print_flags(stdout, mgb_global_flags);
    return MGB_EXIT_OK;
}

static bool is_script_command(const struct mgb_invocation *in)
{
    return in->command == &mgb_command_script;
}

static int failure_show(const struct mgb_invocation *in, const struct script_job *job,
                        enum mgb_status status)
{
    const struct mgb_script_error *error = mgb_script_error_get(job->script);
    if (status == MGB_INTERRUPTED) {
        if (!in->quiet && !job->use->tells_interruption)
            mgb_cli_complain(in, MGB_EXIT_INTERRUPTED, "interrupted; what was recorded is kept");
        return MGB_EXIT_INTERRUPTED;
    }
    if (error->usage && is_script_command(in) && mgb_cli_find_flag(in, "--dry-run"))
        return mgb_cli_complain(in, MGB_EXIT_USAGE,
                                "a dry run is for sweeps: mgbench sweep %s --dry-run",
                                in->words[0]);
    if (error->usage)
        return mgb_cli_complain(in, MGB_EXIT_USAGE, "%s (mgbench %s %s --help lists its options)",
                                error->message, in->command->name, in->words[0]);
    return mgb_cli_complain(in, MGB_EXIT_FAILED, "%s", error->text);
}

static int job_run(struct script_job *job, const struct mgb_invocation *in)
{
    const char *name = in->words[0];
    mgb_interrupt_target(job_stop, job);
    enum mgb_status status = is_file_name(name) ? mgb_script_run_file(job->script, name)
                                                : mgb_script_run_text(job->script, name);
    if (status != MGB_OK && status != MGB_INTERRUPTED) /* its sessions are still open */
        mgb_hub_fail(job->hub.hub, mgb_script_error_get(job->script)->message);
    int code =
        status != MGB_OK ? failure_show(in, job, status)
        : in->help       ? help_show(job->script, in->command, name)
        : is_script_command(in) && mgb_script_gave_model(job->script) &&
                !mgb_hub_recorded(job->hub.hub)
            ? mgb_cli_complain(in, MGB_EXIT_USAGE,
                               "'%s' is a model and runs nothing; to train it: mgbench run %s",
                               name, name)
            : MGB_EXIT_OK;
    mgb_interrupt_target(NULL, NULL);
    if (code == MGB_EXIT_OK && mgb_hub_recorded(job->hub.hub))
        mgb_cli_hub_repeat(&job->hub, stderr);
    return code;
}

static bool is_own(const struct mgb_command *command, const char *name)
{
    for (const struct mgb_flag *f = command->flags; f && f->name; f++)
        if (f->name == name)
            return true;
    return false;
}

static enum mgb_status job_open(struct script_job *job, const struct mgb_invocation *in,
                                const char **flags)
{
    int flag_count = 0;
    for (int i = 0; i < in->flag_count; i++)
        if (!is_own(in->command, in->flags[i].name))
            flags[flag_count++] = in->flags[i].name;
    MGB_TRY(mgb_cli_hub_open(&job->hub, in, in->words[0], is_file_name(in->words[0])));
    if (job->use->prepare)
        job->use->prepare(job->use->context, &job->hub);
    struct mgb_script_settings settings = {.lua_path = in->lua_path,
                                           .lua_path_count = in->lua_path_count,
                                           .words = in->rest,
                                           .word_count = in->rest_count,
                                           .flags = flags,
                                           .flag_count = flag_count,
                                           .then = job->use->then,
                                           .help = in->help,
                                           .services = &job->hub.services,
                                           .backend = in->backend,
                                           .machine = in->machine,
                                           .format = in->format};
    enum mgb_status status = mgb_script_make(&job->script, &settings);
    if (status != MGB_OK)
        mgb_cli_hub_close(&job->hub, MGB_EXIT_FAILED);
    return status;
}

/* The shipped experiment of that name, where the working folder has no such file; NULL: none. To be freed. */
static char *experiment_find(const char *name)
{
    if (!is_file_name(name) || strchr(name, '/') || access(name, F_OK) == 0)
        return NULL;
    char *share = mgb_paths_share(), *folder = mgb_paths_join(share, "experiments");
    char *path = mgb_paths_join(folder, name);
    if (path && !mgb_paths_is_file(path)) {
        free(path);
        path = NULL;
    }
    free(share);
    free(folder);
    return path;
}

static int script_words_run(struct mgb_invocation *in, const struct mgb_cli_script_use *use)
{
    const char *name = in->words[0];
    if (is_file_name(name) && access(name, R_OK) != 0)
        return mgb_cli_complain(in, MGB_EXIT_USAGE, "cannot read script '%s': %s", name,
                                strerror(errno));
    if (is_file_name(name) && !mgb_paths_is_file(name)) /* it is read more than once */
        return mgb_cli_complain(in, MGB_EXIT_USAGE, "cannot read script '%s': it is %s", name,
                                mgb_paths_is_folder(name) ? "a folder" : "not a plain file");
    const char **flags = calloc((size_t)in->flag_count + 1, sizeof *flags);
    if (!flags)
        return mgb_cli_complain(in, MGB_EXIT_FAILED, "memory is exhausted");
    struct script_job job = {.use = use};
    int code = MGB_EXIT_FAILED;
    if (job_open(&job, in, flags) == MGB_OK) {
        code = job_run(&job, in);
        mgb_script_free(job.script); /* closes its sessions */
        if (use->finish)
            code = use->finish(use->context, in, code);
        code = mgb_cli_hub_close(&job.hub, code);
    } else {
        mgb_cli_complain(in, code, "%s", mgb_message_get());
    }
    free(flags);
    return code;
}

int mgb_cli_script_run(struct mgb_invocation *in, const struct mgb_cli_script_use *use)
{
    const char *word = in->words[0];
    char *experiment = experiment_find(word);
    if (experiment)
        in->words[0] = experiment;
    int code = script_words_run(in, use);
    in->words[0] = word;
    free(experiment);
    return code;
}

/* A table that describes a sweep runs nothing by itself, and silence would not tell. */
static const char then[] =
    "local usage, _, value = ...\n"
    "if type(value) == 'table' and getmetatable(value) == nil and rawget(value, 'grid') ~= nil "
    "then\n"
    "  usage('this is a sweep and runs nothing by itself: mgbench sweep FILE runs it')\n"
    "end\n";

static int script_run(struct mgb_invocation *in)
{
    return mgb_cli_script_run(in, &(struct mgb_cli_script_use){.then = then});
}

static const struct mgb_example examples[] = {
    {"mgbench -e placement.lua --help", "which options a script declares"},
    {"mgbench -e placement.lua --model digits_cnn --data digits --gpus 2 --batch 8",
     "a script of scripts/experiments, with options of its own"},
    {"mgbench -e 'mgb.table(mgb.db.query(\"select gpus, step_ms_median from run_summary\"))'",
     "Lua in the words of the command"},
    {NULL, NULL}};

const struct mgb_command mgb_command_script = {
    .name = "-e",
    .usage = "SCRIPT [options] [-- words]",
    .summary = "run a script",
    .help = "SCRIPT is a file if it ends in .lua or has a slash, else Lua text. Options that "
            "mgbench does not know\n"
            "belong to the script; mgbench -e SCRIPT --help shows those it declares. Words after "
            "-- are its `arg`\n"
            "and mean what the script makes of them, flags that it declares excepted: these go "
            "before --.\n"
            "placement.lua, scaling.lua, batch.lua and the other shipped experiments are found "
            "from any folder.\n",
    .examples = examples,
    .least_words = 1,
    .most_words = 1,
    .takes_any_flag = true,
    .run = script_run,
};
