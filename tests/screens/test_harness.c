/* The harness itself, against small programs of the system: what it says of a screen is so. */
#include "tests/screens/terminal.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct terminal *shell_start(const struct terminal_options *options, const char *script)
{
    const char *const words[] = {"sh", "-c", script, NULL};
    return terminal_start(options, words);
}

static void what_is_written_stands_on_the_screen(void **state)
{
    (void)state;
    struct terminal *t = shell_start(
        NULL, "printf 'one\\n\\033[1;31mtwo\\033[0m \\303\\244\\344\\270\\255x\\n'; cat");
    int y, x;
    terminal_await(t, "x");
    assert_string_equal(terminal_line(t, 0), "one");
    assert_string_equal(terminal_line(t, 1), "two \303\244\344\270\255x");
    assert_true(terminal_find(t, "x", &y, &x));
    assert_int_equal(y, 1);
    assert_int_equal(x, 7); /* a column: the wide character before it has two */
    struct terminal_cell cell = terminal_cell(t, 1, 0);
    assert_int_equal(cell.point, 't');
    assert_true(cell.bold && cell.colored && !cell.reverse);
    assert_int_equal(cell.front, 1);
    assert_int_equal(cell.back, -1);
    assert_int_equal(terminal_colored(t), 3);
    assert_true(terminal_matches(t, "^two .*x$"));
    assert_false(terminal_matches(t, "^wo"));
    terminal_end(t);
}

static void keys_reach_the_program(void **state)
{
    (void)state;
    struct terminal *t = shell_start(NULL, "stty -echo -icanon; printf ready; cat -v");
    terminal_await(t, "ready");
    terminal_type(t, "ab");
    terminal_await(t, "readyab");
    terminal_press(t, "Up,Esc,F5,Shift-Tab,q");
    terminal_await(t, "^[[A^[^[[15~^[[Zq");
    terminal_press(t, "Ctrl-C");
    assert_int_equal(terminal_await_exit(t), 128 + SIGINT);
    terminal_end(t);
}

static void the_size_is_what_was_asked_for_and_changes(void **state)
{
    (void)state;
    struct terminal_options options = {.rows = 30, .columns = 100};
    struct terminal *t =
        shell_start(&options, "trap 'stty size' WINCH; stty size; while :; do read x; done");
    terminal_await(t, "30 100");
    terminal_resize(t, 12, 50);
    terminal_await(t, "12 50");
    terminal_end(t);
}

static void the_environment_is_the_tests(void **state)
{
    (void)state;
    const char *const settings[] = {"LANG=de_DE.UTF-8", "HOME", NULL};
    struct terminal_options options = {.term = "", .environment = settings, .folder = "/"};
    struct terminal *t =
        shell_start(&options, "echo \"<$LANG> <${HOME-none}> $(env | grep -c '^TERM=') $(pwd)\"");
    assert_int_equal(terminal_await_exit(t), 0);
    assert_string_equal(terminal_line(t, 0), "<de_DE.UTF-8> <none> 0 /");
    terminal_end(t);
}

static void the_end_is_told(void **state)
{
    (void)state;
    struct terminal *t = shell_start(NULL, "echo bye; exit 7");
    assert_int_equal(terminal_await_exit(t), 7);
    assert_true(terminal_has(t, "bye"));
    assert_true(terminal_has_ended(t));
    terminal_end(t);
    t = shell_start(NULL, "echo here; cat");
    terminal_await(t, "here");
    terminal_hang_up(t);
    assert_int_equal(terminal_await_exit(t), 128 + SIGHUP);
    terminal_end(t);
    t = shell_start(NULL, "exec no-such-program-at-all");
    assert_int_equal(terminal_await_exit(t), 127);
    terminal_end(t);
}

static void modes_and_screens_of_the_terminal_are_known(void **state)
{
    (void)state;
    struct terminal *t = shell_start(
        NULL, "s=$(stty -g); stty raw -echo; printf '\\033[?1049h\\033[?25l\\033[?1000hsecond'; "
              "head -c 1 >/dev/null;"
              "printf '\\033[?1000l\\033[?25h\\033[?1049l'; stty $s; printf first; cat");
    terminal_await(t, "second");
    assert_true(terminal_state(t).alternate);
    assert_false(terminal_state(t).cursor);
    assert_int_not_equal(terminal_state(t).mouse, 0);
    assert_false(terminal_modes(t).c_lflag & ICANON);
    terminal_type(t, "x");
    terminal_await(t, "first");
    terminal_check_restored(t);
    assert_false(terminal_has(t, "second"));
    size_t size;
    assert_non_null(strstr(terminal_output(t, &size), "second"));
    terminal_end(t);
}

/* Repeated characters (REP), line drawing of a vt100, erased and inserted characters. */
static void what_ncurses_asks_of_a_terminal_is_done(void **state)
{
    (void)state;
    struct terminal *t = shell_start(
        NULL, "printf "
              "'a\\033[5b|\\n\\033(0qx\\033(B.\\nabc\\033[2D\\033[2@-\\nabc\\r\\033[Kend\\n'; cat");
    terminal_await(t, "end");
    assert_string_equal(terminal_line(t, 0), "aaaaaa|");
    assert_string_equal(terminal_line(t, 1), "\342\224\200\342\224\202.");
    assert_string_equal(terminal_line(t, 2), "a- bc");
    assert_string_equal(terminal_line(t, 3), "end");
    terminal_end(t);
}

static void the_mouse_is_told_to_who_asks(void **state)
{
    (void)state;
    struct terminal *t =
        shell_start(NULL, "stty -echo -icanon; printf '\\033[?1000h\\033[?1006hready '; cat -v");
    terminal_await(t, "ready");
    terminal_click(t, 4, 9, 1);
    terminal_await(t, "^[[<0;10;5M^[[<0;10;5m");
    terminal_end(t);
}

static void the_worker_is_the_child(void **state)
{
    (void)state;
    struct terminal *t = shell_start(NULL, "sh -c 'echo $PPID $$; cat; :'; :");
    char pids[64];
    terminal_await_match(t, "^[0-9]+ [0-9]+$");
    snprintf(pids, sizeof pids, "%d %d", (int)terminal_pid(t), (int)terminal_worker(t));
    assert_string_equal(terminal_line(t, 0), pids);
    assert_true(terminal_cpu(t) >= 0);
    terminal_signal(t, SIGKILL);
    assert_int_equal(terminal_await_exit(t), 128 + SIGKILL);
    terminal_end(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_stands_on_the_screen),
        cmocka_unit_test(keys_reach_the_program),
        cmocka_unit_test(the_size_is_what_was_asked_for_and_changes),
        cmocka_unit_test(the_environment_is_the_tests),
        cmocka_unit_test(the_end_is_told),
        cmocka_unit_test(modes_and_screens_of_the_terminal_are_known),
        cmocka_unit_test(what_ncurses_asks_of_a_terminal_is_done),
        cmocka_unit_test(the_mouse_is_told_to_who_asks),
        cmocka_unit_test(the_worker_is_the_child),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
