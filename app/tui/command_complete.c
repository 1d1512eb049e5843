/* What may stand at the end of a line: words that a line begins with, options and their values, models, runs. */
#include "app/tui/command.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

struct offering {
    const struct tui_completions *from;
    const char *stem; /* what is typed of the word */
    size_t length;
    char (*out)[160];
    int most, count;
};

static void offer_ending(struct offering *o, const char *word, size_t length, const char *ending)
{
    char whole[160];
    if (o->count == o->most || length < o->length || strncmp(word, o->stem, o->length) != 0)
        return;
    int size = snprintf(whole, sizeof whole, "%.*s%s", (int)length, word, ending);
    if (size < 0 || (size_t)size >= sizeof whole)
        return;
    for (int i = 0; i < o->count; i++)
        if (strcmp(o->out[i], whole) == 0)
            return;
    memcpy(o->out[o->count++], whole, (size_t)size + 1);
}

static void offer(struct offering *o, const char *word)
{
    offer_ending(o, word, strlen(word), "");
}

static void offer_list(struct offering *o, const char *const *words)
{
    for (; words && *words; words++)
        offer(o, *words);
}

static void offer_models(struct offering *o)
{
    for (const char *at = o->from->models; at && *at;) {
        size_t length = strcspn(at, "\n");
        offer_ending(o, at, length, "");
        at += length + (at[length] == '\n');
    }
}

static void offer_runs(struct offering *o)
{
    static const char *const runs[] = {"last", "last~1", "tag:", "baseline:", "sweep:", NULL};
    offer_list(o, runs);
}

static void offer_devices(struct offering *o, const struct mgb_option *option)
{
    static const char *const usual[] = {"/cpu:0", "/gpu:0", "/gpu:1", NULL};
    const struct mgb_facts *facts = o->from->facts;
    for (int i = 0; facts && i < facts->device_count; i++)
        offer(o, facts->devices[i].name);
    if (!facts || facts->device_count == 0)
        offer_list(o, usual);
    if (strstr(option->help, "spread"))
        offer(o, "spread");
}

static void offer_gpus(struct offering *o)
{
    const struct mgb_facts *facts = o->from->facts;
    char number[16];
    int gpus = 0;
    for (int i = 0; facts && i < facts->device_count; i++)
        gpus += strncmp(facts->devices[i].name, "/gpu:", 5) == 0;
    for (int i = 1; i <= (gpus > 0 ? gpus : 2); i++) {
        snprintf(number, sizeof number, "%d", i);
        offer(o, number);
    }
}

static void offer_values(struct offering *o, const struct mgb_option *option)
{
    static const char *const bools[] = {"true", "false", NULL};
    static const char *const choices[] = {"auto", "true", "false", NULL};
    const struct mgb_facts *facts = o->from->facts;
    switch (option->kind) {
    case MGB_KIND_BOOL:
        offer_list(o, bools);
        break;
    case MGB_KIND_CHOICE:
        offer_list(o, choices);
        break;
    case MGB_KIND_ENUM:
        offer_list(o, option->values);
        break;
    case MGB_KIND_DEVICE:
        offer_devices(o, option);
        break;
    case MGB_KIND_GPUS:
        offer_gpus(o);
        break;
    case MGB_KIND_INT:
    case MGB_KIND_NUMBER:
    case MGB_KIND_BYTES:
        if (facts && *facts->options[option->id].effective)
            offer(o, facts->options[option->id].effective);
        else if (*option->fallback)
            offer(o, option->fallback);
        break;
    }
    offer(o, "nil");
}

/* "batch=3" or "--batch=3": then the word begins behind the '='; false: no option stands before one. */
static bool offer_behind_equals(struct offering *o, const char *word, size_t *from)
{
    char name[64];
    const char *equals = strchr(word, '=');
    word += strncmp(word, "--", 2) == 0 ? 2 : 0;
    if (!equals || equals < word)
        return false;
    snprintf(name, sizeof name, "%.*s", (int)(equals - word), word);
    const struct mgb_option *option = mgb_placement_find_option(name);
    if (!option)
        return false;
    *from += (size_t)(equals + 1 - o->stem);
    o->stem = equals + 1;
    o->length = strlen(o->stem);
    offer_values(o, option);
    return true;
}

static void offer_options(struct offering *o)
{
    for (int i = 0; i < MGB_OPTION_COUNT; i++)
        offer_ending(o, mgb_placement_options()[i].name, strlen(mgb_placement_options()[i].name),
                     "=");
}

static void offer_flags(struct offering *o)
{
    char flag[64];
    for (int i = 0; i < MGB_OPTION_COUNT; i++) {
        snprintf(flag, sizeof flag, "--%s", mgb_placement_options()[i].name);
        for (char *c = flag; *c; c++)
            *c = *c == '_' ? '-' : *c;
        offer(o, flag);
    }
}

static void offer_first(struct offering *o)
{
    for (int i = 0; i < TUI_ACT_COUNT; i++)
        offer(o, tui_actions[i].name);
    offer_list(o, tui_command_settings);
    for (const struct tui_verb *v = o->from->table ? o->from->table->verbs : NULL; v && v->name;
         v++)
        offer(o, v->name);
}

/* Whether `word` stands in a usage line as a word of its own: "RUN" in "[RUN|sweep:NAME]". */
static bool usage_has(const char *usage, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = usage; (at = strstr(at, word)); at += length)
        if ((at == usage || !isalnum((unsigned char)at[-1])) && !isalnum((unsigned char)at[length]))
            return true;
    return false;
}

/* The value of the flag before: "--weights-at /c". */
static bool offer_after_flag(struct offering *o, const char *before)
{
    const struct mgb_option *option =
        strncmp(before, "--", 2) == 0 ? mgb_placement_find_option(before + 2) : NULL;
    if (!option || option->kind == MGB_KIND_BOOL || option->kind == MGB_KIND_CHOICE)
        return false;
    offer_values(o, option);
    return true;
}

static void offer_of_verb(struct offering *o, const char *verb, const char *before)
{
    const struct tui_verb *v = o->from->table ? o->from->table->verbs : NULL;
    while (v && v->name && strcmp(v->name, verb) != 0)
        v++;
    if (!v || !v->name || offer_after_flag(o, before))
        return;
    if (*o->stem == '-' && strstr(v->usage, "placement options"))
        offer_flags(o);
    if (usage_has(v->usage, "MODEL"))
        offer_models(o);
    if (usage_has(v->usage, "RUN") || usage_has(v->usage, "A"))
        offer_runs(o);
}

/* The words before the last one: the first of the line and the one just before. */
static void words_find(const char *line, size_t from, char *first, char *before, size_t size)
{
    *first = *before = '\0';
    for (size_t at = 0; at < from;) {
        size_t length = strcspn(line + at, " \t");
        if (at + length > from)
            break;
        snprintf(before, size, "%.*s", (int)length, line + at);
        if (!*first)
            snprintf(first, size, "%s", before);
        at += length;
        at += strspn(line + at, " \t");
    }
}

int tui_command_complete(void *context, const char *line, char (*out)[160], int most, size_t *from)
{
    static const char *const data[] = {"random", "digits", "mnist", NULL};
    static const char *const backends[] = {"auto", "host", "cuda", NULL};
    char first[160], before[160];
    *from = strlen(line);
    while (*from > 0 && !strchr(" \t", line[*from - 1]))
        --*from;
    struct offering o = {context, line + *from, strlen(line + *from), out, most, 0};
    size_t start = strspn(line, " \t:");
    if (*from <= start) { /* ":" may be typed twice */
        *from = start;
        o.stem = line + start;
        o.length = strlen(o.stem);
    }
    words_find(line + start, *from - start, first, before, sizeof first);
    if (offer_behind_equals(&o, o.stem, from))
        return o.count;
    if (!*first)
        offer_first(&o);
    else if (strcmp(first, "set") == 0)
        offer_options(&o);
    else if (strcmp(first, "model") == 0 && strcmp(before, first) == 0)
        offer_models(&o);
    else if (strcmp(first, "data") == 0)
        offer_list(&o, data);
    else if (strcmp(first, "backend") == 0)
        offer_list(&o, backends);
    else
        offer_of_verb(&o, first, before);
    return o.count;
}
