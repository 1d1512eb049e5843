/* See visit.h. */
#include "tests/screens/visit.h"

#include "tests/screens/emulator.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { WORDS = 32 };

const struct visit_place visit_places[VISIT_PLACES] = {
    {"1", "Bench", "^ space (run|pause)  "},
    {"2", "Devices", "^Enter open"},
    {"3", "Variables", "^s sort  S reverse"},
    {"4", "Plan", "^e explain"},
    {"5", "Runs", "^m mark  c compare"},
    {"6", "Sweep", "^e edit  s start"},
    {"7", "Log", "^f follow"},
    {"?", "Help", "^Enter open"},
};

struct terminal *visit_start(struct program *p, const struct terminal_options *options,
                             const char *await, ...)
{
    const char *words[WORDS] = {"mgbench-tui", "mlp", "--backend", "host",
                                "--gpus",      "2",   "--batch",   "8"};
    int count = 8;
    va_list args;
    va_start(args, await);
    while (count < WORDS - 1 && (words[count] = va_arg(args, const char *)))
        count++;
    va_end(args);
    struct terminal *t = program_start_words(p, options, words);
    terminal_await(t, await ? await : "READY");
    if (!await) /* the picture comes in pieces */
        terminal_await_match(t, visit_places[0].hint);
    return t;
}

/* The heading of a body: a rule and a word in capitals, "-- DEVICES 3 of 5". */
static bool is_there(struct terminal *t, void *context)
{
    const struct visit_place *place = context;
    char tab[40];
    snprintf(tab, sizeof tab, strcmp(place->key, "?") == 0 ? "[%s%s]" : "[%s]%s",
             strcmp(place->key, "?") == 0 ? "" : place->key, place->name);
    return strstr(terminal_line(t, 1), tab) && terminal_matches(t, place->hint) &&
           terminal_matches(t, "^(──|--) [A-Z]{3,}");
}

void visit_go(struct terminal *t, const struct visit_place *place)
{
    terminal_press(t, place->key);
    terminal_await_that(t, is_there, (void *)place, place->name);
}

void visit_all(struct terminal *t,
               void (*see)(struct terminal *, const struct visit_place *, void *), void *context)
{
    for (int i = 0; i < VISIT_PLACES; i++) {
        visit_go(t, &visit_places[i]);
        if (see)
            see(t, &visit_places[i], context);
    }
    visit_go(t, &visit_places[0]);
}

static bool fills_the_terminal(struct terminal *t, void *unused)
{
    (void)unused;
    struct terminal_cell last = terminal_cell(t, 2, t->columns - 1);
    return strncmp(terminal_line(t, 2), "──", 6) == 0 && last.point != 0 && last.point != ' ' &&
           *terminal_line(t, t->rows - 2);
}

void visit_await_size(struct terminal *t)
{
    terminal_await_that(t, fills_the_terminal, NULL, "a picture as large as the terminal");
}

size_t visit_bytes_beyond_ascii(struct terminal *t)
{
    size_t size, count = 0;
    const char *output = terminal_output(t, &size);
    for (size_t i = 0; i < size; i++)
        count += (unsigned char)output[i] >= 0x80;
    return count;
}

/* Of the numbers of one ESC [ ... m: 30 to 48 but for 39, which takes one back as 49 does, and 90 to 107. */
static bool is_color(const char *numbers, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        long number = strtol(numbers + i, NULL, 10);
        if ((number >= 30 && number <= 48 && number != 39) || (number >= 90 && number <= 107))
            return true;
        while (i < length && numbers[i] != ';')
            i++;
    }
    return false;
}

size_t visit_color_sequences(struct terminal *t)
{
    size_t size, count = 0;
    const char *output = terminal_output(t, &size), *end = output + size;
    for (const char *at = output; at < end && (at = memchr(at, '\033', (size_t)(end - at)));) {
        size_t length = at[1] == '[' ? strspn(at + 2, "0123456789;") : 0;
        if (length > 0 && at[2 + length] == 'm')
            count += is_color(at + 2, length);
        at++;
    }
    return count;
}

static int cells_count(struct terminal *t, bool (*is)(struct terminal_cell cell))
{
    int count = 0;
    for (int y = 0; y < t->rows; y++)
        for (int x = 0; x < t->columns; x++)
            count += is(terminal_cell(t, y, x));
    return count;
}

static bool is_bold(struct terminal_cell cell)
{
    return cell.bold;
}

static bool is_reversed(struct terminal_cell cell)
{
    return cell.reverse;
}

int visit_bold(struct terminal *t)
{
    return cells_count(t, is_bold);
}

int visit_reversed(struct terminal *t)
{
    return cells_count(t, is_reversed);
}
