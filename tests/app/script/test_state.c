/* The script state as users meet it: what scripts may do, and the exact words when something is wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "app/script/state.h"
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct mgb_script *script_make(void)
{
    struct mgb_script *script;
    assert_int_equal(mgb_script_make(&script, &(struct mgb_script_settings){0}), MGB_OK);
    return script;
}

/* Runs a text in a fresh state and checks its whole error report. */
static void expect_error(const char *text, const char *report)
{
    struct mgb_script *script = script_make();
    assert_int_equal(mgb_script_run_text(script, text), MGB_INVALID);
    assert_string_equal(mgb_script_error_get(script)->text, report);
    mgb_script_free(script);
}

static void expect_in_error(const char *text, const char *part)
{
    struct mgb_script *script = script_make();
    enum mgb_status status = mgb_script_run_text(script, text);
    const char *report = mgb_script_error_get(script)->text;
    if (status == MGB_OK || !strstr(report, part))
        fail_msg("status %s, \"%s\" not in:\n%s", mgb_status_name(status), part, report);
    mgb_script_free(script);
}

static void expect_ok(const char *text)
{
    struct mgb_script *script = script_make();
    if (mgb_script_run_text(script, text) != MGB_OK)
        fail_msg("%s", mgb_script_error_get(script)->text);
    mgb_script_free(script);
}

static void a_syntax_error_shows_the_lines_around(void **state)
{
    (void)state;
    expect_error("local a = {\n  x = ,\n}\n", "(command line):2: unexpected symbol near ','\n"
                                              "       1 | local a = {\n"
                                              "  >    2 |   x = ,\n"
                                              "         |       ^\n"
                                              "       3 | }");
}

static void a_runtime_error_in_a_callback_shows_how_it_was_reached(void **state)
{
    (void)state;
    expect_error("local t\nlocal function each(f) return (f(1)) end\n"
                 "print(each(function(x) return t.y end))",
                 "(command line):3: attempt to index a nil value (upvalue 't')\n"
                 "       1 | local t\n"
                 "       2 | local function each(f) return (f(1)) end\n"
                 "  >    3 | print(each(function(x) return t.y end))\n"
                 "         |                               ^\n"
                 "stack traceback:\n"
                 "    (command line):3: in local 'f'\n"
                 "    (command line):2: in local 'each'\n"
                 "    (command line):3: in main chunk");
}

static void error_values_that_are_no_messages_are_described(void **state)
{
    (void)state;
    expect_in_error("error({ code = 2 })",
                    "(command line):1: the error value is a table, not a message");
    expect_in_error("error(nil)", "(command line):1: the error value is nil, not a message");
    expect_in_error("error()", "the error value is nil");
    expect_in_error("error(setmetatable({}, { __tostring = function() return 'custom' end }))",
                    "(command line):1: custom");
    expect_in_error("error('no place', 0)", "(command line):1: no place");
    expect_in_error("error(12)", ": 12");
}

static void an_undeclared_global_is_named_with_a_suggestion(void **state)
{
    (void)state;
    expect_error("pritn('x')",
                 "(command line):1: undeclared global 'pritn' (did you mean 'print'?)\n"
                 "  >    1 | pritn('x')\n"
                 "         | ^\n"
                 "stack traceback:\n"
                 "    (command line):1: in main chunk");
    expect_in_error("local batches = 3 return batchs", "'batchs' (did you mean 'batches'?)");
    expect_in_error("x = 1", "assignment to undeclared global 'x': write 'local x'");
    expect_in_error("local count = 1; conut = 2",
                    "undeclared global 'conut' (did you mean 'count'?)");
    expect_in_error("function f() end", "assignment to undeclared global 'f': write 'local f'");
    expect_in_error("mgb.optoins{}", "mgb has no 'optoins' (did you mean 'options'?)");
    expect_in_error("mgb.started = 2", "mgb.started cannot be set: mgb belongs to mgbench");
    expect_in_error("setmetatable(_G, nil)", "cannot change a protected metatable");
}

static void deep_recursion_is_an_error_and_not_a_crash(void **state)
{
    (void)state;
    expect_in_error("local function f() return 1 + f() end return f()", "stack overflow");
    expect_in_error("local function f() return 1 + f() end return f()", "levels left out");
    expect_in_error("local function f(s) return (s:gsub('.', f)) end return f('x')",
                    "stack overflow");
    expect_in_error(
        "local function f() local ok, e = pcall(f) if not ok then error(e, 0) end end f()",
        "stack overflow");
}

static void nested_coroutines_end_in_an_error_and_not_a_crash(void **state)
{
    (void)state;
    expect_in_error(
        "local function f(n) return coroutine.wrap(function() return f(n + 1) end)() end f(1)",
        "C stack overflow");
}

static void coroutines_behave_as_in_the_manual(void **state)
{
    (void)state;
    expect_ok(
        "local co = coroutine.create(function(a, b)\n"
        "  local c = coroutine.yield(a + b) local d, e = coroutine.yield(c * 2) return d, e end)\n"
        "local function same(a, b, ...) assert(a == b, tostring(a) .. ' ' .. tostring(b)) return "
        "... end\n"
        "same(select('#', coroutine.resume(co, 1, 2)), 2)\n"
        "local ok, v = coroutine.resume(co, 10) assert(ok and v == 20)\n"
        "local ok, d, e = coroutine.resume(co, 7, 8) assert(ok and d == 7 and e == 8)\n"
        "local ok, m = coroutine.resume(co) assert(not ok and m == 'cannot resume dead "
        "coroutine')\n"
        "local n = 0 for i in coroutine.wrap(function() for i = 1, 3 do coroutine.yield(i) end "
        "end) do n = n + i end\n"
        "assert(n == 6)\n"
        "local closed = false\n"
        "local w = coroutine.wrap(function() local x <close> = setmetatable({}, {__close = "
        "function() closed = true end})\n"
        "  error('inside') end)\n"
        "local ok, m = pcall(w) assert(not ok and m:match('inside$') and closed)");
}

static void an_error_in_a_coroutine_shows_its_frames(void **state)
{
    (void)state;
    expect_in_error("local w = coroutine.wrap(function()\n local x = nil\n return x.y\nend)\nw()",
                    "(command line):3: attempt to index a nil value (local 'x')");
    expect_in_error("local w = coroutine.wrap(function()\n local x = nil\n return x.y\nend)\nw()",
                    "    (command line):3: in function <(command line):1>\n"
                    "    (command line):5: in main chunk");
}

static void memory_is_capped_and_the_line_named(void **state)
{
    (void)state;
    struct mgb_script *script;
    struct mgb_script_settings settings = {.memory_limit = 8 << 20};
    assert_int_equal(mgb_script_make(&script, &settings), MGB_OK);
    assert_int_equal(mgb_script_run_text(script, "local s = 'x'\nwhile true do\n  s = s .. s\nend"),
                     MGB_NO_MEMORY);
    const struct mgb_script_error *error = mgb_script_error_get(script);
    assert_string_equal(error->message,
                        "not enough memory: the script's own data is limited to 8.0 MiB");
    assert_int_equal(error->line, 3);
    /* The state lives on, and a script may catch it. */
    assert_int_equal(mgb_script_run_text(script, "local ok, m = pcall(string.rep, 'x', 1 << 24)\n"
                                                 "assert(not ok and m == 'not enough memory', m)"),
                     MGB_OK);
    mgb_script_free(script);
}

static struct mgb_script *interrupted_script;

static void alarm_handle(int signal)
{
    (void)signal;
    mgb_script_interrupt(interrupted_script);
}

static void expect_interrupt(const char *text)
{
    interrupted_script = script_make();
    signal(SIGALRM, alarm_handle);
    ualarm(30000, 0);
    enum mgb_status status = mgb_script_run_text(interrupted_script, text);
    const char *report = mgb_script_error_get(interrupted_script)->text;
    if (status != MGB_INTERRUPTED || !strstr(report, "interrupted"))
        fail_msg("%s: %s: %s", text, mgb_status_name(status), report);
    mgb_script_free(interrupted_script);
}

static void an_endless_loop_is_interrupted(void **state)
{
    (void)state;
    expect_interrupt("while true do end");
    expect_interrupt("while true do pcall(function() while true do end end) end");
    expect_interrupt(
        "while true do xpcall(function() while true do end end, function(e) return e end) end");
    expect_interrupt(
        "local co = coroutine.wrap(function() while true do end end) while true do pcall(co) end");
    expect_interrupt("while true do local co = coroutine.create(function() while true do "
                     "coroutine.yield() end end)\n"
                     "for i = 1, 1000 do coroutine.resume(co) end end");
    expect_interrupt("local t = setmetatable({}, { __close = function() end })\n"
                     "while true do local x <close> = t end");
}

static void chunks_are_text_only(void **state)
{
    (void)state;
    expect_ok(
        "local f, m = load(string.dump(function() end)) assert(f == nil and m:match('binary'))");
    expect_ok("local f, m = load(string.dump(function() end), 'x', 'b') assert(f == nil and "
              "m:match('binary'))");
    expect_ok("assert(load('return 1 + 1')() == 2)");
    expect_ok("assert(load('return x', 'c', 't', { x = 5 })() == 5)");
    expect_ok("assert(load(function() return nil end))");
}

static void libraries_are_reduced(void **state)
{
    (void)state;
    expect_in_error("os.execute('true')", "os.execute is not available in scripts");
    expect_in_error("require('os').remove('x')", "os.remove is not available in scripts");
    expect_in_error("io.popen('true')", "io.popen is not available in scripts");
    expect_in_error("debug.traceback()", "undeclared global 'debug'");
    expect_in_error("package.loadlib('x', 'y')", "package has no 'loadlib'");
    expect_ok("assert(os.time() > 0 and os.date() and os.clock() and os.getenv('PATH'))");
    expect_ok("assert(table.concat{ 1, 2 } == '12' and utf8.len('\xc3\xa4') == 1 and math.pi > 3)");
}

static void random_numbers_start_the_same(void **state)
{
    (void)state;
    expect_ok(
        "local a = math.random(1 << 40) math.randomseed(1) assert(a == math.random(1 << 40))");
}

static void files_are_written_in_the_output_folder_only(void **state)
{
    (void)state;
    char folder[] = "/tmp/mgb-out-XXXXXX";
    assert_non_null(mkdtemp(folder));
    struct mgb_script *script;
    assert_int_equal(mgb_script_make(&script, &(struct mgb_script_settings){.output_dir = folder}),
                     MGB_OK);
    char text[1024];
    snprintf(
        text, sizeof text,
        "local f = assert(io.open('%s/a.txt', 'w')) f:write('hello') f:close()\n"
        "for line in io.lines('%s/a.txt') do assert(line == 'hello') end\n"
        "assert(io.open('/etc/passwd')):close()\n"
        "local ok, m = pcall(io.open, '/tmp/mgb-elsewhere', 'w')\n"
        "assert(not ok and m:match('cannot be written'), m)\n"
        "local ok, m = pcall(io.open, '%s/../mgb-elsewhere', 'a') assert(not ok)\n"
        "local ok, m = pcall(io.open, '/etc/passwd', 'r+') assert(not ok)\n"
        "local f, m = io.open('%s/none/x', 'w') assert(f == nil and m:match('No such file'), m)",
        folder, folder, folder, folder);
    if (mgb_script_run_text(script, text) != MGB_OK)
        fail_msg("%s", mgb_script_error_get(script)->text);
    assert_int_not_equal(access("/tmp/mgb-elsewhere", F_OK), 0);
    mgb_script_free(script);
    snprintf(text, sizeof text, "%s/a.txt", folder);
    unlink(text);
    rmdir(folder);
}

static void numbers_read_and_print_with_a_point_in_any_locale(void **state)
{
    (void)state;
    setenv("LC_ALL", "de_DE.UTF-8", 1);
    setlocale(LC_CTYPE, "");
    expect_ok("assert(tostring(1.5) == '1.5' and tonumber('2.5') == 2.5 and load('return 3.25')() "
              "== 3.25)\n"
              "assert(string.format('%.2f', 1 / 3) == '0.33')");
    setlocale(LC_CTYPE, "C");
}

static void words_after_the_dashes_are_arg(void **state)
{
    (void)state;
    const char *const words[] = {"a", "--b"};
    struct mgb_script_settings settings = {.words = words, .word_count = 2};
    struct mgb_script *script;
    assert_int_equal(mgb_script_make(&script, &settings), MGB_OK);
    assert_int_equal(mgb_script_run_text(script,
                                         "local x, y = ... assert(#arg == 2 and arg[1] == 'a' "
                                         "and arg[2] == '--b' and x == 'a' and y == '--b')"),
                     MGB_OK);
    mgb_script_free(script);
}

static void a_missing_script_is_named(void **state)
{
    (void)state;
    struct mgb_script *script = script_make();
    assert_int_equal(mgb_script_run_file(script, "/nowhere/x.lua"), MGB_MISSING);
    assert_string_equal(mgb_script_error_get(script)->text,
                        "cannot open script '/nowhere/x.lua': No such file or directory");
    mgb_script_free(script);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_syntax_error_shows_the_lines_around),
        cmocka_unit_test(a_runtime_error_in_a_callback_shows_how_it_was_reached),
        cmocka_unit_test(error_values_that_are_no_messages_are_described),
        cmocka_unit_test(an_undeclared_global_is_named_with_a_suggestion),
        cmocka_unit_test(deep_recursion_is_an_error_and_not_a_crash),
        cmocka_unit_test(nested_coroutines_end_in_an_error_and_not_a_crash),
        cmocka_unit_test(coroutines_behave_as_in_the_manual),
        cmocka_unit_test(an_error_in_a_coroutine_shows_its_frames),
        cmocka_unit_test(memory_is_capped_and_the_line_named),
        cmocka_unit_test(an_endless_loop_is_interrupted),
        cmocka_unit_test(chunks_are_text_only),
        cmocka_unit_test(libraries_are_reduced),
        cmocka_unit_test(random_numbers_start_the_same),
        cmocka_unit_test(files_are_written_in_the_output_folder_only),
        cmocka_unit_test(numbers_read_and_print_with_a_point_in_any_locale),
        cmocka_unit_test(words_after_the_dashes_are_arg),
        cmocka_unit_test(a_missing_script_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
