/* mgbench-tui starts, opens paused and leaves the terminal as it was; or says in one line why it does not start. */
#include "tests/screens/live.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* How many lines there are on the screen. */
static int lines_of(struct terminal *t)
{
    int count = 0;
    for (int y = 0; y < 24; y++)
        count += *terminal_line(t, y) != 0;
    return count;
}

static void refused(struct program *p, const struct terminal_options *options,
                    const char *const *words, int code, const char *line)
{
    struct terminal *t = program_start_words(p, options, words);
    assert_int_equal(terminal_await_exit(t), code);
    if (!terminal_has(t, line))
        fail_msg("'%s' is not in:\n%s", line, terminal_text(t));
    assert_false(terminal_state(t).alternate);
    terminal_check_restored(t);
}

static void a_terminal_that_cannot_be_used_is_told_in_one_line(void **state)
{
    static const char *const terms[] = {"", "dumb", "no-such-terminal", "unknown"};
    static const char *const words[] = {"mgbench-tui", "mlp", "--backend", "host", NULL};
    for (size_t i = 0; i < sizeof terms / sizeof *terms; i++) {
        struct terminal_options options = {.columns = 250, .term = terms[i]};
        refused(*state, &options, words, 4, "mgbench-tui: ");
        assert_int_equal(lines_of(((struct program *)*state)->terminal), 1);
        assert_true(terminal_has(((struct program *)*state)->terminal, "TERM"));
    }
}

static void without_a_terminal_it_says_so(void **state)
{
    static const char *const words[] = {"sh", "-c",
                                        "mgbench-tui mlp --backend host </dev/null | cat; :", NULL};
    struct terminal_options options = {.columns = 250};
    refused(*state, &options, words, 0, "mgbench-tui: ");
    assert_int_equal(lines_of(((struct program *)*state)->terminal), 1);
}

static void words_that_are_wrong_are_refused_before_anything_is_drawn(void **state)
{
    static const struct {
        const char *words[6], *line;
        int code;
    } cases[] = {
        {{"mgbench-tui", "--gpsu", "2"}, "unknown option '--gpsu' (did you mean '--gpus'?)", 2},
        {{"mgbench-tui", "mpl"}, "there is no model 'mpl' (did you mean 'mlp'?)", 2},
        {{"mgbench-tui", "mlp", "lenet"},
         "'lenet' is one word too many; usage: mgbench-tui [MODEL]",
         2},
        {{"mgbench-tui", "mlp", "--batch", "x"}, "batch = x: give a whole number", 2},
        {{"mgbench-tui", "--run"}, "--run: there is no model to run", 2},
        {{"mgbench-tui", "mlp", "--run", "--readonly"},
         "--run and --readonly exclude each other",
         2},
        {{"mgbench-tui", "--keys", "Space,Spce"}, "--keys: no key is called 'Spce'", 2},
        {{"mgbench-tui", "--screen", "run"}, "--screen: one of bench, devices", 2},
        {{"mgbench-tui", "mlp", "--rho", "1"}, "--rho belongs to rmsprop and adadelta, not sgd", 2},
        {{"mgbench-tui", "mlp", "--backend", "sim"},
         "--backend sim: which machine is to be simulated?",
         2},
        {{"mgbench-tui", "mlp", "--backend", "x"}, "--backend: there is no backend 'x'", 4},
        {{"mgbench-tui", "mlp", "--backend", "host", "--gpus=17"},
         "; ask for fewer, or 0 for one tower on /cpu:0",
         4},
        {{"mgbench-tui", "mlp", "--backend", "host", "--gpus=0,0"}, "/gpu:0 is listed twice", 2},
        {{"mgbench-tui", "mlp", "--machine", "x"}, "there is no machine 'x'", 2},
    };
    struct terminal_options options = {.columns = 250};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        refused(*state, &options, cases[i].words, cases[i].code, cases[i].line);
        size_t size;
        const char *output = terminal_output(((struct program *)*state)->terminal, &size);
        assert_null(strchr(output, '\033'));
    }
}

static void what_is_only_asked_is_answered(void **state)
{
    static const char *const version[] = {"mgbench-tui", "--version", NULL};
    static const char *const help[] = {"mgbench-tui", "--help", NULL};
    struct terminal_options options = {.rows = 250, .columns = 160};
    refused(*state, &options, version, 0, "mgbench-tui 0.1.0");
    refused(*state, &options, help, 0, "usage: mgbench-tui [MODEL] [options] [placement options]");
    assert_true(terminal_has(((struct program *)*state)->terminal, "--keep-running"));
    assert_true(terminal_has(((struct program *)*state)->terminal, "--weights-at"));
}

static void it_opens_paused_and_stores_nothing(void **state)
{
    struct program *p = *state;
    struct terminal *t = program_start(p, NULL, "mlp", "--backend", "host", "--gpus", "2", NULL);
    terminal_await(t, "READY");
    assert_true(terminal_has(t, "mlp"));
    assert_true(terminal_state(t).alternate);
    assert_false(terminal_has(t, "RUNNING"));
    assert_int_not_equal(access(p->database, F_OK), 0);
    live_quit(t);
    assert_int_not_equal(access(p->database, F_OK), 0);
}

static void space_runs_it_and_the_run_is_stored(void **state)
{
    struct program *p = *state;
    struct terminal *t = program_start(p, NULL, "mlp", "--backend", "host", "--gpus", "2", NULL);
    terminal_await(t, "READY");
    terminal_press(t, "Space");
    terminal_await(t, "RUNNING");
    terminal_press(t, "Space");
    terminal_await(t, "PAUSED");
    assert_string_equal(program_ask(p, "select count(*) from run"), "1");
    live_quit(t);
    assert_string_equal(program_ask(p, "select outcome from run"), "ok");
    assert_string_equal(program_ask(p, "select count(*) > 0 from step"), "1");
}

static void it_starts_on_terminals_of_many_kinds(void **state)
{
    static const char *const terms[] = {"xterm-256color", "xterm", "screen", "tmux-256color",
                                        "vt100",          "linux", "rxvt",   "vt220"};
    for (size_t i = 0; i < sizeof terms / sizeof *terms; i++) {
        struct terminal_options options = {.term = terms[i]};
        struct terminal *t = program_start(*state, &options, "mlp", "--backend", "host", NULL);
        terminal_await(t, "READY");
        live_quit(t);
    }
}

static void keys_and_screen_of_the_command_line_are_taken(void **state)
{
    struct program *p = *state;
    struct terminal *t = program_start(p, NULL, "mlp", "--backend", "host", "--no-supervisor",
                                       "--screen", "variables", "--keys", "1,Space", NULL);
    terminal_await(t, "RUNNING");
    assert_int_equal(terminal_worker(t), terminal_pid(t));
    live_quit(t);
}

static void for_looking_only_nothing_runs(void **state)
{
    struct program *p = *state;
    struct terminal *t = program_start(p, NULL, "mlp", "--backend", "host", "--readonly", NULL);
    terminal_await(t, "READY");
    terminal_press(t, "Space");
    terminal_await_match(t, "! .*--readonly"); /* the head has the word all the while */
    assert_false(terminal_has(t, "RUNNING"));
    live_quit(t);
    assert_int_not_equal(access(p->database, F_OK), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_terminal_that_cannot_be_used_is_told_in_one_line,
                                        live_begin, live_end),
        cmocka_unit_test_setup_teardown(without_a_terminal_it_says_so, live_begin, live_end),
        cmocka_unit_test_setup_teardown(words_that_are_wrong_are_refused_before_anything_is_drawn,
                                        live_begin, live_end),
        cmocka_unit_test_setup_teardown(what_is_only_asked_is_answered, live_begin, live_end),
        cmocka_unit_test_setup_teardown(it_opens_paused_and_stores_nothing, live_begin, live_end),
        cmocka_unit_test_setup_teardown(space_runs_it_and_the_run_is_stored, live_begin, live_end),
        cmocka_unit_test_setup_teardown(it_starts_on_terminals_of_many_kinds, live_begin, live_end),
        cmocka_unit_test_setup_teardown(keys_and_screen_of_the_command_line_are_taken, live_begin,
                                        live_end),
        cmocka_unit_test_setup_teardown(for_looking_only_nothing_runs, live_begin, live_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
