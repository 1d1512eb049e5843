/* Reading option tables: values, and the words for every way they can be wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "app/script/host.h"
#include "app/script/options.h"
#include <limits.h>
#include <math.h>
#include <string.h>

static const char *const modes[] = {"outputs", "gradients", "allreduce", NULL};

/* read{...} -> one line with what was read */
static int options_read(lua_State *L)
{
    struct mgb_options o;
    mgb_options_begin(&o, L, 1, "mgb.read");
    long long batch = mgb_options_integer(&o, "batch", 32, 1, INT_MAX);
    long long port = mgb_options_integer(&o, "port", 0, 0, 9);
    double rate = mgb_options_number(&o, "rate", 0.5, 0, INFINITY);
    bool fast = mgb_options_boolean(&o, "fast", true);
    const char *name = mgb_options_string(&o, "name", "none");
    int mode = mgb_options_enum(&o, "mode", 1, modes);
    bool has_list = mgb_options_push(&o, "list");
    lua_pop(L, 1);
    mgb_options_end(&o);
    lua_pushfstring(L, "%d %d %f %d %s %s %d", (int)batch, (int)port, rate, fast, name, modes[mode],
                    has_list);
    return 1;
}

static int options_devices(lua_State *L)
{
    struct mgb_options o;
    char text[MGB_DEVICE_NAME_MAX];
    mgb_options_begin(&o, L, 1, "mgb.at");
    mgb_options_allow_list(&o, 1);
    struct mgb_device_name name = mgb_options_device(&o, "weights_at");
    mgb_options_end(&o);
    lua_pushstring(L, mgb_device_format(text, name));
    return 1;
}

static void run(const char *text, const char *message)
{
    struct mgb_script *script;
    assert_int_equal(mgb_script_make(&script, &(struct mgb_script_settings){0}), MGB_OK);
    lua_pushglobaltable(script->lua);
    lua_pushcfunction(script->lua, options_read);
    lua_pushliteral(script->lua, "read");
    lua_insert(script->lua, -2);
    lua_rawset(script->lua, -3);
    lua_pushliteral(script->lua, "at");
    lua_pushcfunction(script->lua, options_devices);
    lua_rawset(script->lua, -3);
    enum mgb_status status = mgb_script_run_text(script, text);
    assert_int_equal(status, message ? MGB_INVALID : MGB_OK);
    if (message)
        assert_string_equal(mgb_script_error_get(script)->message, message);
    mgb_script_free(script);
}

static void values_and_fallbacks_are_read(void **state)
{
    (void)state;
    run("assert(read() == '32 0 0.5 1 none gradients 0')", NULL);
    run("assert(read{} == '32 0 0.5 1 none gradients 0')", NULL);
    run("assert(read{ batch = 64.0, port = 9, rate = 2, fast = false, name = 'x', mode = "
        "'outputs', list = {} }"
        " == '64 9 2.0 0 x outputs 1')",
        NULL);
}

static void wrong_values_are_named_with_their_path(void **state)
{
    (void)state;
    run("read{ batch = '64' }", "mgb.read: batch: positive integer expected, got \"64\"");
    run("read{ batch = 0 }", "mgb.read: batch: positive integer expected, got 0");
    run("read{ batch = 1.5 }", "mgb.read: batch: positive integer expected, got 1.5");
    run("read{ batch = {} }", "mgb.read: batch: positive integer expected, got a table");
    run("read{ port = 10 }", "mgb.read: port: integer from 0 to 9 expected, got 10");
    run("read{ rate = -1 }", "mgb.read: rate: number from 0.0 up expected, got -1");
    run("read{ rate = 0/0 }", "mgb.read: rate: number from 0.0 up expected, got -nan");
    run("read{ fast = 1 }", "mgb.read: fast: true or false expected, got 1");
    run("read{ name = 1 }", "mgb.read: name: text expected, got 1");
    run("read{ mode = 'output' }",
        "mgb.read: mode: \"outputs\", \"gradients\" or \"allreduce\" expected, "
        "got \"output\" (did you mean \"outputs\"?)");
    run("read{ mode = print }",
        "mgb.read: mode: \"outputs\", \"gradients\" or \"allreduce\" expected, "
        "got a function");
    run("read('x')", "mgb.read: table of options expected, got \"x\"");
}

static void unknown_keys_are_errors_with_a_suggestion(void **state)
{
    (void)state;
    run("read{ batchs = 1 }", "mgb.read: unknown option 'batchs' (did you mean 'batch'?)");
    run("read{ zzzzzzz = 1 }", "mgb.read: unknown option 'zzzzzzz'");
    run("read{ 'x' }", "mgb.read: value \"x\" without a name: options are written name = value");
    run("at{ 1, 2 }", "mgb.at: value 2 without a name: options are written name = value");
}

static void devices_go_by_any_usual_name(void **state)
{
    (void)state;
    run("assert(at{ 1 } == '' and at{ weights_at = 'GPU:1' } == '/gpu:1')", NULL);
    run("assert(at{ weights_at = '/device:CPU:0' } == '/cpu:0')", NULL);
    run("at{ weights_at = 3 }", "mgb.at: weights_at: device name as \"/gpu:0\" expected, got 3");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_and_fallbacks_are_read),
        cmocka_unit_test(wrong_values_are_named_with_their_path),
        cmocka_unit_test(unknown_keys_are_errors_with_a_suggestion),
        cmocka_unit_test(devices_go_by_any_usual_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
