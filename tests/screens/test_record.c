/* R writes what was done as a script; run by mgbench, it gives the same losses and the same weights to the last bit. v proves
 * that a toggle changed nothing of that. */
#include "tests/screens/live.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* Of the session's weights, as an expression gives it, read from the log; borrowed. */
static const char *digest_of(struct terminal *t)
{
    static char digest[20];
    live_command(t, "s:digest()");
    terminal_press(t, "7");
    terminal_await_match(t, " > [0-9a-f]{16}");
    for (int y = 3; y < 22; y++) {
        const char *at = strstr(terminal_line(t, y), " > ");
        if (at)
            snprintf(digest, sizeof digest, "%.16s", at + 3);
    }
    terminal_press(t, "1");
    terminal_await(t, "PLACEMENT");
    return digest;
}

static void check_repeats(struct program *p, const char *digest, const char *script)
{
    char words[300];
    snprintf(words, sizeof words, "-e %s --quiet | grep -c '%s'", script, digest);
    program_run(p, words);
    assert_string_equal(p->answer, "1");
    assert_string_equal(database_text(p, "SELECT count(*) FROM run"), "2");
    assert_string_equal(
        database_text(p,
                      "SELECT count(*) = (SELECT max(step) + 1 FROM step) FROM step a JOIN step "
                      "b ON a.step = b.step JOIN segment g ON g.id = a.segment_id JOIN segment h "
                      "ON h.id = b.segment_id WHERE g.run_id = 1 AND h.run_id = 2 AND a.loss IS "
                      "b.loss"),
        "1");
    assert_string_equal(
        database_text(p, "SELECT (SELECT group_concat(strategy || batch_per_gpu || gpus, ' ') FROM "
                         "segment WHERE run_id = 1) = (SELECT group_concat(strategy || "
                         "batch_per_gpu || gpus, ' ') FROM segment WHERE run_id = 2)"),
        "1");
}

static void the_script_that_r_writes_repeats_the_session(void **state)
{
    struct program *p = *state;
    struct terminal *t = live_ready(p, NULL, "--seed", "7", NULL);
    live_run(t);
    static const char *const keys[] = {"r", "s", "B", "g", "u"};
    for (int i = 0; i < 5; i++) {
        terminal_press(t, keys[i]);
        live_await_segment(t, 2 + i);
    }
    live_command(t, "set staged=true");
    live_await_segment(t, 7);
    live_pause(t);
    live_run(t);
    live_pause(t);
    const char *digest = digest_of(t);
    terminal_press(t, "R");
    terminal_await(t, "write the session to: session.lua");
    terminal_press(t, "Enter");
    terminal_await_gone(t, "write the session to:");
    terminal_press(t, "7");
    terminal_await(t, "wrote session.lua");
    terminal_press(t, "1,R,Enter");
    terminal_await(t, "session.lua exists");
    live_quit(t);
    check_repeats(p, digest, "session.lua");
}

static void expressions_are_part_of_what_is_written(void **state)
{
    struct program *p = *state;
    struct terminal *t = live_ready(p, NULL, "--seed", "7", NULL);
    live_run(t);
    live_pause(t);
    live_command(t, "s:set{ batch = 4 }");
    terminal_await_match(t, "seg 2 ");
    live_command(t, "for i = 1, 3 do s:step(i) end");
    terminal_await_match(t, "PAUSED");
    live_rest(t);
    const char *digest = digest_of(t);
    live_command(t, "record done.lua");
    terminal_press(t, "7");
    terminal_await(t, "wrote done.lua");
    live_quit(t);
    check_repeats(p, digest, "done.lua");
}

static void nothing_was_run_and_nothing_is_written(void **state)
{
    struct program *p = *state;
    struct terminal *t = live_ready(p, NULL, NULL);
    terminal_press(t, "R,Enter");
    terminal_await(t, "nothing was run yet");
    live_quit(t);
    assert_int_not_equal(program_run(p, "-e session.lua 2>/dev/null"), 0);
}

static void verify_proves_that_a_toggle_changes_no_loss(void **state)
{
    struct program *p = *state;
    struct terminal *t = live_ready(p, NULL, NULL);
    live_run(t);
    terminal_press(t, "v");
    terminal_await_match(t, "no earlier placement");
    terminal_press(t, "r");
    live_await_segment(t, 2);
    terminal_press(t, "v");
    terminal_await_match(t, "v verify OK: 20 steps under 1 and 2: the same to the last bit");
    terminal_await(t, "RUNNING"); /* it goes on */
    terminal_press(t, "b");
    live_await_segment(t, 3);
    terminal_await(t, "v verify not done");
    live_pause(t);
    terminal_press(t, "v");
    terminal_await_match(t, "! verify: the global batches differ .[0-9]+ against [0-9]+.: the two");
    terminal_await(t, "PAUSED");
    live_quit(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_script_that_r_writes_repeats_the_session, live_begin,
                                        live_end),
        cmocka_unit_test_setup_teardown(expressions_are_part_of_what_is_written, live_begin,
                                        live_end),
        cmocka_unit_test_setup_teardown(nothing_was_run_and_nothing_is_written, live_begin,
                                        live_end),
        cmocka_unit_test_setup_teardown(verify_proves_that_a_toggle_changes_no_loss, live_begin,
                                        live_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
