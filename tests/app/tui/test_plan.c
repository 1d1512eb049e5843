/* The plan screen: tasks by queue, and the timeline. */
#include "app/tui/list.h"
#include "app/tui/timeline.h"
#include "tests/app/tui/frame.h"
#include "tests/support/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void act(struct frame_bench *bench, enum tui_action action)
{
    assert_true(tui_view_plan.act(bench->state, action, &bench->scene, &bench->desk.desk));
}

static char *picture(struct frame_bench *bench, int rows)
{
    return frame_bench_text(bench, rows, 100);
}

static void line_has(struct frame_bench *bench, int rows, const char *words, const char *wanted)
{
    frame_bench_has(bench, rows, 100, words, wanted);
}

/* The traced step becomes these tasks, and 100 ms long. */
static void trace_set(struct frame_bench *bench, const struct mgb_bench_task *tasks, int count)
{
    struct mgb_bench_traced *traced = &bench->fixture->traced;
    memcpy(bench->fixture->traced_tasks, tasks, (size_t)count * sizeof *tasks);
    traced->count = count;
    traced->wall_ns = 100000000;
    memset(traced->critical_ns, 0, sizeof traced->critical_ns);
    traced->critical_gap_ns = 0;
}

static const struct mgb_bench_task half_and_half[] = {
    {1, -1, MGB_PHASE_FORWARD, 0, 50000000, 0, true, "a", "compute"},
    {1, -1, MGB_PHASE_BACKWARD, 50000000, 100000000, 0, false, "a", "compute"},
    {0, 1, MGB_PHASE_SUM, 75000000, 100000000, 1 << 20, false, "a", "copy"},
};

static int letters(const char *line, char letter)
{
    int count = 0;
    for (line += 13; *line; line++) /* behind the name */
        count += *line == letter;
    return count;
}

static void timeline_is_drawn_to_scale(void **state)
{
    (void)state;
    struct frame_bench bench;
    frame_bench_make(&bench, &tui_view_plan, 2);
    trace_set(&bench, half_and_half, 3);
    char *text = picture(&bench, 30);
    char *gpu = frame_line(text, " gpu:0 "), *link = frame_line(text, " gpu:0>cpu:0 ");
    char *critical = frame_line(text, " critical ");
    int cells = letters(gpu, 'F') + letters(gpu, 'b');
    assert_true(cells > 70);
    assert_true(abs(letters(gpu, 'F') - letters(gpu, 'b')) <= 1);
    assert_true(abs(4 * letters(link, 's') - cells) <= 4);
    assert_int_equal(letters(gpu, 'f'), 0); /* on the critical path */
    assert_int_equal(letters(critical, 'F'), letters(gpu, 'F'));
    assert_non_null(strstr(gpu, "100%"));
    assert_non_null(strstr(link, "25%"));
    free(gpu);
    free(link);
    free(critical);
    free(text);
    frame_bench_done(&bench);
}

static void short_task_is_never_lost(void **state)
{
    (void)state;
    struct frame_bench bench;
    const struct mgb_bench_task blink = {1,     -1,  MGB_PHASE_UPDATE, 33333333, 33333334, 0,
                                         false, "a", "update"};
    frame_bench_make(&bench, &tui_view_plan, 2);
    trace_set(&bench, &blink, 1);
    char *text = picture(&bench, 30), *line = frame_line(text, " gpu:0 ");
    assert_int_equal(letters(line, 'u'), 1);
    free(line);
    free(text);
    frame_bench_done(&bench);
}

static void collectives_have_a_row_of_their_own(void **state)
{
    (void)state;
    struct frame_bench bench;
    const struct mgb_bench_task tasks[] = {
        {1, -1, MGB_PHASE_BACKWARD, 0, 90000000, 0, false, "a", "compute"},
        {1, -1, MGB_PHASE_SUM, 40000000, 80000000, 1 << 20, false, "a", "allreduce"},
    };
    frame_bench_make(&bench, &tui_view_plan, 2);
    trace_set(&bench, tasks, 2);
    line_has(&bench, 30, " gpu:0 all ", "40%");
    frame_bench_done(&bench);
}

static void zoom_shows_less_and_keys_move_it(void **state)
{
    (void)state;
    struct frame_bench bench;
    frame_bench_make(&bench, &tui_view_plan, 2);
    trace_set(&bench, half_and_half, 3);
    line_has(&bench, 30, " ms ", " 100.0");
    act(&bench, TUI_ACT_ZOOM_IN);
    line_has(&bench, 30, " ms ", "25.0 ");
    line_has(&bench, 30, " ms ", " 75.0");
    act(&bench, TUI_ACT_RIGHT);
    line_has(&bench, 30, " ms ", "37.5 ");
    for (int i = 0; i < 10; i++)
        act(&bench, TUI_ACT_RIGHT);
    line_has(&bench, 30, " ms ", " 100.0");
    for (int i = 0; i < 40; i++)
        act(&bench, TUI_ACT_LEFT);
    line_has(&bench, 30, " ms ", " 0.0 ");
    for (int i = 0; i < 40; i++)
        act(&bench, TUI_ACT_ZOOM_IN);
    for (int i = 0; i < 40; i++)
        act(&bench, TUI_ACT_ZOOM_OUT);
    line_has(&bench, 30, " ms ", " 0.0 ");
    line_has(&bench, 30, " ms ", " 100.0");
    frame_bench_done(&bench);
}

static void critical_path_is_told_by_phase(void **state)
{
    (void)state;
    struct frame_bench bench;
    frame_bench_make(&bench, &tui_view_plan, 4);
    struct mgb_bench_traced *traced = &bench.fixture->traced;
    memset(traced->critical_ns, 0, sizeof traced->critical_ns);
    traced->critical_ns[MGB_PHASE_BACKWARD] = 60000000;
    traced->critical_ns[MGB_PHASE_FORWARD] = 30000000;
    traced->critical_gap_ns = 10000000;
    line_has(&bench, 30, "path ms:", "path ms: backward 60.0 60%  forward 30.0 30%  gaps 10.0");
    line_has(&bench, 30, "bound by", traced->bound);
    line_has(&bench, 9, "bound by", traced->bound);
    line_has(&bench, 6, "bound by", traced->bound);
    frame_bench_done(&bench);
}

static void no_traced_step_says_how_to_get_one(void **state)
{
    (void)state;
    struct frame_bench bench;
    frame_bench_make(&bench, &tui_view_plan, 4);
    bench.fixture->snapshot.traced = NULL;
    line_has(&bench, 20, "no traced step", "no traced step yet: t traces the next one");
    line_has(&bench, 20, "no traced step", "; bound by backward on gpu:3 (98%)");
    for (int action = 0; action < TUI_ACT_COUNT; action++)
        tui_view_plan.act(bench.state, (enum tui_action)action, &bench.scene, &bench.desk.desk);
    bench.scene.readonly = true;
    char *text = picture(&bench, 20);
    assert_null(strstr(text, "t traces"));
    free(text);
    frame_bench_done(&bench);
}

static void tasks_stand_by_queue_all_of_them(void **state)
{
    (void)state;
    struct frame_bench bench;
    frame_bench_make(&bench, &tui_view_plan, 4);
    const struct mgb_facts *facts = &bench.fixture->facts;
    bench.fixture->snapshot.traced = NULL; /* more room */
    char words[64];
    snprintf(words, sizeof words, "TASKS %d by queue", facts->task_count);
    line_has(&bench, 60, "TASKS", words);
    char *text = picture(&bench, 60), *at = strstr(text, " task queue") + 1;
    bool seen[FIXTURE_TASKS] = {false};
    int last_rank = -1;
    for (int i = 0; i < facts->task_count; i++) {
        at = strchr(at, '\n') + 1;
        int number = atoi(at + 1);
        const struct mgb_facts_task *task = &facts->tasks[number];
        assert_true(number >= 0 && number < facts->task_count && !seen[number]);
        seen[number] = true;
        int rank = (task->from >= 0) * 10000 + task->device * 100 + task->from + 1;
        assert_true(rank >= last_rank);
        last_rank = rank;
    }
    free(text);
    frame_bench_done(&bench);
}

static void tasks_beyond_the_facts_are_told(void **state)
{
    (void)state;
    struct frame_bench bench;
    frame_bench_make(&bench, &tui_view_plan, 4);
    bench.fixture->facts.all_tasks = 123456;
    char words[64];
    snprintf(words, sizeof words, "TASKS 123456, the first %d", bench.fixture->facts.task_count);
    line_has(&bench, 30, "TASKS", words);
    frame_bench_done(&bench);
}

static void filter_finds_queue_phase_and_name(void **state)
{
    (void)state;
    struct frame_bench bench;
    frame_bench_make(&bench, &tui_view_plan, 4);
    bench.scene.filter = "gpu:2 backward";
    line_has(&bench, 30, "TASKS", "1/1 ");
    bench.scene.filter = "gpu:3 COPY sum";
    line_has(&bench, 30, "TASKS", "1/1 ");
    bench.scene.filter = "from gpu:3 outputs";
    line_has(&bench, 30, "TASKS", "1/1 ");
    bench.scene.filter = "nonsense";
    line_has(&bench, 30, "nothing", "nothing has \"nonsense\"");
    frame_bench_done(&bench);
}

static void timeline_follows_the_queue_in_hand(void **state)
{
    (void)state;
    struct frame_bench bench;
    frame_bench_make(&bench, &tui_view_plan, 16);
    char *text = picture(&bench, 20);
    assert_null(strstr(text, ">cpu:0>gpu:15 I"));
    free(text);
    act(&bench, TUI_ACT_LAST);
    line_has(&bench, 20, "\n>cpu:0>gpu:15", "");
    text = picture(&bench, 20);
    assert_int_equal(frame_count(text, "cpu:0>gpu:15"), 3); /* chart, and two tasks */
    free(text);
    frame_bench_done(&bench);
}

static void enter_tells_all_of_a_task(void **state)
{
    (void)state;
    struct frame_bench bench;
    frame_bench_make(&bench, &tui_view_plan, 4);
    bench.scene.filter = "gpu:3 backward";
    line_has(&bench, 30, "TASKS", "1/1 ");
    act(&bench, TUI_ACT_OPEN);
    assert_int_equal(bench.desk.shown, 1);
    assert_non_null(strstr(bench.desk.shown_text, "tower   3"));
    assert_non_null(strstr(bench.desk.shown_text, "from 84.000 to 240.000 ms, 156.000 ms, on the"));
    frame_bench_done(&bench);
}

static void every_size_stays_inside(void **state)
{
    (void)state;
    frame_check_all(&tui_view_plan, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(timeline_is_drawn_to_scale),
        cmocka_unit_test(short_task_is_never_lost),
        cmocka_unit_test(collectives_have_a_row_of_their_own),
        cmocka_unit_test(zoom_shows_less_and_keys_move_it),
        cmocka_unit_test(critical_path_is_told_by_phase),
        cmocka_unit_test(no_traced_step_says_how_to_get_one),
        cmocka_unit_test(tasks_stand_by_queue_all_of_them),
        cmocka_unit_test(tasks_beyond_the_facts_are_told),
        cmocka_unit_test(filter_finds_queue_phase_and_name),
        cmocka_unit_test(timeline_follows_the_queue_in_hand),
        cmocka_unit_test(enter_tells_all_of_a_task),
        cmocka_unit_test(every_size_stays_inside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
