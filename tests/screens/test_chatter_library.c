/* A library in the process writes to descriptors 1 and 2 from a thread of its own while the screen is drawn and steps run: the
 * screen stays whole, every line stands in the log's file, the newest are told at the end. (reference/ecosystem.md 6.3,
 * row 12.) */
#include "tests/screens/emulator.h"
#include "tests/screens/visit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void is_untouched(struct terminal *t, const struct visit_place *place, void *unused)
{
    (void)unused;
    if (strcmp(place->name, "Log") != 0 && terminal_has(t, "chatty"))
        terminal_fail(t, "what the library writes stands on %s", place->name);
    if (strncmp(terminal_line(t, 0), "mgbench  mlp ", 13) != 0 ||
        strncmp(terminal_line(t, 2), "──", 6) != 0)
        terminal_fail(t, "%s is not whole", place->name);
}

static void all_is_kept(struct program *p)
{
    char line[300];
    snprintf(
        line, sizeof line,
        "--version >/dev/null; cat '%s/state/mgbench'/* | grep -c 'chatty says [0-9]* of 300 on'",
        p->folder);
    program_run(p, line);
    assert_string_equal(p->answer, "300");
}

static void a_library_that_prints_does_nothing_to_the_screen(void **state)
{
    struct program *p = *state;
    char preload[4300], chatty[200], script[200];
    const char *build = getenv("MGB_BUILD_DIR");
    snprintf(preload, sizeof preload, "LD_PRELOAD=%s/tests/libmgb_chatty.so", build ? build : ".");
    snprintf(chatty, sizeof chatty, "MGB_CHATTY=%s/now", p->folder);
    const char *const settings[] = {
        preload, chatty, "ASAN_OPTIONS=detect_odr_violation=0:verify_asan_link_order=0", NULL};
    struct terminal_options options = {.environment = settings};
    struct terminal *t = visit_start(p, &options, NULL, NULL);
    live_run(t);
    snprintf(script, sizeof script, "%s/now", p->folder);
    FILE *now = fopen(script, "w");
    assert_non_null(now);
    fclose(now);
    for (int i = 0; i < 3; i++)
        visit_all(t, is_untouched, NULL);
    visit_go(t, &visit_places[6]);
    terminal_await_match(t, "> *chatty is done");
    terminal_await_match(t, "> *chatty says 300 of 300 on error");
    visit_all(t, is_untouched, NULL);
    terminal_await(t, "RUNNING");
    live_quit(t);
    terminal_await(t, "chatty is done");
    all_is_kept(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_library_that_prints_does_nothing_to_the_screen,
                                        live_begin, live_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
