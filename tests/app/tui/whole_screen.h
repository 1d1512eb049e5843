/* The whole screen without a terminal, for tests: keys in, the picture as text out. */
#ifndef TESTS_APP_TUI_WHOLE_SCREEN_H
#define TESTS_APP_TUI_WHOLE_SCREEN_H

#include "app/tui/layout.h"
#include "app/tui/prompt.h"
#include "app/tui/screen.h"
#include "app/tui/screen_private.h"
#include "tests/app/tui/fixture.h"
#include "tests/support/check.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct tui_verb verbs[] = {
    {"compare", "A B", "two runs"}, {"rm", "RUN", "deletes"}, {NULL, NULL, NULL}};
static struct tui_screen *screen;
static struct tui_log *kept; /* NULL: there is none */
static struct tui_canvas canvas;
static int64_t now_ns;
static int cursor_y, cursor_x;

static inline void screen_begin_as(const struct mgb_snapshot *snapshot, bool readonly)
{
    struct tui_screen_options options = {.commands = {.verbs = verbs},
                                         .log = kept,
                                         .utf8 = true,
                                         .readonly = readonly,
                                         .record_dir = "/tmp/x"};
    const struct mgb_list *runs = fixture_list();
    now_ns = 1000000000;
    assert_ok(tui_screen_make(&screen, &options));
    assert_non_null(snapshot);
    assert_non_null(runs);
    tui_screen_set_snapshot(screen, snapshot);
    tui_screen_set_runs(screen, runs);
    mgb_shared_drop(snapshot);
    mgb_shared_drop(runs);
    assert_true(tui_canvas_init(&canvas, 24, 80, true));
}

static inline int screen_begin(void **state)
{
    (void)state;
    screen_begin_as(fixture_snapshot(4), false);
    return 0;
}

static inline int screen_end(void **state)
{
    (void)state;
    tui_screen_free(screen);
    tui_canvas_done(&canvas);
    return 0;
}

static inline char *drawn(void)
{
    tui_screen_refresh(screen, now_ns);
    tui_screen_draw(screen, &canvas, &cursor_y, &cursor_x);
    char *text = tui_canvas_text(&canvas);
    assert_non_null(text);
    return text;
}

static inline void shows_or_not(const char *words, bool wanted)
{
    char *text = drawn();
    if ((strstr(text, words) != NULL) != wanted)
        fail_msg("'%s' is %s\n%s", words, wanted ? "not in" : "in", text);
    free(text);
}

static inline void shows(const char *words)
{
    shows_or_not(words, true);
}

static inline void hides(const char *words)
{
    shows_or_not(words, false);
}

static inline enum tui_screen_wish press(int key)
{
    return tui_screen_key(screen, key, now_ns);
}

static inline void type(const char *text)
{
    for (; *text; text++)
        press((unsigned char)*text);
}

#define SCREEN_TEST(f) cmocka_unit_test_setup_teardown(f, screen_begin, screen_end)

#endif
