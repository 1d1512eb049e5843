/* See tui.h. Opens everything in the order in which one needs the other, and closes it the other way round. */
#include "app/tui/tui.h"
#include "app/script/terminal.h"
#include "app/tui/crash.h"
#include "app/tui/keyboard.h"
#include "app/tui/program.h"
#include "app/tui/prompt.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { EXIT_FINE = 0, EXIT_FAILED = 1, EXIT_UNAVAILABLE = 4, EXIT_INTERRUPTED = 130 };
enum {
    SIGNAL_END_MS = 1300, /* of the two seconds that a signal leaves */
    HASTY_END_MS = 2000,
    SEAL_MS = 500,
    SLICE_MS = 100,
    HELD_MS = 5000 /* for another program that keeps the results file */
};

void tui_holder_tell(const struct tui_program *program, bool on)
{
    if (program->options->screen)
        program->options->screen(program->options->context, on);
}

/* The first to be opened: whatever is printed from here on goes to the log. */
static enum mgb_status terminal_start(struct tui_program *program)
{
    const struct mgb_tui_options *o = program->options;
    struct tui_terminal_options terminal = {
        .ascii = o->ascii,
        .color = o->no_color ? TUI_COLOR_NEVER : TUI_COLOR_AUTO,
        .mouse = !o->no_mouse,
    };
    char *path = tui_settings_log_path();
    enum mgb_status status = tui_log_open(&program->log, path, tui_wake, program);
    free(path);
    MGB_TRY(status);
    MGB_TRY(tui_chatter_begin(&program->chatter, program->log, &program->terminal));
    MGB_TRY(tui_keyboard_take(&program->keyboard));
    terminal.in = program->keyboard;
    terminal.out = program->terminal;
    tui_holder_tell(program, true); /* before: who dies in between has asked for the mouse */
    status = tui_terminal_open(&terminal);
    if (status != MGB_OK) {
        tui_holder_tell(program, false);
        return status;
    }
    tui_crash_take(o->program, o->screen, o->context);
    return tui_watch_begin(program);
}

static enum mgb_status workbench_start(struct tui_program *program)
{
    const struct mgb_tui_options *o = program->options;
    struct mgb_workbench_options workbench = o->workbench;
    workbench.log = tui_wake_log;
    workbench.changed = tui_wake;
    workbench.context = program;
    workbench.readonly = o->readonly;
    if (workbench.hub.database)
        MGB_TRY(mgb_archive_open(&program->archive, workbench.hub.database, tui_wake, program));
    return mgb_workbench_open(&program->workbench, &workbench);
}

static void warning_log(void *context, const char *line)
{
    struct tui_program *program = context;
    tui_log_add(program->log, MGB_LINE_WARNING, line);
}

/* What cannot be read is told in the log; nobody is kept from working by it. */
static void settings_take(struct tui_program *program)
{
    struct tui_settings settings = {0};
    char *path = tui_settings_path(), *history = tui_settings_history_path();
    if (path && tui_settings_load(&settings, path, warning_log, program) != MGB_OK)
        warning_log(program, mgb_message_get());
    tui_screen_settings_load(program->screen, &settings);
    for (int i = 0; i < settings.count; i++)
        if (!settings.at[i].known) {
            char text[400];
            snprintf(text, sizeof text, "%s: '%s' is no setting of this version", path,
                     settings.at[i].name);
            warning_log(program, text);
        }
    if (history)
        tui_history_load(tui_screen_history(program->screen), history);
    free(path);
    free(history);
}

static enum mgb_status screen_start(struct tui_program *program)
{
    const struct mgb_tui_options *o = program->options;
    int rows, columns;
    tui_terminal_size(&rows, &columns);
    struct tui_jobs_options jobs = {.program = o->mgbench,
                                    .database = o->workbench.hub.database,
                                    .columns = columns,
                                    .ended = tui_wake_job_ended,
                                    .context = program};
    if (o->mgbench)
        MGB_TRY(tui_jobs_open(&program->jobs, &jobs));
    struct tui_screen_options screen = {
        .workbench = program->workbench,
        .archive = program->archive,
        .log = program->log,
        .commands = {.verbs = o->verbs, .jobs = program->jobs, .readonly = o->readonly},
        .utf8 = tui_terminal_utf8(),
        .readonly = o->readonly,
        .record_dir = o->workbench.output_dir,
    };
    MGB_TRY(tui_screen_make(&program->screen, &screen));
    tui_canvas_init(&program->canvas, rows, columns, tui_terminal_utf8());
    settings_take(program);
    if (o->place)
        tui_screen_go(program->screen, o->place);
    return MGB_OK;
}

static enum mgb_status program_open(struct tui_program *program)
{
    MGB_TRY(tui_signals_take(program));
    program->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (program->wake < 0)
        return mgb_fail(MGB_IO, "waking the screen: %s", strerror(errno));
    MGB_TRY(terminal_start(program));
    MGB_TRY(workbench_start(program));
    return screen_start(program);
}

static void history_keep(struct tui_program *program)
{
    char *path = program->screen ? tui_settings_history_path() : NULL;
    if (path)
        tui_history_save(tui_screen_history(program->screen), path);
    free(path);
}

/* Who leaves does not want it back, whatever befalls it from here on: nothing is to be taken up again. */
static void restart_forget(const struct tui_program *program)
{
    const struct mgb_workbench_options *o = &program->options->workbench;
    if (o->hub.restartable)
        o->hub.restartable(o->hub.context, NULL);
}

/* Rows wait for another program's transaction. */
static bool file_is_held(const struct tui_program *program)
{
    struct mgb_pending pending;
    mgb_shared_drop(mgb_workbench_look(program->workbench, &pending));
    return pending.blocked && program->options->workbench.hub.database;
}

/* An expression in one long call. */
static bool script_is_busy(const struct tui_program *program)
{
    const struct mgb_snapshot *now = mgb_workbench_look(program->workbench, NULL);
    bool busy = now && now->state == MGB_BENCH_BUSY;
    mgb_shared_drop(now);
    return busy;
}

/* The device, a script or the file did not come back. Nothing that its threads may still use is freed: the process ends. */
static void process_leave(const struct tui_program *program, int code)
{
    restart_forget(program);
    bool held = file_is_held(program);
    if (!held)
        mgb_workbench_seal(program->workbench, SEAL_MS);
    if (held)
        mgb_say(stderr,
                "%s: another program holds %s; what was not stored by then is lost, what was "
                "recorded is kept\n",
                program->options->program, program->options->workbench.hub.database);
    else
        mgb_say(stderr, "%s: the %s did not come back in time; what was recorded is kept\n",
                program->options->program, script_is_busy(program) ? "script" : "device");
    tui_log_rescue();
    fflush(NULL);
    _exit(code);
}

static int64_t close_limit_ms(const struct tui_program *program)
{
    int64_t timeout_ms = program->options->workbench.hub.step_timeout_ns / 1000000;
    if (program->end == TUI_END_SIGNAL)
        return SIGNAL_END_MS;
    if (program->hasty)
        return HASTY_END_MS;
    return timeout_ms > 0 ? timeout_ms + 2000 : 0;
}

/* Another program that keeps the file is not waited for as long as a step. False: it is given up. */
static bool workbench_leave(struct tui_program *program)
{
    static char reason[400];
    int64_t limit_ms = close_limit_ms(program), held_ms = 0;
    if (program->end == TUI_END_SIGNAL)
        return mgb_workbench_leave(program->workbench, limit_ms, true);
    for (int64_t ms = 0; !limit_ms || ms < limit_ms; ms += SLICE_MS) {
        bool held = file_is_held(program);
        if (held && !held_ms) {
            snprintf(reason, sizeof reason, "waiting for another program that writes to %s",
                     program->options->workbench.hub.database);
            tui_signals_wait_reason(reason);
        }
        if (mgb_workbench_leave(program->workbench, SLICE_MS, false))
            return true;
        held_ms = held ? held_ms + SLICE_MS : 0;
        if (held_ms >= HELD_MS)
            return false;
    }
    return false;
}

/* Returns the exit code so far. */
static int workbench_end(struct tui_program *program, int code)
{
    char message[512];
    if (!program->workbench)
        return code;
    restart_forget(program);
    tui_recorded_look(program);
    tui_signals_wait_begin(program);
    if (!workbench_leave(program))
        process_leave(program, code ? code : program->hasty ? EXIT_INTERRUPTED : EXIT_FAILED);
    bool complete = mgb_workbench_log_complete(program->workbench, message, sizeof message);
    mgb_workbench_close(program->workbench, 0);
    tui_signals_wait_end();
    const char *database = program->options->workbench.hub.database;
    if (program->recorded && complete && database && isatty(STDERR_FILENO))
        mgb_say(stderr, "%s: recorded in %s\n", program->options->program, database);
    if (complete)
        return code;
    mgb_say(stderr, "%s: the record of this run is incomplete: %s\n", program->options->program,
            message);
    return code ? code : EXIT_FAILED;
}

/* What runs is stopped before anything is written to a terminal that may take nothing. */
static void end_begin(struct tui_program *program)
{
    tui_watch_end_begun(program);
    if (program->end != TUI_END_SIGNAL || !program->workbench)
        return;
    restart_forget(program);
    mgb_workbench_leave(program->workbench, 1, true);
}

static int program_close(struct tui_program *program, int code)
{
    end_begin(program);
    tui_terminal_close();
    tui_keyboard_give_back();
    tui_chatter_end(program->chatter);
    tui_crash_give_back();
    tui_holder_tell(program, false);
    history_keep(program);
    if (program->screen)
        tui_screen_fired_tell(program->screen);
    tui_screen_free(program->screen);
    program->screen = NULL;
    tui_jobs_end(program->jobs); /* they end while the run does */
    code = workbench_end(program, code);
    tui_jobs_close(program->jobs);
    mgb_archive_close(program->archive);
    tui_wake_jobs(program); /* of jobs that were ended: frees them */
    tui_canvas_done(&program->canvas);
    tui_log_close(program->log);
    if (program->wake >= 0)
        close(program->wake);
    tui_watch_end(program);
    tui_signals_give_back(program);
    return code;
}

static int refusal_code(enum mgb_status status)
{
    return status == MGB_MISSING || status == MGB_UNSUPPORTED ? EXIT_UNAVAILABLE : EXIT_FAILED;
}

int mgb_tui_run(const struct mgb_tui_options *options)
{
    struct tui_program program = {
        .options = options,
        .terminal = -1,
        .keyboard = -1,
        .wake = -1,
        .signals = -1,
        .watch = -1,
        .jobs_lock = PTHREAD_MUTEX_INITIALIZER,
        .cut_lock = PTHREAD_MUTEX_INITIALIZER,
        .keys = options->keys && *options->keys ? options->keys : NULL,
        .run = options->run,
    };
    char message[1024] = "";
    enum mgb_status status = program_open(&program);
    int code = EXIT_FINE;
    if (status == MGB_OK) {
        tui_loop(&program);
        code = program.end == TUI_END_SIGNAL ? EXIT_INTERRUPTED : EXIT_FINE;
    } else {
        snprintf(message, sizeof message, "%s", mgb_message_get());
        code = refusal_code(status);
        program.end = TUI_END_SIGNAL; /* nothing runs yet: it ends at once */
    }
    code = program_close(&program, code);
    if (*message)
        mgb_say(stderr, "%s: %s\n", options->program, message);
    return code;
}
