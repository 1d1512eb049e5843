/* The terminal program: its command line, turned into the options of app/tui. */
#include "app/mgbench_tui_manual.h"
#include "app/cli/hub.h"
#include "app/cli/job.h"
#include "app/cli/programs.h"
#include "app/cli/settings.h"
#include "app/program.h"
#include "app/script/terminal.h"
#include "app/tui/chatter.h"
#include "app/tui/keyboard.h"
#include "app/tui/log.h"
#include "app/tui/terminal.h"
#include "app/tui/tui.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct mgb_invocation
    *invocation; /* of this process: for the two that get no context of ours */

static void point_tell(void *context, const char *point)
{
    (void)context;
    if (invocation->host.restartable)
        invocation->host.restartable(invocation->host.context, point);
}

/* A stuck device holds threads that cannot be joined: only the end of the process frees it. */
static void process_end(void *context, const char *message)
{
    (void)context;
    tui_terminal_rescue();
    tui_chatter_rescue();
    tui_keyboard_rescue();
    tui_log_rescue();
    if (invocation->host.screen) /* or what is said is drawn over when it is given back once more */
        invocation->host.screen(invocation->host.context, false);
    mgb_say(stderr, "%s: %s\n", invocation->program, message);
    fflush(NULL);
    kill(getpid(), SIGKILL);
    _exit(MGB_EXIT_FAILED);
}

static bool is_given(const struct mgb_invocation *in, const char *flag)
{
    return mgb_cli_find_flag(in, flag) != NULL;
}

static enum mgb_status keys_check(const char *keys)
{
    char *copy = strdup(keys ? keys : ""), *rest = copy;
    enum mgb_status status = copy ? MGB_OK : mgb_fail(MGB_NO_MEMORY, "--keys: memory is exhausted");
    for (char *name; copy && *copy && status == MGB_OK && (name = strsep(&rest, ","));)
        if (tui_key_read(name) == TUI_KEY_NONE)
            status = mgb_fail(MGB_INVALID,
                              "--keys: no key is called '%s'; they are letters and names as "
                              "Space, Tab, Up, F5, Ctrl-L, with commas between",
                              name);
    free(copy);
    return status;
}

static enum mgb_status backend_check(const struct mgb_invocation *in)
{
    const char *backend = in->backend ? in->backend : "auto";
    if (strcmp(backend, "auto") != 0 && strcmp(backend, "host") != 0 &&
        strcmp(backend, "cuda") != 0 && strcmp(backend, "sim") != 0)
        return mgb_fail(MGB_MISSING,
                        "--backend: there is no backend '%s'; the backends are host, cuda and sim",
                        backend);
    return mgb_cli_machine_check(in);
}

static enum mgb_status words_check(const struct mgb_invocation *in)
{
    const char *screen = mgb_cli_find_flag(in, "--screen");
    int action = screen ? tui_action_find(screen) : TUI_ACT_BENCH;
    if (action != TUI_ACT_HELP && (action < TUI_ACT_BENCH || action > TUI_ACT_LOG))
        return mgb_fail(MGB_INVALID,
                        "--screen: one of bench, devices, variables, plan, runs, sweep, log, help "
                        "expected, got '%s'",
                        screen);
    MGB_TRY(keys_check(mgb_cli_find_flag(in, "--keys")));
    if (is_given(in, "--run") && is_given(in, "--readonly"))
        return mgb_fail(MGB_INVALID, "--run and --readonly exclude each other");
    if (is_given(in, "--run") && in->word_count == 0)
        return mgb_fail(MGB_INVALID, "--run: there is no model to run; name one");
    if (in->word_count > 0)
        MGB_TRY(mgb_cli_model_check(in, in->words[0]));
    MGB_TRY(mgb_cli_training_check(in));
    return backend_check(in);
}

/* The commands of mgbench, for its ':' line. */
static const struct tui_verb *verbs_make(void)
{
    static struct tui_verb verbs[64];
    int count = 0;
    for (const struct mgb_command *const *c = mgb_manual_next(mgb_commands); c && count < 63;
         c = mgb_manual_next(c + 1))
        verbs[count++] = (struct tui_verb){(*c)->name, (*c)->usage, (*c)->summary};
    return verbs;
}

static int screen_run(const struct mgb_invocation *in, const struct mgb_cli_settings *settings,
                      const struct mgb_hub_options *hub, const char *mgbench)
{
    struct mgb_tui_options options = {
        .workbench = {.hub = *hub,
                      .model = in->word_count > 0 ? in->words[0] : NULL,
                      .words = (const char *const *)settings->words,
                      .resume = in->host.restarts > 0 && *in->host.point ? in->host.point : NULL,
                      .backend = in->backend,
                      .machine = in->machine,
                      .lua_path = in->lua_path,
                      .lua_path_count = in->lua_path_count,
                      .readonly = is_given(in, "--readonly")},
        .verbs = verbs_make(),
        .program = in->program,
        .mgbench = mgbench,
        .ascii = is_given(in, "--ascii"),
        .no_color = !in->color,
        .no_mouse = is_given(in, "--no-mouse"),
        .readonly = is_given(in, "--readonly"),
        .run = is_given(in, "--run") && in->host.restarts == 0,
        .keep_running = is_given(in, "--keep-running"),
        .keys = in->host.restarts == 0 ? mgb_cli_find_flag(in, "--keys") : NULL,
        .place = mgb_cli_find_flag(in, "--screen"),
        .screen = in->host.screen,
        .context = in->host.context,
    };
    options.workbench.hub.restartable = point_tell;
    options.workbench.hub.die = process_end;
    /* Until there is more to tell: as it was started, this time. */
    point_tell(NULL, in->host.restarts > 0 ? in->host.point : "");
    return mgb_tui_run(&options);
}

/* Devices that are not there are told before the screen opens, whole. Another file of Lua than the models is not run twice for
 * that. */
static int devices_check(struct mgb_invocation *in)
{
    const char *model = in->word_count > 0 ? in->words[0] : NULL;
    if (!model || (!is_given(in, "--gpus") && !in->machine) || strchr(model, '/') ||
        strstr(model, ".lua") || in->host.restarts > 0)
        return MGB_EXIT_OK;
    return mgb_cli_job_admit(in);
}

static int tui_run(struct mgb_invocation *in)
{
    struct mgb_cli_settings settings = {.count = 0};
    struct mgb_hub_options hub;
    char *database = NULL, *command = NULL;
    invocation = in;
    enum mgb_status status = mgb_cli_settings_make(&settings, in);
    if (status == MGB_OK)
        status = words_check(in);
    if (status == MGB_OK)
        status = mgb_cli_hub_options(&hub, in, is_given(in, "--readonly"), &database, &command);
    if (status != MGB_OK) {
        mgb_cli_settings_done(&settings);
        return mgb_cli_complain(in, mgb_cli_refusal_code(status), "%s", mgb_message_get());
    }
    char *mgbench = mgb_cli_program_beside("mgbench");
    int code = devices_check(in);
    if (code == MGB_EXIT_OK)
        code = screen_run(in, &settings, &hub, mgbench);
    free(mgbench);
    free(database);
    free(command);
    mgb_cli_settings_done(&settings);
    return code;
}

/* Hidden commands write to standard output as those of mgbench do; the screen takes signals by itself. */
static int worker_run(struct mgb_invocation *in)
{
    return in->command == in->manual->itself ? in->command->run(in) : mgb_cli_run(in);
}

int main(int argc, char **argv)
{
    return mgb_program_run(mgb_manual_tui(tui_run), worker_run, "its last good placement", argc,
                           argv);
}
