/* See workbench.h: what other threads call. */
#include "app/session/workbench/commands.h"

#include <mgb/thread.h>

#include "app/session/workbench/models.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static void hub_progress(void *context, const char *line)
{
    struct mgb_workbench *bench = context;
    size_t length = strlen(line);
    if (length && line[length - 1] == '\n') {
        mgb_bench_say(bench, MGB_LINE_NOTE, "%.*s", (int)length - 1, line);
        return;
    }
    bool shows = bench->state == MGB_BENCH_BUSY || bench->state == MGB_BENCH_SWEEPING;
    if (*line && shows)
        snprintf(bench->draft->doing, sizeof bench->draft->doing, "%.159s", line);
    /* A step that takes long: what is known so far is shown meanwhile. */
    if (*line && session_clock_ns() - bench->published_at_ns > 200000000)
        mgb_bench_publish(bench);
}

static void hub_warn(void *context, const char *line)
{
    mgb_bench_say(context, MGB_LINE_WARNING, "%s", line);
}

/* Simulated steps take as long as they would, so that what is watched is the machine and not the simulator; long ones less. */
static void pace_keep(struct mgb_workbench *bench, const struct mgb_step_result *result)
{
    const int64_t most_ns = 100000000, grain_ns = 2000000;
    int64_t now = session_clock_ns(), virtual_ns = result->start_ns + result->wall_ns;
    int64_t ahead = virtual_ns - bench->pace.virtual_ns - (now - bench->pace.real_ns);
    bool lost = ahead < -most_ns || virtual_ns < bench->pace.virtual_ns; /* paused meanwhile */
    if (!lost && ahead < grain_ns)
        return;
    ahead = lost ? 0 : ahead < most_ns ? ahead : most_ns;
    nanosleep(&(struct timespec){.tv_nsec = (long)ahead}, NULL);
    bench->pace.virtual_ns = virtual_ns;
    bench->pace.real_ns = now + ahead;
}

static void hub_stepped(void *context, const struct mgb_step_result *result)
{
    struct mgb_workbench *bench = context;
    if (!atomic_load(&bench->feeding))
        return;
    mgb_live_step(bench->live, result);
    if (bench->request.machine)
        pace_keep(bench, result);
}

static void hub_die(void *context, const char *message)
{
    struct mgb_workbench *bench = context;
    const struct mgb_hub_options *hub = &bench->options.hub;
    mgb_bench_complain(bench, message);
    mgb_bench_set_state(bench, MGB_BENCH_FAILED, "stuck");
    if (hub->die)
        hub->die(hub->context, message);
    kill(getpid(), SIGKILL);
}

static void script_output(void *context, const char *line)
{
    struct mgb_workbench *bench = context;
    while (*line) {
        size_t length = strcspn(line, "\n");
        mgb_bench_say(bench, MGB_LINE_OUTPUT, "%.*s", (int)length, line);
        if (bench->printed.lines++ == 0)
            snprintf(bench->printed.first, sizeof bench->printed.first, "%.*s", (int)length, line);
        line += length + (line[length] == '\n');
    }
}

static void script_statement(void *context, const char *text)
{
    struct mgb_workbench *bench = context;
    (void)mgb_statements_add(bench->statements, text); /* told when they are written */
}

static void desk_changed(void *context)
{
    struct mgb_workbench *bench = context;
    pthread_mutex_lock(&bench->lock);
    bench->woken = true;
    pthread_cond_signal(&bench->wake);
    pthread_mutex_unlock(&bench->lock);
}

/* On the recorder's thread, while the workbench's may wait for it. */
static void hub_blocked(void *context, bool blocked)
{
    struct mgb_workbench *bench = context;
    atomic_store(&bench->blocked, blocked);
    if (bench->options.changed)
        bench->options.changed(bench->options.context);
}

static bool copy(char **out, const char *text)
{
    *out = text ? strdup(text) : NULL;
    return !text || *out;
}

static enum mgb_status script_open(struct mgb_workbench *bench)
{
    struct mgb_script_settings settings = {.no_terminal = true,
                                           .lua_path = bench->options.lua_path,
                                           .lua_path_count = bench->options.lua_path_count,
                                           .output_dir = bench->output_dir,
                                           .services = &bench->services,
                                           .backend = "auto",
                                           .output = script_output,
                                           .statement = script_statement,
                                           .output_context = bench};
    return mgb_script_make(&bench->script, &settings);
}

static enum mgb_status parts_make(struct mgb_workbench *bench)
{
    const struct mgb_workbench_options *options = &bench->options;
    struct mgb_hub_options hub = options->hub;
    hub.progress = hub_progress;
    hub.warn = hub_warn;
    hub.stepped = hub_stepped;
    hub.restartable = NULL; /* points are the workbench's own */
    hub.blocked = hub_blocked;
    hub.die = hub_die;
    hub.context = bench;
    if (!copy(&bench->model, options->model) || !copy(&bench->backend, options->backend) ||
        !copy(&bench->machine, options->machine) ||
        !copy(&bench->output_dir, options->output_dir) || !(bench->draft = mgb_snapshot_make()))
        return mgb_fail(MGB_NO_MEMORY, "starting the workbench: memory is exhausted");
    bench->models = mgb_models_list(options->lua_path, options->lua_path_count);
    mgb_placement_init(&bench->asked);
    bench->opening = MGB_OPEN_OTHER;
    bench->history_steps = -1;
    bench->piece_steps = 1;
    MGB_TRY(mgb_hub_open(&bench->hub, &hub));
    mgb_bench_services(bench);
    MGB_TRY(script_open(bench));
    MGB_TRY(mgb_live_make(&bench->live));
    MGB_TRY(mgb_statements_make(&bench->statements));
    mgb_bench_prepare(bench);
    MGB_TRY(mgb_judge_desk_open(&bench->desk, options->hub.database, desk_changed, bench));
    return mgb_presser_make(&bench->presser, bench->desk);
}

/* What is left when the thread is gone, or never was. */
static void rest_free(struct mgb_workbench *bench)
{
    mgb_bench_wish_free(bench->first);
    mgb_live_free(bench->live);
    mgb_statements_free(bench->statements);
    mgb_shared_drop(bench->draft);
    mgb_shared_drop(bench->snapshot);
    free(bench->models);
    free(bench->model);
    free(bench->backend);
    free(bench->machine);
    free(bench->output_dir);
    pthread_cond_destroy(&bench->wake);
    pthread_cond_destroy(&bench->gone_cond);
    pthread_mutex_destroy(&bench->lock);
    free(bench);
}

static enum mgb_status thread_start(struct mgb_workbench *bench)
{
    int failed = mgb_thread_start(&bench->thread, "workbench", mgb_bench_main, bench);
    return failed ? mgb_fail(MGB_NO_MEMORY, "starting the workbench: %s", strerror(failed))
                  : MGB_OK;
}

static void locks_init(struct mgb_workbench *bench)
{
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&bench->lock, NULL);
    pthread_cond_init(&bench->wake, NULL);
    pthread_cond_init(&bench->gone_cond, &monotonic);
    pthread_condattr_destroy(&monotonic);
}

enum mgb_status mgb_workbench_open(struct mgb_workbench **out,
                                   const struct mgb_workbench_options *options)
{
    struct mgb_workbench *bench = calloc(1, sizeof *bench);
    if (!bench)
        return mgb_fail(MGB_NO_MEMORY, "starting the workbench: memory is exhausted");
    bench->options = *options;
    locks_init(bench);
    enum mgb_status status = parts_make(bench);
    if (status == MGB_OK) {
        bench->snapshot = mgb_snapshot_copy(bench->draft);
        status = bench->snapshot
                     ? thread_start(bench)
                     : mgb_fail(MGB_NO_MEMORY, "starting the workbench: memory is exhausted");
    }
    if (status == MGB_OK) {
        *out = bench;
        return MGB_OK;
    }
    mgb_presser_free(bench->presser);
    mgb_judge_desk_close(bench->desk);
    mgb_script_free(bench->script);
    mgb_hub_close(bench->hub);
    rest_free(bench);
    return status;
}

static bool gone_await(struct mgb_workbench *bench, int64_t limit_ms)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += limit_ms / 1000;
    until.tv_nsec += limit_ms % 1000 * 1000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000;
    }
    int failed = 0;
    while (!bench->gone && failed != ETIMEDOUT)
        failed = limit_ms ? pthread_cond_timedwait(&bench->gone_cond, &bench->lock, &until)
                          : pthread_cond_wait(&bench->gone_cond, &bench->lock);
    return bench->gone;
}

bool mgb_workbench_leave(struct mgb_workbench *bench, int64_t limit_ms, bool interrupted)
{
    if (interrupted)
        atomic_store(&bench->cut, true);
    pthread_mutex_lock(&bench->lock);
    bool first = !bench->quit; /* later the thread may be closing them */
    bench->quit = true;
    if (first && !bench->gone) {
        if (interrupted)
            mgb_hub_cut(bench->hub);
        mgb_hub_stop(bench->hub);
        mgb_script_stop(bench->script);
    }
    pthread_cond_signal(&bench->wake);
    bool gone = gone_await(bench, limit_ms);
    pthread_mutex_unlock(&bench->lock);
    return gone;
}

void mgb_workbench_seal(struct mgb_workbench *bench, int64_t limit_ms)
{
    pthread_mutex_lock(&bench->lock);
    if (!bench->gone && !bench->closing)
        mgb_hub_seal(bench->hub, limit_ms); /* what cannot be stored by then cannot be waited for */
    pthread_mutex_unlock(&bench->lock);
}

bool mgb_workbench_close(struct mgb_workbench *bench, int64_t limit_ms)
{
    if (!bench)
        return true;
    if (!mgb_workbench_leave(bench, limit_ms, false))
        return false;
    pthread_join(bench->thread, NULL);
    rest_free(bench);
    return true;
}

enum mgb_status mgb_workbench_ask(struct mgb_workbench *bench, const struct mgb_wish *wish)
{
    pthread_mutex_lock(&bench->lock);
    enum mgb_status status =
        bench->quit ? mgb_fail(MGB_STATE, "the program ends") : mgb_bench_ask(bench, wish);
    pthread_mutex_unlock(&bench->lock);
    if (status == MGB_OK && bench->options.changed)
        bench->options.changed(bench->options.context);
    return status;
}

const struct mgb_snapshot *mgb_workbench_look(struct mgb_workbench *bench,
                                              struct mgb_pending *pending)
{
    pthread_mutex_lock(&bench->lock);
    const struct mgb_snapshot *snapshot = mgb_shared_hold(bench->snapshot);
    if (pending)
        mgb_bench_pending(bench, pending);
    pthread_mutex_unlock(&bench->lock);
    return snapshot;
}

bool mgb_workbench_log_complete(struct mgb_workbench *bench, char *message, size_t size)
{
    pthread_mutex_lock(&bench->lock);
    bool complete = !bench->log_incomplete;
    snprintf(message, size, "%s", bench->log_message);
    pthread_mutex_unlock(&bench->lock);
    return complete;
}
