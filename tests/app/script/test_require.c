/* Where modules come from, and where they must not come from. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "app/script/state.h"
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char root[] = "/tmp/mgb-require-XXXXXX";

static void file_write(const char *name, const char *text)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", root, name);
    for (char *slash = strchr(path + strlen(root) + 1, '/'); slash;
         slash = strchr(slash + 1, '/')) {
        *slash = 0;
        mkdir(path, 0700);
        *slash = '/';
    }
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static int root_make(void **state)
{
    (void)state;
    if (!mkdtemp(root) || chdir(root) != 0)
        return -1;
    char data[PATH_MAX];
    snprintf(data, sizeof data, "%s/data", root);
    setenv("XDG_DATA_HOME", data, 1);
    return 0;
}

static int root_remove(void **state)
{
    (void)state;
    char command[PATH_MAX + 16];
    snprintf(command, sizeof command, "rm -rf %s", root);
    return chdir("/") != 0 || system(command) != 0;
}

static struct mgb_script *run(const char *path, const char *lua_path, enum mgb_status wanted)
{
    struct mgb_script *script;
    struct mgb_script_settings settings = {.lua_path = &lua_path,
                                           .lua_path_count = lua_path ? 1 : 0};
    assert_int_equal(mgb_script_make(&script, &settings), MGB_OK);
    enum mgb_status status = mgb_script_run_file(script, path);
    if (status != wanted)
        fail_msg("%s: %s", mgb_status_name(status), mgb_script_error_get(script)->text);
    return script;
}

static void modules_are_found_beside_the_script_first(void **state)
{
    (void)state;
    file_write("a/main.lua", "assert(require 'models.net' == 'beside')\n"
                             "assert(require 'extra' == 'path' and require 'mine' == 'data')\n"
                             "assert(require 'pack' == 'init')\n"
                             "assert(require 'models.net' == 'beside')");
    file_write("a/models/net.lua",
               "local name, path = ... assert(name == 'models.net' and path:match('net.lua$'))\n"
               "return 'beside'");
    file_write("a/pack/init.lua", "return 'init'");
    file_write("path/models/net.lua", "return 'path'");
    file_write("path/extra.lua", "return 'path'");
    file_write("data/mgbench/lua/extra.lua", "return 'data'");
    file_write("data/mgbench/lua/mine.lua", "return 'data'");
    mgb_script_free(run("a/main.lua", "path", MGB_OK));
}

static void the_working_directory_is_not_searched_and_the_error_says_so(void **state)
{
    (void)state;
    file_write("stray.lua", "return 'stray'");
    file_write("b/main.lua", "require 'stray'");
    struct mgb_script *script = run("b/main.lua", NULL, MGB_INVALID);
    const char *text = mgb_script_error_get(script)->text;
    assert_non_null(
        strstr(text, "b/main.lua:1: module 'stray' not found; looked for\n    b/stray.lua"));
    assert_non_null(strstr(text, "./stray.lua is there, but the working directory is not searched: "
                                 "add --lua-path ."));
    mgb_script_free(script);
    mgb_script_free(run("b/main.lua", ".", MGB_OK));
}

static void names_that_leave_the_folders_are_refused(void **state)
{
    (void)state;
    file_write(
        "c/main.lua",
        "for _, name in ipairs{ '../stray', '..stray', '/etc/x', '', 'a..b', '.a' } do\n"
        "  local ok, m = pcall(require, name) assert(not ok and m:match('not a module name'), m)\n"
        "end");
    mgb_script_free(run("c/main.lua", NULL, MGB_OK));
}

static void an_error_in_a_module_names_the_module_file(void **state)
{
    (void)state;
    file_write("d/main.lua", "local m = require 'broken'");
    file_write("d/broken.lua", "local x = {}\nlocal y = x.z.w\nreturn y");
    struct mgb_script *script = run("d/main.lua", NULL, MGB_INVALID);
    const struct mgb_script_error *error = mgb_script_error_get(script);
    assert_string_equal(error->text, "d/broken.lua:2: attempt to index a nil value (field 'z')\n"
                                     "       1 | local x = {}\n"
                                     "  >    2 | local y = x.z.w\n"
                                     "         |             ^\n"
                                     "       3 | return y\n"
                                     "stack traceback:\n"
                                     "    d/broken.lua:2: in main chunk\n"
                                     "    d/main.lua:1: in main chunk");
    assert_int_equal(error->line, 2);
    mgb_script_free(script);
    file_write("d/broken.lua", "local x = {\n  a = 1\n  b = 2\n}");
    script = run("d/main.lua", NULL, MGB_INVALID);
    assert_non_null(strstr(mgb_script_error_get(script)->text,
                           "d/broken.lua:3: '}' expected (to close '{' at line 1) near 'b'\n"
                           "       1 | local x = {\n"
                           "       2 |   a = 1\n"
                           "  >    3 |   b = 2\n"
                           "         |   ^\n"));
    mgb_script_free(script);
}

static void a_module_that_requires_itself_is_an_error_and_can_be_tried_again(void **state)
{
    (void)state;
    file_write("e/main.lua", "for i = 1, 2 do\n"
                             "  local ok, m = pcall(require, 'one')\n"
                             "  assert(not ok and m:match(\"module 'one' requires itself\"), m)\n"
                             "end");
    file_write("e/one.lua", "return require 'two'");
    file_write("e/two.lua", "return require 'one'");
    mgb_script_free(run("e/main.lua", NULL, MGB_OK));
}

static void the_library_can_be_required(void **state)
{
    (void)state;
    file_write("f/main.lua", "assert(require 'mgb' == mgb and require 'mgb.nn' == nn)\n"
                             "assert(require 'string' == string and package.loaded.mgb == mgb)");
    mgb_script_free(run("f/main.lua", NULL, MGB_OK));
}

static void long_paths_still_show_their_lines(void **state)
{
    (void)state;
    file_write("a-folder-with-a-name-that-is-long/and-another-one-that-is-no-shorter/main.lua",
               "local a\nerror('here')");
    struct mgb_script *script =
        run("a-folder-with-a-name-that-is-long/and-another-one-that-is-no-shorter/main.lua", NULL,
            MGB_INVALID);
    const struct mgb_script_error *error = mgb_script_error_get(script);
    assert_string_equal(
        error->file,
        "a-folder-with-a-name-that-is-long/and-another-one-that-is-no-shorter/main.lua");
    assert_non_null(strstr(error->text, "  >    2 | error('here')"));
    mgb_script_free(script);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(modules_are_found_beside_the_script_first),
        cmocka_unit_test(the_working_directory_is_not_searched_and_the_error_says_so),
        cmocka_unit_test(names_that_leave_the_folders_are_refused),
        cmocka_unit_test(an_error_in_a_module_names_the_module_file),
        cmocka_unit_test(a_module_that_requires_itself_is_an_error_and_can_be_tried_again),
        cmocka_unit_test(the_library_can_be_required),
        cmocka_unit_test(long_paths_still_show_their_lines),
    };
    return cmocka_run_group_tests(tests, root_make, root_remove);
}
