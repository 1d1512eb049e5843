/* Which words may stand where, from what --help prints: names in capitals are places to fill ("FILE", "MODEL"), names in
 * small letters stand for themselves. */
#include "app/cli/manual.h"
#include <ctype.h>
#include <mgb/placement.h>
#include <string.h>

#define USAGE_SIZE 256

const struct mgb_command *const *mgb_manual_next(const struct mgb_command *const *at)
{
    while (at && *at && (*at)->hidden)
        at++;
    return at && *at ? at : NULL;
}

void mgb_manual_print_template(FILE *out, const char *text, const char *program)
{
    static const char name[] = "PROGRAM";
    for (const char *at; (at = strstr(text, name)); text = at + sizeof name - 1)
        fprintf(out, "%.*s%s", (int)(at - text), text, program);
    fputs(text, out);
}

static void choice_add(struct mgb_word_set *out, const char *word, size_t length)
{
    size_t used = strlen(out->choices);
    snprintf(out->choices + used, sizeof out->choices - used, "%s%.*s", used ? " " : "",
             (int)length, word);
}

static bool is_one_of(const char *word, size_t length, const char *const *names)
{
    for (; *names; names++)
        if (strlen(*names) == length && strncmp(*names, word, length) == 0)
            return true;
    return false;
}

/* One of several words between bars. */
static void word_add(struct mgb_word_set *out, const char *word, size_t length)
{
    static const char *const files[] = {"FILE", "SCRIPT", NULL};
    static const char *const runs[] = {"RUN", "A", "B", NULL};
    const char *colon = memchr(word, ':', length);
    if (length == 0)
        return;
    if (islower((unsigned char)word[0]))
        choice_add(out, word, colon ? (size_t)(colon + 1 - word) : length); /* "tag:NAME" */
    else if (is_one_of(word, length, files) || memchr(word, '.', length))
        out->files = true;
    else if (is_one_of(word, length, (const char *const[]){"DIR", NULL}))
        out->folders = true;
    else if (is_one_of(word, length, (const char *const[]){"MODEL", NULL}))
        out->models = true;
    else if (is_one_of(word, length, (const char *const[]){"MACHINE", NULL}))
        out->machines = true;
    else if (is_one_of(word, length, runs))
        out->runs = true;
    else
        out->text = true;
}

static void words_add(struct mgb_word_set *out, const char *text)
{
    for (;;) {
        size_t length = strcspn(text, "|");
        word_add(out, text, length);
        if (!text[length])
            return;
        text += length + 1;
    }
}

/* Without what is an option: "[--out FILE]", "[options]", "--against"; other brackets are taken off. */
static void usage_plain(char *out, const char *usage)
{
    size_t used = 0;
    while (*usage && used + 1 < USAGE_SIZE) {
        size_t group = *usage == '[' ? strcspn(usage, "]") + 1 : 0;
        char text[USAGE_SIZE] = "";
        snprintf(text, sizeof text, "%.*s", (int)group, usage);
        if (group && (text[1] == '-' || strstr(text, "options")))
            usage += group;
        else if (strncmp(usage, "--", 2) == 0)
            usage += strcspn(usage, " ");
        else if (*usage == '[' || *usage == ']')
            usage++;
        else
            out[used++] = *usage++;
    }
    out[used] = '\0';
}

/* Goes through the words; `use` is told of each with its position and whether it may be repeated. */
static void usage_walk(const char *usage,
                       void (*use)(void *context, const char *word, int position, bool repeats),
                       void *context)
{
    char plain[USAGE_SIZE], *rest = NULL;
    usage_plain(plain, usage);
    int position = 0;
    for (char *word = strtok_r(plain, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        size_t length = strlen(word);
        bool repeats = length > 3 && strcmp(word + length - 3, "...") == 0;
        if (repeats)
            word[length - 3] = '\0';
        if (strcmp(word, "|") == 0)
            position = 0;
        else
            use(context, word, position++, repeats);
    }
}

struct at_position {
    struct mgb_word_set *out;
    int position;
};

static void position_take(void *context, const char *word, int position, bool repeats)
{
    struct at_position *at = context;
    if (position == at->position || (repeats && position < at->position))
        words_add(at->out, word);
}

void mgb_words_of_usage(struct mgb_word_set *out, const char *usage, int position)
{
    *out = (struct mgb_word_set){.text = false};
    struct at_position at = {out, position};
    usage_walk(usage, position_take, &at);
}

struct extent {
    int count;
    bool repeats;
};

static void extent_take(void *context, const char *word, int position, bool repeats)
{
    struct extent *extent = context;
    (void)word;
    if (position >= extent->count)
        *extent = (struct extent){position + 1, false};
    extent->repeats = extent->repeats || repeats;
}

int mgb_words_positions(const char *usage, bool *last_repeats)
{
    struct extent extent = {0, false};
    usage_walk(usage, extent_take, &extent);
    *last_repeats = extent.repeats;
    return extent.count;
}

static void names_add(struct mgb_word_set *out, const char *const *names)
{
    for (; *names; names++)
        choice_add(out, *names, strlen(*names));
}

void mgb_words_of_flag(struct mgb_word_set *out, const struct mgb_flag *flag)
{
    static const char *const yes_no[] = {"yes", "no", NULL};
    static const char *const devices[] = {"/cpu:0", "/gpu:0", "/gpu:1", NULL};
    *out = (struct mgb_word_set){.text = false};
    const struct mgb_option *option = mgb_placement_find_option(flag->name + 2);
    if (option && option->kind == MGB_KIND_ENUM) {
        names_add(out, option->values);
        return;
    }
    if (strcmp(flag->value, "DEVICE") == 0) {
        names_add(out, devices);
        if (strstr(flag->help, "spread"))
            choice_add(out, "spread", strlen("spread"));
        return;
    }
    if (flag->optional && strcmp(flag->value, "no") == 0)
        names_add(out, yes_no);
    else if (strcmp(flag->name, "--quiet-warnings") == 0)
        for (const struct mgb_remark *r = mgb_remarks; r->name; r++)
            choice_add(out, r->name, strlen(r->name));
    else if (strcmp(flag->name, "--model") == 0)
        out->models = true;
    else
        words_add(out, flag->value);
}
