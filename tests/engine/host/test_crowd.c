/* Sleeping threads that keep idle helpers from spinning: how many are needed, and that none are left behind. */
#include "tests/support/check.h"

#include "engine/host/crowd.h"
#include "tests/support/rig.h"
#include <dirent.h>
#include <unistd.h>

int omp_get_num_procs(void);

static int threads_alive(void)
{
    int count = 0;
    DIR *folder = opendir("/proc/self/task");
    while (folder && readdir(folder))
        count++;
    if (folder)
        closedir(folder);
    return count - 2;
}

/* libgomp's threads are gone a moment after their leader. */
static int threads_settle(int wanted)
{
    for (int i = 0; i < 5000 && threads_alive() != wanted; i++)
        usleep(1000);
    return threads_alive();
}

static void it_is_needed_only_where_helpers_meet_more_threads_than_processors(void **state)
{
    (void)state;
    int processors = omp_get_num_procs();
    assert_int_equal(mgb_crowd_needed(processors, 1), 0);
    assert_int_equal(mgb_crowd_needed(processors + 3, processors + 3), 0); /* teams of one */
    for (int teams = 1; teams < 8; teams++)
        for (int threads = processors + 1; threads < processors + 20; threads++) {
            int helpers = threads - teams; /* libgomp counts these and the first thread */
            if (helpers > 0)
                assert_true(1 + helpers + mgb_crowd_needed(threads, teams) > processors);
        }
}

static void growing_and_ending_leave_no_thread(void **state)
{
    (void)state;
    struct mgb_crowd crowd = {0};
    mgb_crowd_grow(&crowd, 1); /* a sanitizer starts a thread of its own with the first */
    mgb_crowd_done(&crowd);
    usleep(10000);
    int before = threads_alive();
    for (int i = 1; i < 4; i++)
        mgb_crowd_grow(&crowd, i);
    assert_int_equal(crowd.helpers, 3);
    assert_int_equal(threads_settle(before + 4), before + 4);
    mgb_crowd_grow(&crowd, 2);
    assert_int_equal(crowd.helpers, 3);
    mgb_crowd_done(&crowd);
    mgb_crowd_done(&crowd);
    assert_int_equal(threads_settle(before), before);
}

/* Queues at work together, one of them with a helper, in all one thread more than processors. */
static void closing_the_devices_ends_it(void **state)
{
    (void)state;
    struct mgb_queue *queues[16];
    int before = threads_alive(), count = omp_get_num_procs() < 15 ? omp_get_num_procs() : 15;
    struct rig rig = rig_open(&mgb_host_backend, 0);
    float *value = rig_arena(&rig, 1, 4);
    for (int i = 0; i < count; i++) {
        queues[i] = rig_compute(&rig, i + 1, i == 0 ? 2 : 1);
        assert_ok(rig.backend->fill(queues[i], value, 4));
        assert_ok(rig.backend->drain(rig.context, 0));
    }
    int helpers = mgb_crowd_needed(count + 1, count);
    int wanted = before + count + (helpers > 0 ? helpers + 1 : 0);
    assert_int_equal(threads_settle(wanted), wanted);
    for (int i = 0; i < count; i++)
        rig.backend->queue_free(queues[i]);
    rig.backend->arena_free(rig.context, 1, value, 4);
    rig_close(&rig);
    assert_int_equal(threads_settle(before), before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_needed_only_where_helpers_meet_more_threads_than_processors),
        cmocka_unit_test(growing_and_ending_leave_no_thread),
        cmocka_unit_test(closing_the_devices_ends_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
