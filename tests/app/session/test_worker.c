/* The thread that the engine's calls come from: what crosses to the caller, and what the caller does meanwhile. */
#include "tests/support/check.h"

#include "app/session/worker.h"
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

static int worker_setup(void **state)
{
    struct session_worker *worker = NULL;
    if (mgb_session_worker_make(&worker) != MGB_OK)
        return -1;
    *state = worker;
    return 0;
}

static int worker_teardown(void **state)
{
    mgb_session_worker_free(*state);
    return 0;
}

static enum mgb_status work_fails(void *argument)
{
    return mgb_fail(MGB_CORRUPT, "%s does not hold", (const char *)argument);
}

static void status_and_message_come_to_the_caller(void **state)
{
    char plan[] = "the plan";
    assert_status(mgb_session_worker_call(*state, work_fails, plan, NULL, NULL), MGB_CORRUPT);
    assert_string_equal(mgb_message_get(), "the plan does not hold");
}

static enum mgb_status work_oom(void *argument)
{
    (void)argument;
    return mgb_fail_oom("/gpu:3", 300, 200, "the step plan");
}

static void figures_of_a_device_out_of_memory_come_too_and_advice_is_given_once(void **state)
{
    assert_status(mgb_session_worker_call(*state, work_oom, NULL, NULL, NULL), MGB_OOM);
    struct mgb_oom oom = mgb_oom_get();
    assert_string_equal(oom.device, "/gpu:3");
    assert_int_equal(oom.needed, 300);
    assert_int_equal(oom.available, 200);
    const char *advice = strstr(mgb_message_get(), "use a smaller batch");
    assert_non_null(advice);
    assert_null(strstr(advice + 1, "use a smaller batch"));
}

struct place {
    pthread_t thread;
    bool blocked;
};

static enum mgb_status work_looks(void *argument)
{
    struct place *place = argument;
    sigset_t mask;
    place->thread = pthread_self();
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    place->blocked = sigismember(&mask, SIGINT) == 1;
    return MGB_OK;
}

static void all_work_is_done_on_one_other_thread_without_signals(void **state)
{
    struct place one, two;
    sigset_t mask;
    assert_ok(mgb_session_worker_call(*state, work_looks, &one, NULL, NULL));
    assert_ok(mgb_session_worker_call(*state, work_looks, &two, NULL, NULL));
    assert_true(pthread_equal(one.thread, two.thread));
    assert_false(pthread_equal(one.thread, pthread_self()));
    assert_true(one.blocked);
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    assert_false(sigismember(&mask, SIGINT));
}

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int watched;
    pthread_t watcher;
} meeting = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

/* Ends only once it was watched. */
static enum mgb_status work_waits(void *argument)
{
    (void)argument;
    pthread_mutex_lock(&meeting.lock);
    while (meeting.watched == 0)
        pthread_cond_wait(&meeting.changed, &meeting.lock);
    pthread_mutex_unlock(&meeting.lock);
    return MGB_OK;
}

static void watch(void *context)
{
    pthread_mutex_lock(&meeting.lock);
    meeting.watched += *(int *)context;
    meeting.watcher = pthread_self();
    pthread_cond_signal(&meeting.changed);
    pthread_mutex_unlock(&meeting.lock);
}

static void the_caller_watches_while_work_goes_on(void **state)
{
    int weight = 5;
    assert_ok(mgb_session_worker_call(*state, work_waits, NULL, watch, &weight));
    assert_int_equal(meeting.watched % weight, 0);
    assert_int_not_equal(meeting.watched, 0);
    assert_true(pthread_equal(meeting.watcher, pthread_self()));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(status_and_message_come_to_the_caller),
        cmocka_unit_test(figures_of_a_device_out_of_memory_come_too_and_advice_is_given_once),
        cmocka_unit_test(all_work_is_done_on_one_other_thread_without_signals),
        cmocka_unit_test(the_caller_watches_while_work_goes_on),
    };
    return cmocka_run_group_tests(tests, worker_setup, worker_teardown);
}
