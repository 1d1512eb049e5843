/* What the comparison of a screen with its picture takes for the same, and what not. */
#include "tests/screens/likeness.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static const char screen[] = "mgbench  mlp   run 1 seg 2      PAUSED 2537\n"
                             "── PLACEMENT ─ now ───┬── ANSWER ── seg 2\n"
                             "r  weights at  cpu:0  │step ms     1.202\n"
                             " vars 6, 462.0 KiB | loss 0.0058 | leftovers 0\n";

static void numbers_may_differ_in_value_and_width(void **state)
{
    (void)state;
    assert_null(likeness_differs(screen, screen, NULL));
    assert_null(likeness_differs(screen,
                                 "mgbench  mlp   run 1 seg 2       PAUSED 937\n"
                                 "── PLACEMENT ─ now ───┬── ANSWER ── seg 2\n"
                                 "r  weights at  cpu:0  │step ms     12345\n"
                                 " vars 12, 1.0 KiB | loss 12.0058 | leftovers 0\n",
                                 NULL));
    assert_null(likeness_differs("a     -24B  x\n", "a    -240B  x\n", NULL));
    assert_null(likeness_differs("a  -  1.11..1.23\n", "a  7  10.1..12.3\n", NULL));
}

static void words_their_order_and_their_columns_may_not(void **state)
{
    (void)state;
    static const char *const others[][2] = {
        {"r  weights at  cpu:0  │step ms     1.202\n",
         "m  weights at  cpu:0  │step ms     1.202\n"},
        {"r  weights at  cpu:0  │step ms     1.202\n",
         "r  weights at  gpu:0  │step ms     1.202\n"},
        {"r  weights at  cpu:0  │step ms     1.202\n",
         "r  weights at  cpu:0   step ms     1.202\n"},
        {"r  weights at  cpu:0  │step ms     1.202\n",
         "r  weights at   cpu:0 │step ms     1.202\n"},
        {"r  weights at  cpu:0  │step ms     1.202\n", "r  weights at  cpu:0  │step ms\n"},
        {"one\n", "one\ntwo\n"},
        {"one\n\n", "one\n"},
        {"peak 1.0 MiB\n", "peak 1.0 KiB\n"},
        {"a      b      c\n", "a         b   c\n"},
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (!likeness_differs(others[i][0], others[i][1], NULL))
            fail_msg("taken for the same:\n%s%s", others[i][0], others[i][1]);
}

static void what_is_masked_may_differ(void **state)
{
    (void)state;
    static const struct likeness_mask masks[] = {{"^( bound by) .*$", "\\1"}, {NULL, NULL}};
    assert_null(likeness_differs(" bound by sum\n", " bound by update on cpu:0\n", masks));
    assert_non_null(likeness_differs(" bound by sum\n", " bounded by sum\n", masks));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_may_differ_in_value_and_width),
        cmocka_unit_test(words_their_order_and_their_columns_may_not),
        cmocka_unit_test(what_is_masked_may_differ),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
