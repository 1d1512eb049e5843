/* A line being typed: what keys make of it, what was typed before, what can be completed. */
#include "app/tui/key.h"
#include "app/tui/prompt.h"
#include "tests/support/check.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct tui_prompt prompt;

static enum tui_prompt_result press(int key)
{
    return tui_prompt_key(&prompt, key, NULL, NULL, NULL);
}

static void type(const char *text)
{
    for (; *text; text++)
        press((unsigned char)*text);
}

static void prompt_begin(const char *initial)
{
    memset(&prompt, 0, sizeof prompt);
    tui_prompt_open(&prompt, ":", initial);
}

static void keys_edit_at_the_cursor(void **state)
{
    (void)state;
    prompt_begin("");
    type("set bach=64");
    for (int i = 0; i < 5; i++)
        press(TUI_KEY_LEFT);
    type("t");
    assert_string_equal(prompt.text, "set batch=64");
    press('A' & 0x1f);
    press('D' & 0x1f);
    press(TUI_KEY_DELETE);
    assert_string_equal(prompt.text, "t batch=64");
    press('E' & 0x1f);
    press(TUI_KEY_BACKSPACE);
    press('H' & 0x1f);
    assert_string_equal(prompt.text, "t batch=");
    press('W' & 0x1f);
    assert_string_equal(prompt.text, "t ");
    press('B' & 0x1f);
    press('K' & 0x1f);
    assert_string_equal(prompt.text, "t");
    press('U' & 0x1f);
    assert_string_equal(prompt.text, "");
    assert_int_equal(prompt.used, 0);
}

static void the_cursor_stands_on_borders_of_characters_alone(void **state)
{
    (void)state;
    prompt_begin("");
    int keys[] = {'a', 0xe9, 0x4e16, 0x1f600, 'z'};
    for (int i = 0; i < 5; i++)
        press(keys[i]);
    assert_string_equal(prompt.text, "a\xc3\xa9\xe4\xb8\x96\xf0\x9f\x98\x80z");
    press(TUI_KEY_LEFT);
    press(TUI_KEY_LEFT);
    assert_int_equal(prompt.at, 6);
    press(TUI_KEY_BACKSPACE);
    assert_string_equal(prompt.text, "a\xc3\xa9\xf0\x9f\x98\x80z");
    press(TUI_KEY_DELETE);
    assert_string_equal(prompt.text, "a\xc3\xa9z");
    press(TUI_KEY_HOME);
    press(TUI_KEY_RIGHT);
    press(TUI_KEY_RIGHT);
    assert_int_equal(prompt.at, 3);
}

static void what_is_no_text_is_not_typed(void **state)
{
    (void)state;
    prompt_begin("x");
    int keys[] = {TUI_KEY_F1, 0x01 + 0x11, 0xd800, 0x202e, 0x110000, TUI_KEY_NONE, 0x9b};
    for (int i = 0; i < 7; i++)
        assert_int_equal(press(keys[i]), TUI_PROMPT_GOES_ON);
    assert_string_equal(prompt.text, "x");
}

static void a_line_never_grows_beyond_its_room(void **state)
{
    (void)state;
    prompt_begin("");
    for (int i = 0; i < TUI_PROMPT_BYTES; i++)
        press(0x4e16);
    assert_in_range(prompt.used, TUI_PROMPT_BYTES - 4, TUI_PROMPT_BYTES - 1);
    assert_int_equal(strlen(prompt.text), prompt.used);
    assert_int_equal(press(TUI_KEY_ENTER), TUI_PROMPT_GOES_ON); /* it would be taken cut */
    assert_true(prompt.open);
    assert_int_equal(prompt.lost, 3 * TUI_PROMPT_BYTES - prompt.used);
    press(TUI_KEY_BACKSPACE);
    assert_int_equal(prompt.lost, 0);
    assert_int_equal(press(TUI_KEY_ENTER), TUI_PROMPT_DONE);
    char longer[2 * TUI_PROMPT_BYTES];
    memset(longer, 0xc3, sizeof longer);
    longer[sizeof longer - 1] = '\0';
    prompt_begin(longer);
    assert_int_equal(strlen(prompt.text), prompt.used);
    assert_true(prompt.used < TUI_PROMPT_BYTES);
}

static void enter_ends_it_and_escape_gives_up(void **state)
{
    (void)state;
    prompt_begin("runs");
    assert_int_equal(press(TUI_KEY_ENTER), TUI_PROMPT_DONE);
    assert_false(prompt.open);
    assert_string_equal(prompt.text, "runs");
    prompt_begin("");
    assert_int_equal(press(TUI_KEY_ESCAPE), TUI_PROMPT_GIVEN_UP);
    prompt_begin("");
    assert_int_equal(press(3), TUI_PROMPT_GIVEN_UP);
}

static void up_walks_to_older_lines_and_down_back_to_what_was_typed(void **state)
{
    (void)state;
    struct tui_history history = {0};
    tui_history_add(&history, "first");
    tui_history_add(&history, "second");
    tui_history_add(&history, "second");
    tui_history_add(&history, "   ");
    assert_int_equal(history.count, 2);
    prompt_begin("");
    type("half");
    tui_prompt_key(&prompt, TUI_KEY_UP, &history, NULL, NULL);
    assert_string_equal(prompt.text, "second");
    tui_prompt_key(&prompt, TUI_KEY_UP, &history, NULL, NULL);
    tui_prompt_key(&prompt, TUI_KEY_UP, &history, NULL, NULL);
    assert_string_equal(prompt.text, "first");
    for (int i = 0; i < 3; i++)
        tui_prompt_key(&prompt, TUI_KEY_DOWN, &history, NULL, NULL);
    assert_string_equal(prompt.text, "half");
    assert_int_equal(prompt.at, 4);
    tui_history_done(&history);
}

static void a_history_keeps_its_newest_lines_in_a_file(void **state)
{
    (void)state;
    char folder[] = "/tmp/mgb-history-XXXXXX", path[80], line[32];
    struct tui_history history = {0}, again = {0};
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/deep/er/history", folder);
    assert_false(tui_history_load(&again, path));
    for (int i = 0; i < TUI_PROMPT_HISTORY + 10; i++) {
        snprintf(line, sizeof line, "line %d", i);
        tui_history_add(&history, line);
    }
    assert_int_equal(history.count, TUI_PROMPT_HISTORY);
    assert_true(tui_history_save(&history, path));
    assert_true(tui_history_load(&again, path));
    assert_int_equal(again.count, TUI_PROMPT_HISTORY);
    assert_string_equal(again.lines[0], "line 10");
    assert_string_equal(again.lines[again.count - 1], line);
    assert_false(tui_history_save(&history, ""));
    unlink(path); /* a pipe would wait for somebody at its other end */
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_false(tui_history_load(&again, path));
    assert_false(tui_history_save(&history, path));
    tui_history_done(&history);
    tui_history_done(&again);
    unlink(path);
    snprintf(path, sizeof path, "%s/deep/er", folder);
    rmdir(path);
    snprintf(path, sizeof path, "%s/deep", folder);
    rmdir(path);
    rmdir(folder);
}

static void a_line_too_long_for_a_history_is_left_out_whole(void **state)
{
    (void)state;
    char path[] = "/tmp/mgb-history-XXXXXX";
    struct tui_history history = {0};
    FILE *file = fdopen(mkstemp(path), "w");
    assert_non_null(file);
    fprintf(file, "before\n%*s\nafter\n", 3 * TUI_PROMPT_BYTES, "x");
    fclose(file);
    assert_true(tui_history_load(&history, path));
    assert_int_equal(history.count, 2);
    assert_string_equal(history.lines[1], "after");
    tui_history_done(&history);
    unlink(path);
}

/* Options that begin like the last word. */
static int complete(void *context, const char *line, char (*out)[160], int most, size_t *from)
{
    static const char *const words[] = {"batch=", "bn=", "gpus=", "verify"};
    const char *blank = strrchr(line, ' ');
    int count = 0;
    (void)context;
    *from = blank ? (size_t)(blank - line) + 1 : 0;
    for (int i = 0; i < 4 && count < most; i++)
        if (strncmp(words[i], line + *from, strlen(line + *from)) == 0)
            strcpy(out[count++], words[i]);
    return count;
}

static void tab(void)
{
    tui_prompt_key(&prompt, TUI_KEY_TAB, NULL, complete, NULL);
}

static void tab_walks_the_completions_and_comes_back_to_the_word(void **state)
{
    (void)state;
    prompt_begin("set b");
    tab();
    assert_string_equal(prompt.text, "set batch=");
    tab();
    assert_string_equal(prompt.text, "set bn=");
    tab();
    assert_string_equal(prompt.text, "set b");
    tab();
    assert_string_equal(prompt.text, "set batch=");
    tui_prompt_key(&prompt, TUI_KEY_SHIFT_TAB, NULL, complete, NULL);
    assert_string_equal(prompt.text, "set b");
    tab();
    type("4");
    assert_string_equal(prompt.text, "set batch=4");
    tab();
    assert_string_equal(prompt.text, "set batch=4");
}

static void a_single_completion_is_a_whole_word(void **state)
{
    (void)state;
    prompt_begin("ver");
    tab();
    assert_string_equal(prompt.text, "verify ");
    prompt_begin("set g");
    tab();
    assert_string_equal(prompt.text, "set gpus=");
    prompt_begin("ve now");
    prompt.at = 2;
    tab();
    assert_string_equal(prompt.text, "verify now");
    assert_int_equal(prompt.at, 6);
}

static char *drawn(int columns, int *cursor)
{
    struct tui_canvas canvas;
    assert_true(tui_canvas_init(&canvas, 1, columns, true));
    tui_prompt_draw(&prompt, &canvas, tui_canvas_whole(&canvas), cursor);
    char *text = tui_canvas_text(&canvas);
    tui_canvas_done(&canvas);
    assert_non_null(text);
    return text;
}

static void a_long_line_is_drawn_so_that_the_cursor_is_seen(void **state)
{
    (void)state;
    int cursor;
    prompt_begin("0123456789abcdefghij");
    char *text = drawn(10, &cursor);
    assert_string_equal(text, ":cdefghij\n");
    assert_int_equal(cursor, 9);
    free(text);
    press(TUI_KEY_HOME);
    text = drawn(10, &cursor);
    assert_string_equal(text, ":012345678\n");
    assert_int_equal(cursor, 1);
    free(text);
}

static void a_line_too_long_says_by_how_much(void **state)
{
    (void)state;
    int cursor;
    prompt_begin("");
    for (int i = 0; i < TUI_PROMPT_BYTES + 11; i++)
        press('n');
    char *text = drawn(100, &cursor);
    assert_non_null(strstr(text, "12 too many (at most 1999 bytes), delete: nnn"));
    free(text);
}

static void any_width_and_any_keys_keep_the_cursor_in_the_row(void **state)
{
    (void)state;
    static const int keys[] = {'x',          0x4e16,       TUI_KEY_LEFT,      TUI_KEY_RIGHT,
                               TUI_KEY_HOME, TUI_KEY_END,  TUI_KEY_BACKSPACE, TUI_KEY_DELETE,
                               'W' & 0x1f,   TUI_KEY_DOWN, TUI_KEY_TAB,       0x1f600};
    uint32_t seed = 1;
    prompt_begin("");
    for (int i = 0; i < 20000; i++) {
        seed = seed * 1664525u + 1013904223u;
        int key = keys[(seed >> 8) % (i % 50 < 40 ? 2 : 12)], cursor;
        tui_prompt_key(&prompt, key, NULL, complete, NULL);
        assert_int_equal(strlen(prompt.text), prompt.used);
        assert_true(prompt.at <= prompt.used);
        if (i % 16)
            continue;
        int columns = 1 + (int)(seed >> 20) % 90;
        char *text = drawn(columns, &cursor);
        assert_in_range(cursor, 0, columns - 1);
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_edit_at_the_cursor),
        cmocka_unit_test(the_cursor_stands_on_borders_of_characters_alone),
        cmocka_unit_test(what_is_no_text_is_not_typed),
        cmocka_unit_test(a_line_never_grows_beyond_its_room),
        cmocka_unit_test(enter_ends_it_and_escape_gives_up),
        cmocka_unit_test(up_walks_to_older_lines_and_down_back_to_what_was_typed),
        cmocka_unit_test(a_history_keeps_its_newest_lines_in_a_file),
        cmocka_unit_test(a_line_too_long_for_a_history_is_left_out_whole),
        cmocka_unit_test(tab_walks_the_completions_and_comes_back_to_the_word),
        cmocka_unit_test(a_single_completion_is_a_whole_word),
        cmocka_unit_test(a_long_line_is_drawn_so_that_the_cursor_is_seen),
        cmocka_unit_test(a_line_too_long_says_by_how_much),
        cmocka_unit_test(any_width_and_any_keys_keep_the_cursor_in_the_row),
    };
    setlocale(LC_CTYPE, "C.UTF-8");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
