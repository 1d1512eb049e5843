/* The one list of actions. */
#include "app/tui/action.h"
#include "tests/support/check.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *key_of(int action, int which)
{
    return which ? tui_actions[action].other : tui_actions[action].key;
}

static void every_key_does_its_action_on_each_of_its_screens(void **state)
{
    (void)state;
    for (int action = 0; action < TUI_ACT_COUNT; action++)
        for (int which = 0; which < 2; which++) {
            if (!*key_of(action, which))
                continue;
            int key = tui_key_read(key_of(action, which));
            assert_int_not_equal(key, TUI_KEY_NONE);
            for (unsigned place = 1; place <= TUI_EVERYWHERE; place <<= 1)
                if (tui_actions[action].where & place)
                    assert_int_equal(tui_action_of_key(key, place), action);
        }
}

static void no_two_actions_share_a_key_on_one_screen(void **state)
{
    (void)state;
    for (int a = 0; a < TUI_ACT_COUNT; a++)
        for (int b = a + 1; b < TUI_ACT_COUNT; b++) {
            if (!(tui_actions[a].where & tui_actions[b].where))
                continue;
            for (int which = 0; which < 4; which++) {
                const char *x = key_of(a, which & 1), *y = key_of(b, which >> 1);
                if (*x && *y)
                    assert_int_not_equal(tui_key_read(x), tui_key_read(y));
            }
        }
}

static void every_action_has_a_key_a_name_and_a_screen(void **state)
{
    (void)state;
    for (int action = 0; action < TUI_ACT_COUNT; action++) {
        assert_true(*tui_actions[action].key);
        assert_true(*tui_actions[action].name);
        assert_true(tui_actions[action].where && tui_actions[action].where <= TUI_EVERYWHERE);
        assert_int_equal(tui_action_find(tui_actions[action].name), action);
    }
    assert_int_equal(tui_action_find("nonsense"), TUI_ACT_NONE);
    assert_int_equal(tui_action_find(""), TUI_ACT_NONE);
}

/* "  KEYS  name  help" must fit where a table of them is printed. */
static void help_fits_a_line_of_eighty(void **state)
{
    (void)state;
    for (int action = 0; action < TUI_ACT_COUNT; action++) {
        const struct tui_action_info *info = &tui_actions[action];
        assert_true(strlen(info->key) + strlen(info->other) + 1 <= 12);
        assert_true(strlen(info->name) <= 14);
        assert_true(strlen(info->help) <= 80 - 12 - 1);
        for (const char *at = info->help; *at; at++)
            assert_true(*at >= ' ' && *at <= '~');
        bool move = action >= TUI_ACT_UP && action <= TUI_ACT_LAST;
        assert_int_equal(*info->help == '\0', move);
    }
}

static void keys_that_nothing_has_do_nothing(void **state)
{
    (void)state;
    assert_int_equal(tui_action_of_key(TUI_KEY_NONE, TUI_EVERYWHERE), TUI_ACT_NONE);
    assert_int_equal(tui_action_of_key(0xe9, TUI_EVERYWHERE), TUI_ACT_NONE);
    assert_int_equal(tui_action_of_key('q', 0), TUI_ACT_NONE);
    assert_int_equal(tui_action_of_key('g', TUI_ON_BENCH), TUI_ACT_FEWER_GPUS);
    assert_int_equal(tui_action_of_key('g', TUI_ON_LOG), TUI_ACT_FIRST);
    assert_int_equal(tui_action_of_key('u', TUI_ON_RUNS), TUI_ACT_USE);
}

/* Of a row "| `g` `G` | one GPU less, one GPU more |" of the README the second cell. */
static void row_expect(char *out, size_t size, const char *row)
{
    size_t used = 0;
    out[0] = '\0';
    for (const char *at = row; (at = strchr(at, '`')); at++) {
        char name[20];
        const char *end = strchr(at + 1, '`');
        assert_non_null(end);
        snprintf(name, sizeof name, "%.*s", (int)(end - at - 1), at + 1);
        enum tui_action action = tui_action_of_key(tui_key_read(name), TUI_ON_BENCH);
        if (action == TUI_ACT_NONE)
            fail_msg("README.md: no key '%s' works on the bench", name);
        used += (size_t)snprintf(out + used, size - used, "%s%s", used ? ", " : "| ",
                                 tui_actions[action].help);
        at = end;
    }
    snprintf(out + used, size - used, " |\n");
}

static void the_readme_tells_keys_as_they_are(void **state)
{
    (void)state;
    char path[4200], *row = NULL, wanted[600];
    const char *source = getenv("MGB_SOURCE_DIR");
    size_t size = 0;
    int rows = -2; /* the head and the line below it */
    snprintf(path, sizeof path, "%s/README.md", source ? source : ".");
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    while (getline(&row, &size, file) > 0 && strncmp(row, "| key |", 7) != 0)
        ;
    for (; row[0] == '|'; rows++) {
        row_expect(wanted, sizeof wanted, row);
        if (rows >= 0)
            assert_string_equal(strchr(row + 1, '|'), wanted);
        assert_true(getline(&row, &size, file) > 0);
    }
    assert_int_equal(rows, 11);
    free(row);
    fclose(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_key_does_its_action_on_each_of_its_screens),
        cmocka_unit_test(no_two_actions_share_a_key_on_one_screen),
        cmocka_unit_test(every_action_has_a_key_a_name_and_a_screen),
        cmocka_unit_test(help_fits_a_line_of_eighty),
        cmocka_unit_test(keys_that_nothing_has_do_nothing),
        cmocka_unit_test(the_readme_tells_keys_as_they_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
