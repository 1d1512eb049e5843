/* The manual's writers know no program: a second one with a table of its own, without commands, gets its page and its
 * completions. And which words may stand where, from usage lines. */
#include "app/cli/manual.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct mgb_flag flags[] = {
    {"--db", "FILE", "results database", false},
    {"--theme", "dark|light", "colours - of [all] 'panels'", false},
    {"--quiet", NULL, "no remarks", false},
    {NULL, NULL, NULL, false}};

static const struct mgb_manual_row keys[] = {{"q", "ends it"}, {NULL, NULL}};
static const struct mgb_manual_section sections[] = {{"KEYS", "They are:\n", keys},
                                                     {NULL, NULL, NULL}};
static const struct mgb_manual other = {.program = "other-program",
                                        .version = "1.0",
                                        .date = "2026-01-02",
                                        .summary = "shows things",
                                        .description =
                                            "It shows them.\n\n  verbatim --x\n\nwords  of a row\n",
                                        .flags = flags,
                                        .sections = sections,
                                        .see_also = "mgbench(1)"};

static char *written(void (*print)(FILE *out, const struct mgb_manual *manual))
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    print(out, &other);
    assert_int_equal(fclose(out), 0);
    return text;
}

static void has(const char *text, const char *words)
{
    if (!strstr(text, words))
        fail_msg("'%s' is not in:\n%s", words, text);
}

static void a_second_program_has_its_page(void **state)
{
    (void)state;
    char *text = written(mgb_manual_print_man);
    has(text, ".TH OTHER-PROGRAM 1 2026-01-02 \"other-program 1.0\"");
    has(text, "other-program \\- shows things");
    has(text, ".SH OPTIONS\n");
    has(text, ".B \\-\\-theme \\fIdark|light\\fR\n");
    has(text, ".EX\n  verbatim \\-\\-x\n.EE");
    has(text, ".B words\nof a row");
    has(text, ".SH KEYS\nThey are:\n.TP\n.B q\nends it\n");
    has(text, ".BR mgbench (1)");
    assert_null(strstr(text, "COMMANDS"));
    free(text);
}

static void a_second_program_is_completed(void **state)
{
    (void)state;
    char *text = written(mgb_manual_print_bash);
    has(text, "*' --theme') kind='value' words='dark light' ;;");
    has(text, "complete -F _other-program other-program");
    assert_null(strstr(text, "PROGRAM"));
    free(text);
    text = written(mgb_manual_print_zsh);
    has(text, "#compdef other-program\n");
    has(text, "'--theme=[colours - of \\[all\\] '\\''panels'\\'']:value:(dark light)'");
    assert_null(strstr(text, "PROGRAM"));
    free(text);
    text = written(mgb_manual_print_fish);
    has(text, "complete -c other-program -l theme -x -a 'dark light' -d");
    has(text, "complete -c other-program -l db -r -F");
    assert_null(strstr(text, "PROGRAM"));
    free(text);
}

/* "files folders models machines runs text: choices" */
static void takes(const char *usage, int position, const char *wanted)
{
    struct mgb_word_set set;
    char text[700];
    mgb_words_of_usage(&set, usage, position);
    snprintf(text, sizeof text, "%s%s%s%s%s%s%s", set.files ? "files " : "",
             set.folders ? "folders " : "", set.models ? "models " : "",
             set.machines ? "machines " : "", set.runs ? "runs " : "", set.text ? "text " : "",
             set.choices);
    assert_string_equal(text, wanted);
}

static void places_are_read_from_a_usage_line(void **state)
{
    (void)state;
    bool repeats;
    takes("MODEL [options] --against [placement options]", 0, "models ");
    takes("[MACHINE]", 0, "machines ");
    takes("MODEL [options] --against [placement options]", 1, "");
    takes("set NAME RUN | list | rm NAME", 0, "set list rm");
    takes("set NAME RUN | list | rm NAME", 1, "text ");
    takes("set NAME RUN | list | rm NAME", 2, "runs ");
    takes("A B | sweep:NAME", 0, "runs sweep:");
    takes("memory|phases [RUN|sweep:NAME|MODEL] [options]", 1, "models runs sweep:");
    takes("A.db B.db... [--into FILE]", 5, "files ");
    takes("DIR [sweep:NAME|RUN|MODEL...] [options]", 0, "folders ");
    takes("[FILE] [--out FILE]", 0, "files ");
    assert_int_equal(mgb_words_positions("set NAME RUN | list", &repeats), 3);
    assert_false(repeats);
    assert_int_equal(mgb_words_positions("RUN NAME... [--remove]", &repeats), 2);
    assert_true(repeats);
    assert_int_equal(mgb_words_positions("", &repeats), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_second_program_has_its_page),
        cmocka_unit_test(a_second_program_is_completed),
        cmocka_unit_test(places_are_read_from_a_usage_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
