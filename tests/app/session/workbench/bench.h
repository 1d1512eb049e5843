/* A workbench over a small model on CPU devices, for tests: what it logged, and waiting for what it shows. */
#ifndef TESTS_APP_SESSION_WORKBENCH_BENCH_H
#define TESTS_APP_SESSION_WORKBENCH_BENCH_H

#include "app/session/workbench/workbench.h"
#include "tests/support/check.h"
#include "tests/support/database.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct bench {
    struct mgb_workbench *at;
    pthread_mutex_t lock;
    char log[1 << 16]; /* a line each, "kind text" */
    char point[1200];  /* told last */
};

static void bench_log(void *context, enum mgb_line_kind kind, const char *line)
{
    struct bench *bench = context;
    pthread_mutex_lock(&bench->lock);
    size_t used = strlen(bench->log);
    snprintf(bench->log + used, sizeof bench->log - used, "%d %s\n", (int)kind, line);
    pthread_mutex_unlock(&bench->lock);
}

static void bench_point(void *context, const char *point)
{
    struct bench *bench = context;
    pthread_mutex_lock(&bench->lock);
    snprintf(bench->point, sizeof bench->point, "%s", point ? point : "");
    pthread_mutex_unlock(&bench->lock);
}

static inline bool bench_logged(struct bench *bench, const char *words)
{
    pthread_mutex_lock(&bench->lock);
    bool there = strstr(bench->log, words) != NULL;
    pthread_mutex_unlock(&bench->lock);
    return there;
}

static const char *const bench_words[] = {"mw:hidden=16", "mw:height=8", "mw:width=8", "pn:gpus=2",
                                          "pn:batch=4",   "pn:threads=1", "rw:warmup=0", NULL};

static inline struct mgb_workbench_options bench_options(struct bench *bench, const char *path)
{
    return (struct mgb_workbench_options){.hub = {.database = path,
                                                  .program_version = "0.0.1",
                                                  .restartable = bench_point,
                                                  .context = bench},
                                          .model = "mlp",
                                          .words = bench_words,
                                          .backend = "host",
                                          .log = bench_log,
                                          .context = bench};
}

static inline void bench_open_with(struct bench *bench, const struct mgb_workbench_options *options)
{
    memset(bench->log, 0, sizeof bench->log);
    bench->point[0] = '\0';
    pthread_mutex_init(&bench->lock, NULL);
    assert_ok(mgb_workbench_open(&bench->at, options));
}

static inline void bench_open(struct bench *bench, const char *path)
{
    struct mgb_workbench_options options = bench_options(bench, path);
    bench_open_with(bench, &options);
}

static inline void bench_close(struct bench *bench)
{
    assert_true(mgb_workbench_close(bench->at, 0));
    pthread_mutex_destroy(&bench->lock);
}

static inline enum mgb_status bench_ask(struct bench *bench, enum mgb_wish_kind kind,
                                        const char *text)
{
    return mgb_workbench_ask(bench->at, &(struct mgb_wish){.kind = kind, .text = text});
}

static inline enum mgb_status bench_toggle(struct bench *bench, enum mgb_option_id option,
                                           int direction)
{
    return mgb_workbench_ask(bench->at, &(struct mgb_wish){.kind = MGB_WISH_TOGGLE,
                                                           .option = option,
                                                           .direction = direction});
}

typedef bool bench_condition(const struct mgb_snapshot *snapshot, const struct mgb_pending *pending,
                             int64_t number);

/* The first snapshot of which it is true, to be dropped; fails after a minute and a half. */
static inline const struct mgb_snapshot *bench_await(struct bench *bench, bench_condition *is,
                                                     int64_t number, const char *what)
{
    for (int i = 0; i < 18000; i++) {
        struct mgb_pending pending;
        const struct mgb_snapshot *snapshot = mgb_workbench_look(bench->at, &pending);
        if (is(snapshot, &pending, number))
            return snapshot;
        if (i == 17999)
            fail_msg("waited for %s (%lld) in vain: state %d, step %lld, message \"%s\"; log:\n%s",
                     what, (long long)number, (int)snapshot->state, (long long)snapshot->step,
                     snapshot->message, bench->log);
        mgb_shared_drop(snapshot);
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    }
    return NULL;
}

static inline bool bench_is_state(const struct mgb_snapshot *snapshot,
                                  const struct mgb_pending *pending, int64_t state)
{
    return (int64_t)snapshot->state == state && pending->wishes == 0;
}

static inline bool bench_has_steps(const struct mgb_snapshot *snapshot,
                                   const struct mgb_pending *pending, int64_t steps)
{
    (void)pending;
    return snapshot->step >= steps;
}

/* A segment of this number or a later one, with figures. */
static inline bool bench_has_segment(const struct mgb_snapshot *snapshot,
                                     const struct mgb_pending *pending, int64_t number)
{
    return snapshot->now.number >= number && snapshot->now.figures.steps > 0 &&
           pending->options == 0;
}

static inline bool bench_has_message(const struct mgb_snapshot *snapshot,
                                     const struct mgb_pending *pending, int64_t unused)
{
    (void)unused;
    return *snapshot->message && pending->wishes == 0;
}

static inline void bench_await_state(struct bench *bench, enum mgb_bench_state state)
{
    mgb_shared_drop(bench_await(bench, bench_is_state, (int64_t)state, "a state"));
}

static inline void bench_await_steps(struct bench *bench, int64_t steps)
{
    mgb_shared_drop(bench_await(bench, bench_has_steps, steps, "steps"));
}

static inline void bench_await_segment(struct bench *bench, int number)
{
    mgb_shared_drop(bench_await(bench, bench_has_segment, number, "a segment"));
}

static inline void bench_await_log(struct bench *bench, const char *words)
{
    for (int i = 0; i < 18000 && !bench_logged(bench, words); i++)
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    if (!bench_logged(bench, words))
        fail_msg("waited for \"%s\" in the log in vain:\n%s", words, bench->log);
}

/* The message shown, into `out`; waits until there is one. */
static inline void bench_message(struct bench *bench, char *out, size_t size)
{
    const struct mgb_snapshot *snapshot = bench_await(bench, bench_has_message, 0, "a message");
    snprintf(out, size, "%s", snapshot->message);
    mgb_shared_drop(snapshot);
}

/* Does a piece of Lua, and waits until it is done. */
static inline void bench_eval(struct bench *bench, const char *text)
{
    static int serial;
    char marked[600], mark[40];
    snprintf(mark, sizeof mark, "done-%d", ++serial);
    assert_ok(bench_ask(bench, MGB_WISH_EVAL, text));
    snprintf(marked, sizeof marked, "print('%s')", mark);
    assert_ok(bench_ask(bench, MGB_WISH_EVAL, marked));
    bench_await_log(bench, mark);
}

#endif
