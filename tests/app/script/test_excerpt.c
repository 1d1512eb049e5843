/* What is too long to show is cut: source lines around their caret, messages to 4 KiB, both between characters. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "app/script/excerpt.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void excerpt_is(char *source, const char *message, const char *expected)
{
    struct mgb_script_chunk chunk = {.text = source};
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    mgb_script_print_excerpt(out, &chunk, 1, message);
    fclose(out);
    assert_string_equal(text, expected);
    free(text);
}

static void a_long_line_is_cut_around_its_caret(void **state)
{
    (void)state;
    char source[1200], expected[600];
    memset(source, ' ', sizeof source);
    memcpy(source + 500, "pritn", 5);
    snprintf(source + 1000, 100, "\nlocal short = 1");
    snprintf(expected, sizeof expected,
             "\n  >    1 | ...%*spritn%*s...\n         |    %*s^\n       2 | local short = 1", 100,
             "", 95, "", 100, "");
    excerpt_is(source, "undeclared global 'pritn'", expected);
}

static void a_short_line_is_whole(void **state)
{
    (void)state;
    char source[] = "pritn(1)";
    excerpt_is(source, "undeclared global 'pritn'", "\n  >    1 | pritn(1)\n         | ^");
}

static void a_long_message_is_cut_between_characters(void **state)
{
    (void)state;
    char whole[6000] = "x";
    for (size_t i = 1; i + 2 < sizeof whole; i += 2)
        memcpy(whole + i, "\xc3\xa9", 3); /* é */
    char *cut = mgb_script_cut_message(whole);
    assert_non_null(cut);
    assert_memory_equal(cut, whole, 4095);
    assert_string_equal(cut + 4095, "... (1904 bytes left out)");
    free(cut);
    cut = mgb_script_cut_message("short");
    assert_string_equal(cut, "short");
    free(cut);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_long_line_is_cut_around_its_caret),
        cmocka_unit_test(a_short_line_is_whole),
        cmocka_unit_test(a_long_message_is_cut_between_characters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
