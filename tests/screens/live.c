/* See live.h. */
#include "tests/screens/live.h"

#include "tests/screens/emulator.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { WORDS = 32, TEXTS = 4 };

int live_begin(void **state)
{
    static struct program program;
    program_make(&program);
    *state = &program;
    return 0;
}

int live_end(void **state)
{
    program_free(*state);
    return 0;
}

struct terminal *live_ready(struct program *p, const char *const *environment, ...)
{
    const char *words[WORDS] = {"mgbench-tui", "mlp", "--backend", "host",
                                "--gpus",      "2",   "--batch",   "8"};
    struct terminal_options options = {.environment = environment};
    int count = 8;
    va_list args;
    va_start(args, environment);
    while (count < WORDS - 1 && (words[count] = va_arg(args, const char *)))
        count++;
    va_end(args);
    struct terminal *t = program_start_words(p, &options, words);
    terminal_await(t, "READY");
    return t;
}

void live_run(struct terminal *t)
{
    terminal_press(t, "Space");
    terminal_await_match(t, "RUNNING +[1-9]");
}

void live_pause(struct terminal *t)
{
    terminal_press(t, "Space");
    terminal_await(t, "PAUSED");
    live_rest(t);
}

void live_rest(struct terminal *t)
{
    while (terminal_look(t, 500))
        ;
}

void live_quit(struct terminal *t)
{
    terminal_press(t, "q");
    assert_int_equal(terminal_await_exit(t), 0);
    terminal_check_restored(t);
}

void live_command(struct terminal *t, const char *line)
{
    terminal_type(t, ":");
    terminal_type(t, line);
    terminal_press(t, "Enter");
}

static bool head_is_another(struct terminal *t, void *head)
{
    return strcmp(terminal_line(t, 0), head) != 0;
}

/* A picture comes in pieces, its head first, and that one may come in two: once it has changed twice, all of a picture of this
 * segment is there. */
void live_await_segment(struct terminal *t, int number)
{
    char regex[80], head[400];
    snprintf(regex, sizeof regex, "seg %d +RUNNING +[0-9]", number);
    terminal_await_match(t, regex);
    for (int i = 0; i < 2; i++) {
        snprintf(head, sizeof head, "%s", terminal_line(t, 0));
        terminal_await_that(t, head_is_another, head, "a step more");
    }
    terminal_await_match(t, " [1-9][0-9]* timed");
}

/* A word ends at a blank, or at a line drawn through the screen. */
static size_t word_length(const char *text)
{
    size_t length = 0;
    while (text[length] && text[length] != ' ' && text[length] != '|' &&
           strncmp(text + length, "│", 3) != 0 && strncmp(text + length, "─", 3) != 0)
        length++;
    return length;
}

static const char *gap_skip(const char *text)
{
    while (*text == ' ' || *text == '|' || strncmp(text, "│", 3) == 0 || strncmp(text, "─", 3) == 0)
        text += *text == ' ' || *text == '|' ? 1 : 3;
    return text;
}

static bool word_find(struct terminal *t, const char *label, int number, char out[80])
{
    for (int y = 0; y < t->rows; y++) {
        const char *at = strstr(terminal_line(t, y), label);
        if (!at)
            continue;
        at = gap_skip(at + strlen(label));
        for (int i = 0; i < number; i++)
            at = gap_skip(at + word_length(at));
        snprintf(out, 80, "%.*s", (int)word_length(at), at);
        return true;
    }
    return false;
}

const char *live_word(struct terminal *t, const char *label, int number)
{
    static char texts[TEXTS][80];
    static int next;
    char *out = texts[next++ % TEXTS];
    if (!word_find(t, label, number, out))
        terminal_fail(t, "nothing stands after '%s'", label);
    return out;
}

struct word {
    const char *label, *expected;
    int number;
};

static bool word_is(struct terminal *t, void *context)
{
    const struct word *word = context;
    char found[80];
    return word_find(t, word->label, word->number, found) && strcmp(found, word->expected) == 0;
}

void live_check_word(struct terminal *t, const char *label, int number, const char *expected)
{
    char what[200];
    struct word word = {label, expected, number};
    snprintf(what, sizeof what, "'%s' as word %d after '%s'", expected, number, label);
    terminal_await_that(t, word_is, &word, what);
}
