/* Lines of random bytes and of random words through everything that takes a line: the command line, its completion, the
 * splitter, the prompt, and the files of settings and history. */
#include "app/tui/command.h"
#include "app/tui/prompt.h"
#include "app/tui/settings.h"
#include "engine/base/random.h"
#include "tests/app/tui/fixture.h"
#include "tests/support/check.h"
#include "tests/support/draws.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LINES = 3000, LONGEST = 2600 };

static const struct tui_verb verbs[] = {
    {"compare", "A B", "two runs"}, {"show", "RUN", "one run"}, {"rm", "RUN", "deletes"}, {0}};
static const struct tui_command_table table = {.verbs = verbs};

static const char *const words[] = {"set ",      "batch=",
                                    "gpus=2",    " ",
                                    "  ",        "=",
                                    "'",         "\"",
                                    "\\",        "compare",
                                    "model ",    "resnet ",
                                    "data ",     "weights_at",
                                    "/cpu:0",    "sweep",
                                    " {",        "}",
                                    "s:set{",    "record ",
                                    "machine",   "quit",
                                    "undo",      ":",
                                    "\t",        "\x1b[m",
                                    "\xff",      "\xc3",
                                    "é",         "中",
                                    "x y z",     "show",
                                    "strategy=", "global_batch=64"};

static uint64_t drawn;

static int draw(int below)
{
    return (int)mgb_random_below(mgb_random_at(41, drawn++, 0).v[0], (uint32_t)below);
}

static void line_draw(char *line)
{
    size_t used = 0, length = (size_t)draw(draw(8) == 0 ? LONGEST : 60);
    bool bytes = draw(2) == 0;
    while (used < length) {
        char byte[2] = {(char)(1 + draw(255)), '\0'};
        const char *piece = bytes ? byte : words[draw((int)(sizeof words / sizeof *words))];
        if (used + strlen(piece) >= LONGEST)
            break;
        used += strlen(strcpy(line + used, piece));
    }
    line[used] = '\0';
}

static void command_give(struct fixture_desk *desk, const struct mgb_facts *facts, const char *line)
{
    static char out[40][160];
    struct tui_completions completions = {&table, facts, "mlp\nresnet\n"};
    size_t from = 0;
    tui_command_run(&table, &desk->desk, line);
    int count = tui_command_complete(&completions, line, out, 40, &from);
    assert_in_range(count, 0, 40);
    assert_true(from <= strlen(line));
    for (int i = 0; i < count; i++)
        assert_true(strnlen(out[i], sizeof out[i]) < sizeof out[i]);
}

static void split_give(const char *line)
{
    static char buffer[LONGEST];
    char *out[8];
    size_t length = 0;
    int count = tui_command_split(buffer, sizeof buffer, out, 8, line);
    assert_in_range(count + 1, 0, 9);
    for (int i = 0; i < count; i++)
        length += strlen(out[i]);
    assert_true(length <= strlen(line));
}

/* As a terminal gives it: characters, and keys between them. */
static void prompt_give(struct tui_history *history, const char *line)
{
    static struct tui_prompt prompt;
    static const int keys[] = {TUI_KEY_LEFT, TUI_KEY_RIGHT,     TUI_KEY_HOME,   TUI_KEY_END,
                               TUI_KEY_UP,   TUI_KEY_BACKSPACE, TUI_KEY_DELETE, TUI_KEY_TAB,
                               TUI_KEY_DOWN, 'W' & 0x1f,        'U' & 0x1f,     'K' & 0x1f};
    struct tui_completions completions = {&table, NULL, NULL};
    struct tui_canvas canvas;
    int column;
    assert_true(tui_canvas_init(&canvas, 1, 1 + draw(100), true));
    tui_prompt_open(&prompt, ":", "");
    for (; *line; line++) {
        int key = draw(6) == 0    ? keys[draw((int)(sizeof keys / sizeof *keys))]
                  : draw(30) == 0 ? 0x4e2d + draw(100)
                                  : (unsigned char)*line;
        if (key != TUI_KEY_ENTER && key != '\r' && key != '\n')
            tui_prompt_key(&prompt, key, history, tui_command_complete, &completions);
        assert_true(prompt.at <= prompt.used && prompt.used == strlen(prompt.text));
        if (draw(20) == 0)
            tui_prompt_draw(&prompt, &canvas, tui_canvas_whole(&canvas), &column);
    }
    tui_history_add(history, prompt.text);
    tui_canvas_done(&canvas);
}

static void whatever_line_is_given_it_is_taken_or_refused(void **state)
{
    (void)state;
    static struct fixture_desk desk;
    static char line[LONGEST + 100];
    struct tui_history history = {0};
    struct fixture *fixture = fixture_make(4);
    assert_non_null(fixture);
    fixture_desk_init(&desk);
    for (int i = 0; i < draw_count(LINES, 40 * LINES); i++) {
        line_draw(line);
        command_give(&desk, &fixture->facts, line);
        split_give(line);
        prompt_give(&history, line);
    }
    assert_true(desk.asked > 0 && desk.said > 0 && desk.acted > 0);
    tui_history_done(&history);
    fixture_free(fixture);
}

static void nothing_hear(void *context, const char *line)
{
    (void)context;
    assert_non_null(line);
}

static void file_write(const char *path)
{
    static char line[LONGEST + 100];
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    for (int i = draw(300); i > 0; i--) {
        line_draw(line);
        if (draw(3) == 0)
            fprintf(file, "name%d = %.300s%c\n", i, line, draw(5) ? ' ' : '\0');
        else
            fprintf(file, "%s\n", line);
    }
    fclose(file);
}

static void whatever_stands_in_a_file_it_is_read(void **state)
{
    (void)state;
    char folder[] = "/tmp/mgb-lines-XXXXXX", path[64];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/file", folder);
    for (int i = 0; i < draw_count(30, 1000); i++) {
        struct tui_settings *settings = calloc(1, sizeof *settings);
        struct tui_history history = {0};
        assert_non_null(settings);
        file_write(path);
        tui_settings_load(settings, path, nothing_hear, NULL);
        assert_in_range(settings->count, 0, 128);
        tui_history_load(&history, path);
        assert_in_range(history.count, 0, TUI_PROMPT_HISTORY);
        assert_true(tui_history_save(&history, path));
        assert_ok(tui_settings_save(settings, path));
        tui_history_done(&history);
        free(settings);
    }
    unlink(path);
    rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whatever_line_is_given_it_is_taken_or_refused),
        cmocka_unit_test(whatever_stands_in_a_file_it_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
