/* Lines of text broken to a width. */
#include "app/tui/fold.h"
#include "tests/support/check.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_LINES = 8 };

/* The lines of a text folded to a width, as they are drawn; borrowed until the next call. */
static char *folded(const char *text, int width)
{
    static char copy[2000], out[4000];
    char *lines[MOST_LINES], *rest = copy;
    struct tui_canvas canvas = {.utf8 = true};
    struct tui_fold fold = {.pieces = NULL};
    int count = 0, used = 0;
    snprintf(copy, sizeof copy, "%s", text);
    while (rest && count < MOST_LINES)
        lines[count++] = strsep(&rest, "\n");
    assert_true(tui_fold_make(&fold, &canvas, lines, count, width));
    out[0] = '\0';
    for (int i = 0; i < fold.count; i++) {
        const struct tui_piece *piece = &fold.pieces[i];
        used += snprintf(out + used, sizeof out - (size_t)used, "%s%*s%.*s", i > 0 ? "\n" : "",
                         piece->indent, "", piece->length, piece->text);
        assert_true(i == 0 || piece->line >= fold.pieces[i - 1].line);
    }
    tui_fold_done(&fold);
    return out;
}

static void prose_is_broken_at_blanks_under_its_sentence(void **state)
{
    (void)state;
    assert_string_equal(folded("Bound by the update on the CPU, 71 % of it", 24),
                        "Bound by the update on\nthe CPU, 71 % of it");
    assert_string_equal(folded("note: run 1 was interrupted by the user", 24),
                        "note: run 1 was\n  interrupted by the\n  user");
    assert_string_equal(folded("narrow enough", 24), "narrow enough");
    assert_string_equal(folded("", 24), "");
    assert_string_equal(folded("one\n\ntwo", 24), "one\n\ntwo");
}

static void a_sentence_beside_a_label_goes_on_below_itself(void **state)
{
    (void)state;
    assert_string_equal(folded("ok    swap      none\n"
                               "warn  load      14 on 2 CPUs: others are computing\n"
                               "ok    memory    plenty",
                               36),
                        "ok    swap      none\n"
                        "warn  load      14 on 2 CPUs: others\n"
                        "                are computing\n"
                        "ok    memory    plenty");
}

static void tables_keep_their_lines(void **state)
{
    (void)state;
    static const char left[] = "phase     where             percent  outcome\n"
                               "update    the CPU           71.29    as planned\n"
                               "a whole sentence that is as wide as the table is";
    assert_string_equal(folded(left, 30), "phase     where             percent  outcome\n"
                                          "update    the CPU           71.29    as planned\n"
                                          "a whole sentence that is as\n"
                                          "  wide as the table is");
    static const char right[] = "model                     steps     busy\n"
                                "mlp                          12  0.03414";
    assert_string_equal(folded(right, 24), right);
}

static void charts_keep_their_lines(void **state)
{
    (void)state;
    static const char chart[] = "12 |  *  * **   ** *** * * * *";
    assert_string_equal(folded(chart, 20), chart);
    static const char braille[] =
        "12 \u2502 \u2880  \u2801\u2881 \u28c0 \u2804 \u2800\u2881 \u2880 \u2881 ms";
    assert_string_equal(folded(braille, 20), braille);
}

static void characters_count_as_the_columns_they_take(void **state)
{
    (void)state;
    assert_string_equal(folded("größer größer größer größer", 20),
                        "größer größer größer\n  größer");
    assert_string_equal(folded("a 漢字漢字漢字漢字漢字 b", 20), "a\n  漢字漢字漢字漢字漢字\n  b");
}

/* Nothing is lost but blanks, whatever the text and the width. */
static void no_text_is_lost(void **state)
{
    (void)state;
    unsigned seed = 5;
    for (int i = 0; i < 2000; i++) {
        char text[200], plain[2][200];
        int length = (int)(seed >> 8) % 180, used[2] = {0, 0};
        for (int k = 0; k < length; k++) {
            seed = seed * 1664525u + 1013904223u;
            text[k] = "ab, \xc3\xa4 c\x80.  "[(seed >> 16) % 13];
        }
        text[length] = '\0';
        const char *both[] = {text, folded(text, (int)(seed >> 20) % 90)};
        for (int side = 0; side < 2; side++) {
            for (const char *c = both[side]; *c; c++)
                if (*c != ' ' && *c != '\n')
                    plain[side][used[side]++] = *c;
            plain[side][used[side]] = '\0';
        }
        assert_string_equal(plain[1], plain[0]);
    }
}

int main(void)
{
    setlocale(LC_CTYPE, "C.UTF-8");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prose_is_broken_at_blanks_under_its_sentence),
        cmocka_unit_test(a_sentence_beside_a_label_goes_on_below_itself),
        cmocka_unit_test(tables_keep_their_lines),
        cmocka_unit_test(charts_keep_their_lines),
        cmocka_unit_test(characters_count_as_the_columns_they_take),
        cmocka_unit_test(no_text_is_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
