/* The runs screen: a window of the archive's list, and what keys ask about the run in hand. */
#include "app/tui/screen_private.h"
#include "tests/app/tui/fixture.h"
#include "tests/support/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct screen {
    struct fixture *fixture;
    struct mgb_list list; /* a copy of the fixture's, to be changed */
    const struct mgb_list *runs;
    struct tui_scene scene;
    struct fixture_desk desk;
    void *state;
};
static struct screen s;

static int view_begin(void **state)
{
    (void)state;
    s = (struct screen){.fixture = fixture_make(4),
                        .runs = fixture_list(),
                        .state = calloc(1, tui_view_runs.state_size)};
    assert_non_null(s.fixture);
    assert_non_null(s.runs);
    assert_non_null(s.state);
    s.list = *s.runs;
    fixture_scene(&s.scene, s.fixture);
    fixture_desk_init(&s.desk);
    s.scene.runs = &s.list;
    return 0;
}

static int view_end(void **state)
{
    (void)state;
    free(s.state);
    mgb_shared_drop(s.runs);
    fixture_free(s.fixture);
    return 0;
}

static char *drawn(int rows, int columns)
{
    struct tui_canvas canvas;
    assert_true(tui_canvas_init(&canvas, rows, columns, false));
    tui_view_runs.draw(s.state, &canvas, tui_canvas_whole(&canvas), &s.scene);
    char *text = tui_canvas_text(&canvas);
    tui_canvas_done(&canvas);
    assert_non_null(text);
    return text;
}

static void shows(const char *words)
{
    char *text = drawn(20, 100);
    if (!strstr(text, words))
        fail_msg("'%s' is not in\n%s", words, text);
    free(text);
}

static bool act(enum tui_action action)
{
    return tui_view_runs.act(s.state, action, &s.scene, &s.desk.desk);
}

static void a_row_tells_run_model_time_and_outcome(void **state)
{
    (void)state;
    char *text = drawn(20, 160);
    const char *row = strstr(text, "412.2");
    assert_non_null(row);
    assert_non_null(strstr(row, "inception_v3"));
    assert_non_null(strstr(row, "247.4"));
    assert_non_null(strstr(text, "no memory"));
    assert_non_null(strstr(text, "1/10000"));
    assert_non_null(strstr(text, "sim"));
    free(text);
}

static void without_a_list_it_says_why(void **state)
{
    (void)state;
    s.scene.runs = NULL;
    shows("reading the results database");
    s.scene.runs = &s.list;
    s.list.total = s.list.count = 0;
    shows("no run is stored yet");
    snprintf(s.list.filter, sizeof s.list.filter, "nothing");
    shows("no run is like that; Esc shows all. Words, or tag=NAME");
    snprintf(s.list.message, sizeof s.list.message, "x.db: not a database");
    shows("! x.db: not a database");
    assert_true(act(TUI_ACT_OPEN));
    assert_int_equal(s.desk.commanded, 0);
}

static void sorting_goes_through_the_archive_and_shows_its_sign(void **state)
{
    (void)state;
    act(TUI_ACT_SORT);
    assert_int_equal(s.desk.listed, 1);
    assert_int_equal(s.desk.request.sort, MGB_LIST_STARTED);
    assert_false(s.desk.request.ascending);
    act(TUI_ACT_REVERSE);
    assert_int_equal(s.desk.request.sort, MGB_LIST_STARTED);
    assert_true(s.desk.request.ascending);
    for (int i = 0; i < MGB_LIST_COLUMN_COUNT - 1; i++)
        act(TUI_ACT_SORT);
    assert_int_equal(s.desk.request.sort, MGB_LIST_RUN);
    char *down = drawn(20, 100);
    s.list.ascending = true;
    char *up = drawn(20, 100);
    assert_string_not_equal(down, up);
    free(down);
    free(up);
}

static void a_filter_is_asked_for_once_and_from_the_top(void **state)
{
    (void)state;
    free(drawn(20, 100));
    act(TUI_ACT_PAGE_DOWN);
    s.scene.filter = "model=mlp";
    tui_runs_filter(s.state, &s.scene, &s.desk.desk);
    tui_runs_filter(s.state, &s.scene, &s.desk.desk);
    assert_int_equal(s.desk.listed, 1);
    assert_string_equal(s.desk.request_filter, "model=mlp");
    assert_int_equal(s.desk.request.first, 0);
    shows("looking for them");
}

static void a_filter_leaves_the_same_run_in_hand(void **state)
{
    (void)state;
    struct mgb_list_row all[] = {s.list.rows[0], s.list.rows[1], s.list.rows[2], s.list.rows[3]};
    struct mgb_list_row some[] = {all[1], all[3]};
    s.list.rows = all, s.list.count = 4, s.list.total = 4;
    free(drawn(20, 100));
    act(TUI_ACT_LAST);
    shows(">  411.1");
    s.scene.filter = "x";
    tui_runs_filter(s.state, &s.scene, &s.desk.desk);
    strcpy(s.list.filter, "x");
    s.list.rows = some, s.list.count = 2, s.list.total = 2;
    shows(">  411.1");
    s.scene.filter = "xy"; /* it does not pass */
    tui_runs_filter(s.state, &s.scene, &s.desk.desk);
    strcpy(s.list.filter, "xy");
    s.list.count = 1, s.list.total = 1;
    shows(">  412.1");
    s.scene.filter = "";
    tui_runs_filter(s.state, &s.scene, &s.desk.desk);
    s.list.filter[0] = '\0';
    s.list.rows = all, s.list.count = 4, s.list.total = 4;
    shows(">  411.1");
}

static void labels_of_the_run_in_hand_stand_at_the_foot(void **state)
{
    (void)state;
    struct mgb_list_row rows[] = {s.list.rows[0], s.list.rows[1]};
    rows[0].tags = "", rows[0].notes = "";
    rows[1].tags = "paper night", rows[1].notes = "the fan was off";
    s.list.rows = rows, s.list.count = 2, s.list.total = 2;
    char *text = drawn(20, 80);
    assert_non_null(strstr(text, "412.2  no tags, no notes"));
    if (!strstr(text, "\n# 412.1"))
        fail_msg("no sign in\n%s", text);
    free(text);
    act(TUI_ACT_DOWN);
    text = drawn(20, 80);
    assert_non_null(strstr(text, "412.1  tags: paper night  note: the fan was off"));
    free(text);
}

static void a_large_rate_is_whole_or_rounded(void **state)
{
    (void)state;
    struct mgb_list_row rows[] = {s.list.rows[0]};
    rows[0].rate = 101760;
    s.list.rows = rows, s.list.count = 1, s.list.total = 1;
    char *text = drawn(20, 80);
    assert_non_null(strstr(text, " 102k "));
    free(text);
    text = drawn(20, 140);
    assert_non_null(strstr(text, " 101.8k "));
    free(text);
}

static void scrolling_beyond_the_window_asks_for_the_next(void **state)
{
    (void)state;
    free(drawn(20, 100));
    act(TUI_ACT_RELOAD);
    assert_int_equal(s.desk.listed, 1);
    act(TUI_ACT_DOWN);
    assert_int_equal(s.desk.listed, 1);
    act(TUI_ACT_LAST);
    assert_int_equal(s.desk.listed, 2);
    assert_true(s.desk.request.first + s.desk.request.most >= 10000);
    act(TUI_ACT_UP);
    assert_int_equal(s.desk.listed, 2);
    shows("...");
    s.list.first = 10000 - s.list.count;
    shows(">  383.2");
    shows("9999/10000");
}

static void two_runs_are_marked_and_a_third_replaces_the_older(void **state)
{
    (void)state;
    free(drawn(20, 100));
    act(TUI_ACT_COMPARE_MARKED);
    assert_int_equal(s.desk.commanded, 0);
    assert_int_equal(s.desk.said, 1);
    act(TUI_ACT_MARK);
    act(TUI_ACT_COMPARE_MARKED);
    assert_string_equal(s.desk.command, "compare 412.2 412.1");
    act(TUI_ACT_MARK);
    act(TUI_ACT_COMPARE_MARKED);
    assert_string_equal(s.desk.command, "compare 412.2 412.1");
    shows("+412.1");
    act(TUI_ACT_MARK);
    act(TUI_ACT_COMPARE_MARKED);
    assert_string_equal(s.desk.command, "compare 412.1 411.2");
    act(TUI_ACT_UP);
    act(TUI_ACT_MARK); /* takes the mark off */
    act(TUI_ACT_FIRST);
    act(TUI_ACT_COMPARE_MARKED);
    assert_string_equal(s.desk.command, "compare 412.1 412.2");
}

static void enter_shows_the_run(void **state)
{
    (void)state;
    free(drawn(20, 100));
    act(TUI_ACT_DOWN);
    act(TUI_ACT_OPEN);
    assert_string_equal(s.desk.command, "show 412.1");
}

static void splits_to(const char *line, int count, const char *last)
{
    char buffer[TUI_COMMAND_BYTES], *words[20];
    assert_int_equal(tui_command_split(buffer, sizeof buffer, words, 20, line), count);
    assert_string_equal(words[count - 1], last);
}

static void texts_of_people_are_quoted_for_the_command(void **state)
{
    (void)state;
    s.fixture->snapshot.recorded = false;
    free(drawn(20, 100));
    act(TUI_ACT_NOTE);
    fixture_desk_answer(&s.desk, "it's \"hot\" \\ $HOME; rm -rf");
    splits_to(s.desk.command, 3, "it's \"hot\" \\ $HOME; rm -rf");
    assert_int_equal(strncmp(s.desk.command, "note 412 '", 10), 0);
    act(TUI_ACT_NOTE);
    fixture_desk_answer(&s.desk, "--json");
    splits_to(s.desk.command, 3, " --json");
    act(TUI_ACT_TAG);
    fixture_desk_answer(&s.desk, "  fast big");
    assert_string_equal(s.desk.command, "tag 412 'fast' 'big'");
    act(TUI_ACT_TAG);
    assert_non_null(strstr(s.desk.question, "'two words'"));
    fixture_desk_answer(&s.desk, "fast 'two words'");
    assert_string_equal(s.desk.command, "tag 412 'fast' 'two words'");
    act(TUI_ACT_TAG);
    fixture_desk_answer(&s.desk, "don't");
    assert_non_null(strstr(s.desk.said_text, "a quote is not closed"));
    act(TUI_ACT_TAG);
    fixture_desk_answer(&s.desk, "-old -");
    assert_string_equal(s.desk.command, "tag 412 'old' --remove");
    assert_int_equal(s.desk.commanded, 5);
    act(TUI_ACT_BASELINE);
    assert_string_equal(s.desk.initial, "inception_v3");
    fixture_desk_answer(&s.desk, "my base");
    assert_string_equal(s.desk.command, "baseline set 'my base' 412.2");
    act(TUI_ACT_TAG);
    fixture_desk_answer(&s.desk, NULL);
    assert_int_equal(s.desk.commanded, 6);
}

/* As long as can be typed, every character to be quoted. */
static void a_long_note_of_quotes_is_kept_whole(void **state)
{
    (void)state;
    char note[TUI_PROMPT_BYTES];
    memset(note, '\'', sizeof note - 1);
    note[sizeof note - 1] = '\0';
    s.fixture->snapshot.recorded = false;
    free(drawn(20, 100));
    act(TUI_ACT_NOTE);
    fixture_desk_answer(&s.desk, note);
    splits_to(s.desk.command, 3, note);
}

static void the_run_on_the_bench_is_written_to_by_the_workbench(void **state)
{
    (void)state;
    s.fixture->snapshot.now.run_id = 412;
    free(drawn(20, 100));
    act(TUI_ACT_TAG);
    fixture_desk_answer(&s.desk, "fast");
    assert_int_equal(s.desk.wish.kind, MGB_WISH_TAG);
    assert_string_equal(s.desk.wish_text, "fast");
    act(TUI_ACT_TAG);
    int asked = s.desk.asked;
    fixture_desk_answer(&s.desk, "c a,b d/e,,");
    assert_int_equal(s.desk.asked, asked); /* all of them or none */
    assert_non_null(strstr(s.desk.said_text, "'a,b'"));
    act(TUI_ACT_NOTE);
    fixture_desk_answer(&s.desk, "a note");
    assert_int_equal(s.desk.wish.kind, MGB_WISH_NOTE);
    assert_string_equal(s.desk.wish_text, "a note");
    assert_int_equal(s.desk.commanded, 0);
    act(TUI_ACT_DELETE);
    assert_int_equal(s.desk.confirmed, 0);
    assert_int_equal(s.desk.said_kind, MGB_LINE_FAULT);
}

static void while_a_run_is_recorded_no_other_is_pinned_or_deleted(void **state)
{
    (void)state;
    s.fixture->snapshot.now.run_id = 1;
    s.fixture->snapshot.recorded = true;
    free(drawn(20, 100));
    act(TUI_ACT_BASELINE);
    assert_string_equal(s.desk.said_text, "a run is being recorded: end it first (x on the bench)");
    act(TUI_ACT_DELETE);
    assert_int_equal(s.desk.confirmed, 0);
    assert_int_equal(s.desk.commanded, 0);
}

static void a_run_is_deleted_after_asking(void **state)
{
    (void)state;
    s.fixture->snapshot.now.run_id = 1;
    s.fixture->snapshot.recorded = false;
    free(drawn(20, 100));
    act(TUI_ACT_MARK);
    act(TUI_ACT_FIRST);
    act(TUI_ACT_DELETE);
    assert_non_null(strstr(s.desk.question, "delete run 412"));
    fixture_desk_answer(&s.desk, NULL);
    assert_int_equal(s.desk.commanded, 0);
    act(TUI_ACT_DELETE);
    fixture_desk_answer(&s.desk, "y");
    assert_string_equal(s.desk.command, "rm 412 --yes");
    char *text = drawn(20, 100);
    assert_null(strstr(text, "+412"));
    free(text);
}

static void its_model_and_placement_are_taken_to_the_bench(void **state)
{
    (void)state;
    struct mgb_list_row rows[1] = {s.list.rows[0]};
    rows[0].recipe = "resnet depth=50", rows[0].settings = "gpus=2 batch=64";
    s.list.rows = rows, s.list.count = 1, s.list.total = 1;
    free(drawn(20, 100));
    act(TUI_ACT_USE);
    assert_int_equal(s.desk.asked, 2);
    assert_int_equal(s.desk.wish.kind, MGB_WISH_SET);
    struct mgb_placement placement;
    char pair[64], text[64];
    int length = 0;
    mgb_placement_init(&placement);
    assert_ok(mgb_placement_set(&placement, "strategy", "allreduce"));
    assert_ok(mgb_placement_set(&placement, "global_batch", "7"));
    for (const char *at = s.desk.wish_text;
         sscanf(at, " %63[^= ]=%63[^ ]%n", pair, text, &length) == 2; at += length)
        assert_ok(mgb_placement_set(&placement, pair, text));
    assert_int_equal(placement.given, 1 << MGB_OPTION_GPUS | 1 << MGB_OPTION_BATCH);
    assert_int_equal(placement.batch, 64);
    assert_int_equal(s.desk.place, TUI_ON_BENCH);
    rows[0].settings = NULL;
    act(TUI_ACT_USE);
    assert_int_equal(s.desk.asked, 3);
    assert_string_equal(s.desk.wish_text, "resnet depth=50");
    assert_non_null(strstr(s.desk.said_text, "model alone"));
    /* Whatever is stored: no file is run for it. */
    rows[0].recipe = rows[0].model = "/tmp/other.lua";
    act(TUI_ACT_USE);
    assert_int_equal(s.desk.asked, 3);
    assert_non_null(strstr(s.desk.said_text, "like a file"));
}

static void a_click_on_a_title_sorts_and_on_a_row_takes_it(void **state)
{
    (void)state;
    char *text = drawn(20, 100);
    const char *line = strchr(text, '\n') + 1, *title = strstr(line, "model");
    assert_non_null(title);
    tui_view_runs.click(s.state, 1, (int)(title - line), 0, &s.scene, &s.desk.desk);
    assert_int_equal(s.desk.request.sort, MGB_LIST_MODEL);
    assert_true(s.desk.request.ascending);
    free(text);
    tui_view_runs.click(s.state, 5, 3, 0, &s.scene, &s.desk.desk);
    act(TUI_ACT_OPEN);
    assert_string_equal(s.desk.command, "show 411.1");
}

static char saved[4][2][64];
static int saved_count;

static void save(void *context, const char *name, const char *value)
{
    (void)context;
    snprintf(saved[saved_count][0], 64, "%s", name);
    snprintf(saved[saved_count++][1], 64, "%s", value);
}

static void the_order_comes_back_from_the_settings(void **state)
{
    (void)state;
    saved_count = 0;
    act(TUI_ACT_SORT);
    act(TUI_ACT_SORT);
    act(TUI_ACT_REVERSE);
    tui_view_runs.save(s.state, save, NULL);
    memset(s.state, 0, tui_view_runs.state_size);
    for (int i = 0; i < saved_count; i++)
        assert_true(tui_view_runs.load(s.state, saved[i][0], saved[i][1]));
    act(TUI_ACT_RELOAD);
    assert_int_equal(s.desk.request.sort, MGB_LIST_MODEL);
    assert_false(s.desk.request.ascending);
    assert_false(tui_view_runs.load(s.state, "sort", "weather"));
}

static void any_size_is_drawn_without_a_fault(void **state)
{
    (void)state;
    static const enum tui_action actions[] = {TUI_ACT_DOWN, TUI_ACT_MARK,  TUI_ACT_PAGE_DOWN,
                                              TUI_ACT_LAST, TUI_ACT_FIRST, TUI_ACT_UP};
    for (int rows = 6; rows < 40; rows++)
        for (int columns = 40; columns < 200; columns += 9) {
            free(drawn(rows, columns));
            act(actions[(rows * 7 + columns) % 6]);
        }
}

#define VIEW_TEST(f) cmocka_unit_test_setup_teardown(f, view_begin, view_end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        VIEW_TEST(a_row_tells_run_model_time_and_outcome),
        VIEW_TEST(without_a_list_it_says_why),
        VIEW_TEST(sorting_goes_through_the_archive_and_shows_its_sign),
        VIEW_TEST(a_filter_is_asked_for_once_and_from_the_top),
        VIEW_TEST(a_filter_leaves_the_same_run_in_hand),
        VIEW_TEST(labels_of_the_run_in_hand_stand_at_the_foot),
        VIEW_TEST(a_large_rate_is_whole_or_rounded),
        VIEW_TEST(scrolling_beyond_the_window_asks_for_the_next),
        VIEW_TEST(two_runs_are_marked_and_a_third_replaces_the_older),
        VIEW_TEST(enter_shows_the_run),
        VIEW_TEST(texts_of_people_are_quoted_for_the_command),
        VIEW_TEST(a_long_note_of_quotes_is_kept_whole),
        VIEW_TEST(the_run_on_the_bench_is_written_to_by_the_workbench),
        VIEW_TEST(while_a_run_is_recorded_no_other_is_pinned_or_deleted),
        VIEW_TEST(a_run_is_deleted_after_asking),
        VIEW_TEST(its_model_and_placement_are_taken_to_the_bench),
        VIEW_TEST(a_click_on_a_title_sorts_and_on_a_row_takes_it),
        VIEW_TEST(the_order_comes_back_from_the_settings),
        VIEW_TEST(any_size_is_drawn_without_a_fault),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
