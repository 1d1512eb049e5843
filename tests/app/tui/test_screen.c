/* The whole screen without a terminal: what is where, and what keys do. */
#include "tests/app/tui/whole_screen.h"

#include <locale.h>
#include <unistd.h>

static char folder[] = "/tmp/mgb-screen-XXXXXX";

static void the_head_says_what_is_trained_where_and_how_it_goes(void **state)
{
    (void)state;
    shows("inception_v3");
    shows("4 x P100");
    shows("RUNNING 214");
    shows("[1]Bench");
    assert_true(tui_canvas_resize(&canvas, 10, 40));
    shows("RUNNING 214");
    shows("inception_v3");
    assert_true(tui_canvas_resize(&canvas, 24, 80));
    struct fixture *fixture = fixture_make(2);
    assert_non_null(fixture);
    fixture_set_empty(fixture);
    tui_screen_set_snapshot(screen, &fixture->snapshot);
    shows("NO MODEL");
    fixture_free(fixture);
}

static void every_screen_is_reached_by_number_and_by_tab(void **state)
{
    (void)state;
    static const char *const tabs[] = {"[1]Bench", "[2]Devices", "[3]Variables", "[4]Plan",
                                       "[5]Runs",  "[6]Sweep",   "[7]Log"};
    for (int i = 0; i < 7; i++) {
        press('1' + i);
        shows(tabs[i]);
    }
    for (int i = 0; i < 14; i++) {
        press(TUI_KEY_TAB);
        shows(tabs[i % 7]);
    }
    press(TUI_KEY_SHIFT_TAB);
    shows(tabs[5]);
    assert_true(tui_screen_go(screen, "plan"));
    shows(tabs[3]);
    assert_false(tui_screen_go(screen, "nowhere"));
    tui_screen_draw(screen, &canvas, &cursor_y, &cursor_x);
    tui_screen_click(screen, 1, 1, 0, false);
    shows(tabs[0]);
}

static void help_comes_back_to_where_it_was_asked_for(void **state)
{
    (void)state;
    press('3');
    press('?');
    shows("[Help]");
    press(TUI_KEY_ESCAPE);
    shows("[3]Variables");
    press('?');
    press('?');
    shows("[3]Variables");
}

static void below_its_least_size_it_says_so_and_recovers(void **state)
{
    (void)state;
    int sizes[][2] = {{9, 80}, {24, 39}, {1, 1}, {3, 20}};
    for (int i = 0; i < 4; i++) {
        assert_true(tui_canvas_resize(&canvas, sizes[i][0], sizes[i][1]));
        hides("Bench");
        if (sizes[i][0] >= 3 && sizes[i][1] >= 20) {
            char size[40];
            snprintf(size, sizeof size, "%d x %d", sizes[i][1], sizes[i][0]);
            shows(size);
            shows("needs 40 x 10");
        }
        assert_int_equal(press('q'), TUI_SCREEN_QUIT);
    }
    assert_true(tui_canvas_resize(&canvas, 10, 40));
    shows("[1]Bench");
}

static void a_filter_works_while_it_is_typed_and_escape_ends_it(void **state)
{
    (void)state;
    press('3');
    char *before = drawn();
    press('/');
    assert_true(cursor_y < 0);
    type("zzz");
    char *after = drawn();
    assert_int_equal(cursor_y, 23);
    assert_string_not_equal(before, after);
    press(TUI_KEY_ENTER);
    shows("/zzz");
    press(TUI_KEY_ESCAPE);
    hides("/zzz");
    press('/');
    type("yy");
    press(TUI_KEY_ESCAPE);
    char *again = drawn();
    assert_string_equal(before, again);
    free(before);
    free(after);
    free(again);
}

static void a_line_after_the_colon_is_done_and_remembered(void **state)
{
    (void)state;
    press(':');
    type("log");
    press(TUI_KEY_ENTER);
    shows("[7]Log");
    press(':');
    press(TUI_KEY_UP);
    shows(":log");
    press(TUI_KEY_ESCAPE);
    assert_int_equal(tui_screen_history(screen)->count, 1);
    press(':');
    type("quit");
    assert_int_equal(press(TUI_KEY_ENTER), TUI_SCREEN_QUIT);
}

static void tab_completes_a_command(void **state)
{
    (void)state;
    press(':');
    type("save-l");
    press(TUI_KEY_TAB);
    shows(":save-layout");
}

static void a_word_for_another_screen_is_done_there(void **state)
{
    (void)state;
    press(':');
    type("grid");
    press(TUI_KEY_ENTER);
    shows("[6]Sweep");
    shows("name:");
    press(TUI_KEY_ESCAPE);
}

static void a_message_goes_with_the_next_key_or_after_five_seconds(void **state)
{
    (void)state;
    press(' ');
    shows("! there is no workbench");
    press(TUI_KEY_DOWN);
    hides("there is no workbench");
    press(' ');
    now_ns += 4900000000;
    assert_true(tui_screen_refresh(screen, now_ns));
    assert_false(tui_screen_refresh(screen, now_ns));
    shows("there is no workbench");
    now_ns += 200000000;
    assert_true(tui_screen_refresh(screen, now_ns));
    hides("there is no workbench");
    assert_false(tui_screen_refresh(screen, now_ns));
}

static void looking_only_refuses_changes_with_the_reason(void **state)
{
    (void)state;
    static const struct {
        char screen, key;
    } keys[] = {{'1', 'r'}, {'1', ' '}, {'1', 'v'}, {'1', 'M'}, {'5', 't'}, {'5', 'd'}, {'6', 's'}};
    screen_end(NULL);
    screen_begin_as(fixture_snapshot(4), true);
    shows("readonly");
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        press(keys[i].screen);
        press(keys[i].key);
        shows("--readonly: nothing is run or changed");
    }
    press('5');
    press('m');
    hides("--readonly: nothing");
}

static void suspending_and_redrawing_work_while_a_line_is_typed(void **state)
{
    (void)state;
    press(':');
    assert_int_equal(press('Z' & 0x1f), TUI_SCREEN_SUSPEND);
    assert_int_equal(press('L' & 0x1f), TUI_SCREEN_REDRAW);
    type("x");
    shows(":x");
}

static void the_layout_is_kept_and_comes_back(void **state)
{
    (void)state;
    static struct tui_settings settings, again;
    press('5');
    press('s');
    press('S');
    tui_screen_settings_save(screen, &settings);
    assert_string_equal(tui_settings_get(&settings, "screen"), "Runs");
    assert_string_equal(tui_settings_get(&settings, "runs.sort"), "started");
    assert_true(tui_settings_put(&settings, "runs.colour", "red"));
    for (int i = 0; i < settings.count; i++)
        settings.at[i].known = false;
    screen_end(NULL);
    screen_begin(NULL);
    tui_screen_settings_load(screen, &settings);
    shows("[5]Runs");
    for (int i = 0; i < settings.count; i++)
        assert_int_equal(settings.at[i].known, strcmp(settings.at[i].name, "runs.colour") != 0);
    tui_screen_settings_save(screen, &again);
    assert_string_equal(tui_settings_get(&again, "runs.descending"), "no");
    press(TUI_KEY_F12);
    shows("kept in ");
}

static void nothing_beyond_ascii_is_drawn_where_there_is_none(void **state)
{
    (void)state;
    screen_end(NULL);
    struct tui_screen_options options = {.commands = {.verbs = verbs}};
    assert_ok(tui_screen_make(&screen, &options));
    const struct mgb_snapshot *snapshot = fixture_snapshot(4);
    tui_screen_set_snapshot(screen, snapshot);
    mgb_shared_drop(snapshot);
    assert_true(tui_canvas_init(&canvas, 24, 80, false));
    for (const char *key = "1234567?"; *key; key++) {
        press(*key);
        char *text = drawn();
        for (const char *c = text; *c; c++)
            assert_true(*c == '\n' || (*c >= ' ' && *c < 0x7f));
        free(text);
    }
    press('5');
    shows("no results database is open");
}

static void every_action_fires_from_its_key(void **state)
{
    (void)state;
    static const char *const places[] = {"Bench", "Devices", "Variables", "Plan",  "Runs",
                                         "Sweep", "Log",     "Help",      "Output"};
    for (int action = 0; action < TUI_ACT_COUNT; action++) {
        const struct tui_action_info *info = &tui_actions[action];
        const char *keys[] = {info->key, info->other};
        for (int k = 0; k < 2 && *keys[k]; k++)
            for (int i = 0; i < 9; i++) {
                int key = tui_key_read(keys[k]), before = tui_screen_fired(screen)[action];
                assert_int_not_equal(key, TUI_KEY_NONE);
                if (!(info->where >> i & 1) ||
                    tui_action_of_key(key, 1u << i) != (enum tui_action)action)
                    continue;
                assert_true(tui_screen_go(screen, places[i]));
                press(key);
                assert_int_equal(tui_screen_fired(screen)[action], before + 1);
                for (int n = 0; n < 3; n++)
                    press(TUI_KEY_ESCAPE); /* prompts and menus that it opened */
            }
        if (tui_screen_fired(screen)[action] == 0)
            fail_msg("%s fires from no key", info->name);
    }
}

static uint32_t seed = 7;

static int any(int most)
{
    seed = seed * 1664525u + 1013904223u;
    return (int)(seed >> 8) % most;
}

static int any_key(void)
{
    int which = any(10);
    if (which < 5)
        return ' ' + any(0x5f);
    if (which < 8)
        return TUI_KEY_BASE + any(TUI_KEY_F12 - TUI_KEY_BASE + 1);
    return which == 8 ? 1 + any(0x1f) : any(0x11000);
}

static void snapshot_change(void)
{
    struct fixture *f = fixture_make(any(17));
    assert_non_null(f);
    void (*changes[])(struct fixture *) = {fixture_set_empty,   fixture_set_ready,
                                           fixture_set_warmup,  fixture_set_long_names,
                                           fixture_set_unknown, fixture_set_host};
    if (any(3))
        changes[any(6)](f);
    tui_screen_set_snapshot(screen, &f->snapshot);
    fixture_free(f);
}

static void any_keys_clicks_and_sizes_are_taken_without_a_fault(void **state)
{
    (void)state;
    for (int i = 0; i < 10000; i++) {
        press(any_key());
        now_ns += any(300) * 1000000;
        if (any(8) == 0)
            tui_screen_click(screen, any(60) - 5, any(200) - 5, any(3) - 1, any(4) == 0);
        if (any(10) == 0)
            tui_screen_refresh(screen, now_ns);
        if (any(40) == 0)
            snapshot_change();
        if (any(12) == 0)
            assert_true(tui_canvas_resize(&canvas, 1 + any(60), 1 + any(200)));
        if (any(3) == 0) {
            tui_screen_draw(screen, &canvas, &cursor_y, &cursor_x);
            assert_true(cursor_y < canvas.rows && cursor_x >= 0 && cursor_x <= canvas.columns);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCREEN_TEST(the_head_says_what_is_trained_where_and_how_it_goes),
        SCREEN_TEST(every_screen_is_reached_by_number_and_by_tab),
        SCREEN_TEST(help_comes_back_to_where_it_was_asked_for),
        SCREEN_TEST(below_its_least_size_it_says_so_and_recovers),
        SCREEN_TEST(a_filter_works_while_it_is_typed_and_escape_ends_it),
        SCREEN_TEST(a_line_after_the_colon_is_done_and_remembered),
        SCREEN_TEST(tab_completes_a_command),
        SCREEN_TEST(a_word_for_another_screen_is_done_there),
        SCREEN_TEST(a_message_goes_with_the_next_key_or_after_five_seconds),
        SCREEN_TEST(looking_only_refuses_changes_with_the_reason),
        SCREEN_TEST(suspending_and_redrawing_work_while_a_line_is_typed),
        SCREEN_TEST(the_layout_is_kept_and_comes_back),
        SCREEN_TEST(nothing_beyond_ascii_is_drawn_where_there_is_none),
        SCREEN_TEST(every_action_fires_from_its_key),
        SCREEN_TEST(any_keys_clicks_and_sizes_are_taken_without_a_fault),
    };
    char settings[80];
    setlocale(LC_CTYPE, "C.UTF-8");
    if (!mkdtemp(folder))
        return 1;
    setenv("XDG_CONFIG_HOME", folder, 1);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    snprintf(settings, sizeof settings, "%s/mgbench/tui.conf", folder);
    unlink(settings);
    snprintf(settings, sizeof settings, "%s/mgbench", folder);
    rmdir(settings);
    rmdir(folder);
    return failed;
}
