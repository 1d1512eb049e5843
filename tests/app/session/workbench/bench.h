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

static const char *const bench_words[] = {"mw:hidden=16", "mw:height=8", "mw:width=8",
                                          "pn:gpus=2",    "pn:batch=4",  "pn:threads=1",
                                          "rw:warmup=0",  NULL};

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
    return mgb_workbench_ask(
        bench->at,
        &(struct mgb_wish){.kind = MGB_WISH_TOGGLE, .option = option, .direction = direction});
}

#endif
