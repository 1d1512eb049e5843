/* The help screen. */
#include "app/tui/chart.h"
#include "app/tui/help.h"
#include "app/tui/words.h"
#include "tests/app/tui/frame.h"
#include "tests/support/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void bench_make(struct frame_bench *bench, enum tui_place from)
{
    frame_bench_make(bench, &tui_view_help, 1);
    bench->scene.from = from;
}

static bool act(struct frame_bench *bench, enum tui_action action)
{
    return tui_view_help.act(bench->state, action, &bench->scene, &bench->desk.desk);
}

static char *picture(struct frame_bench *bench, int rows, int columns)
{
    return frame_bench_text(bench, rows, columns);
}

static void screen_one_came_from_is_told_first(void **state)
{
    (void)state;
    static const struct {
        enum tui_place from;
        const char *heading, *first;
    } cases[] = {{TUI_ON_BENCH, "KEYS on Bench", "relocate the weights"},
                 {TUI_ON_PLAN, "KEYS on Plan", "what bounds the step"},
                 {TUI_ON_RUNS, "KEYS on Runs", "mark a run"},
                 {TUI_ON_SWEEP, "KEYS on Sweep", "edit the values"},
                 {TUI_ON_LOG, "KEYS on Log", "follow the end"},
                 {TUI_ON_DEVICES, "KEYS everywhere", "run or pause"},
                 {0, "KEYS on Bench", "relocate the weights"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct frame_bench bench;
        bench_make(&bench, cases[i].from);
        char *text = picture(&bench, 20, 80), *second = strchr(text, '\n') + 1;
        assert_non_null(strstr(text, cases[i].heading));
        assert_true(strstr(text, cases[i].heading) < second);
        assert_true(*second == '>');
        assert_true(strstr(second, cases[i].first) < strchr(second, '\n'));
        free(text);
        frame_bench_done(&bench);
    }
}

static void every_action_and_word_is_listed_once(void **state)
{
    (void)state;
    static const enum tui_place places[] = {TUI_ON_BENCH, TUI_ON_DEVICES, TUI_ON_RUNS, TUI_ON_LOG,
                                            TUI_ON_OUTPUT};
    for (size_t p = 0; p < sizeof places / sizeof *places; p++) {
        struct frame_bench bench;
        bench_make(&bench, places[p]);
        char *text = picture(&bench, 400, 200);
        for (int action = 0; action < TUI_ACT_COUNT; action++) {
            char words[64];
            snprintf(words, sizeof words, " %s ", tui_actions[action].name);
            int count = 0; /* in the names' column */
            for (char *line = text; *line; line = strchr(line, '\n') + 1)
                count += strcspn(line, "\n") > 28 && !strncmp(line + 12, words, strlen(words));
            if (count != 1)
                fail_msg("%s is listed %d times", tui_actions[action].name, count);
        }
        for (int i = 0; i < tui_help_word_count; i++)
            if (tui_help_words[i].text)
                assert_true(frame_count(text, tui_help_words[i].text) >= 1);
        free(text);
        frame_bench_done(&bench);
    }
}

static void filter_finds_keys_and_words(void **state)
{
    (void)state;
    struct frame_bench bench;
    bench_make(&bench, TUI_ON_BENCH);
    bench.scene.filter = "weights reloc";
    char *text = picture(&bench, 40, 80);
    assert_int_equal(frame_count(text, "relocate the weights"), 1);
    assert_int_equal(frame_count(text, "quit"), 0);
    assert_int_equal(frame_count(text, "KEYS"), 1); /* headings of nothing go */
    free(text);
    bench.scene.filter = "F12";
    text = picture(&bench, 40, 80);
    assert_int_equal(frame_count(text, "save-layout"), 1);
    free(text);
    bench.scene.filter = "efficiency";
    text = picture(&bench, 40, 80);
    assert_int_equal(frame_count(text, "speed-up over the one-GPU run"), 1);
    assert_int_equal(frame_count(text, "KEYS"), 0);
    free(text);
    bench.scene.filter = "nonsense";
    text = picture(&bench, 40, 80);
    assert_int_equal(frame_count(text, "nothing has \"nonsense\""), 1);
    assert_true(act(&bench, TUI_ACT_OPEN));
    assert_int_equal(bench.desk.acted, 0);
    free(text);
    frame_bench_done(&bench);
}

static void enter_runs_every_entry_where_it_works(void **state)
{
    (void)state;
    struct frame_bench bench;
    bench_make(&bench, TUI_ON_RUNS);
    bool ran[TUI_ACT_COUNT] = {false};
    free(picture(&bench, 20, 80));
    for (int i = 0; i < 400; i++) {
        int before = bench.desk.acted;
        bench.desk.place = 0;
        assert_true(act(&bench, TUI_ACT_OPEN));
        if (bench.desk.acted > before) {
            enum tui_action action = bench.desk.action;
            assert_true(tui_actions[action].where & bench.desk.place);
            if (tui_actions[action].where & TUI_ON_RUNS)
                assert_int_equal(bench.desk.place, TUI_ON_RUNS);
            ran[action] = true;
        }
        assert_true(act(&bench, TUI_ACT_DOWN));
    }
    for (int action = 0; action < TUI_ACT_COUNT; action++)
        if (!ran[action])
            fail_msg("help does not run %s", tui_actions[action].name);
    frame_bench_done(&bench);
}

static void typing_a_filter_takes_the_first_entry_in_hand(void **state)
{
    (void)state;
    struct frame_bench bench;
    bench_make(&bench, TUI_ON_BENCH);
    free(picture(&bench, 20, 80));
    act(&bench, TUI_ACT_LAST);
    bench.scene.filter = "undo";
    free(picture(&bench, 20, 80));
    act(&bench, TUI_ACT_OPEN);
    assert_int_equal(bench.desk.acted, 1);
    assert_int_equal(bench.desk.action, TUI_ACT_UNDO);
    assert_int_equal(bench.desk.place, TUI_ON_BENCH);
    frame_bench_done(&bench);
}

static void text_is_whole_at_every_width(void **state)
{
    (void)state;
    for (int columns = 40; columns <= 120; columns += 8) {
        struct frame_bench bench;
        size_t letters = 0;
        bench_make(&bench, TUI_ON_BENCH);
        bench.scene.filter = "strategy";
        char *text = picture(&bench, 60, columns);
        char *joined = calloc(1, strlen(text) + 1);
        for (const char *at = text; *at; at++)
            if (*at > ' ')
                joined[letters++] = *at;
        assert_non_null(strstr(joined, "gradients(alossatower),"));
        assert_non_null(strstr(joined, "independent(nothing)"));
        free(joined);
        free(text);
        frame_bench_done(&bench);
    }
}

static const struct tui_help_word *word_find(const char *text)
{
    for (int i = 0; i < tui_help_word_count; i++)
        if (tui_help_words[i].text && strcmp(tui_help_words[i].word, text) == 0)
            return &tui_help_words[i];
    return NULL;
}

static void legend_has_every_letter_that_is_drawn(void **state)
{
    (void)state;
    char text[64];
    for (int phase = 0; phase < MGB_PHASE_COUNT; phase++) {
        snprintf(text, sizeof text, "%c %s", tui_phase_letter((enum mgb_phase)phase),
                 mgb_phase_name((enum mgb_phase)phase));
        assert_non_null(word_find(text));
    }
    for (int c = 0; c < MGB_MEMORY_CATEGORY_COUNT; c++) {
        enum mgb_memory_category category = (enum mgb_memory_category)c;
        snprintf(text, sizeof text, "%c %s", tui_category_letter(category),
                 tui_category_word(category));
        assert_non_null(word_find(text));
        for (int other = 0; other < c; other++)
            assert_int_not_equal(tui_category_letter((enum mgb_memory_category)other),
                                 tui_category_letter(category));
    }
    assert_non_null(word_find("*"));
    assert_non_null(word_find("~"));
    assert_non_null(word_find("n/a"));
}

static void every_size_stays_inside(void **state)
{
    (void)state;
    frame_check_all(&tui_view_help, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(screen_one_came_from_is_told_first),
        cmocka_unit_test(every_action_and_word_is_listed_once),
        cmocka_unit_test(filter_finds_keys_and_words),
        cmocka_unit_test(enter_runs_every_entry_where_it_works),
        cmocka_unit_test(typing_a_filter_takes_the_first_entry_in_hand),
        cmocka_unit_test(text_is_whole_at_every_width),
        cmocka_unit_test(legend_has_every_letter_that_is_drawn),
        cmocka_unit_test(every_size_stays_inside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
