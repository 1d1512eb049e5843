/* The variables screen. */
#include "app/tui/list.h"
#include "tests/app/tui/frame.h"
#include "tests/support/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void act(struct frame_bench *bench, enum tui_action action)
{
    assert_true(tui_view_variables.act(bench->state, action, &bench->scene, &bench->desk.desk));
}

static void line_has(struct frame_bench *bench, const char *words, const char *wanted)
{
    frame_bench_has(bench, 60, 120, words, wanted);
}

static void totals_are_the_sums_of_the_facts(void **state)
{
    (void)state;
    struct frame_bench bench;
    frame_bench_make(&bench, &tui_view_variables, 4);
    const struct mgb_facts *facts = &bench.fixture->facts;
    int64_t sums[2] = {0, 0};
    char bytes[32], words[64];
    for (int i = 0; i < facts->variable_count; i++)
        sums[facts->variables[i].device != 0] += facts->variables[i].bytes;
    snprintf(words, sizeof words, "%d stored, %s", facts->variable_count,
             tui_bytes(bytes, sizeof bytes, sums[0] + sums[1]));
    line_has(&bench, "VARIABLES", words);
    snprintf(words, sizeof words, "cpu:0 %s ", tui_bytes(bytes, sizeof bytes, sums[0]));
    line_has(&bench, "bytes on", words);
    snprintf(words, sizeof words, "gpu:0 %s ", tui_bytes(bytes, sizeof bytes, sums[1]));
    line_has(&bench, "bytes on", words);
    line_has(&bench, "VARIABLES", "VARIABLES 378, 91.0 MiB");
    frame_bench_done(&bench);
}

static void findings_are_marked_summed_and_explained(void **state)
{
    (void)state;
    struct frame_bench bench;
    frame_bench_make(&bench, &tui_view_variables, 4);
    line_has(&bench, "duplicates", "! duplicates 1, 121.5 KiB  ! leftovers 1, 220 B");
    char *text = frame_bench_text(&bench, 60, 120);
    assert_int_equal(frame_count(text, "! duplicate "), 0); /* the row's mark ends its line */
    assert_int_equal(frame_count(text, "! duplicate\n"), 1);
    assert_int_equal(frame_count(text, "! leftover\n"), 1);
    free(text);
    act(&bench, TUI_ACT_LAST);
    line_has(&bench, "never used again", "! leftover: left behind by a clone");
    act(&bench, TUI_ACT_UP);
    line_has(&bench, "second copy", "! duplicate: a second copy of conv_0/kernel");
    act(&bench, TUI_ACT_OPEN);
    assert_non_null(strstr(bench.desk.shown_text, "! a second copy of conv_0/kernel"));
    frame_bench_done(&bench);
}

static void clean_plan_says_so(void **state)
{
    (void)state;
    struct frame_bench bench;
    frame_bench_make(&bench, &tui_view_variables, 4);
    struct mgb_facts *facts = &bench.fixture->facts;
    facts->duplicate_count = facts->leftover_count = 0;
    facts->duplicate_bytes = facts->leftover_bytes = 0;
    line_has(&bench, "duplicates", "duplicates 0, 0 B  leftovers 0, 0 B  ok: stored as");
    char *text = frame_bench_text(&bench, 60, 120);
    assert_int_equal(frame_count(text, "! duplicates"), 0);
    free(text);
    frame_bench_done(&bench);
}

/* The first `count` rows that are shown, the device's column cut out; in order. */
static void rows_are(struct frame_bench *bench, const char *const *names, int count)
{
    char *text = frame_text(&tui_view_variables, bench->state, &bench->scene, 60, 120);
    const char *at = text;
    for (int i = 0; i < 4; i++) /* rule, totals, devices, head */
        at = strchr(at, '\n') + 1;
    for (int i = 0; i < count; i++) {
        assert_memory_equal(at + 1, names[i], strlen(names[i]));
        at = strchr(at, '\n') + 1;
    }
    free(text);
}

static void sort_walks_the_columns_and_reverse_turns(void **state)
{
    (void)state;
    struct frame_bench bench;
    frame_bench_make(&bench, &tui_view_variables, 4);
    static const char *const graph[] = {"conv_0/kernel ", "batch_norm_0/bias "};
    static const char *const turned[] = {"logits_19/bias ", "mixed_5b/branch_1/conv_19/kerne "};
    static const char *const by_name[] = {"batch_norm_0/bias ", "batch_norm_10/bias "};
    static const char *const by_bytes[] = {"mixed_5b/branch_1/conv_19/kerne ", "conv_18/kernel "};
    rows_are(&bench, graph, 2);
    act(&bench, TUI_ACT_REVERSE);
    rows_are(&bench, turned, 2);
    act(&bench, TUI_ACT_REVERSE);
    act(&bench, TUI_ACT_SORT);
    rows_are(&bench, by_name, 2);
    line_has(&bench, "name^", "shape");
    act(&bench, TUI_ACT_SORT);
    act(&bench, TUI_ACT_SORT);
    act(&bench, TUI_ACT_REVERSE);
    rows_are(&bench, by_bytes, 2);
    line_has(&bench, "bytesv", "device");
    for (int i = 0; i < 3; i++)
        act(&bench, TUI_ACT_SORT);
    act(&bench, TUI_ACT_REVERSE);
    rows_are(&bench, graph, 2);
    frame_bench_done(&bench);
}

static void a_filter_leaves_the_same_variable_in_hand(void **state)
{
    (void)state;
    struct frame_bench bench;
    frame_bench_make(&bench, &tui_view_variables, 4);
    char name[200];
    for (int i = 0; i < 5; i++) {
        free(frame_bench_text(&bench, 30, 100));
        tui_view_variables.act(bench.state, TUI_ACT_DOWN, &bench.scene, &bench.desk.desk);
    }
    snprintf(name, sizeof name, "%s", bench.fixture->facts.variables[5].name);
    line_has(&bench, ">", name);
    bench.scene.filter = "nothing like that";
    free(frame_bench_text(&bench, 30, 100));
    free(frame_bench_text(&bench, 30, 100));
    bench.scene.filter = name;
    line_has(&bench, ">", name);
    bench.scene.filter = "";
    line_has(&bench, ">", name);
    frame_bench_done(&bench);
}

static void filter_counts_and_sums_what_is_left(void **state)
{
    (void)state;
    struct frame_bench bench;
    frame_bench_make(&bench, &tui_view_variables, 4);
    int64_t sum = 0;
    char bytes[32], words[64];
    for (int i = 0; i < FIXTURE_VARIABLES; i++)
        if (strstr(bench.fixture->variables[i].name, "norm"))
            sum += bench.fixture->variables[i].bytes;
    bench.scene.filter = "NORM cpu";
    snprintf(words, sizeof words, "10 of 40 stored, %s", tui_bytes(bytes, sizeof bytes, sum));
    line_has(&bench, "VARIABLES", words);
    bench.scene.filter = "gpu:0";
    line_has(&bench, "VARIABLES", "1 of 40 stored, 121.5 KiB");
    bench.scene.filter = "leftover";
    line_has(&bench, "VARIABLES", "1 of 40 stored, 220 B");
    frame_bench_done(&bench);
}

static void click_on_a_title_sorts_by_it(void **state)
{
    (void)state;
    struct frame_bench bench;
    frame_bench_make(&bench, &tui_view_variables, 4);
    static const char *const by_name[] = {"batch_norm_0/bias "};
    static const char *const turned[] = {"mixed_5b/branch_1/conv_9/kernel "};
    static const char *const graph[] = {"conv_0/kernel ", "batch_norm_0/bias "};
    rows_are(&bench, graph, 2);
    tui_view_variables.click(bench.state, 3, 2, 0, &bench.scene, &bench.desk.desk);
    rows_are(&bench, by_name, 1);
    tui_view_variables.click(bench.state, 3, 2, 0, &bench.scene, &bench.desk.desk);
    rows_are(&bench, turned, 1);
    tui_view_variables.click(bench.state, 6, 2, 0, &bench.scene, &bench.desk.desk);
    line_has(&bench, "3/40", "bytes on");
    frame_bench_done(&bench);
}

static void kept(void *context, const char *name, const char *value)
{
    if (strcmp(name, "sort") == 0)
        snprintf(context, 32, "%s", value);
}

static void order_is_kept_between_sessions(void **state)
{
    (void)state;
    struct frame_bench bench;
    frame_bench_make(&bench, &tui_view_variables, 4);
    static const char *const by_bytes[] = {"mixed_5b/branch_1/conv_19/kerne "};
    char sort[32] = "";
    assert_true(tui_view_variables.load(bench.state, "sort", "bytes"));
    assert_true(tui_view_variables.load(bench.state, "descending", "yes"));
    assert_false(tui_view_variables.load(bench.state, "sort", "colour"));
    assert_false(tui_view_variables.load(bench.state, "descending", "perhaps"));
    assert_false(tui_view_variables.load(bench.state, "nonsense", "yes"));
    tui_view_variables.load(bench.state, "sort", "bytes");
    tui_view_variables.load(bench.state, "descending", "yes");
    rows_are(&bench, by_bytes, 1);
    tui_view_variables.save(bench.state, kept, sort);
    assert_string_equal(sort, "bytes");
    frame_bench_done(&bench);
}

static void every_size_stays_inside(void **state)
{
    (void)state;
    frame_check_all(&tui_view_variables, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(totals_are_the_sums_of_the_facts),
        cmocka_unit_test(findings_are_marked_summed_and_explained),
        cmocka_unit_test(clean_plan_says_so),
        cmocka_unit_test(sort_walks_the_columns_and_reverse_turns),
        cmocka_unit_test(a_filter_leaves_the_same_variable_in_hand),
        cmocka_unit_test(filter_counts_and_sums_what_is_left),
        cmocka_unit_test(click_on_a_title_sorts_by_it),
        cmocka_unit_test(order_is_kept_between_sessions),
        cmocka_unit_test(every_size_stays_inside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
