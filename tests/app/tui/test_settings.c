/* The settings file: read with remarks, never refused for what is in it, written whole. */
#include "app/tui/settings.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[64], path[128], warned[4096];

static void warn(void *context, const char *line)
{
    assert_ptr_equal(context, folder);
    strcat(warned, line + strlen(path));
    strcat(warned, "\n");
}

static int begin(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/mgb-settings-XXXXXX");
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/a/b/tui.conf", folder);
    warned[0] = '\0';
    return 0;
}

static int end(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

static void file_write(const char *text)
{
    char *cut = strrchr(path, '/');
    *cut = '\0';
    char command[160];
    snprintf(command, sizeof command, "mkdir -p %s", path);
    assert_int_equal(system(command), 0);
    *cut = '/';
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static struct tui_settings *loaded(enum mgb_status wanted)
{
    static struct tui_settings settings;
    assert_int_equal(tui_settings_load(&settings, path, warn, folder), wanted);
    return &settings;
}

static void no_file_is_no_failure(void **state)
{
    (void)state;
    struct tui_settings *s = loaded(MGB_OK);
    assert_int_equal(s->count, 0);
    assert_null(tui_settings_get(s, "screen"));
}

static void what_is_saved_is_read_again(void **state)
{
    (void)state;
    struct tui_settings s = {.count = 0};
    assert_true(tui_settings_put(&s, "screen", "Runs"));
    assert_true(tui_settings_put(&s, "runs.sort", " step_ms = x # y"));
    assert_true(tui_settings_put(&s, "screen", "Plan"));
    assert_int_equal(s.count, 2);
    assert_int_equal(tui_settings_save(&s, path), MGB_OK);
    struct tui_settings *read = loaded(MGB_OK);
    assert_int_equal(read->count, 2);
    assert_string_equal(tui_settings_get(read, "screen"), "Plan");
    assert_string_equal(tui_settings_get(read, "runs.sort"), "step_ms = x # y");
    assert_string_equal(warned, "");
}

static void what_is_no_setting_is_told_with_its_line(void **state)
{
    (void)state;
    file_write("# a remark\n\nscreen=log\r\nnonsense\n= x\n  a b = 3\nlast = 1");
    struct tui_settings *s = loaded(MGB_OK);
    assert_string_equal(tui_settings_get(s, "screen"), "log");
    assert_string_equal(tui_settings_get(s, "last"), "1");
    assert_int_equal(s->count, 2);
    assert_string_equal(warned, ":4: 'name = value' expected\n"
                                ":5: a name or a value that is too long, or no name\n"
                                ":6: a name or a value that is too long, or no name\n");
}

static void a_name_that_nobody_asks_for_stays_and_is_not_known(void **state)
{
    (void)state;
    file_write("later = thing\nscreen = log\n");
    struct tui_settings *s = loaded(MGB_OK);
    assert_non_null(tui_settings_get(s, "screen"));
    assert_true(tui_settings_put(s, "screen", "plan"));
    assert_false(s->at[0].known);
    assert_true(s->at[1].known);
    assert_int_equal(tui_settings_save(s, path), MGB_OK);
    s = loaded(MGB_OK);
    assert_string_equal(tui_settings_get(s, "later"), "thing");
    assert_string_equal(tui_settings_get(s, "screen"), "plan");
}

static void too_much_is_refused_and_nothing_is_lost(void **state)
{
    (void)state;
    struct tui_settings s = {.count = 0};
    char name[80], value[400];
    memset(value, 'v', sizeof value - 1);
    value[sizeof value - 1] = '\0';
    assert_false(tui_settings_put(&s, "screen", value));
    assert_false(tui_settings_put(&s, value, "x"));
    assert_false(tui_settings_put(&s, "", "x"));
    assert_false(tui_settings_put(&s, "a", "two\nlines"));
    assert_int_equal(s.count, 0);
    for (int i = 0; i < 128; i++) {
        snprintf(name, sizeof name, "name%d", i);
        assert_true(tui_settings_put(&s, name, "x"));
    }
    assert_false(tui_settings_put(&s, "one-more", "x"));
    assert_true(tui_settings_put(&s, "name5", "y"));
    assert_int_equal(tui_settings_save(&s, path), MGB_OK);
    FILE *file = fopen(path, "ae");
    assert_non_null(file);
    fputs("one-more = x\n", file);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(loaded(MGB_OK)->count, 128);
    assert_string_equal(warned, ":130: there are too many settings; this one is left out\n");
}

static void a_file_that_cannot_be_written_is_told_and_the_old_one_stays(void **state)
{
    (void)state;
    struct tui_settings s = {.count = 0};
    assert_true(tui_settings_put(&s, "screen", "plan"));
    snprintf(path, sizeof path, "%s/file/tui.conf", folder);
    char file[128];
    snprintf(file, sizeof file, "%s/file", folder);
    FILE *made = fopen(file, "we");
    assert_non_null(made);
    fclose(made);
    assert_int_equal(tui_settings_save(&s, path), MGB_IO);
    assert_non_null(strstr(mgb_message_get(), path));
    assert_int_equal(loaded(MGB_OK)->count, 0);
    assert_int_equal(unlink(file), 0);
    assert_int_equal(mkdir(file, 0755), 0);
    assert_int_equal(mkdir(path, 0755), 0); /* a folder of that name */
    assert_int_equal(tui_settings_load(&s, path, warn, folder), MGB_IO);
    assert_int_equal(tui_settings_save(&s, path), MGB_IO);
}

static void what_is_written_is_as_private_as_the_user_wants_files(void **state)
{
    (void)state;
    struct tui_settings s = {.count = 0};
    struct stat about;
    mode_t before = umask(077);
    assert_true(tui_settings_put(&s, "screen", "plan"));
    assert_int_equal(tui_settings_save(&s, path), MGB_OK);
    assert_int_equal(stat(path, &about), 0);
    assert_int_equal(about.st_mode & 0777, 0600);
    umask(022);
    assert_int_equal(tui_settings_save(&s, path), MGB_OK);
    umask(before);
    assert_int_equal(stat(path, &about), 0);
    assert_int_equal(about.st_mode & 0777, 0644);
}

static void a_link_stays_one(void **state)
{
    (void)state;
    struct tui_settings s = {.count = 0};
    char elsewhere[128];
    struct stat about;
    file_write("screen = log\n");
    snprintf(elsewhere, sizeof elsewhere, "%s/elsewhere", folder);
    assert_int_equal(rename(path, elsewhere), 0);
    assert_int_equal(symlink(elsewhere, path), 0);
    assert_true(tui_settings_put(&s, "screen", "plan"));
    assert_int_equal(tui_settings_save(&s, path), MGB_OK);
    assert_int_equal(lstat(path, &about), 0);
    assert_true(S_ISLNK(about.st_mode));
    assert_string_equal(tui_settings_get(loaded(MGB_OK), "screen"), "plan");
}

/* Opening one would wait for somebody at its other end. */
static void a_pipe_in_its_place_is_refused_at_once(void **state)
{
    (void)state;
    struct stat info;
    file_write("");
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0);
    struct tui_settings *settings = loaded(MGB_IO);
    assert_non_null(strstr(mgb_message_get(), "no regular file"));
    assert_int_equal(tui_settings_save(settings, path), MGB_IO);
    assert_non_null(strstr(mgb_message_get(), "no regular file"));
    assert_true(stat(path, &info) == 0 && S_ISFIFO(info.st_mode));
}

static void paths_follow_the_environment(void **state)
{
    (void)state;
    setenv("XDG_CONFIG_HOME", "/x/config", 1);
    setenv("XDG_STATE_HOME", "/x/state", 1);
    char *paths[] = {tui_settings_path(), tui_settings_history_path(), tui_settings_log_path()};
    assert_string_equal(paths[0], "/x/config/mgbench/tui.conf");
    assert_string_equal(paths[1], "/x/state/mgbench/tui-history");
    assert_string_equal(paths[2], "/x/state/mgbench/tui.log");
    for (int i = 0; i < 3; i++)
        free(paths[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(no_file_is_no_failure, begin, end),
        cmocka_unit_test_setup_teardown(what_is_saved_is_read_again, begin, end),
        cmocka_unit_test_setup_teardown(what_is_no_setting_is_told_with_its_line, begin, end),
        cmocka_unit_test_setup_teardown(a_name_that_nobody_asks_for_stays_and_is_not_known, begin,
                                        end),
        cmocka_unit_test_setup_teardown(too_much_is_refused_and_nothing_is_lost, begin, end),
        cmocka_unit_test_setup_teardown(a_file_that_cannot_be_written_is_told_and_the_old_one_stays,
                                        begin, end),
        cmocka_unit_test_setup_teardown(what_is_written_is_as_private_as_the_user_wants_files,
                                        begin, end),
        cmocka_unit_test_setup_teardown(a_link_stays_one, begin, end),
        cmocka_unit_test_setup_teardown(a_pipe_in_its_place_is_refused_at_once, begin, end),
        cmocka_unit_test(paths_follow_the_environment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
