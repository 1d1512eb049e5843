/* Ctrl-Z: the shell has the terminal as it was, and fg brings the screen back. */
#include "tests/screens/visit.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void suspended_and_brought_back(const char *options)
{
    struct program p;
    char script[400];
    program_make(&p);
    snprintf(
        script, sizeof script,
        "set -m; mgbench-tui mlp --backend host %s; echo \"stopped $?\"; read word; fg >/dev/null; "
        "echo \"ended $?\"; read word",
        options);
    const char *const words[] = {"bash", "-c", script, NULL};
    struct terminal *t = program_start_words(&p, NULL, words);
    terminal_await(t, "READY");
    terminal_press(t, "Ctrl-Z");
    terminal_await(t, "stopped 14"); /* 128 and SIGTSTP or SIGSTOP */
    terminal_check_restored(t);
    terminal_resize(t, 30, 100);
    terminal_type(t, "go on\n");
    terminal_await(t, "READY");
    assert_true(terminal_state(t).alternate);
    terminal_press(t, "2");
    terminal_await(t, "[2]Devices");
    visit_await_size(t);
    terminal_await_match(t, "^── DEVICES ");
    terminal_press(t, "q");
    terminal_await(t, "ended 0");
    terminal_check_restored(t);
    program_free(&p);
}

static void under_the_supervisor(void **state)
{
    (void)state;
    suspended_and_brought_back("");
}

static void as_one_process(void **state)
{
    (void)state;
    suspended_and_brought_back("--no-supervisor");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(under_the_supervisor),
                                       cmocka_unit_test(as_one_process)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
