/* Flags that scripts declare with mgb.options. (reference/ecosystem.md, row 34 of section 2.) */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "app/script/state.h"
#include <string.h>

#define DECLARE                                                                                    \
    "local o = mgb.options{ steps = { 50, 'timed steps a point' }, lr = { 0.1 }, fast = false,\n"  \
    "  gpus = { {1, 2}, 'GPU counts' }, mode = { 'a', choices = { 'a', 'b' } }, more_steps = 1 "   \
    "}\n"

static enum mgb_status run(struct mgb_script **script, const char *text, bool help, int count,
                           const char *const *flags)
{
    struct mgb_script_settings settings = {.flags = flags, .flag_count = count, .help = help};
    assert_int_equal(mgb_script_make(script, &settings), MGB_OK);
    return mgb_script_run_text(*script, text);
}

static void expect_usage(const char *flag, const char *value, const char *message)
{
    const char *const flags[] = {flag, value};
    struct mgb_script *script;
    assert_int_equal(run(&script, DECLARE, false, value ? 2 : 1, flags), MGB_INVALID);
    assert_string_equal(mgb_script_error_get(script)->message, message);
    assert_true(mgb_script_error_get(script)->usage);
    mgb_script_free(script);
}

static void flags_take_the_type_of_their_default(void **state)
{
    (void)state;
    const char *const flags[] = {"--steps", "100",      "--lr=0.5",     "--fast", "--gpus",
                                 "1,4,8",   "--mode=b", "--more-steps", "-3"};
    struct mgb_script *script;
    enum mgb_status status =
        run(&script,
            DECLARE "assert(o.steps == 100 and o.lr == 0.5 and o.fast == true and #o.gpus == 3)\n"
                    "assert(o.gpus[3] == 8 and o.mode == 'b' and o.more_steps == -3)",
            false, 9, flags);
    if (status != MGB_OK)
        fail_msg("%s", mgb_script_error_get(script)->text);
    mgb_script_free(script);
}

static void defaults_hold_and_switches_can_be_turned_off(void **state)
{
    (void)state;
    const char *const flags[] = {"--no-fast"};
    struct mgb_script *script;
    assert_int_equal(run(&script,
                         "local o = mgb.options{ fast = true, steps = 5 } "
                         "assert(o.fast == false and o.steps == 5)",
                         false, 1, flags),
                     MGB_OK);
    mgb_script_free(script);
}

static void wrong_flags_are_usage_errors(void **state)
{
    (void)state;
    expect_usage("--stps", "3", "--stps: the script has no such flag (did you mean '--steps'?)");
    expect_usage("--steps", "many", "--steps: integer expected, got \"many\"");
    expect_usage("--steps=1.5", NULL, "--steps: integer expected, got \"1.5\"");
    expect_usage("--lr", "x", "--lr: number expected, got \"x\"");
    expect_usage("--fast=perhaps", NULL, "--fast: yes or no expected, got \"perhaps\"");
    expect_usage("--steps", NULL, "--steps: a value is missing");
    expect_usage("--mode=c", NULL, "--mode: one of a, b expected, got \"c\"");
    expect_usage("--gpus=1,x", NULL, "--gpus: integer expected, got \"x\"");
    expect_usage("word", NULL, "unexpected word \"word\": words for the script come after --");
    expect_usage("--no-steps", NULL,
                 "--no-steps: the script has no such flag (did you mean '--more-steps'?)");
}

static void flags_after_the_dashes_are_usage_errors_and_other_words_are_not(void **state)
{
    static const char *const late[] = {"--steps=3", "--no-fast"};
    static const char *const own[] = {"steps", "--stepping", "--"};
    struct mgb_script *script;
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct mgb_script_settings settings = {.words = &late[i], .word_count = 1};
        assert_int_equal(mgb_script_make(&script, &settings), MGB_OK);
        assert_int_equal(mgb_script_run_text(script, DECLARE), MGB_INVALID);
        assert_true(mgb_script_error_get(script)->usage);
        assert_non_null(strstr(mgb_script_error_get(script)->message, "it goes before --"));
        mgb_script_free(script);
    }
    struct mgb_script_settings settings = {.words = own, .word_count = 3};
    assert_int_equal(mgb_script_make(&script, &settings), MGB_OK);
    assert_int_equal(mgb_script_run_text(script, DECLARE), MGB_OK);
    mgb_script_free(script);
}

static void flags_of_a_script_that_declares_none_are_usage_errors(void **state)
{
    (void)state;
    const char *const flags[] = {"--steps", "3"};
    struct mgb_script *script;
    assert_int_equal(run(&script, "return", false, 2, flags), MGB_INVALID);
    assert_string_equal(mgb_script_error_get(script)->message,
                        "--steps: this script declares no flags; words for it come after --");
    assert_true(mgb_script_error_get(script)->usage);
    mgb_script_free(script);
}

static void help_lists_the_flags_and_runs_nothing_after_them(void **state)
{
    (void)state;
    struct mgb_script *script;
    assert_int_equal(
        run(&script, "pcall(function() " DECLARE " end) while true do end", true, 0, NULL), MGB_OK);
    assert_string_equal(mgb_script_help_get(script),
                        "  --fast[=no]               (default: no)\n"
                        "  --gpus A,B,...           GPU counts (default: 1,2)\n"
                        "  --lr N                    (default: 0.1)\n"
                        "  --mode NAME               [a,b] (default: a)\n"
                        "  --more-steps N            (default: 1)\n"
                        "  --steps N                timed steps a point (default: 50)\n");
    mgb_script_free(script);
}

static void wrong_declarations_point_at_the_script(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"mgb.options{ db = 1 }", "mgb.options: --db is a flag of mgbench itself"},
        {"mgb.options{ x = { nil, 'text' } }", "mgb.options: x: a default is missing"},
        {"mgb.options{ x = { 1, 2 } }",
         "mgb.options: x: text expected after the default, got number"},
        {"mgb.options{ x = { 1, help = 'a' } }",
         "mgb.options: x: unknown field 'help' in { default, \"what it is\", choices = {...} }"},
        {"mgb.options(5)", "mgb.options: table of flags expected, got number"},
        {"local o = mgb.options{ steps = 1 } print(o.stesp)",
         "the script declares no flag 'stesp' (did you mean 'steps'?)"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct mgb_script *script;
        assert_int_equal(run(&script, cases[i][0], false, 0, NULL), MGB_INVALID);
        assert_string_equal(mgb_script_error_get(script)->message, cases[i][1]);
        assert_int_equal(mgb_script_error_get(script)->line, 1);
        assert_false(mgb_script_error_get(script)->usage);
        assert_null(strstr(mgb_script_error_get(script)->text, "mgb:flags"));
        mgb_script_free(script);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flags_take_the_type_of_their_default),
        cmocka_unit_test(defaults_hold_and_switches_can_be_turned_off),
        cmocka_unit_test(wrong_flags_are_usage_errors),
        cmocka_unit_test(flags_after_the_dashes_are_usage_errors_and_other_words_are_not),
        cmocka_unit_test(flags_of_a_script_that_declares_none_are_usage_errors),
        cmocka_unit_test(help_lists_the_flags_and_runs_nothing_after_them),
        cmocka_unit_test(wrong_declarations_point_at_the_script),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
