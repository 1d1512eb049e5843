/* What a workbench does when the model cannot be had again, and how numbers are written that need an exponent. */
#include "tests/app/session/workbench/await.h"

#include <unistd.h>

static void file_write(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void a_model_file_that_broke_meanwhile_is_no_model_any_more(void **state)
{
    static const char *const words[] = {"pn:gpus=2", "pn:batch=4", "rw:warmup=0", NULL};
    struct bench bench;
    char path[400];
    snprintf(path, sizeof path, "%s.lua", (const char *)*state);
    file_write(path, "return nn.model('mine', function(m)\n"
                     "  local x, y = m:input('x', { 4 }), m:input('y', {}, 'i32')\n"
                     "  local z = nn.dense{ units = 3, name = 'z' }(x)\n"
                     "  m:output('z', z)\n"
                     "  m:loss(nn.softmax_cross_entropy(z, y))\n"
                     "end)\n");
    struct mgb_workbench_options options = bench_options(&bench, *state);
    options.model = path;
    options.words = words;
    bench_open_with(&bench, &options);
    assert_ok(bench_ask(&bench, MGB_WISH_RUN, NULL));
    bench_await_segment(&bench, 1);
    file_write(path, "return 1 +\n");
    assert_ok(bench_ask(&bench, MGB_WISH_END, NULL));
    bench_await_state(&bench, MGB_BENCH_EMPTY);
    const struct mgb_snapshot *snapshot = mgb_workbench_look(bench.at, NULL);
    assert_null(snapshot->facts);
    assert_null(snapshot->pressed);
    assert_int_equal(snapshot->now.number, 0);
    assert_non_null(strstr(snapshot->message, "unexpected symbol"));
    mgb_shared_drop(snapshot);
    assert_status(bench_ask(&bench, MGB_WISH_RUN, NULL), MGB_INVALID);
    assert_ok(bench_ask(&bench, MGB_WISH_MODEL, "mlp"));
    bench_await_state(&bench, MGB_BENCH_READY);
    bench_close(&bench);
    unlink(path);
    assert_int_equal(database_int(*state, "SELECT count(*) FROM run WHERE outcome = 'ok'"), 1);
}

/* As mgbench says it: file, line, source line and traceback; the foot of the screen has the newest fault. */
static void what_is_wrong_in_a_model_file_has_its_place(void **state)
{
    struct bench bench;
    char path[400], place[500];
    snprintf(path, sizeof path, "%s.lua", (const char *)*state);
    snprintf(place, sizeof place, "%s:2: ", path);
    file_write(path, "return nn.model('mine', function(m)\n"
                     "  local z = nn.dense{ units = 3 }(m.nothing.there)\n"
                     "end)\n");
    bench_open(&bench, *state);
    assert_ok(bench_ask(&bench, MGB_WISH_MODEL, path));
    bench_await_log(&bench, "stack traceback:");
    assert_true(bench_logged(&bench, place));
    assert_true(bench_logged(&bench, "m.nothing.there"));
    mgb_shared_drop(bench_await(&bench, bench_has_message, 0, "a message"));
    const struct mgb_snapshot *snapshot = mgb_workbench_look(bench.at, NULL);
    assert_int_equal(strncmp(snapshot->message, place, strlen(place)), 0);
    mgb_shared_drop(snapshot);
    bench_close(&bench);
    unlink(path);
}

static void a_number_with_an_exponent_stays_a_number(void **state)
{
    struct bench bench;
    char path[400], text[8192] = "";
    bench_open(&bench, *state);
    assert_ok(bench_ask(&bench, MGB_WISH_SET, "strategy=allreduce"));
    assert_ok(bench_ask(&bench, MGB_WISH_RUN, NULL));
    bench_await_segment(&bench, 1);
    assert_ok(bench_ask(&bench, MGB_WISH_SET, "bucket_mib=0.00002"));
    bench_await_segment(&bench, 2);
    snprintf(path, sizeof path, "%s.lua", (const char *)*state);
    assert_ok(bench_ask(&bench, MGB_WISH_SAVE, path));
    bench_await_log(&bench, "wrote ");
    bench_close(&bench);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_true(fread(text, 1, sizeof text - 1, file) > 0);
    fclose(file);
    unlink(path);
    assert_non_null(strstr(text, "s:set{ bucket_mib = 2e-05 }"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, database_setup, database_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_model_file_that_broke_meanwhile_is_no_model_any_more),
        TEST(what_is_wrong_in_a_model_file_has_its_place),
        TEST(a_number_with_an_exponent_stays_a_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
