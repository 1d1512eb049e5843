/* Folders of the user by the XDG base directory rules. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "app/script/paths.h"
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void data_is(const char *expected)
{
    char *data = mgb_paths_data();
    assert_non_null(data);
    assert_string_equal(data, expected);
    free(data);
}

static void an_absolute_variable_is_obeyed(void **state)
{
    (void)state;
    setenv("HOME", "/home/me", 1);
    setenv("XDG_DATA_HOME", "/data", 1);
    data_is("/data/mgbench");
}

static void a_relative_or_empty_variable_is_ignored(void **state)
{
    (void)state;
    setenv("HOME", "/home/me", 1);
    setenv("XDG_DATA_HOME", "data", 1);
    data_is("/home/me/.local/share/mgbench");
    setenv("XDG_DATA_HOME", "", 1);
    data_is("/home/me/.local/share/mgbench");
}

static void without_home_the_system_is_asked(void **state)
{
    (void)state;
    const struct passwd *user = getpwuid(getuid());
    if (!user || !user->pw_dir || user->pw_dir[0] != '/')
        skip();
    char expected[512];
    snprintf(expected, sizeof expected, "%s%s.local/share/mgbench", user->pw_dir,
             user->pw_dir[1] ? "/" : "");
    unsetenv("XDG_DATA_HOME");
    unsetenv("HOME");
    data_is(expected);
    setenv("HOME", "relative", 1);
    data_is(expected);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_absolute_variable_is_obeyed),
        cmocka_unit_test(a_relative_or_empty_variable_is_ignored),
        cmocka_unit_test(without_home_the_system_is_asked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
