/* Queues: order, capacity, threads, bad requests, and that a step allocates nothing. */
#include "tests/support/check.h"

#include "engine/base/memory.h"
#include "tests/support/rig.h"
#include <stdlib.h>
#include <string.h>
#include <dirent.h>
#include <sys/types.h>
#include <unistd.h>

static const struct mgb_backend *const host = &mgb_host_backend;

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

static void devices_that_nobody_uses_start_no_thread(void **state)
{
    (void)state;
    struct rig rig = rig_open(host, 0);
    struct mgb_queue *queues[16], *warm = rig_compute(&rig, 0, 1);
    float *value = rig_arena(&rig, 1, 4);
    assert_ok(
        host->fill(warm, value, 4)); /* a sanitizer starts a thread of its own with the first */
    assert_ok(host->drain(rig.context, 0));
    int before = threads_alive();
    for (int i = 0; i < 16; i++)
        queues[i] = rig_compute(&rig, i + 1, 1);
    assert_int_equal(threads_alive(), before);
    assert_ok(host->fill(queues[0], value, 4));
    assert_ok(host->drain(rig.context, 0));
    assert_int_equal(threads_alive(), before + 1);
    for (int i = 0; i < 16; i++)
        host->queue_free(queues[i]);
    assert_int_equal(threads_alive(), before);
    host->queue_free(warm);
    host->arena_free(rig.context, 1, value, 4);
    rig_close(&rig);
}

/* Live toggles make and free queues all day long: their OpenMP teams must not stay behind. */
static void the_team_of_a_queue_ends_with_it(void **state)
{
    (void)state;
    enum { BYTES = 1 << 20 };
    struct rig rig = rig_open(host, 0);
    char *values = rig_arena(&rig, 1, BYTES);
    int before = threads_alive();
    for (int i = 0; i < 20; i++) {
        struct mgb_queue *queue = rig_compute(&rig, 1, 3);
        assert_ok(host->fill(queue, values, BYTES));
        assert_ok(host->drain(rig.context, 0));
        host->queue_free(queue);
    }
    for (int i = 0; i < 500 && threads_alive() > before; i++)
        usleep(10000); /* the last of them may still be on their way out */
    assert_int_equal(threads_alive(), before);
    host->arena_free(rig.context, 1, values, BYTES);
    rig_close(&rig);
}

#define LONG_STEP 3000

/* The first long step waits for room, later ones find it: none of them loses or reorders a command. */
static void a_step_longer_than_the_ring_is_done_in_order(void **state)
{
    (void)state;
    struct rig rig = rig_open(host, 0);
    struct mgb_queue *queue = rig_compute(&rig, 1, 1);
    float *values = rig_arena(&rig, 1, 4 * (LONG_STEP + 2));
    const float **sources = calloc(2 * LONG_STEP, sizeof *sources);
    long long before = 0;
    for (int i = 0; i < LONG_STEP; i++) { /* x[i + 2] = x[i + 1] + 1 */
        sources[2 * i] = values + i + 1;
        sources[2 * i + 1] = values;
    }
    for (int step = 0; step < 3; step++) {
        memset(values, 0, 4 * (LONG_STEP + 2));
        values[0] = 1;
        before = mgb_alloc_count();
        for (int i = 0; i < LONG_STEP; i++)
            assert_ok(host->reduce(queue, values + i + 2, sources + 2 * i, 2, 1));
        assert_int_equal(mgb_alloc_count(), before);
        assert_ok(host->drain(rig.context, 0));
        assert_true(values[LONG_STEP + 1] == (float)LONG_STEP);
    }
    assert_int_equal(mgb_alloc_count(),
                     before); /* the ring has grown after the first step, once and for all */
    host->queue_free(queue);
    host->arena_free(rig.context, 1, values, 4 * (LONG_STEP + 2));
    free(sources);
    rig_close(&rig);
}

static void a_queue_of_a_missing_device_is_refused(void **state)
{
    (void)state;
    struct rig rig = rig_open(host, 0);
    struct mgb_queue *queue;
    struct mgb_queue_request request = {.use = MGB_USE_COMPUTE, .device = 17, .threads = 1};
    assert_status(host->queue_make(rig.context, &queue, &request), MGB_MISSING);
    assert_message("device 17");
    request = (struct mgb_queue_request){.use = MGB_USE_COPY, .device = 1, .from = -1};
    assert_status(host->queue_make(rig.context, &queue, &request), MGB_MISSING);
    request = (struct mgb_queue_request){.use = MGB_USE_COMPUTE, .device = 1, .threads = 0};
    assert_status(host->queue_make(rig.context, &queue, &request), MGB_INVALID);
    assert_message("0 threads");
    rig_close(&rig);
}

static void the_time_of_an_event_is_known_after_it_happened_only(void **state)
{
    (void)state;
    struct rig rig = rig_open(host, 0);
    struct mgb_queue *queue = rig_compute(&rig, 1, 1);
    struct mgb_event *event;
    int64_t ns;
    assert_ok(host->event_make(rig.context, &event, 1));
    assert_status(host->event_time(event, &ns, NULL), MGB_STATE);
    assert_ok(host->record(queue, event));
    assert_ok(host->drain(rig.context, 0));
    assert_ok(host->event_time(event, &ns, NULL));
    host->queue_free(queue);
    host->event_free(event);
    rig_close(&rig);
}

/* A copy queue waits for what the compute queue makes, sixteen times over, all on their own threads. */
static void sixteen_devices_run_side_by_side(void **state)
{
    (void)state;
    enum { COUNT = 4099 };
    struct rig rig = rig_open(host, 0);
    struct mgb_queue *compute[16], *copy[16];
    struct mgb_event *made[16];
    float *here[16], *there = rig_arena(&rig, 0, 16 * 4 * COUNT);
    const float *sources[16][2];
    for (int i = 0; i < 16; i++) {
        compute[i] = rig_compute(&rig, i + 1, 1);
        copy[i] = rig_copy(&rig, i + 1, 0);
        here[i] = rig_arena(&rig, i + 1, 4 * COUNT);
        assert_ok(host->event_make(rig.context, &made[i], i + 1));
        sources[i][0] = sources[i][1] = here[i];
        for (int k = 0; k < COUNT; k++)
            here[i][k] = (float)(i + 1);
    }
    for (int i = 0; i < 16; i++) {
        for (int k = 0; k < 5; k++)
            assert_ok(host->reduce(compute[i], here[i], sources[i], 2, COUNT));
        assert_ok(host->record(compute[i], made[i]));
        assert_ok(host->wait(copy[i], made[i]));
        assert_ok(host->copy(copy[i], there + i * COUNT, here[i], 4 * COUNT));
    }
    assert_ok(host->drain(rig.context, 60000000000));
    for (int i = 0; i < 16 * COUNT; i++)
        assert_true(there[i] == (float)(32 * (i / COUNT + 1)));
    for (int i = 0; i < 16; i++) {
        host->queue_free(compute[i]);
        host->queue_free(copy[i]);
        host->event_free(made[i]);
        host->arena_free(rig.context, i + 1, here[i], 4 * COUNT);
    }
    host->arena_free(rig.context, 0, there, 16 * 4 * COUNT);
    rig_close(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(devices_that_nobody_uses_start_no_thread),
        cmocka_unit_test(the_team_of_a_queue_ends_with_it),
        cmocka_unit_test(a_step_longer_than_the_ring_is_done_in_order),
        cmocka_unit_test(a_queue_of_a_missing_device_is_refused),
        cmocka_unit_test(the_time_of_an_event_is_known_after_it_happened_only),
        cmocka_unit_test(sixteen_devices_run_side_by_side),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
