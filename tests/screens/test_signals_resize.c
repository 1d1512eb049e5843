/* A new size is seen without a key, while steps run: no other thread takes the signal, no handler does anything, and a
 * thousand of them leave keys answered. (reference/ecosystem.md 6.3, rows 9 and 14.) */
#include "tests/screens/emulator.h"
#include "tests/screens/visit.h"

#include <dirent.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Nothing is pressed from here on. */
static void sizes_are_seen_without_a_key(void **state)
{
    static const int sizes[][2] = {{30, 100}, {50, 160}, {24, 80}, {12, 60}, {60, 200}};
    struct terminal *t = visit_start(*state, NULL, NULL, NULL);
    live_run(t);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        terminal_resize(t, sizes[i][0], sizes[i][1]);
        visit_await_size(t);
        terminal_await_match(t, "^mgbench|^mlp");
        terminal_await_match(t, "^ space pause");
        terminal_await(t, "RUNNING");
    }
    live_quit(t);
}

/* A bit of a mask of /proc/PID/task/TID/status. */
static bool mask_has(const char *folder, const char *name, int number)
{
    char path[300], line[200];
    unsigned long long mask = 0;
    snprintf(path, sizeof path, "%s/status", folder);
    FILE *file = fopen(path, "r");
    if (!file)
        return true; /* a thread that has ended */
    size_t length = strlen(name);
    while (fgets(line, sizeof line, file))
        if (strncmp(line, name, length) == 0)
            mask = strtoull(line + length + 1, NULL, 16);
    fclose(file);
    return mask >> (number - 1) & 1;
}

/* Every thread of the engine, the recorder and the others has them blocked, the main one too, which reads them from a
 * descriptor. */
static void no_thread_and_no_handler_takes_them(void **state)
{
    static const int numbers[] = {SIGWINCH, SIGINT, SIGTERM, SIGHUP, SIGTSTP};
    struct terminal *t = visit_start(*state, NULL, NULL, NULL);
    char folder[200], task[600];
    int threads = 0;
    live_run(t);
    snprintf(folder, sizeof folder, "/proc/%d/task", (int)terminal_worker(t));
    DIR *tasks = opendir(folder);
    assert_non_null(tasks);
    for (const struct dirent *one; (one = readdir(tasks));) {
        if (one->d_name[0] == '.')
            continue;
        threads++;
        snprintf(task, sizeof task, "%s/%s", folder, one->d_name);
        for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
            if (!mask_has(task, "SigBlk:", numbers[i]))
                fail_msg("signal %d is not blocked in thread %s", numbers[i], one->d_name);
    }
    closedir(tasks);
    assert_true(threads >= 4);
    snprintf(task, sizeof task, "/proc/%d", (int)terminal_worker(t));
    assert_false(mask_has(task, "SigCgt:", SIGWINCH));
    live_quit(t);
}

static void a_thousand_at_once_leave_keys_answered(void **state)
{
    struct program *p = *state;
    struct terminal *t = visit_start(p, NULL, NULL, NULL);
    live_run(t);
    for (int i = 0; i < 1000; i++) {
        if (i % 2)
            terminal_resize(t, 24 + i % 7, 80 + i % 11);
        else
            kill(terminal_worker(t), SIGWINCH);
        if (i % 100 == 50)
            terminal_press(t, i % 200 == 50 ? "2" : "3");
        terminal_look(t, 2);
    }
    terminal_resize(t, 24, 80);
    visit_all(t, NULL, NULL);
    terminal_await(t, "RUNNING");
    live_pause(t);
    live_quit(t);
    assert_string_equal(
        database_text(p, "SELECT count(*) > 0 AND count(*) = max(step) + 1 FROM step"), "1");
}

/* Signals alone, with no new size. */
static void a_flood_of_signals_is_drawn_through(void **state)
{
    struct terminal *t = visit_start(*state, NULL, NULL, NULL);
    size_t before = terminal_state(t).bytes;
    for (int i = 0; i < 5000; i++)
        kill(terminal_worker(t), SIGWINCH);
    terminal_press(t, "4");
    terminal_await(t, "[4]Plan");
    terminal_await_match(t, visit_places[3].hint);
    /* no picture for each of them */
    assert_true(terminal_state(t).bytes - before < 5000 * 100);
    live_quit(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(sizes_are_seen_without_a_key, live_begin, live_end),
        cmocka_unit_test_setup_teardown(no_thread_and_no_handler_takes_them, live_begin, live_end),
        cmocka_unit_test_setup_teardown(a_thousand_at_once_leave_keys_answered, live_begin,
                                        live_end),
        cmocka_unit_test_setup_teardown(a_flood_of_signals_is_drawn_through, live_begin, live_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
