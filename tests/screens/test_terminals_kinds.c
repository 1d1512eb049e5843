/* Terminals of every kind in locales of every kind: the program starts on those that it can draw on, shows every screen,
 * writes ASCII only where the locale is no UTF-8 one, numbers with a point in each, and says in one line why it does not
 * start on the others. (reference/ecosystem.md, section 2, rows 40, 42 and 43; section 6.3, rows 11 and 24.) */
#include "tests/screens/visit.h"

#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char *const terms[] = {"xterm-256color", "screen", "tmux-256color", "vt100", "linux"};
enum { TERMS = sizeof terms / sizeof *terms };

static const struct locale_case {
    const char *setting, *name;
    bool utf8;
} locales[] = {{"LANG=C", "C", false},
               {"LANG=C.UTF-8", "C.UTF-8", true},
               {"LANG=de_DE.UTF-8", "de_DE.UTF-8", true},
               {"LANG=de_DE", "de_DE", false}};
enum { LOCALES = sizeof locales / sizeof *locales };

/* One that is not installed is taken for C, or for C.UTF-8 where its name says so. */
static bool is_installed(const char *name)
{
    bool found = setlocale(LC_CTYPE, name) != NULL;
    setlocale(LC_CTYPE, "C");
    return found;
}

static void numbers_have_points(struct terminal *t, const struct visit_place *place, void *points)
{
    if (terminal_matches(t, "[0-9],[0-9]"))
        fail_msg("a number with a comma on %s:\n%s", place->name, terminal_text(t));
    *(int *)points += terminal_matches(t, "[0-9]\\.[0-9]");
}

static void every_screen_is_drawn(struct program *p, const char *term,
                                  const struct locale_case *locale)
{
    const char *const settings[] = {locale->setting, NULL};
    struct terminal_options options = {.term = term, .environment = settings};
    int points = 0;
    struct terminal *t = visit_start(p, &options, NULL, NULL);
    live_run(t);
    live_pause(t);
    visit_all(t, numbers_have_points, &points);
    if (points < 3)
        fail_msg("numbers with a point on %d screens only", points);
    live_quit(t);
    size_t beyond = visit_bytes_beyond_ascii(t);
    if (locale->utf8 ? beyond == 0 : beyond > 0)
        fail_msg("%zu bytes beyond ASCII with TERM=%s %s", beyond, term, locale->setting);
}

/* Each terminal, each locale; in the long form each in each. */
static void every_screen_is_drawn_on_every_terminal_in_every_locale(void **state)
{
    const char *wide = getenv("MGB_LONG");
    for (int i = 0; i < TERMS; i++)
        for (int k = 0; k < LOCALES; k++)
            if ((wide && *wide) || i % LOCALES == k || (i == 3 && k == 1))
                every_screen_is_drawn(*state, terms[i], &locales[k]);
}

/* ssh brings a locale along that the server does not have. */
static void a_locale_that_is_not_installed_is_drawn_by_its_name(void **state)
{
    static const struct locale_case missing[] = {{"LANG=xx_XX.UTF-8", "xx_XX.UTF-8", true},
                                                 {"LANG=xx_XX", "xx_XX", false},
                                                 {"LC_ALL=C", "C", false}};
    for (size_t i = 0; i < sizeof missing / sizeof *missing; i++) {
        assert_int_equal(is_installed(missing[i].name), i == 2);
        every_screen_is_drawn(*state, "xterm-256color", &missing[i]);
    }
}

/* The decimal comma of a locale is not that of Lua's numbers either. */
static void a_number_that_is_typed_has_a_point_in_a_comma_locale(void **state)
{
    static const char *const settings[] = {"LC_ALL=de_DE.UTF-8", NULL};
    struct terminal_options options = {.environment = settings};
    struct terminal *t = visit_start(*state, &options, NULL, NULL);
    visit_go(t, &visit_places[6]);
    live_command(t, "print(0.5 + 0.25)");
    terminal_await_match(t, "0\\.75");
    assert_false(terminal_has(t, "0,75"));
    live_quit(t);
}

static void refused_in_one_line(struct program *p, const char *term, const char *setting)
{
    static const char *const words[] = {"mgbench-tui", "mlp", "--backend", "host", NULL};
    const char *const settings[] = {setting, NULL};
    struct terminal_options options = {.columns = 200, .term = term, .environment = settings};
    struct terminal *t = program_start_words(p, &options, words);
    size_t size;
    assert_int_equal(terminal_await_exit(t), 4);
    const char *output = terminal_output(t, &size), *end = strchr(output, '\n');
    if (strncmp(output, "mgbench-tui: ", 13) != 0 || !end || end[1] || !strstr(output, "TERM") ||
        !strstr(output, term) || strchr(output, '\033'))
        fail_msg("TERM=%s %s: not one plain line, but '%s'", term, setting, output);
    assert_int_equal(visit_bytes_beyond_ascii(t), 0);
    terminal_check_restored(t);
}

static void a_terminal_that_cannot_be_drawn_on_is_refused_in_one_line(void **state)
{
    static const char *const bad[] = {"", "dumb", "tmux-256colop"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        for (int k = 0; k < LOCALES; k++)
            refused_in_one_line(*state, bad[i], locales[k].setting);
}

/* What TERM holds is not sent to the terminal as it is. */
static void a_name_of_nonsense_does_no_harm(void **state)
{
    static const char *const bad[] = {"\033[2J\033]0;x\a", "../../etc/passwd", "a b\nc", "%s%n"};
    static const char *const words[] = {"mgbench-tui", "mlp", "--backend", "host", NULL};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct terminal_options options = {.columns = 200, .term = bad[i]};
        struct terminal *t = program_start_words(*state, &options, words);
        size_t size;
        assert_int_equal(terminal_await_exit(t), 4);
        const char *output = terminal_output(t, &size), *end = strchr(output, '\n');
        if (strchr(output, '\033') || strchr(output, '\a') || !end || end[1])
            fail_msg("not one plain line: '%s'", output);
        terminal_check_restored(t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_screen_is_drawn_on_every_terminal_in_every_locale,
                                        live_begin, live_end),
        cmocka_unit_test_setup_teardown(a_locale_that_is_not_installed_is_drawn_by_its_name,
                                        live_begin, live_end),
        cmocka_unit_test_setup_teardown(a_number_that_is_typed_has_a_point_in_a_comma_locale,
                                        live_begin, live_end),
        cmocka_unit_test_setup_teardown(a_terminal_that_cannot_be_drawn_on_is_refused_in_one_line,
                                        live_begin, live_end),
        cmocka_unit_test_setup_teardown(a_name_of_nonsense_does_no_harm, live_begin, live_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
