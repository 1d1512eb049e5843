/* Stopped in the middle of a run and brought back: by Ctrl-Z and fg, in the background for a while, by kill -STOP and -CONT;
 * whatever became of the terminal's size meanwhile. (reference/ecosystem.md, section 2, row 50.) */
#include "tests/screens/emulator.h"
#include "tests/screens/visit.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static struct terminal *shell_start(struct program *p, const char *script)
{
    const char *const words[] = {"bash", "-c", script, NULL};
    struct terminal *t = program_start_words(p, NULL, words);
    terminal_await(t, "READY");
    live_run(t);
    return t;
}

static double steps_of(struct program *p)
{
    return database_number(p, "SELECT count(*) FROM step");
}

struct steps {
    struct program *program;
    double more_than;
};

static bool are_more(struct terminal *t, void *context)
{
    struct steps *steps = context;
    (void)t;
    return steps_of(steps->program) > steps->more_than;
}

static void ctrl_z_stops_the_steps_and_fg_goes_on_with_the_same_run(void **state)
{
    struct program *p = *state;
    struct terminal *t = shell_start(
        p, "set -m; mgbench-tui mlp --backend host --gpus 2 --batch 8; echo stopped; read word; "
           "fg >/dev/null; echo \"ended $?\"; read word");
    terminal_press(t, "Ctrl-Z");
    terminal_await(t, "stopped");
    terminal_check_restored(t);
    struct steps steps = {p, steps_of(p)};
    terminal_resize(t, 30, 100);
    assert_true(steps_of(p) == steps.more_than);
    terminal_type(t, "go on\n");
    terminal_await_match(t, "RUNNING +[1-9]");
    visit_await_size(t);
    terminal_await_match(t, "^── PLACEMENT ");
    terminal_await_that(t, are_more, &steps, "more steps");
    terminal_press(t, "q");
    terminal_await(t, "ended 0");
    terminal_check_restored(t);
    assert_string_equal(database_text(p, "SELECT count(*) FROM run"), "1");
    assert_string_equal(database_text(p, "SELECT outcome FROM run"), "ok");
}

/* The shell has the terminal: it steps, and neither draws nor reads. */
static void in_the_background_it_steps_and_leaves_the_terminal_alone(void **state)
{
    struct program *p = *state;
    struct terminal *t = shell_start(
        p, "set -m; mgbench-tui mlp --backend host --gpus 2 --batch 8; echo stopped; read word; "
           "bg >/dev/null 2>&1; echo behind; read word; fg >/dev/null; echo \"ended $?\"; read "
           "word");
    terminal_press(t, "Ctrl-Z");
    terminal_await(t, "stopped");
    terminal_type(t, "on\n");
    terminal_await(t, "behind");
    size_t bytes = terminal_state(t).bytes;
    struct steps steps = {p, steps_of(p) + 100};
    terminal_await_that(t, are_more, &steps, "more steps");
    terminal_check_restored(t);
    assert_int_equal(terminal_state(t).bytes, bytes);
    terminal_type(t, "word\n");
    terminal_await_match(t, "RUNNING +[1-9]");
    assert_true(terminal_state(t).alternate);
    terminal_press(t, "2");
    terminal_await(t, "[2]Devices");
    terminal_press(t, "q");
    terminal_await(t, "ended 0");
    terminal_check_restored(t);
}

/* With kill -STOP nothing can be given back; on -CONT everything is drawn anew, in the size that it has by then. */
static void stopped_and_continued(struct program *p, const char *word, bool both)
{
    struct terminal *t = visit_start(p, NULL, NULL, word, NULL);
    pid_t worker = terminal_worker(t), first = terminal_pid(t);
    live_run(t);
    if (both)
        kill(first, SIGSTOP);
    kill(worker, SIGSTOP);
    terminal_resize(t, 12, 50);
    terminal_resize(t, 30, 100);
    terminal_type(t, "2");
    if (both)
        kill(first, SIGCONT);
    kill(worker, SIGCONT);
    terminal_await(t, "[2]Devices  3Variables");
    visit_await_size(t);
    terminal_await_match(t, "^── DEVICES ");
    terminal_await_match(t, "RUNNING +[1-9]");
    live_quit(t);
    assert_string_equal(database_text(p, "SELECT outcome FROM run ORDER BY id DESC"), "ok");
}

static void kill_stop_and_cont_draw_everything_anew(void **state)
{
    stopped_and_continued(*state, NULL, false);
    stopped_and_continued(*state, NULL, true);
    stopped_and_continued(*state, "--no-supervisor", false);
}

/* Somebody else had the terminal meanwhile and left it in another mode. */
static void what_others_did_to_the_terminal_meanwhile_is_undone(void **state)
{
    struct terminal *t = visit_start(*state, NULL, NULL, NULL);
    pid_t worker = terminal_worker(t);
    live_run(t);
    kill(worker, SIGSTOP);
    assert_int_equal(tcsetattr(t->slave, TCSANOW, &t->before), 0);
    emulator_take(t, "\033[?1049l\033[?25h\033[2J$ ", 18);
    kill(worker, SIGCONT);
    terminal_await_match(t, "RUNNING +[1-9]");
    terminal_await(t, "[1]Bench");
    assert_true(terminal_state(t).alternate);
    assert_false(terminal_modes(t).c_lflag & (ICANON | ECHO));
    terminal_press(t, "3");
    terminal_await(t, "[3]Variables");
    live_quit(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(ctrl_z_stops_the_steps_and_fg_goes_on_with_the_same_run,
                                        live_begin, live_end),
        cmocka_unit_test_setup_teardown(in_the_background_it_steps_and_leaves_the_terminal_alone,
                                        live_begin, live_end),
        cmocka_unit_test_setup_teardown(kill_stop_and_cont_draw_everything_anew, live_begin,
                                        live_end),
        cmocka_unit_test_setup_teardown(what_others_did_to_the_terminal_meanwhile_is_undone,
                                        live_begin, live_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
