/* Statements so far, as a script. */
#include "tests/support/check.h"

#include "app/session/workbench/statements.h"
#include <stdlib.h>
#include <string.h>

static void steps_after_steps_are_one_statement(void **state)
{
    (void)state;
    struct mgb_statements *statements;
    assert_ok(mgb_statements_make(&statements));
    assert_true(mgb_statements_is_empty(statements));
    assert_ok(mgb_statements_open(statements, "mgb.session{ model = \"mlp\" }"));
    assert_ok(mgb_statements_step(statements, 3));
    assert_ok(mgb_statements_step(statements, 4));
    assert_ok(mgb_statements_add(statements, "s:set{ batch = 2 }"));
    assert_ok(mgb_statements_step(statements, 1));
    char *text = mgb_statements_write(statements, "0.0.1", NULL);
    assert_non_null(text);
    assert_non_null(strstr(text,
                           "s = mgb.session{ model = \"mlp\" }\ns:step(7)\ns:set{ batch = 2 }\n"
                           "s:step(1)\nfinish()\n"));
    free(text);
    mgb_statements_free(statements);
}

static void the_digest_of_what_is_open_is_held_against_the_repetition(void **state)
{
    (void)state;
    struct mgb_statements *statements;
    assert_ok(mgb_statements_make(&statements));
    assert_ok(mgb_statements_open(statements, "a"));
    assert_ok(mgb_statements_step(statements, 2));
    char *text = mgb_statements_write(statements, "0.0.1", "0123abcd");
    assert_non_null(text);
    assert_non_null(strstr(text, "s:step(2)\nfinish(\"0123abcd\")\n"));
    assert_null(strstr(text, "nil"));
    free(text);
    assert_ok(mgb_statements_add(statements, "s:set{ cpu_merge = \"nil\" }"));
    assert_ok(mgb_statements_open(statements, "b"));
    text = mgb_statements_write(statements, "0.0.1", "0123abcd");
    assert_non_null(strstr(text, "finish()\ns = b\nfinish(\"0123abcd\")\n"));
    assert_non_null(strstr(text, "-- What is set to \"nil\" goes back"));
    free(text);
    mgb_statements_free(statements);
}

static void another_session_ends_the_one_before(void **state)
{
    (void)state;
    struct mgb_statements *statements;
    assert_ok(mgb_statements_make(&statements));
    assert_ok(mgb_statements_open(statements, "a"));
    assert_ok(mgb_statements_step(statements, INT64_C(3000000000)));
    assert_ok(mgb_statements_open(statements, "b"));
    assert_ok(mgb_statements_close(statements));
    assert_ok(mgb_statements_close(statements));
    char *text = mgb_statements_write(statements, "0.0.1", NULL);
    assert_non_null(strstr(text, "s = a\ns:step(2147483647)\ns:step(852516353)\nfinish()\ns = b\n"
                                 "finish()\n"));
    assert_null(strstr(text, "finish()\nfinish()"));
    free(text);
    mgb_statements_free(statements);
}

static void a_comment_of_several_lines_stays_one(void **state)
{
    (void)state;
    struct mgb_statements *statements;
    assert_ok(mgb_statements_make(&statements));
    assert_ok(mgb_statements_add(statements, "-- one\ntwo"));
    char *text = mgb_statements_write(statements, "0.0.1", NULL);
    assert_non_null(strstr(text, "-- one\n-- two\n"));
    free(text);
    mgb_statements_free(statements);
}

static void what_was_not_noted_is_not_written_as_if_it_were(void **state)
{
    (void)state;
    struct mgb_statements *statements;
    assert_ok(mgb_statements_make(&statements));
    assert_ok(mgb_statements_open(statements, "a"));
    assert_true(mgb_statements_is_complete(statements));
    mgb_statements_lose(statements);
    assert_ok(mgb_statements_step(statements, 1));
    assert_false(mgb_statements_is_complete(statements));
    assert_null(mgb_statements_write(statements, "0.0.1", NULL));
    mgb_statements_free(statements);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_after_steps_are_one_statement),
        cmocka_unit_test(the_digest_of_what_is_open_is_held_against_the_repetition),
        cmocka_unit_test(another_session_ends_the_one_before),
        cmocka_unit_test(a_comment_of_several_lines_stays_one),
        cmocka_unit_test(what_was_not_noted_is_not_written_as_if_it_were),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
