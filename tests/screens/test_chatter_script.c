/* What scripts print while the screen is shown stands in the log and in its file and does nothing to the screen; what they
 * write past it, to the descriptors, is told once more at the end. (reference/ecosystem.md, section 2, row 51.) */
#include "tests/screens/emulator.h"
#include "tests/screens/visit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

/* Shows the log, with the newest at its end. */
static void log_show(struct terminal *t)
{
    visit_go(t, &visit_places[6]);
}

static void bench_is_whole(struct terminal *t)
{
    visit_go(t, &visit_places[0]);
    terminal_await_match(t, "weights at +[gc]pu:0");
    terminal_await_match(t, "^mgbench  mlp ");
}

static bool file_has(struct program *p, const char *text)
{
    char line[300];
    snprintf(line, sizeof line, "--version >/dev/null; grep -rqF '%s' '%s/state'", text, p->folder);
    return program_run(p, line) == 0;
}

/* The file may be a moment behind the screen. */
static bool file_gets(struct program *p, const char *text)
{
    for (int i = 0; i < 100; i++) {
        if (file_has(p, text))
            return true;
        nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    }
    return false;
}

/* On the first screen, which has been left: below what was there before. */
static void is_told_at_the_end(struct terminal *t, const char *text)
{
    live_quit(t);
    if (!terminal_has(t, text))
        terminal_fail(t, "'%s' is not told at the end", text);
}

static void print_goes_to_the_log(void **state)
{
    struct program *p = *state;
    struct terminal *t = visit_start(p, NULL, NULL, NULL);
    live_command(t, "print('printed', 1 + 1)");
    log_show(t);
    terminal_await_match(t, "> *printed[ \\\\t]+2");
    bench_is_whole(t);
    live_run(t);
    live_command(t, "print('while it runs')");
    log_show(t);
    terminal_await(t, "while it runs");
    bench_is_whole(t);
    assert_true(file_gets(p, "while it runs"));
    live_quit(t);
}

static void both_descriptors_go_to_the_log(void **state)
{
    struct program *p = *state;
    struct terminal *t = visit_start(p, NULL, NULL, NULL);
    live_command(t, "io.stderr:write('to the second\\n')");
    live_command(t, "io.stdout:write('to the first\\n')");
    log_show(t);
    terminal_await_match(t, "> *to the second");
    terminal_await_match(t, "> *to the first");
    live_command(t, "io.stderr:write('without an end')");
    terminal_await_match(t, "> *without an end");
    live_command(t, "io.stderr:write('one\\rtwo\\rthree\\n')");
    terminal_await_match(t, "> *two");
    terminal_await_match(t, "> *three");
    bench_is_whole(t);
    assert_true(file_gets(p, "to the second"));
    is_told_at_the_end(t, "to the second");
    assert_true(terminal_has(t, "to the first"));
}

/* Nothing of it reaches the terminal as it is, neither then nor at the end. */
static void sequences_for_terminals_do_nothing(void **state)
{
    struct program *p = *state;
    struct terminal *t = visit_start(p, NULL, NULL, NULL);
    size_t size;
    live_command(t, "io.stderr:write('\\27]0;owned\\7\\27[2J\\27[31mred\\27[?1049l\\n')");
    live_command(t, "print('\\27[2J\\27]0;owned\\7second')");
    live_command(t, "io.stdout:write('\\xff\\xc3\\x28 bad \\u{202e}turned\\n')");
    log_show(t);
    terminal_await(t, "red");
    terminal_await(t, "second");
    terminal_await(t, "turned");
    assert_true(terminal_state(t).alternate);
    bench_is_whole(t);
    is_told_at_the_end(t, "turned");
    const char *output = terminal_output(t, &size);
    assert_null(strstr(output, "\033]0;owned"));
    assert_null(strstr(output, "\033[31m"));
    assert_null(strstr(output, "\xff"));
    assert_null(strstr(output, "\342\200\256"));
}

/* More than a pipe holds, faster than anybody reads. */
static void a_flood_holds_nobody_up(void **state)
{
    struct program *p = *state;
    struct terminal *t = visit_start(p, NULL, NULL, NULL);
    live_command(t, "for i = 1, 50000 do io.stderr:write('line ', i, '\\n') end");
    visit_all(t, NULL, NULL);
    log_show(t);
    terminal_await(t, "line 50000");
    bench_is_whole(t);
    live_run(t);
    is_told_at_the_end(t, "line 50000");
    assert_true(terminal_has(t, "line 49990"));
}

/* A line longer than any screen. */
static void a_long_line_is_cut_to_the_screen(void **state)
{
    struct program *p = *state;
    struct terminal *t = visit_start(p, NULL, NULL, NULL);
    live_command(t, "io.stderr:write(('long '):rep(3000), 'end\\n')");
    log_show(t);
    terminal_await(t, "long long long");
    bench_is_whole(t);
    assert_true(file_gets(p, "long end"));
    live_quit(t);
}

/* Keys are the screen's: what a script reads is at its end at once, and the terminal is refused by name. */
static void scripts_cannot_read_the_keyboard(void **state)
{
    static const struct {
        const char *line, *told;
    } reads[] = {
        {"print('got', io.read())", "got[ \\\\t]+nil"},
        {"print('all', #io.stdin:read('a'))", "all[ \\\\t]+0"},
        {"for l in io.lines('/dev/stdin') do end print('li' .. 'nes')", "> *lines"},
        {"print(pcall(io.open, '/dev/tty'))", "io.open: a terminal cannot be read here"},
        {"print(pcall(io.lines, '/dev/tty'))", "io.lines: a terminal cannot be read here"},
        {"print(pcall(dofile, '/dev/tty'))", "dofile: a terminal cannot be read here"},
    };
    struct program *p = *state;
    struct terminal *t = visit_start(p, NULL, NULL, NULL);
    log_show(t);
    for (size_t i = 0; i < sizeof reads / sizeof *reads; i++) {
        live_command(t, reads[i].line);
        terminal_await_match(t, reads[i].told);
    }
    live_quit(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(print_goes_to_the_log, live_begin, live_end),
        cmocka_unit_test_setup_teardown(scripts_cannot_read_the_keyboard, live_begin, live_end),
        cmocka_unit_test_setup_teardown(both_descriptors_go_to_the_log, live_begin, live_end),
        cmocka_unit_test_setup_teardown(sequences_for_terminals_do_nothing, live_begin, live_end),
        cmocka_unit_test_setup_teardown(a_flood_holds_nobody_up, live_begin, live_end),
        cmocka_unit_test_setup_teardown(a_long_line_is_cut_to_the_screen, live_begin, live_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
