/* Waiting for what a workbench shows and logs. */
#ifndef TESTS_APP_SESSION_WORKBENCH_AWAIT_H
#define TESTS_APP_SESSION_WORKBENCH_AWAIT_H

#include "tests/app/session/workbench/bench.h"

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

static inline bool bench_is_busy(const struct mgb_snapshot *snapshot,
                                 const struct mgb_pending *pending, int64_t unused)
{
    (void)pending, (void)unused;
    return snapshot->state == MGB_BENCH_BUSY;
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

static inline void bench_await_busy(struct bench *bench)
{
    mgb_shared_drop(bench_await(bench, bench_is_busy, 0, "something that takes long"));
}

static inline void bench_await_steps(struct bench *bench, int64_t steps)
{
    mgb_shared_drop(bench_await(bench, bench_has_steps, steps, "steps"));
}

static inline void bench_await_segment(struct bench *bench, int number)
{
    mgb_shared_drop(bench_await(bench, bench_has_segment, number, "a segment"));
}

/* Opened and running, with figures of its first segment. */
static inline void bench_open_running(struct bench *bench, const char *path)
{
    bench_open(bench, path);
    assert_ok(bench_ask(bench, MGB_WISH_RUN, NULL));
    bench_await_segment(bench, 1);
}

static inline void bench_pause(struct bench *bench)
{
    assert_ok(bench_ask(bench, MGB_WISH_PAUSE, NULL));
    bench_await_state(bench, MGB_BENCH_PAUSED);
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
    snprintf(out, size, "%.*s", (int)size - 1, snapshot->message);
    mgb_shared_drop(snapshot);
}

#endif
