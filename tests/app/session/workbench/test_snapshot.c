/* Snapshots: what is unknown is so, copies hold the same parts, and the last of any thread frees them. */
#include "app/session/workbench/snapshot.h"
#include "tests/support/check.h"

#include <math.h>
#include <pthread.h>
#include <string.h>
#include <stdatomic.h>
#include <stdlib.h>

static atomic_int freed;

static void part_free(void *part)
{
    atomic_fetch_add(&freed, 1);
    free(part);
}

static void *part_make(size_t size)
{
    struct mgb_shared *shared = calloc(1, size);
    assert_non_null(shared);
    atomic_init(&shared->holders, 1);
    shared->free = part_free;
    return shared;
}

/* With a part of each kind, of which the snapshot is the only holder. */
static struct mgb_snapshot *snapshot_full(void)
{
    struct mgb_snapshot *snapshot = mgb_snapshot_make();
    assert_non_null(snapshot);
    snapshot->facts = part_make(sizeof *snapshot->facts);
    snapshot->pressed = part_make(sizeof *snapshot->pressed);
    snapshot->history = part_make(sizeof *snapshot->history);
    snapshot->traced = part_make(sizeof *snapshot->traced);
    snapshot->sweep = part_make(sizeof *snapshot->sweep);
    snapshot->version = 7;
    atomic_store(&freed, 0);
    return snapshot;
}

static void a_new_one_knows_nothing(void **state)
{
    (void)state;
    struct mgb_snapshot *snapshot = mgb_snapshot_make();
    assert_non_null(snapshot);
    assert_int_equal(snapshot->state, MGB_BENCH_EMPTY);
    assert_true(isnan(snapshot->now.figures.median_ms));
    assert_true(isnan(snapshot->before.figures.loss));
    assert_true(isnan(snapshot->answer.ratio));
    assert_true(isnan(snapshot->answer.speedup));
    assert_int_equal(snapshot->now.figures.steady, -1);
    assert_int_equal(snapshot->now.traffic_bytes, -1);
    assert_int_equal(snapshot->now.number, 0);
    assert_int_equal(snapshot->phases.slowest, -1);
    assert_null(snapshot->facts);
    mgb_shared_drop(snapshot);
    mgb_shared_drop(NULL);
}

static void a_copy_holds_the_same_parts_and_is_its_own_to_change(void **state)
{
    (void)state;
    struct mgb_snapshot *first = snapshot_full(), *copy = mgb_snapshot_copy(first);
    assert_non_null(copy);
    assert_ptr_equal(copy->facts, first->facts);
    assert_int_equal(copy->version, 7);
    copy->version = 8;
    assert_int_equal(first->version, 7);
    mgb_shared_drop(first);
    assert_int_equal(atomic_load(&freed), 0);
    mgb_shared_drop(copy);
    assert_int_equal(atomic_load(&freed), 5);
}

static void *copies_make(void *context)
{
    const struct mgb_snapshot *snapshot = context;
    for (int i = 0; i < 200; i++) {
        struct mgb_snapshot *copy = mgb_snapshot_copy(snapshot);
        const struct mgb_snapshot *held = mgb_shared_hold(snapshot);
        if (copy)
            copy->version++;
        mgb_shared_drop(held);
        mgb_shared_drop(copy);
    }
    mgb_shared_drop(snapshot);
    return NULL;
}

static void threads_copy_and_drop_one_and_its_parts_are_freed_once(void **state)
{
    enum { THREADS = 4 };
    (void)state;
    struct mgb_snapshot *snapshot = snapshot_full();
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        mgb_shared_hold(snapshot);
        assert_int_equal(pthread_create(&threads[i], NULL, copies_make, snapshot), 0);
    }
    mgb_shared_drop(snapshot);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_int_equal(atomic_load(&freed), 5);
}

static void no_verdict_rests_on_a_segment_that_has_not_settled(void **state)
{
    (void)state;
    const struct mgb_bench_answer slower = {
        .there = true, .ratio = 1.85, .verdict = "slower", .reason = "one segment each"};
    struct mgb_bench_segment now = {
        .number = 2,
        .figures = {.steps = 90, .steady = 0, .not_steady = "not steady: the second half drifts"}};
    struct mgb_bench_answer answer = slower;
    mgb_answer_doubt(&answer, &now);
    assert_string_equal(answer.verdict, "refused");
    assert_string_equal(answer.reason, "seg 2 unsteady: the second half drifts");
    for (int steady = -1; steady <= 1; steady += 2) { /* not judged, or settled */
        answer = slower;
        now.figures.steady = steady;
        mgb_answer_doubt(&answer, &now);
        assert_string_equal(answer.verdict, "slower");
        assert_string_equal(answer.reason, "one segment each");
    }
    now.figures.steady = 0;
    answer = slower;
    answer.now_count = 3; /* one of three repetitions */
    mgb_answer_doubt(&answer, &now);
    assert_string_equal(answer.verdict, "slower");
    answer = (struct mgb_bench_answer){.there = true}; /* no verdict yet */
    mgb_answer_doubt(&answer, &now);
    assert_string_equal(answer.verdict, "");
    answer = (struct mgb_bench_answer){.there = true, .verdict = "refused", .reason = "a gap"};
    mgb_answer_doubt(&answer, &now);
    assert_string_equal(answer.reason, "a gap");
}

static void a_busy_machine_is_named_where_nothing_is_settled(void **state)
{
    (void)state;
    char busy[64];
    assert_false(mgb_answer_busy(busy, sizeof busy, 2.9, 2, 2));
    assert_string_equal(busy, "");
    assert_false(mgb_answer_busy(busy, sizeof busy, 30, 1, 64));
    assert_true(mgb_answer_busy(busy, sizeof busy, 18.98, 2, 2));
    struct mgb_bench_answer answer = {
        .there = true, .verdict = "faster", .reason = "why", .now_count = 2, .before_count = 2};
    mgb_answer_blame(&answer, busy);
    assert_string_equal(answer.reason, "why");
    assert_string_equal(answer.verdict, "faster");
    strcpy(answer.verdict, "undecided");
    mgb_answer_blame(&answer, "");
    assert_string_equal(answer.reason, "why");
    mgb_answer_blame(&answer, busy);
    assert_string_equal(answer.reason, "machine busy: load 18.98 on 2 CPUs; why");
}

static void a_busy_machine_takes_back_what_one_segment_a_side_says(void **state)
{
    (void)state;
    struct mgb_bench_answer answer = {.there = true,
                                      .verdict = "slower",
                                      .reason = "one segment each",
                                      .now_count = 1,
                                      .before_count = 3};
    mgb_answer_blame(&answer, "");
    assert_string_equal(answer.verdict, "slower");
    mgb_answer_blame(&answer, "machine busy: load 18.98 on 2 CPUs");
    assert_string_equal(answer.verdict, "undecided");
    assert_string_equal(answer.reason, "machine busy: load 18.98 on 2 CPUs; one segment each");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_new_one_knows_nothing),
        cmocka_unit_test(a_copy_holds_the_same_parts_and_is_its_own_to_change),
        cmocka_unit_test(threads_copy_and_drop_one_and_its_parts_are_freed_once),
        cmocka_unit_test(no_verdict_rests_on_a_segment_that_has_not_settled),
        cmocka_unit_test(a_busy_machine_is_named_where_nothing_is_settled),
        cmocka_unit_test(a_busy_machine_takes_back_what_one_segment_a_side_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
