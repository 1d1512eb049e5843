/* The critical path over random schedules: a partition of the step whatever the clocks say, and the longest chain where
 * every task starts as soon as it can. */
#include "tests/support/check.h"

#include "db/critical.h"
#include "db/draw.h"
#include <stdlib.h>
#include <string.h>

enum { MOST = 60, QUEUES = 5, WAITS = 4 };

struct schedule {
    struct mgb_critical_task tasks[MOST];
    int waits[MOST * WAITS];
    int count, wait_count;
    int64_t longest[MOST]; /* from the start to the end of the task, by what must come before */
    int64_t end;
    uint64_t seed, drawn;
};

static int draw(struct schedule *s, int below)
{
    return (int)mgb_draw_below(mgb_draw_at(s->seed, 7, s->drawn++), (uint32_t)below);
}

/* Every task starts when what it waits for and its queue are free, plus a launch of up to `launch` ns. */
static void schedule_draw(struct schedule *s, uint64_t seed, int launch)
{
    int64_t free_at[QUEUES] = {0};
    memset(s, 0, sizeof *s);
    s->seed = seed;
    s->count = 1 + draw(s, MOST - 1);
    for (int i = 0; i < s->count; i++) {
        struct mgb_critical_task *task = &s->tasks[i];
        task->queue = draw(s, QUEUES);
        task->wait_begin = s->wait_count;
        task->wait_count = i > 0 ? draw(s, WAITS) : 0;
        int64_t start = free_at[task->queue];
        for (int w = 0; w < task->wait_count; w++) {
            int other = draw(s, i);
            s->waits[s->wait_count++] = other;
            start = s->longest[other] > start ? s->longest[other] : start;
        }
        task->start_ns = start + (launch ? draw(s, launch) : 0);
        task->duration_ns = draw(s, 4) ? draw(s, 1000) : 0;
        s->longest[i] = free_at[task->queue] = task->start_ns + task->duration_ns;
        s->end = s->longest[i] > s->end ? s->longest[i] : s->end;
    }
}

static struct mgb_critical_part *path_of(const struct schedule *s, int64_t wall, int *count)
{
    struct mgb_critical_part *parts;
    struct mgb_critical_request request = {
        .tasks = s->tasks, .count = s->count, .waits = s->waits, .wall_ns = wall};
    assert_ok(mgb_critical_find(&parts, count, &request));
    return parts;
}

/* Returns what of it were tasks. */
static int64_t partition_check(const struct schedule *s, const struct mgb_critical_part *parts,
                               int count, int64_t wall)
{
    int64_t at = 0, worked = 0;
    int before = -1;
    for (int i = 0; i < count; i++) {
        assert_int_equal(parts[i].begin_ns, at);
        assert_true(parts[i].end_ns > at);
        at = parts[i].end_ns;
        if (parts[i].task < 0)
            continue;
        const struct mgb_critical_task *task = &s->tasks[parts[i].task];
        assert_true(parts[i].begin_ns >= task->start_ns);
        assert_true(parts[i].end_ns <= task->start_ns + task->duration_ns);
        assert_int_not_equal(parts[i].task, before);
        before = parts[i].task;
        worked += parts[i].end_ns - parts[i].begin_ns;
    }
    assert_int_equal(at, wall);
    return worked;
}

static void without_gaps_the_path_is_all_work_and_the_longest_chain(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 2000; seed++) {
        struct schedule s;
        int count;
        schedule_draw(&s, seed, 0);
        struct mgb_critical_part *parts = path_of(&s, s.end, &count);
        assert_int_equal(partition_check(&s, parts, count, s.end), s.end);
        free(parts);
    }
}

/* The gap before a task of the path is its launch: nothing that it waits for ran then, nor did its queue. */
static void gap_check(const struct schedule *s, const struct mgb_critical_part *part)
{
    if (part->before < 0)
        return;
    const struct mgb_critical_task *task = &s->tasks[part->before];
    for (int w = 0; w < task->wait_count; w++) {
        const struct mgb_critical_task *other = &s->tasks[s->waits[task->wait_begin + w]];
        assert_true(other->start_ns + other->duration_ns <= part->begin_ns);
    }
    for (int i = 0; i < part->before; i++)
        if (s->tasks[i].queue == task->queue)
            assert_true(s->tasks[i].start_ns + s->tasks[i].duration_ns <= part->begin_ns);
}

static void launches_are_the_gaps_of_the_path(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 2000; seed++) {
        struct schedule s;
        int count;
        schedule_draw(&s, seed, 50);
        int64_t wall = s.end + 17;
        struct mgb_critical_part *parts = path_of(&s, wall, &count);
        partition_check(&s, parts, count, wall);
        assert_int_equal(parts[count - 1].task, -1);
        assert_int_equal(parts[count - 1].before, -1);
        for (int i = 0; i < count; i++)
            if (parts[i].task < 0)
                gap_check(&s, &parts[i]);
        free(parts);
    }
}

static void clocks_that_disagree_and_waits_in_circles_still_give_a_partition(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 2000; seed++) {
        struct schedule s;
        int count;
        schedule_draw(&s, seed, 20);
        for (int i = 0; i < s.count; i++) {
            s.tasks[i].start_ns += draw(&s, 400) - 200;
            if (draw(&s, 10) == 0)
                s.tasks[i].duration_ns = -5;
        }
        for (int w = 0; w < s.wait_count; w++)
            s.waits[w] = draw(&s, s.count + 4) - 2;
        if (seed % 7 == 0)
            s.tasks[draw(&s, s.count)].start_ns = INT64_MAX - 10;
        int64_t at = 0, wall = 1 + draw(&s, 20000);
        struct mgb_critical_part *parts = path_of(&s, wall, &count);
        for (int i = 0; i < count; i++) {
            assert_int_equal(parts[i].begin_ns, at);
            assert_true(parts[i].end_ns > at);
            at = parts[i].end_ns;
        }
        assert_int_equal(at, wall);
        free(parts);
    }
}

/* Tower 1 is late, and the sum on the CPU waits for both: the path goes through tower 1, not through the one that was
 * ready. */
static void the_path_goes_through_the_tower_that_was_late(void **state)
{
    (void)state;
    struct schedule s = {
        .tasks =
            {{.queue = 0, .start_ns = 0, .duration_ns = 100},
             {.queue = 1, .start_ns = 10, .duration_ns = 150},
             {.queue = 2, .start_ns = 100, .duration_ns = 20, .wait_begin = 0, .wait_count = 1},
             {.queue = 3, .start_ns = 165, .duration_ns = 30, .wait_begin = 1, .wait_count = 1},
             {.queue = 4, .start_ns = 195, .duration_ns = 5, .wait_begin = 2, .wait_count = 2}},
        .waits = {0, 1, 2, 3},
        .count = 5};
    static const struct mgb_critical_part wanted[] = {{-1, 1, 0, 10},    {1, -1, 10, 160},
                                                      {-1, 3, 160, 165}, {3, -1, 165, 195},
                                                      {4, -1, 195, 200}, {-1, -1, 200, 210}};
    int count;
    struct mgb_critical_part *parts = path_of(&s, 210, &count);
    assert_int_equal(count, sizeof wanted / sizeof *wanted);
    assert_memory_equal(parts, wanted, sizeof wanted);
    free(parts);
}

static void a_step_without_tasks_is_one_gap_and_one_without_time_is_nothing(void **state)
{
    (void)state;
    struct schedule s = {0};
    int count;
    struct mgb_critical_part *parts = path_of(&s, 30, &count);
    assert_int_equal(count, 1);
    assert_int_equal(parts[0].task, -1);
    free(parts);
    parts = path_of(&s, 0, &count);
    assert_int_equal(count, 0);
    free(parts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_gaps_the_path_is_all_work_and_the_longest_chain),
        cmocka_unit_test(launches_are_the_gaps_of_the_path),
        cmocka_unit_test(clocks_that_disagree_and_waits_in_circles_still_give_a_partition),
        cmocka_unit_test(the_path_goes_through_the_tower_that_was_late),
        cmocka_unit_test(a_step_without_tasks_is_one_gap_and_one_without_time_is_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
