/* What watching costs is the processor time of those threads that watch, and of no other. */
#include "app/session/workbench/observer.h"
#include "tests/support/check.h"

#include <math.h>
#include <mgb/thread.h>
#include <semaphore.h>
#include <time.h>

enum { BURN_NS = 60000000 };

struct burning {
    sem_t burnt, go;
};

/* That much of its own time, then it stays. */
static void *burn(void *context)
{
    struct burning *burning = context;
    struct timespec now = {0};
    while (now.tv_sec == 0 && now.tv_nsec < BURN_NS)
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    sem_post(&burning->burnt);
    sem_wait(&burning->go);
    return NULL;
}

static int64_t grown_by(const char *name)
{
    struct burning burning;
    pthread_t thread;
    int64_t before, after;
    sem_init(&burning.burnt, 0, 0);
    sem_init(&burning.go, 0, 0);
    if (!mgb_observer_read(&before))
        skip(); /* this kernel does not tell */
    assert_int_equal(mgb_thread_start(&thread, name, burn, &burning), 0);
    sem_wait(&burning.burnt);
    nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL); /* it is off its core */
    assert_true(mgb_observer_read(&after));
    sem_post(&burning.go);
    pthread_join(thread, NULL);
    return after - before;
}

static void threads_that_watch_are_counted_and_others_are_not(void **state)
{
    (void)state;
    assert_true(grown_by("judge") >= BURN_NS);
    assert_true(grown_by("gpu:0") < BURN_NS);
}

static void the_share_is_told_every_two_seconds(void **state)
{
    (void)state;
    struct mgb_observer observer = {0};
    double share = (double)NAN;
    int64_t cpu;
    if (!mgb_observer_read(&cpu))
        skip();
    mgb_observer_look(&observer, &share, 1000000000);
    assert_true(isnan(share));
    mgb_observer_look(&observer, &share, 2900000000);
    assert_true(isnan(share));
    observer.cpu_ns -= 20000000;
    mgb_observer_look(&observer, &share, 3000000000);
    assert_true(share >= 0.01);
    share = (double)NAN;
    mgb_observer_rest(&observer); /* a pause is none of it */
    mgb_observer_look(&observer, &share, 9000000000);
    assert_true(isnan(share));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_that_watch_are_counted_and_others_are_not),
        cmocka_unit_test(the_share_is_told_every_two_seconds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
