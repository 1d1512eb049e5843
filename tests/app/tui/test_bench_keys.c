/* The bench's keys: what each asks the workbench for, and what is refused with a reason before it is asked. */
#include "tests/app/tui/bench_scene.h"

#include <stdio.h>
#include <string.h>

static void keys_that_toggle_ask_for_it(void **state)
{
    (void)state;
    static const struct {
        enum tui_action action;
        enum mgb_option_id option;
        int direction;
    } keys[] = {{TUI_ACT_WEIGHTS, MGB_OPTION_CPU_RELOCATION, 1},
                {TUI_ACT_MERGE, MGB_OPTION_CPU_MERGE, 1},
                {TUI_ACT_STRATEGY, MGB_OPTION_STRATEGY, 1},
                {TUI_ACT_FEWER_GPUS, MGB_OPTION_GPUS, -1},
                {TUI_ACT_SMALLER_BATCH, MGB_OPTION_BATCH, -1},
                {TUI_ACT_LARGER_BATCH, MGB_OPTION_BATCH, 1},
                {TUI_ACT_PEER, MGB_OPTION_PEER_ACCESS, 1}};
    struct fixture *f = bench_make(4);
    struct fixture_desk desk;
    fixture_desk_init(&desk);
    for (int i = 0; i < 7; i++) {
        assert_true(tui_view_bench.act(&view, keys[i].action, &scene, &desk.desk));
        assert_int_equal(desk.asked, i + 1);
        assert_int_equal(desk.wish.kind, MGB_WISH_TOGGLE);
        assert_int_equal(desk.wish.option, keys[i].option);
        assert_int_equal(desk.wish.direction, keys[i].direction);
    }
    f->facts.batch_mode = MGB_BATCH_GLOBAL;
    tui_view_bench.act(&view, TUI_ACT_LARGER_BATCH, &scene, &desk.desk);
    assert_int_equal(desk.wish.option, MGB_OPTION_GLOBAL_BATCH);
    fixture_free(f);
}

static void what_cannot_be_is_refused_with_the_reason(void **state)
{
    (void)state;
    struct fixture *f = bench_make(4);
    struct fixture_desk desk;
    fixture_desk_init(&desk);
    tui_view_bench.act(&view, TUI_ACT_MORE_GPUS, &scene, &desk.desk);
    assert_int_equal(desk.asked, 0);
    assert_string_equal(desk.said_text, "gpus: this machine has 4 GPUs");
    pending.options = UINT64_C(1) << MGB_OPTION_GPUS; /* one less is on its way: one more may do */
    tui_view_bench.act(&view, TUI_ACT_MORE_GPUS, &scene, &desk.desk);
    assert_int_equal(desk.asked, 1);
    pending.options = 0;
    f->snapshot.undo_count = 0;
    tui_view_bench.act(&view, TUI_ACT_UNDO, &scene, &desk.desk);
    assert_int_equal(desk.asked, 1);
    fixture_set_ready(f);
    tui_view_bench.act(&view, TUI_ACT_END, &scene, &desk.desk);
    assert_int_equal(desk.confirmed, 0);
    fixture_set_empty(f);
    tui_view_bench.act(&view, TUI_ACT_WEIGHTS, &scene, &desk.desk);
    tui_view_bench.act(&view, TUI_ACT_OPTIONS, &scene, &desk.desk);
    tui_view_bench.act(&view, TUI_ACT_WHAT_IF, &scene, &desk.desk);
    assert_int_equal(desk.asked, 1);
    assert_int_equal(desk.menus, 0);
    assert_int_equal(desk.said, 6);
    fixture_free(f);
}

static void undo_and_end_ask_for_it(void **state)
{
    (void)state;
    struct fixture *f = bench_make(4);
    struct fixture_desk desk;
    fixture_desk_init(&desk);
    assert_true(tui_view_bench.act(&view, TUI_ACT_UNDO, &scene, &desk.desk));
    assert_int_equal(desk.wish.kind, MGB_WISH_UNDO);
    assert_true(tui_view_bench.act(&view, TUI_ACT_END, &scene, &desk.desk));
    assert_int_equal(desk.asked, 1);
    assert_non_null(strstr(desk.question, "412"));
    fixture_desk_answer(&desk, NULL);
    assert_int_equal(desk.asked, 1);
    tui_view_bench.act(&view, TUI_ACT_END, &scene, &desk.desk);
    fixture_desk_answer(&desk, "y");
    assert_int_equal(desk.wish.kind, MGB_WISH_END);
    fixture_free(f);
}

/* Which of the menu's choices has that label; -1: none. */
static int choice_find(const struct fixture_desk *desk, const char *label)
{
    for (int i = 0; i < desk->choice_count; i++)
        if (strncmp(desk->choices[i].label, label, strlen(label)) == 0)
            return i;
    return -1;
}

static void the_menu_of_options_sets_what_is_chosen(void **state)
{
    (void)state;
    struct fixture *f = bench_make(4);
    struct fixture_desk desk;
    fixture_desk_init(&desk);
    tui_view_bench.act(&view, TUI_ACT_OPTIONS, &scene, &desk.desk);
    int wire = choice_find(&desk, "wire_type      f32 -> f16");
    assert_true(wire >= 0 && !desk.choices[wire].disabled);
    assert_non_null(strstr(desk.choices[wire].note, "* x0.910"));
    fixture_desk_answer(&desk, desk.choices[wire].value);
    assert_int_equal(desk.wish.kind, MGB_WISH_SET);
    assert_string_equal(desk.wish_text, "wire_type=f16");
    int weights =
        choice_find(&desk, "cpu_relocation"); /* weights_at is given, and would contradict it */
    assert_string_equal(desk.choices[weights].value, "cpu_relocation=false weights_at=nil");
    int parked = choice_find(&desk, "allreduce");
    assert_true(parked >= 0 && desk.choices[parked].disabled);
    assert_string_equal(desk.choices[parked].note, "n/a under outputs");
    int typed = choice_find(&desk, "batch          type a value");
    assert_true(typed >= 0);
    tui_view_bench.act(&view, TUI_ACT_OPTIONS, &scene, &desk.desk);
    fixture_desk_answer(&desk, desk.choices[typed].value);
    assert_int_equal(desk.prompted, 1);
    assert_string_equal(desk.initial, "32");
    fixture_desk_answer(&desk, "48");
    assert_string_equal(desk.wish_text, "batch=48");
    fixture_free(f);
}

static void every_value_of_an_option_can_be_chosen(void **state)
{
    (void)state;
    static const char *const wanted[][2] = {{"strategy", "strategy=independent"},
                                            {"weights_at", "weights_at=/gpu:3 cpu_relocation=nil"},
                                            {"weights_at", "weights_at=spread cpu_relocation=nil"},
                                            {"weights_at", "weights_at=nil"},
                                            {"peer_access", "peer_access=false"},
                                            {"cpu_merge", "cpu_merge=false merge_at=nil"}};
    struct fixture *f = bench_make(4);
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        struct fixture_desk desk;
        char label[64];
        fixture_desk_init(&desk);
        tui_view_bench.act(&view, TUI_ACT_OPTIONS, &scene, &desk.desk);
        snprintf(label, sizeof label, "%-14s all values...", wanted[i][0]);
        int row = choice_find(&desk, label);
        assert_true(row >= 0);
        fixture_desk_answer(&desk, desk.choices[row].value);
        assert_int_equal(desk.menus, 2);
        int at = 0;
        while (at < desk.choice_count && strcmp(desk.choices[at].value, wanted[i][1]) != 0)
            at++;
        if (at == desk.choice_count)
            fail_msg("%s is not offered", wanted[i][1]);
        fixture_desk_answer(&desk, desk.choices[at].value);
        assert_string_equal(desk.wish_text, wanted[i][1]);
    }
    fixture_free(f);
}

static void what_if_has_the_fastest_first(void **state)
{
    (void)state;
    struct fixture *f = bench_make(4);
    struct fixture_desk desk;
    fixture_desk_init(&desk);
    tui_view_bench.act(&view, TUI_ACT_WHAT_IF, &scene, &desk.desk);
    assert_int_equal(desk.choice_count, f->pressed.count);
    assert_int_equal(choice_find(&desk, "wire_type"), 0);
    assert_int_equal(choice_find(&desk, "strategy"), 1);
    assert_true(choice_find(&desk, "sum_at") < choice_find(&desk, "precision"));
    assert_non_null(strstr(desk.title, "finding out"));
    fixture_desk_answer(&desk, desk.choices[1].value);
    assert_string_equal(desk.wish_text, "strategy=gradients");
    fixture_free(f);
}

/* Running, choosing what is trained, recording and comparing are the same on every screen. */
static void the_rest_is_left_to_the_screen(void **state)
{
    (void)state;
    static const enum tui_action others[] = {
        TUI_ACT_RUN,    TUI_ACT_VERIFY,      TUI_ACT_COMPARE_SEGMENTS, TUI_ACT_EXPLAIN,
        TUI_ACT_TRACE,  TUI_ACT_CHOOSE_DATA, TUI_ACT_CHOOSE_MODEL,     TUI_ACT_CHOOSE_BACKEND,
        TUI_ACT_RECORD, TUI_ACT_QUIT};
    struct fixture *f = bench_make(2);
    struct fixture_desk desk;
    fixture_desk_init(&desk);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_false(tui_view_bench.act(&view, others[i], &scene, &desk.desk));
    assert_int_equal(desk.asked + desk.said + desk.menus + desk.prompted, 0);
    fixture_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_that_toggle_ask_for_it),
        cmocka_unit_test(what_cannot_be_is_refused_with_the_reason),
        cmocka_unit_test(undo_and_end_ask_for_it),
        cmocka_unit_test(the_menu_of_options_sets_what_is_chosen),
        cmocka_unit_test(every_value_of_an_option_can_be_chosen),
        cmocka_unit_test(what_if_has_the_fastest_first),
        cmocka_unit_test(the_rest_is_left_to_the_screen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
