/* Every example in the manual of mgbench-tui does what it says: it starts and can be left. (reference/ecosystem.md, section
 * 2, row 60.) */
#include "tests/screens/program.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void example_try(struct program *p, const char *line)
{
    char script[600];
    snprintf(script, sizeof script, "exec %s", line);
    const char *const words[] = {"sh", "-c", script, NULL};
    struct terminal *t = program_start_words(p, NULL, words);
    terminal_await(t, "?help");
    if (strstr(line, "--run"))
        terminal_await_match(t, "RUNNING +[1-9]");
    if (strstr(line, "--screen runs"))
        terminal_await(t, "[5]Runs");
    terminal_press(t, "q");
    if (terminal_await_exit(t) != 0)
        fail_msg("%s: it ended with\n%s", line, terminal_text(t));
    terminal_check_restored(t);
}

static void examples_of_the_manual_run(void **state)
{
    (void)state;
    struct program p;
    char line[600], path[4200];
    int count = 0;
    program_make(&p);
    const char *build = getenv("MGB_BUILD_DIR");
    snprintf(path, sizeof path, "'%s/mgbench-tui' --no-supervisor generate examples",
             build ? build : ".");
    FILE *examples = popen(path, "r");
    assert_non_null(examples);
    while (fgets(line, sizeof line, examples)) {
        char *command = strrchr(line, '\t');
        assert_non_null(command);
        assert_int_equal(line[0], '0');
        command[strcspn(command, "\n")] = '\0';
        example_try(&p, command + 1);
        count++;
    }
    assert_int_equal(pclose(examples), 0);
    assert_true(count >= 4);
    program_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(examples_of_the_manual_run)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
