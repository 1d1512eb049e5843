/* What a line means, and doing it. See command.h. */
#include "app/tui/command.h"

#include <ctype.h>
#include <mgb/text.h>
#include <stdio.h>
#include <string.h>

enum { MOST_WORDS = 64, LINE_SIZE = TUI_COMMAND_BYTES };

struct setting {
    const char *name;
    enum mgb_wish_kind wish;
    enum tui_action alone; /* what the word alone does; NONE: a word is missing */
    const char *wants;
};

static const struct setting settings[] = {
    {"set", MGB_WISH_SET, TUI_ACT_OPTIONS, "NAME=VALUE, such as batch=64"},
    {"model", MGB_WISH_MODEL, TUI_ACT_CHOOSE_MODEL, "a model"},
    {"data", MGB_WISH_DATA, TUI_ACT_CHOOSE_DATA, "random, digits, mnist or a file"},
    {"backend", MGB_WISH_BACKEND, TUI_ACT_CHOOSE_BACKEND, "auto, host or cuda"},
    {"machine", MGB_WISH_MACHINE, TUI_ACT_NONE, "a machine file"},
    {"record", MGB_WISH_SAVE, TUI_ACT_RECORD, "a file"},
    {"warmup", MGB_WISH_WARMUP, TUI_ACT_NONE, "a number of steps, or auto"},
    {"turns", MGB_WISH_TURNS, TUI_ACT_TURNS, "how often either placement"},
};
#define SETTINGS (sizeof settings / sizeof *settings)

const char *const tui_command_settings[] = {"set",    "model",  "data",  "backend", "machine",
                                            "record", "warmup", "turns", NULL};

static void ask(struct tui_desk *desk, enum mgb_wish_kind kind, const char *text)
{
    struct mgb_wish wish = {.kind = kind, .text = text};
    desk->ask(desk, &wish);
}

/* The first word, and what follows it. */
static const char *word_take(char *word, size_t size, const char *line)
{
    size_t length = strcspn(line, " \t");
    snprintf(word, size, "%.*s", (int)length, line);
    return line + length + strspn(line + length, " \t");
}

/* "batch=64 gpus=2": pairs only, of placement options. */
static bool is_pairs(const char *line)
{
    char name[64];
    bool any = false;
    for (; *line; any = true) {
        size_t length = strcspn(line, "= \t");
        snprintf(name, sizeof name, "%.*s", (int)length, line);
        if (line[length] != '=' || !line[length + 1] || line[length + 1] == '=' ||
            !mgb_placement_find_option(name))
            return false;
        line += strcspn(line, " \t");
        line += strspn(line, " \t");
    }
    return any;
}

static bool action_run(struct tui_desk *desk, const char *line)
{
    enum tui_action action = tui_action_find(strcmp(line, "q") == 0 ? "quit" : line);
    if (action == TUI_ACT_NONE)
        return false;
    desk->act(desk, action);
    return true;
}

/* Steps, or auto, with a "!" behind it or without. */
static void warmup_ask(struct tui_desk *desk, const char *text)
{
    char said[200];
    size_t digits = strspn(text, "0123456789");
    const char *rest = strncmp(text, "auto", 4) == 0 ? text + 4 : text + digits;
    rest += strspn(rest, " ");
    if (rest != text && digits < 10 && (!*rest || strcmp(rest, "!") == 0)) {
        ask(desk, MGB_WISH_WARMUP, text);
        return;
    }
    snprintf(said, sizeof said, "warmup: a number of steps from 0, or auto, expected, got '%.60s'",
             text);
    desk->say(desk, MGB_LINE_FAULT, said);
}

/* "set warmup=auto", "warmup=5": no option of placement, and asked for like one. */
static bool warmup_run(struct tui_desk *desk, const char *line)
{
    static const char set[] = "set ", name[] = "warmup=";
    bool is_set = strncmp(line, set, sizeof set - 1) == 0;
    const char *at = is_set ? line + sizeof set - 1 : line;
    const char *pair = is_set ? strstr(at, name) : at; /* or it would be called no option at all */
    if (!pair || strncmp(pair, name, sizeof name - 1) != 0 || (pair != at && pair[-1] != ' '))
        return false;
    if (pair != at || (strchr(pair, ' ') && strchr(strchr(pair, ' '), '=')))
        desk->say(desk, MGB_LINE_FAULT, "warmup begins a new run: set it on a line of its own");
    else
        warmup_ask(desk, pair + sizeof name - 1);
    return true;
}

static bool setting_run(struct tui_desk *desk, const char *word, const char *rest)
{
    char text[200];
    if (strcmp(word, "sweep") == 0 && *rest == '{') {
        ask(desk, MGB_WISH_SWEEP, rest);
        return true;
    }
    for (size_t i = 0; i < SETTINGS; i++) {
        if (strcmp(settings[i].name, word) != 0)
            continue;
        if (*rest == '=') /* a variable of that name */
            return false;
        if (*rest && settings[i].wish == MGB_WISH_WARMUP) {
            warmup_ask(desk, rest);
        } else if (*rest) {
            ask(desk, settings[i].wish, rest);
        } else if (settings[i].alone != TUI_ACT_NONE) {
            desk->act(desk, settings[i].alone);
        } else {
            snprintf(text, sizeof text, "%s: %s is missing", word, settings[i].wants);
            desk->say(desk, MGB_LINE_FAULT, text);
        }
        return true;
    }
    return false;
}

static const struct tui_verb *verb_find(const struct tui_command_table *table, const char *word)
{
    for (const struct tui_verb *v = table->verbs; v && v->name; v++)
        if (strcmp(v->name, word) == 0)
            return v;
    return NULL;
}

/* Which verbs only look. */
static bool verb_looks(const char *word, const char *rest)
{
    static const char *const looking[] = {
        "plan",   "check",  "devices", "models",  "runs", "show",   "compare", "scaling", "query",
        "export", "doctor", "trace",   "explain", "plot", "report", "info",    NULL};
    if (strcmp(word, "baseline") == 0)
        return strcmp(rest, "list") == 0;
    for (int i = 0; looking[i]; i++)
        if (strcmp(looking[i], word) == 0)
            return true;
    return false;
}

/* Which write rows, and would find this program's own run in their way. */
static bool verb_records(const char *line)
{
    static const char *const those[] = {"run",    "verify", "sweep", "selftest",
                                        "vacuum", "seal",   NULL};
    char word[64];
    word_take(word, sizeof word, line);
    for (int i = 0; those[i]; i++)
        if (strcmp(word, those[i]) == 0)
            return !strstr(line, "--help") && !strstr(line, "--dry-run") && !strstr(line, "--db");
    return false;
}

void tui_command_start(const struct tui_command_table *table, struct tui_desk *desk,
                       char *const *words, int count, const char *line)
{
    char text[LINE_SIZE + 40];
    if (!table->jobs) {
        desk->say(desk, MGB_LINE_FAULT, "commands of mgbench cannot be run here");
    } else if (tui_jobs_start(table->jobs, words, count, line) != MGB_OK) {
        desk->say(desk, MGB_LINE_FAULT, mgb_message_get());
    } else {
        snprintf(text, sizeof text, TUI_COMMAND_RUNS, line);
        desk->say(desk, MGB_LINE_NOTE, text);
    }
}

static void verb_run(const struct tui_command_table *table, struct tui_desk *desk, const char *line)
{
    char buffer[LINE_SIZE], *words[MOST_WORDS];
    if (tui_command_label(table, desk, line))
        return;
    if (table->recording && verb_records(line)) {
        desk->say(desk, MGB_LINE_FAULT, TUI_COMMAND_RECORDING);
        return;
    }
    int count = tui_command_split(buffer, sizeof buffer, words, MOST_WORDS, line);
    if (count < 0)
        desk->say(desk, MGB_LINE_FAULT, "a quote is not closed, or there are too many words");
    else
        tui_command_start(table, desk, words, count, line);
}

/* What Lua could not read anyway: two words side by side, of which neither belongs to the language. Or one word alone. */
static bool is_words(const char *line)
{
    static const char *const keywords[] = {"return", "local",  "for",      "while", "if",
                                           "do",     "repeat", "function", "goto",  "not",
                                           "break",  "and",    "or",       NULL};
    char first[64], second[64];
    const char *rest = word_take(first, sizeof first, line);
    word_take(second, sizeof second, rest);
    for (const char *c = first; *c; c++)
        if (!isalnum((unsigned char)*c) && !strchr("_-", *c))
            return false;
    for (int i = 0; keywords[i]; i++)
        if (strcmp(first, keywords[i]) == 0 || strcmp(second, keywords[i]) == 0)
            return false;
    return isalpha((unsigned char)first[0]) && (!*second || isalnum((unsigned char)second[0]) ||
                                                (second[0] == '-' && second[1] == '-'));
}

/* Where an action works, and that it takes no words; false: it is no action. */
static bool action_tell(struct tui_desk *desk, const char *word)
{
    static const char *const screens[] = {"Bench", "Devices", "Variables", "Plan",
                                          "Runs",  "Sweep",   "Log"};
    enum tui_action action = tui_action_find(word);
    char text[300];
    if (action == TUI_ACT_NONE)
        return false;
    const struct tui_action_info *info = &tui_actions[action];
    int screen = 0;
    while (!(info->where >> screen & 1))
        screen++;
    if (info->where == TUI_EVERYWHERE || screen >= (int)(sizeof screens / sizeof *screens))
        snprintf(text, sizeof text, "'%s' takes no words: it is the key %s", word, info->key);
    else
        snprintf(text, sizeof text,
                 "'%s' takes no words: it is the key %s of the %s screen (%d), for what is in hand "
                 "there",
                 word, info->key, screens[screen], screen + 1);
    desk->say(desk, MGB_LINE_FAULT, text);
    return true;
}

/* The nearest of all words that a line may begin with; NULL: none is near. */
static const char *word_nearest(const struct tui_command_table *table, const char *word)
{
    const char *names[TUI_ACT_COUNT + 96];
    int count = 0;
    for (int i = 0; i < TUI_ACT_COUNT; i++)
        names[count++] = tui_actions[i].name;
    for (size_t i = 0; i < SETTINGS; i++)
        names[count++] = settings[i].name;
    for (const struct tui_verb *v = table->verbs;
         v && v->name && count < (int)(sizeof names / sizeof *names); v++)
        names[count++] = v->name;
    return mgb_nearest_name(word, names, count);
}

/* True: it was taken for a slip, and said so. */
static bool slip_tell(const struct tui_command_table *table, struct tui_desk *desk,
                      const char *line)
{
    char word[64], text[300];
    const char *rest = word_take(word, sizeof word, line);
    if (*rest && is_words(line) && action_tell(desk, word))
        return true;
    const char *near = is_words(line) ? word_nearest(table, word) : NULL;
    if (near && !*rest && (strlen(word) < 4 || *near != *word))
        near = NULL; /* a word alone is good Lua: it must be a slip beyond doubt */
    if (!near && (!*rest || !is_words(line)))
        return false;
    if (near)
        snprintf(text, sizeof text,
                 "unknown command '%s' (did you mean '%s'?); Lua begins with '='", word, near);
    else
        snprintf(text, sizeof text,
                 "unknown command '%s'; ? lists them, and Lua may begin with '='", word);
    desk->say(desk, MGB_LINE_FAULT, text);
    return true;
}

static void line_run(const struct tui_command_table *table, struct tui_desk *desk, const char *line)
{
    char word[64], text[160];
    const char *rest = word_take(word, sizeof word, line);
    if (*line == '=') {
        ask(desk, MGB_WISH_EVAL, line + 1);
        return;
    }
    if (action_run(desk, line) || warmup_run(desk, line) || setting_run(desk, word, rest))
        return;
    if (is_pairs(line)) {
        ask(desk, MGB_WISH_SET, line);
        return;
    }
    if (verb_find(table, word) && *rest != '=') {
        if (!table->readonly || verb_looks(word, rest)) {
            verb_run(table, desk, line);
            return;
        }
        snprintf(text, sizeof text, "%s: this is for looking only (--readonly)", word);
        desk->say(desk, MGB_LINE_FAULT, text);
        return;
    }
    if (!slip_tell(table, desk, line))
        ask(desk, MGB_WISH_EVAL, line);
}

void tui_command_run(const struct tui_command_table *table, struct tui_desk *desk, const char *line)
{
    char copy[LINE_SIZE];
    line += strspn(line, " \t:");
    if (strlen(line) >= sizeof copy) {
        desk->say(desk, MGB_LINE_FAULT, "the line is too long");
        return;
    }
    strcpy(copy, line);
    size_t length = strlen(copy);
    while (length > 0 && strchr(" \t", copy[length - 1]))
        copy[--length] = '\0';
    if (length > 0)
        line_run(table, desk, copy);
}
