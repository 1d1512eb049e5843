/* A session on the bench: nothing is held before space, what cannot be is refused with the reason, changes are undone, and
 * whoever only looks changes nothing. */
#include "tests/screens/live.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* Whether the machine is busy does not matter: processor time is the program's own. */
static void it_opens_paused_and_uses_no_processor(void **state)
{
    struct program *p = *state;
    struct terminal *t = live_ready(p, NULL, NULL);
    live_rest(t);
    assert_true(terminal_has(t, "nothing is held"));
    double before = terminal_cpu(t);
    size_t bytes = terminal_state(t).bytes;
    terminal_look(t, 2000);
    assert_true(terminal_cpu(t) - before < 0.1);
    assert_int_equal(terminal_state(t).bytes, bytes);
    assert_int_not_equal(access(p->database, F_OK), 0);
    terminal_press(t, "r");
    terminal_await_match(t, "weights at +cpu:0");
    assert_int_not_equal(access(p->database, F_OK), 0);
    live_run(t);
    assert_string_equal(database_text(p, "SELECT count(*) || ' ' || outcome FROM run"),
                        "1 running");
    assert_string_equal(database_text(p, "SELECT asked_cpu_relocation FROM segment"), "1");
    live_quit(t);
    assert_string_equal(database_text(p, "SELECT outcome FROM run"), "ok");
}

static void a_paused_session_steps_no_further(void **state)
{
    struct program *p = *state;
    struct terminal *t = live_ready(p, NULL, NULL);
    live_run(t);
    live_pause(t);
    double steps = database_number(p, "SELECT count(*) FROM step"), before = terminal_cpu(t);
    terminal_look(t, 1000);
    assert_true(terminal_cpu(t) - before < 0.1);
    assert_true(database_number(p, "SELECT count(*) FROM step") == steps);
    live_run(t);
    terminal_press(t, "Ctrl-C");
    terminal_await(t, "PAUSED");
    assert_true(database_number(p, "SELECT count(*) FROM step") > steps);
    assert_string_equal(database_text(p, "SELECT count(*) FROM segment"), "1");
    live_quit(t);
}

static void what_cannot_be_is_refused_with_the_reason(void **state)
{
    struct program *p = *state;
    struct terminal *t = live_ready(p, NULL, NULL);
    live_run(t);
    terminal_press(t, "G");
    live_await_segment(t, 2);
    terminal_press(t, "G");
    terminal_await(t, "this machine has 4 GPUs");
    live_command(t, "set weights_at=gpu:9");
    terminal_await_match(t, "! .*gpu:9");
    live_command(t, "set batch=0");
    terminal_await_match(t, "! .*batch");
    live_command(t, "set precision=tf32");
    terminal_await_match(t, "! .*tf32");
    live_command(t, "set btach=4");
    terminal_await_match(t, "! .*did you mean 'batch'");
    assert_true(terminal_matches(t, "run 1 seg 2 "));
    terminal_press(t, "s,s");
    terminal_await_match(t, "strategy +allreduce");
    terminal_press(t, "r");
    terminal_await(t, "n/a under allreduce");
    terminal_await_match(t, "weights at +n/a +n/a");
    terminal_press(t, "m");
    terminal_await_match(t, "cpu_merge: n/a under allreduce|merge_at: n/a under allreduce");
    live_pause(t);
    assert_string_equal(database_text(p, "SELECT group_concat(outcome, ' ') FROM run"), "running");
    assert_string_equal(database_text(p, "SELECT strategy || ' ' || gpus || ' ' || batch_per_gpu "
                                         "FROM segment ORDER BY id DESC"),
                        "allreduce 4 8");
    live_quit(t);
}

static void changes_are_undone_one_by_one(void **state)
{
    static const char *const lines[] = {"weights at +gpu:0", "weights at +cpu:0", "batch/GPU +16 ",
                                        "strategy +gradients"};
    struct program *p = *state;
    struct terminal *t = live_ready(p, NULL, NULL);
    live_run(t);
    terminal_press(t, "r");
    live_await_segment(t, 2);
    terminal_press(t, "B");
    live_await_segment(t, 3);
    terminal_press(t, "s");
    live_await_segment(t, 4);
    terminal_await_match(t, lines[3]);
    for (int i = 0; i < 3; i++) {
        terminal_press(t, "u");
        live_await_segment(t, 5 + i);
        terminal_await_match(t, lines[2 - i]);
    }
    terminal_await_match(t, "batch/GPU +8 ");
    terminal_press(t, "u");
    terminal_await(t, "there is no change to undo");
    live_pause(t);
    assert_string_equal(
        database_text(p, "SELECT group_concat(strategy || batch_per_gpu || weights_at, ' ') FROM "
                         "(SELECT * FROM segment ORDER BY id)"),
        "outputs8/gpu:0 outputs8/cpu:0 outputs16/cpu:0 gradients16/cpu:0 outputs16/cpu:0 "
        "outputs8/cpu:0 outputs8/gpu:0");
    live_quit(t);
}

/* Also before it runs, where each change is another plan. */
static void changes_before_the_first_run_are_undone(void **state)
{
    struct program *p = *state;
    struct terminal *t = live_ready(p, NULL, NULL);
    terminal_press(t, "r");
    terminal_await_match(t, "weights at +cpu:0");
    terminal_press(t, "b");
    terminal_await_match(t, "batch/GPU +4 ");
    terminal_press(t, "u");
    terminal_await_match(t, "batch/GPU +8 ");
    terminal_press(t, "u");
    terminal_await_match(t, "weights at +gpu:0");
    live_quit(t);
    assert_int_not_equal(access(p->database, F_OK), 0);
}

static void for_looking_only_nothing_is_changed(void **state)
{
    struct program *p = *state;
    assert_int_equal(program_run(p, "run mlp --backend host --steps 5 --quiet"), 0);
    struct terminal *t = live_ready(p, NULL, "--readonly", NULL);
    static const char *const keys[] = {"Space", "r", "s", "G", "B", "u", "v", "R", "t", "x"};
    terminal_await(t, "readonly");
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        terminal_press(t, "1");
        terminal_await_gone(t, "! ");
        terminal_press(t, keys[i]);
        terminal_await_match(t, "! .*(read ?only|looking only)");
    }
    static const char *const lines[] = {"set batch=4", "model mlp",        "rm 1 --yes", "note 1 x",
                                        "tag 1 x",     "baseline set a 1", "run mlp",    "vacuum",
                                        "sweep {}",    "=s:step(1)"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        terminal_press(t, "1");
        terminal_await_gone(t, "! ");
        live_command(t, lines[i]);
        terminal_await_match(t, "! .*(read ?only|looking only)");
    }
    terminal_press(t, "5");
    terminal_await_match(t, "1[.]1 +mlp");
    static const char *const there[] = {"t", "n", "b", "d", "u"};
    for (size_t i = 0; i < sizeof there / sizeof *there; i++) {
        terminal_press(t, "5");
        terminal_await_gone(t, "! ");
        terminal_press(t, there[i]);
        terminal_await_match(t, "! .*(read ?only|looking only)");
    }
    live_command(t, "show 1");
    terminal_await(t, "[Output]");
    terminal_await_match(t, "outcome +ok");
    terminal_press(t, "Esc");
    terminal_await_gone(t, "[Output]");
    live_quit(t);
    assert_string_equal(database_text(p,
                                      "SELECT (SELECT count(*) FROM run) || (SELECT count(*) FROM "
                                      "note) || (SELECT count(*) FROM tag) || (SELECT count(*) "
                                      "FROM baseline)"),
                        "1000");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(it_opens_paused_and_uses_no_processor, live_begin,
                                        live_end),
        cmocka_unit_test_setup_teardown(a_paused_session_steps_no_further, live_begin, live_end),
        cmocka_unit_test_setup_teardown(what_cannot_be_is_refused_with_the_reason, live_begin,
                                        live_end),
        cmocka_unit_test_setup_teardown(changes_are_undone_one_by_one, live_begin, live_end),
        cmocka_unit_test_setup_teardown(changes_before_the_first_run_are_undone, live_begin,
                                        live_end),
        cmocka_unit_test_setup_teardown(for_looking_only_nothing_is_changed, live_begin, live_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
