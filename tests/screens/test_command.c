/* The line after ':': settings, commands of mgbench, Lua with its errors, history and completion; '/' filters; tags, notes and
 * deletion of runs, also of the one that runs. */
#include "tests/screens/live.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void settings_are_made(void **state)
{
    struct program *p = *state;
    struct terminal *t = live_ready(p, NULL, NULL);
    live_command(t, "set batch=4 gpus=1");
    terminal_await_match(t, "GPUs -/[+] +1 ");
    terminal_await_match(t, "batch/GPU +4 ");
    live_command(t, "gpus=2");
    terminal_await_match(t, "GPUs -/[+] +2 ");
    live_command(t, "weights");
    terminal_await_match(t, "weights at +cpu:0");
    live_command(t, "undo");
    terminal_await_match(t, "weights at +gpu:0");
    live_command(t, "model digits_cnn");
    terminal_await_match(t, "mgbench +digits_cnn");
    live_command(t, "data digits");
    terminal_await(t, "data:digits");
    live_command(t, "backend host");
    terminal_await_match(t, "digits_cnn .*host");
    live_command(t, "model nosuch");
    terminal_await_match(t, "! .*nosuch");
    terminal_await_match(t, "mgbench +digits_cnn");
    live_command(t, "data nosuch");
    terminal_await_match(t, "! .*nosuch");
    live_command(t, "machine");
    terminal_await(t, "a machine file is missing");
    live_command(t, "machine nosuch.lua");
    terminal_await_match(t, "! .*(nosuch|simulator)");
    live_command(t, "run");
    terminal_await_match(t, "RUNNING +[1-9]");
    live_command(t, "run");
    terminal_await(t, "PAUSED");
    assert_string_equal(database_text(p,
                                      "SELECT m.name || ' ' || r.data FROM run r JOIN model m ON "
                                      "m.id = r.model_id"),
                        "digits_cnn digits all");
    live_command(t, "quit");
    assert_int_equal(terminal_await_exit(t), 0);
}

static void commands_of_mgbench_are_run_beside_the_session(void **state)
{
    struct program *p = *state;
    struct terminal *t = live_ready(p, NULL, NULL);
    live_run(t);
    live_await_segment(t, 1);
    terminal_press(t, "r");
    live_await_segment(t, 2);
    live_command(t, "show last");
    terminal_await(t, "[Output]");
    terminal_await_match(t, "model +mlp");
    terminal_press(t, "Esc");
    terminal_await(t, "PLACEMENT");
    live_command(t, "compare 1.1 1.2");
    terminal_await(t, "[Output]");
    terminal_await_match(t, "weights_at +/gpu:0 +/cpu:0");
    terminal_press(t, "Esc");
    terminal_await(t, "PLACEMENT");
    terminal_press(t, "c"); /* the key does the same */
    terminal_await(t, "[Output]");
    terminal_press(t, "Esc");
    terminal_await(t, "PLACEMENT");
    live_command(t, "query 'SELECT 20 + 22 AS answer, run_id FROM segment' --csv");
    terminal_await(t, "[Output]");
    terminal_await_match(t, "42,1");
    terminal_press(t, "Esc");
    terminal_await(t, "PLACEMENT");
    live_command(t, "show 99");
    terminal_await_match(t, "! .*99");
    live_command(t, "shwo last");
    terminal_await(t, "did you mean 'show'?");
    live_command(t, "show 'last");
    terminal_await(t, "a quote is not closed");
    terminal_press(t, "1");
    terminal_await(t, "RUNNING"); /* none of it has stopped the session */
    live_pause(t);
    live_quit(t);
}

static void expressions_are_lua(void **state)
{
    struct program *p = *state;
    struct terminal *t = live_ready(p, NULL, NULL);
    live_command(t, "1 + 2 * 20");
    terminal_press(t, "7");
    terminal_await(t, "> 41");
    live_command(t, "s == nil");
    terminal_await(t, "> true");
    live_command(t, "x = 'kept from one to the ' .. 'next'");
    live_command(t, "x");
    terminal_await(t, "> kept from one to the next");
    live_command(t, "print('printed', 7)");
    terminal_await_match(t, "> printed +7");
    terminal_press(t, "1");
    live_run(t);
    live_pause(t);
    live_command(t, "s.step_index");
    terminal_press(t, "7");
    char steps[40];
    snprintf(steps, sizeof steps, "> %s", database_text(p, "SELECT count(*) FROM step"));
    terminal_await(t, steps);
    live_command(t, "s:step(5)");
    live_command(t, "s:set{ batch = 4 }");
    terminal_await(t, "seg 2 ");
    live_quit(t);
}

static void errors_have_their_line_and_traceback(void **state)
{
    struct program *p = *state;
    struct terminal *t = live_ready(p, NULL, NULL);
    char path[200];
    live_command(t, "1 +");
    terminal_await_match(t, "! .*unexpected symbol near <eof>");
    live_command(t, "nosuch.field");
    terminal_await_match(t, "! .*nosuch");
    live_command(t, "s:step(1)");
    terminal_await_match(t, "! .*nil");
    snprintf(path, sizeof path, "%s/deep.lua", p->folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("local m = {}\nlocal function inner() error('the depth of it') end\n"
          "function m.outer() inner() end\nreturn m\n",
          file);
    fclose(file);
    terminal_press(t, "q");
    assert_int_equal(terminal_await_exit(t), 0);
    t = live_ready(p, NULL, "--lua-path", p->folder, NULL);
    live_command(t, "=require('deep').outer()");
    terminal_await_match(t, "! .*deep.lua:2: the depth of it");
    terminal_press(t, "7");
    terminal_await_match(t, "E .*deep.lua:2: the depth of it");
    terminal_await(t, "local function inner() error('the depth of it') end"); /* the line itself */
    terminal_await(t, "traceback");
    terminal_await_match(t, "deep.lua:3: in ");
    terminal_press(t, "1");
    live_run(t); /* nothing is spoiled by it */
    live_quit(t);
}

/* As changes do that are asked for meanwhile; asked for twice it still runs. */
static void a_run_asked_for_meanwhile_waits_for_the_expression(void **state)
{
    struct program *p = *state;
    struct terminal *t = live_ready(p, NULL, NULL);
    char path[200], line[300];
    snprintf(path, sizeof path, "%s/go", p->folder);
    snprintf(line, sizeof line, "while not io.open('%s') do end", path);
    live_command(t, line);
    terminal_await(t, "BUSY");
    terminal_press(t, "Space");
    terminal_await(t, "steps run after it");
    terminal_press(t, "Space");
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fclose(file);
    terminal_await_match(t, "RUNNING +[1-9]");
    live_pause(t);
    live_quit(t);
}

static void a_loop_that_never_ends_is_stopped(void **state)
{
    struct program *p = *state;
    struct terminal *t = live_ready(p, NULL, NULL);
    live_run(t);
    live_command(t, "while true do end");
    terminal_await(t, "BUSY");
    terminal_press(t, "2");
    terminal_await(t, "DEVICES");
    terminal_press(t, "Ctrl-C");
    terminal_await_gone(t, "BUSY");
    terminal_press(t, "7");
    terminal_await(t, "the expression was stopped");
    terminal_press(t, "1");
    live_quit(t);
}

static void lines_come_back_and_are_completed(void **state)
{
    struct program *p = *state;
    struct terminal *t = live_ready(p, NULL, NULL);
    live_command(t, "set batch=4");
    terminal_await_match(t, "batch/GPU +4 ");
    live_command(t, "set batch=16");
    terminal_await_match(t, "batch/GPU +16 ");
    terminal_type(t, ":");
    terminal_press(t, "Up");
    terminal_await(t, ":set batch=16");
    terminal_press(t, "Up");
    terminal_await(t, ":set batch=4");
    terminal_press(t, "Down,Down");
    terminal_await_gone(t, ":set");
    terminal_press(t, "Up,Up,Enter");
    terminal_await_match(t, "batch/GPU +4 ");
    terminal_type(t, ":basel");
    terminal_press(t, "Tab");
    terminal_await(t, ":baseline");
    terminal_press(t, "Ctrl-U");
    terminal_type(t, "set strat");
    terminal_press(t, "Tab");
    terminal_await(t, ":set strategy=");
    terminal_type(t, "gr");
    terminal_press(t, "Tab");
    terminal_await(t, ":set strategy=gradients");
    terminal_press(t, "Enter");
    terminal_await_match(t, "strategy +gradients");
    terminal_type(t, ":model digits_c");
    terminal_press(t, "Tab");
    terminal_await(t, ":model digits_cnn");
    terminal_press(t, "Esc");
    terminal_await_gone(t, ":model");
    live_quit(t);
    t = live_ready(p, NULL, NULL); /* they are kept for the next time */
    terminal_type(t, ":");
    terminal_press(t, "Up");
    terminal_await(t, ":set strategy=gradients");
    terminal_press(t, "Esc");
    terminal_await_gone(t, ":set");
    live_quit(t);
}

static void filters_leave_only_what_matches(void **state)
{
    struct program *p = *state;
    struct terminal *t = live_ready(p, NULL, NULL);
    terminal_press(t, "3");
    terminal_await(t, "dense_1/bias");
    terminal_type(t, "/logits");
    terminal_press(t, "Enter");
    terminal_await_gone(t, "dense_1/bias");
    terminal_await(t, "logits/kernel");
    terminal_press(t, "Esc");
    terminal_await(t, "dense_1/bias");
    terminal_press(t, "5");
    terminal_await(t, "nothing has been recorded in it");
    terminal_press(t, "1");
    live_run(t);
    live_await_segment(t, 1);
    terminal_press(t, "b");
    live_await_segment(t, 2);
    live_pause(t);
    terminal_press(t, "5");
    terminal_await_match(t, "1[.]1 +mlp");
    terminal_type(t, "/batch=4");
    terminal_press(t, "Enter");
    terminal_await_gone(t, " 1.1 ");
    terminal_await_match(t, "1[.]2 +mlp");
    terminal_press(t, "Esc");
    terminal_await_match(t, "1[.]1 +mlp");
    terminal_type(t, "/btach=4");
    terminal_press(t, "Enter");
    terminal_await_match(t, "! .*batch");
    terminal_press(t, "Esc,1");
    live_quit(t);
}

static bool is_noted(struct terminal *t, void *program)
{
    (void)t;
    return database_number(program, "SELECT count(*) FROM note WHERE run_id = 2") > 0;
}

/* From the list, of the run on the bench and of another one. */
static void runs_are_tagged_noted_and_deleted(void **state)
{
    struct program *p = *state;
    assert_int_equal(program_run(p, "run mlp --backend host --steps 5 --quiet"), 0);
    assert_int_equal(program_run(p, "run mlp --backend host --steps 5 --quiet"), 0);
    struct terminal *t = live_ready(p, NULL, NULL);
    live_run(t); /* run 3 */
    terminal_press(t, "5");
    terminal_await_match(t, "> +3[.]1 +mlp");
    terminal_press(t, "t");
    terminal_await(t, "tag run 3");
    terminal_type(t, "while-it-runs");
    terminal_press(t, "Enter");
    terminal_press(t, "7");
    terminal_await(t, "tag of run 3: while-it-runs");
    terminal_press(t, "5,n");
    terminal_await(t, "note to run 3");
    terminal_type(t, "it's \"quoted\" -- and long");
    terminal_press(t, "Enter,7");
    terminal_await(t, "note of run 3: ");
    terminal_press(t, "5,d");
    terminal_await(t, "this run is on the bench: x there ends it, then it can go");
    terminal_press(t, "1");
    live_pause(t);
    terminal_press(t, "5,t");
    terminal_await(t, "tag run 3");
    terminal_type(t, "while-paused");
    terminal_press(t, "Enter,7");
    terminal_await(t, "tag of run 3: while-paused");
    assert_string_equal(database_text(p,
                                      "SELECT group_concat(name) FROM (SELECT name FROM tag WHERE "
                                      "run_id = 3 ORDER BY name)"),
                        "while-it-runs,while-paused");
    assert_string_equal(database_text(p, "SELECT text FROM note WHERE run_id = 3 ORDER BY id DESC"),
                        "it's \"quoted\" -- and long");
    terminal_press(t, "1,x");
    terminal_await(t, "end run 3");
    terminal_press(t, "y");
    terminal_await(t, "READY");
    terminal_press(t, "5");
    terminal_await_match(t, "> +3[.]1 +mlp");
    terminal_press(t, "Down");
    terminal_await_match(t, "> +2[.]1 +mlp");
    terminal_press(t, "n");
    terminal_await(t, "note to run 2");
    terminal_type(t, "of another run");
    terminal_press(t, "Enter");
    terminal_await_that(t, is_noted, p, "the note in the file");
    terminal_press(t, "d");
    terminal_await(t, "delete run 2");
    terminal_press(t, "n");
    terminal_await_gone(t, "delete run 2");
    assert_string_equal(database_text(p, "SELECT count(*) FROM run"), "3");
    assert_string_equal(database_text(p, "SELECT text FROM note WHERE run_id = 2 ORDER BY id DESC"),
                        "of another run");
    terminal_press(t, "d");
    terminal_await(t, "delete run 2");
    terminal_press(t, "y");
    terminal_await_gone(t, "delete run 2");
    terminal_await_gone(t, " 2.1 mlp");
    assert_string_equal(database_text(p,
                                      "SELECT group_concat(id) FROM (SELECT id FROM run ORDER BY "
                                      "id)"),
                        "1,3");
    live_quit(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(settings_are_made, live_begin, live_end),
        cmocka_unit_test_setup_teardown(commands_of_mgbench_are_run_beside_the_session, live_begin,
                                        live_end),
        cmocka_unit_test_setup_teardown(expressions_are_lua, live_begin, live_end),
        cmocka_unit_test_setup_teardown(errors_have_their_line_and_traceback, live_begin, live_end),
        cmocka_unit_test_setup_teardown(a_loop_that_never_ends_is_stopped, live_begin, live_end),
        cmocka_unit_test_setup_teardown(a_run_asked_for_meanwhile_waits_for_the_expression,
                                        live_begin, live_end),
        cmocka_unit_test_setup_teardown(lines_come_back_and_are_completed, live_begin, live_end),
        cmocka_unit_test_setup_teardown(filters_leave_only_what_matches, live_begin, live_end),
        cmocka_unit_test_setup_teardown(runs_are_tagged_noted_and_deleted, live_begin, live_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
