/* The log screen. */
#include "tests/app/tui/frame.h"
#include "tests/support/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void bench_make(struct frame_bench *bench)
{
    frame_bench_make(bench, &tui_view_log, 1);
    assert_ok(tui_log_open(&bench->scene.log, NULL, NULL, NULL));
}

static void bench_done(struct frame_bench *bench)
{
    struct tui_log *log = bench->scene.log;
    frame_bench_done(bench);
    tui_log_close(log);
}

static void act(struct frame_bench *bench, enum tui_action action)
{
    assert_true(tui_view_log.act(bench->state, action, &bench->scene, &bench->desk.desk));
}

static void lines_add(struct frame_bench *bench, int first, int count)
{
    for (int i = first; i < first + count; i++) {
        char line[64];
        snprintf(line, sizeof line, "line %d.", i);
        tui_log_add(bench->scene.log, i % 10 == 7 ? MGB_LINE_WARNING : MGB_LINE_NOTE, line);
    }
}

static char *picture(struct frame_bench *bench)
{
    return frame_bench_text(bench, 11, 80);
}

/* The line in hand has the words. */
static void hand_has(struct frame_bench *bench, const char *words)
{
    char *text = picture(bench), *hand = strstr(text, "\n>");
    assert_non_null(hand);
    char *line = frame_line(hand + 1, ">");
    if (!strstr(line, words))
        fail_msg("no \"%s\" in \"%s\"", words, line);
    free(line);
    free(text);
}

static void kinds_are_marked_by_letters(void **state)
{
    (void)state;
    struct frame_bench bench;
    bench_make(&bench);
    tui_log_add(bench.scene.log, MGB_LINE_NOTE, "a note");
    tui_log_add(bench.scene.log, MGB_LINE_WARNING, "a warning");
    tui_log_add(bench.scene.log, MGB_LINE_FAULT, "a fault");
    tui_log_add(bench.scene.log, MGB_LINE_OUTPUT, "an output");
    char *text = picture(&bench);
    assert_int_equal(frame_count(text, "   a note"), 1);
    assert_int_equal(frame_count(text, " W a warning"), 1);
    assert_int_equal(frame_count(text, " E a fault"), 1);
    assert_int_equal(frame_count(text, " > an output"), 1);
    free(text);
    bench_done(&bench);
}

static void end_is_followed_until_one_walks_up(void **state)
{
    (void)state;
    struct frame_bench bench;
    bench_make(&bench);
    lines_add(&bench, 0, 30);
    hand_has(&bench, "line 29.");
    lines_add(&bench, 30, 1);
    hand_has(&bench, "line 30.");
    act(&bench, TUI_ACT_UP);
    lines_add(&bench, 31, 5);
    hand_has(&bench, "line 29.");
    act(&bench, TUI_ACT_LAST);
    lines_add(&bench, 36, 1);
    hand_has(&bench, "line 36.");
    act(&bench, TUI_ACT_FOLLOW);
    lines_add(&bench, 37, 1);
    hand_has(&bench, "line 36.");
    act(&bench, TUI_ACT_FOLLOW);
    hand_has(&bench, "line 37.");
    bench_done(&bench);
}

static void line_in_hand_stays_when_older_ones_go(void **state)
{
    (void)state;
    struct frame_bench bench;
    bench_make(&bench);
    lines_add(&bench, 0, TUI_LOG_LINES);
    for (int i = 0; i < 3; i++)
        act(&bench, TUI_ACT_UP);
    char wanted[32];
    snprintf(wanted, sizeof wanted, "line %d.", TUI_LOG_LINES - 4);
    hand_has(&bench, wanted);
    lines_add(&bench, TUI_LOG_LINES, 100);
    hand_has(&bench, wanted);
    lines_add(&bench, TUI_LOG_LINES + 100, TUI_LOG_LINES); /* it is gone: the oldest one left */
    snprintf(wanted, sizeof wanted, "line %d.", TUI_LOG_LINES + 100);
    hand_has(&bench, wanted);
    act(&bench, TUI_ACT_LAST);
    snprintf(wanted, sizeof wanted, "line %d.", 2 * TUI_LOG_LINES + 99);
    hand_has(&bench, wanted);
    char *text = picture(&bench), *line = frame_line(text, "LOG");
    assert_non_null(strstr(line, "5000/5000 following"));
    free(line);
    free(text);
    bench_done(&bench);
}

static void many_lines_between_two_looks_are_no_fault(void **state)
{
    (void)state;
    struct frame_bench bench;
    bench_make(&bench);
    lines_add(&bench, 0, 3);
    hand_has(&bench, "line 2.");
    lines_add(&bench, 3, 3 * TUI_LOG_LINES);
    hand_has(&bench, "line 15002.");
    act(&bench, TUI_ACT_FIRST);
    hand_has(&bench, "line 10003.");
    bench_done(&bench);
}

static void filter_shows_what_has_its_words(void **state)
{
    (void)state;
    struct frame_bench bench;
    bench_make(&bench);
    lines_add(&bench, 0, 100);
    bench.scene.filter = "WARNING";
    hand_has(&bench, " W line 97.");
    char *text = picture(&bench), *line = frame_line(text, "LOG");
    assert_non_null(strstr(line, "10/10"));
    free(line);
    free(text);
    act(&bench, TUI_ACT_FIRST);
    bench.scene.filter = "";
    hand_has(&bench, "line 7.");
    bench.scene.filter = "nonsense";
    text = picture(&bench);
    assert_non_null(strstr(text, "nothing has \"nonsense\""));
    free(text);
    bench_done(&bench);
}

static void long_line_is_scrolled_and_shown_whole(void **state)
{
    (void)state;
    struct frame_bench bench;
    bench_make(&bench);
    char text[400];
    memset(text, '.', sizeof text);
    memcpy(text, "begin", 5);
    memcpy(text + 100, "middle", 6);
    memcpy(text + sizeof text - 5, "end", 4);
    tui_log_add(bench.scene.log, MGB_LINE_OUTPUT, text);
    hand_has(&bench, "begin");
    for (int i = 0; i < 8; i++)
        act(&bench, TUI_ACT_RIGHT);
    hand_has(&bench, "middle");
    act(&bench, TUI_ACT_OPEN);
    assert_string_equal(bench.desk.shown_text, text);
    bench_done(&bench);
}

static void controls_never_reach_the_screen(void **state)
{
    (void)state;
    struct frame_bench bench;
    bench_make(&bench);
    tui_log_add(bench.scene.log, MGB_LINE_OUTPUT, "red \x1b[31m bell \a \xff end");
    char *text = picture(&bench);
    for (const char *at = text; *at; at++)
        assert_true(*at == '\n' || (*at >= ' ' && *at <= '~'));
    assert_non_null(strstr(text, "\\x1b[31m"));
    free(text);
    bench_done(&bench);
}

static void every_size_stays_inside(void **state)
{
    (void)state;
    struct frame_bench bench;
    bench_make(&bench);
    frame_check_all(&tui_view_log, NULL);
    lines_add(&bench, 0, 200);
    tui_log_add(bench.scene.log, MGB_LINE_FAULT,
                "\xe4\xbd\xa0\xe5\xa5\xbd \xff\x1b]0;x\a and more of it");
    frame_check_all(&tui_view_log, bench.scene.log);
    bench_done(&bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kinds_are_marked_by_letters),
        cmocka_unit_test(end_is_followed_until_one_walks_up),
        cmocka_unit_test(line_in_hand_stays_when_older_ones_go),
        cmocka_unit_test(many_lines_between_two_looks_are_no_fault),
        cmocka_unit_test(filter_shows_what_has_its_words),
        cmocka_unit_test(long_line_is_scrolled_and_shown_whole),
        cmocka_unit_test(controls_never_reach_the_screen),
        cmocka_unit_test(every_size_stays_inside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
