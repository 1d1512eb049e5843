/* The whole screen without a terminal: what it asks, what it answers, and what commands printed. */
#include "tests/app/tui/whole_screen.h"

#include <locale.h>

static void a_question_is_answered_by_y_alone(void **state)
{
    (void)state;
    press('5');
    press('d');
    shows("this run is on the bench");
    press('j');
    press('j');
    press('d');
    shows("a run is being recorded: end it first (x on the bench)");
    screen_end(NULL);
    struct mgb_snapshot *ended = (struct mgb_snapshot *)fixture_snapshot(4);
    ended->recorded = false;
    screen_begin_as(ended, false);
    press('5');
    shows("411.2");
    press('j');
    press('j');
    press('d');
    shows("delete run 411");
    assert_int_equal(cursor_y, 23);
    press(TUI_KEY_ENTER);
    hides("delete run 411");
    hides("cannot be run here");
    press('d');
    press('y');
    shows("cannot be run here"); /* rm was asked for, and there are no jobs in this test */
}

static void what_a_command_printed_is_shown_and_closed_again(void **state)
{
    (void)state;
    press('5');
    tui_screen_job_ended(screen, "tag 412 x", "", 0);
    shows("tag 412 x: done");
    tui_screen_job_ended(screen, "rm 4 --yes", "deleted 1 run\n  run 4: mlp\n", 0);
    shows("deleted 1 run");
    shows("[5]Runs");
    tui_screen_job_ended(screen, "show 9", "no run 9\n", 4);
    shows("! no run 9");
    tui_screen_job_ended(screen, "compare 1 2", "a\tb\nfaster\n\x1b[31mred\n", 0);
    shows("compare 1 2");
    shows("a       b");
    shows("\\x1b[31mred");
    press('/');
    type("faster");
    press(TUI_KEY_ENTER);
    hides("red");
    press(TUI_KEY_ESCAPE);
    shows("red");
    press(TUI_KEY_ESCAPE);
    shows("[5]Runs");
    tui_screen_job_ended(screen, "compare 1 2", "one\ntwo\n", 0);
    assert_int_equal(press('q'), TUI_SCREEN_GOES_ON);
    shows("[5]Runs");
    assert_int_equal(press('q'), TUI_SCREEN_QUIT);
}

static void what_a_command_said_when_it_failed_stays_in_the_log(void **state)
{
    (void)state;
    screen_end(NULL);
    assert_ok(tui_log_open(&kept, NULL, NULL, NULL));
    screen_begin_as(fixture_snapshot(4), false);
    tui_screen_job_ended(screen, "rm 9", "no run 9\nthere are 1-8\n", 4);
    shows("there are 1-8"); /* to be read in peace, as it is no answer to what was asked */
    press('7');
    shows("rm 9: exit code 4");
    shows("no run 9");
    shows("there are 1-8");
    screen_end(NULL);
    tui_log_close(kept);
    kept = NULL;
    screen_begin(NULL);
}

static void what_a_command_printed_waits_until_nothing_is_asked(void **state)
{
    (void)state;
    press('5');
    press(':');
    type("sh");
    tui_screen_job_ended(screen, "compare 1 2", "one\ntwo\n", 0);
    shows("[5]Runs");
    shows(":sh");
    press(TUI_KEY_ESCAPE);
    shows("compare 1 2");
    shows("two");
    press(TUI_KEY_ESCAPE);
    shows("[5]Runs");
}

static void that_a_command_runs_is_said_until_it_has_ended(void **state)
{
    (void)state;
    screen->desk.say(&screen->desk, MGB_LINE_NOTE, "running: mgbench compare 1 2");
    tui_screen_job_ended(screen, "show 9", "one\ntwo\n", 0);
    shows("running: mgbench compare 1 2");
    tui_screen_job_ended(screen, "compare 1 2", "one\ntwo\n", 0);
    hides("running: mgbench");
}

static void output_breaks_prose_at_its_width_and_leaves_tables(void **state)
{
    (void)state;
    tui_screen_job_ended(
        screen, "compare 1 2",
        "A 1.129 ms [1.106, 1.186] n=1x1043   B 1.193 ms [1.139, 1.257] n=1x1488"
        "   B/A 1.057 [0.9907, 1.115]  undecided\n"
        "undecided: one repetition a side tells nothing of what changes between "
        "runs; about 4 more repetitions of each would do\n\n"
        "phase     where             percent  critical_ms   busy_ms  tasks       mb"
        "    gbps  link_gbps\n"
        "fetch     /cpu:0->/gpu:0    0.06168      0.03414   0.03414      1   0.4731"
        "   13.86      2.042\n",
        0);
    shows("n=1x1488\nB/A 1.057 [0.9907, 1.115]  undecided\n"
          "undecided: one repetition a side tells nothing of what changes between runs;\n"
          "  about 4 more repetitions of each would do\n");
    hides("\n  gbps");
    hides("2.042");
    press(TUI_KEY_RIGHT);
    press(TUI_KEY_RIGHT);
    shows("2.042");
    assert_true(tui_canvas_resize(&canvas, 24, 40));
    shows("epetitions of each would\n");
}

static void ctrl_c_twice_within_two_seconds_leaves(void **state)
{
    (void)state;
    assert_int_equal(press(3), TUI_SCREEN_GOES_ON);
    shows("Ctrl-C once more");
    now_ns += 2500000000;
    assert_int_equal(press(3), TUI_SCREEN_GOES_ON);
    now_ns += 500000000;
    assert_int_equal(press(3), TUI_SCREEN_LEAVE);
    press(':');
    assert_int_equal(press(3), TUI_SCREEN_GOES_ON);
    free(drawn());
    assert_true(cursor_y < 0);
}

static void ctrl_c_gives_up_what_asks_and_once_more_leaves(void **state)
{
    (void)state;
    press(':');
    type("let");
    assert_int_equal(press(3), TUI_SCREEN_GOES_ON);
    shows("given up; Ctrl-C once more: quit");
    now_ns += 500000000;
    assert_int_equal(press(3), TUI_SCREEN_LEAVE);
    now_ns += 3000000000;
    press('M');
    press(3);
    now_ns += 2500000000;
    assert_int_equal(press(3), TUI_SCREEN_GOES_ON); /* later: it stops steps */
}

static void where_nothing_can_be_seen_keys_do_nothing_but_leave(void **state)
{
    (void)state;
    assert_true(tui_canvas_resize(&canvas, 9, 39));
    shows("needs 40 x 10");
    static const char keys[] = {' ', 'w', 'x', '5', 'v', ':', '\r'};
    for (size_t i = 0; i < sizeof keys; i++)
        assert_int_equal(press(keys[i]), TUI_SCREEN_GOES_ON);
    assert_int_equal(press('q'), TUI_SCREEN_QUIT);
    assert_int_equal(press(3), TUI_SCREEN_GOES_ON);
    assert_int_equal(press(3), TUI_SCREEN_LEAVE);
    assert_true(tui_canvas_resize(&canvas, 24, 80));
    shows("[1]Bench");
    assert_false(screen->prompt.open);
}

static void what_ends_an_open_run_is_asked_about(void **state)
{
    (void)state;
    static const char question[] = "end run 412 after 214 steps and open mlp? y/N";
    press(':');
    type("model mlp");
    press(TUI_KEY_ENTER);
    shows(question);
    hides("there is no workbench");
    press('n');
    shows("the run goes on as it was");
    press(':');
    type("model mlp");
    press(TUI_KEY_ENTER);
    press('y');
    shows("! there is no workbench"); /* it was asked for */
    press(':');
    type("data digits !");
    press(TUI_KEY_ENTER);
    shows("! there is no workbench"); /* without a question */
    press('K');
    press(TUI_KEY_ENTER);
    shows("after 214 steps and begin anew on");
    press('n');
    press(':');
    type("set warmup=5");
    press(TUI_KEY_ENTER);
    shows("end run 412 after 214 steps and begin anew with a warm-up of 5? y/N");
    press('n');
    press('5');
    press('u');
    shows("end run 412 after 214 steps and open");
    press('y');
    shows("! there is no workbench");
    hides("y/N");
}

static void a_sweep_that_cannot_be_read_ends_nothing(void **state)
{
    (void)state;
    press(':');
    type("sweep {");
    press(TUI_KEY_ENTER);
    hides("y/N");
    shows("! sweep:1: unexpected symbol near <eof>");
    press(':');
    type("sweep { grid = { gpus = {1, 2} } }");
    press(TUI_KEY_ENTER);
    shows("give its devices to the sweep? y/N");
    press('n');
    press(':');
    type("sweep { grid = { gpus = {1, 2} } } !");
    press(TUI_KEY_ENTER);
    shows("! there is no workbench");
}

static void the_list_follows_what_was_stored_after_it_was_read(void **state)
{
    (void)state;
    const int64_t second = 1000000000;
    assert_false(screen_list_is_due(screen)); /* nothing was done */
    screen->changed_ns = 100 * second, screen->listed_ns = 99 * second;
    screen->now_ns = 101 * second;
    assert_false(screen_list_is_due(screen)); /* it is not asked for all the time */
    screen->now_ns = 102 * second;
    assert_true(screen_list_is_due(screen)); /* though nothing has changed since */
    screen->listed_ns = 100 * second + 1, screen->now_ns = 104 * second;
    assert_true(screen_list_is_due(screen)); /* the rows may have come after it */
    screen->listed_ns = 104 * second, screen->now_ns = 200 * second;
    assert_false(screen_list_is_due(screen));
}

static void what_was_answered_stands_at_the_foot(void **state)
{
    (void)state;
    struct mgb_snapshot *answered = (struct mgb_snapshot *)fixture_snapshot(4);
    assert_non_null(answered);
    answered->said.serial = 1;
    strcpy(answered->said.text, "= 3");
    tui_screen_set_snapshot(screen, answered);
    mgb_shared_drop(answered);
    shows("\n= 3");
    press(TUI_KEY_DOWN);
    hides("\n= 3");
}

static void what_was_refused_stands_at_the_foot_once(void **state)
{
    (void)state;
    screen_end(NULL);
    assert_ok(tui_log_open(&kept, NULL, NULL, NULL));
    struct mgb_snapshot *refused = (struct mgb_snapshot *)fixture_snapshot(4);
    assert_non_null(refused);
    strcpy(refused->message, "no x here");
    screen_begin_as(refused, false);
    tui_log_add(kept, MGB_LINE_FAULT, "command:1: no x here");
    tui_log_add(kept, MGB_LINE_NOTE, "in main chunk");
    shows("\n! no x here");
    tui_log_add(kept, MGB_LINE_FAULT, "another fault");
    shows("\n! another fault");
    tui_log_add(kept, MGB_LINE_WARNING, "a remark");
    shows("\na remark");
    screen_end(NULL);
    tui_log_close(kept);
    kept = NULL;
    screen_begin(NULL);
}

static void a_line_without_room_ends_in_a_sign_and_is_whole_in_the_log(void **state)
{
    (void)state;
    static const char text[] = "one two three four five six seven eight nine ten eleven twelve "
                               "thirteen: do this thing";
    screen_end(NULL);
    assert_ok(tui_log_open(&kept, NULL, NULL, NULL));
    screen_begin_as(fixture_snapshot(4), false);
    free(drawn());
    screen->desk.say(&screen->desk, MGB_LINE_FAULT, text);
    shows("\n! one two three four five six seven eight nine ten eleven twelve thirteen: do t…");
    screen->desk.say(&screen->desk, MGB_LINE_NOTE, text);
    shows("eleven twelve thirteen: do thi…");
    press('7');
    press(TUI_KEY_ENTER);
    shows("thirteen: do this\n  thing");
    screen_end(NULL);
    tui_log_close(kept);
    kept = NULL;
    screen_begin(NULL);
}

static void where_no_run_is_open_nothing_is_asked(void **state)
{
    (void)state;
    struct mgb_snapshot *ready = (struct mgb_snapshot *)fixture_snapshot(4);
    screen_end(NULL);
    ready->state = MGB_BENCH_READY;
    screen_begin_as(ready, false);
    press(':');
    type("model mlp");
    press(TUI_KEY_ENTER);
    hides("y/N");
    shows("! there is no workbench");
}

static void quitting_a_sweep_asks(void **state)
{
    (void)state;
    struct fixture *fixture = fixture_make(2);
    assert_non_null(fixture);
    fixture->snapshot.state = MGB_BENCH_SWEEPING;
    tui_screen_set_snapshot(screen, &fixture->snapshot);
    assert_int_equal(press('q'), TUI_SCREEN_GOES_ON);
    shows("a sweep runs; quit? y/N");
    assert_int_equal(press('n'), TUI_SCREEN_GOES_ON);
    press('q');
    assert_int_equal(press('y'), TUI_SCREEN_QUIT);
    fixture_free(fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCREEN_TEST(a_question_is_answered_by_y_alone),
        SCREEN_TEST(what_a_command_printed_is_shown_and_closed_again),
        SCREEN_TEST(what_a_command_said_when_it_failed_stays_in_the_log),
        SCREEN_TEST(what_a_command_printed_waits_until_nothing_is_asked),
        SCREEN_TEST(that_a_command_runs_is_said_until_it_has_ended),
        SCREEN_TEST(output_breaks_prose_at_its_width_and_leaves_tables),
        SCREEN_TEST(ctrl_c_twice_within_two_seconds_leaves),
        SCREEN_TEST(ctrl_c_gives_up_what_asks_and_once_more_leaves),
        SCREEN_TEST(where_nothing_can_be_seen_keys_do_nothing_but_leave),
        SCREEN_TEST(what_ends_an_open_run_is_asked_about),
        SCREEN_TEST(a_sweep_that_cannot_be_read_ends_nothing),
        SCREEN_TEST(the_list_follows_what_was_stored_after_it_was_read),
        SCREEN_TEST(what_was_answered_stands_at_the_foot),
        SCREEN_TEST(what_was_refused_stands_at_the_foot_once),
        SCREEN_TEST(a_line_without_room_ends_in_a_sign_and_is_whole_in_the_log),
        SCREEN_TEST(where_no_run_is_open_nothing_is_asked),
        SCREEN_TEST(quitting_a_sweep_asks),
    };
    setlocale(LC_CTYPE, "C.UTF-8");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
