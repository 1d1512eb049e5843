/* Flags to words for the script layer. See settings.h. */
#include "app/cli/settings.h"
#include <mgb/name.h>
#include <math.h>
#include <mgb/text.h>
#include <stdlib.h>
#include <string.h>

#define NAME_SIZE 32

static const char *kind_word(enum mgb_option_kind kind)
{
    switch (kind) {
    case MGB_KIND_BOOL:
        return "no";
    case MGB_KIND_CHOICE:
        return "auto|no";
    case MGB_KIND_INT:
    case MGB_KIND_NUMBER:
        return "N";
    case MGB_KIND_BYTES:
        return "SIZE";
    case MGB_KIND_ENUM:
        return "NAME";
    case MGB_KIND_DEVICE:
        return "DEVICE";
    case MGB_KIND_GPUS:
        return "N|IDS";
    }
    return "VALUE";
}

/* What this version refuses of an option; NULL: nothing. */
static const char *later_values(enum mgb_option_id id)
{
    static const char *const later[MGB_OPTION_COUNT] = {
        [MGB_OPTION_ALLREDUCE] = "hierarchical",
        [MGB_OPTION_HOSTS] = "more than 1",
    };
    return later[id];
}

/* What it does, the names it may have, the default, what is not there yet. */
static void help_write(char *out, size_t size, const struct mgb_option *option)
{
    size_t used = (size_t)snprintf(out, size, "%s", option->help);
    for (int i = 0; option->values && option->values[i] && used < size; i++)
        used +=
            (size_t)snprintf(out + used, size - used, "%s%s", i ? ", " : ": ", option->values[i]);
    if (*option->fallback && used < size)
        used += (size_t)snprintf(out + used, size - used, " (default: %s)", option->fallback);
    if (later_values(option->id) && used < size)
        snprintf(out + used, size - used, " [later: %s]", later_values(option->id));
}

const struct mgb_flag *mgb_cli_placement_flags(void)
{
    static struct mgb_flag flags[MGB_OPTION_COUNT + 1];
    static char names[MGB_OPTION_COUNT][NAME_SIZE], helps[MGB_OPTION_COUNT][240];
    if (flags[0].name)
        return flags;
    for (int i = MGB_OPTION_COUNT - 1; i >= 0; i--) {
        const struct mgb_option *option = &mgb_placement_options()[i];
        snprintf(names[i], sizeof names[i], "--%s", option->name);
        for (char *c = names[i] + 2; *c; c++)
            *c = *c == '_' ? '-' : *c;
        help_write(helps[i], sizeof helps[i], option);
        flags[i] = (struct mgb_flag){.name = names[i],
                                     .value = kind_word(option->kind),
                                     .help = helps[i],
                                     .optional = option->kind == MGB_KIND_BOOL ||
                                                 option->kind == MGB_KIND_CHOICE};
    }
    return flags;
}

/* Flags that are no placement options: where they go, and as what. */
static const struct {
    const char *flag, *key;
    char group, kind;
} known[] = {
    {"--steps", "steps", 'r', 'n'},
    {"--warmup", "warmup", 'r', 'w'},
    {"--trace", "trace_steps", 'r', 's'},
    {"--epochs", "epochs", 'r', 'n'},
    {"--target-noise", "target_noise", 'r', 't'},
    {"--max-time", "max_time", 'r', 't'},
    {"--seed", "seed", 'r', 'n'},
    {"--repeats", "repeats", 'r', 'n'},
    {"--tag", "tag", 'r', 's'},
    {"--load", "load", 'r', 'f'},
    {"--weights-only", "weights_only", 'r', 'b'},
    {"--partial", "partial", 'r', 'b'},
    {"--save", "save", 'r', 'f'},
    {"--data", "data", 'd', 's'},
    {"--optimizer", "optimizer", 'o', 's'},
    {"--lr", "lr", 'o', 'n'},
    {"--momentum", "momentum", 'o', 'n'},
    {"--nesterov", "nesterov", 'o', 'b'},
    {"--rho", "rho", 'o', 'n'},
    {"--beta1", "beta1", 'o', 'n'},
    {"--beta2", "beta2", 'o', 'n'},
    {"--epsilon", "epsilon", 'o', 'n'},
    {"--decay", "decay", 'o', 'n'},
    {"--clip-norm", "clip_norm", 'o', 'n'},
    {"--tolerance", "tolerance", 'r', 'n'},
};

static enum mgb_status word_add(struct mgb_cli_settings *out, char group, char kind,
                                const char *name, const char *value)
{
    char *word = NULL;
    if (asprintf(&word, "%c%c:%s=%s", group, kind, name, value) < 0)
        return mgb_fail(MGB_NO_MEMORY, "reading the command line: memory is exhausted");
    out->words[out->count++] = word;
    return MGB_OK;
}

static bool is_number(const char *text)
{
    char *end;
    return *text && isfinite(strtod(text, &end)) && !*end;
}

/* Nothing means yes. */
static bool yes_no_read(const char **value)
{
    static const char *const yes[] = {"", "yes", "true", "on", "1", NULL};
    static const char *const no[] = {"no", "false", "off", "0", NULL};
    for (int i = 0; yes[i]; i++)
        if (strcmp(*value, yes[i]) == 0) {
            *value = "true";
            return true;
        }
    for (int i = 0; no[i]; i++)
        if (strcmp(*value, no[i]) == 0) {
            *value = "false";
            return true;
        }
    return false;
}

/* "one of a, b, c expected" unless it is. */
static enum mgb_status name_check(const char *flag, const char *value, const char *const *names)
{
    char all[160];
    size_t used = 0;
    for (int i = 0; names[i]; i++) {
        if (strcmp(names[i], value) == 0)
            return MGB_OK;
        used += (size_t)snprintf(all + used, sizeof all - used, "%s%s", i ? ", " : "", names[i]);
    }
    return mgb_fail(MGB_INVALID, "%s: one of %s expected, got '%s'", flag, all, value);
}

static enum mgb_status optimizer_check(const char *flag, const char *value)
{
    static const char *const names[] = {"sgd", "rmsprop", "adagrad", "adadelta", "adam", NULL};
    return name_check(flag, value, names);
}

static enum mgb_status training_add(struct mgb_cli_settings *out, int index, const char *value)
{
    char kind = known[index].kind;
    if (kind == 'n' && !is_number(value))
        return mgb_fail(MGB_INVALID, "%s: number expected, got '%s'", known[index].flag, value);
    if (kind == 'w' && !is_number(value) && strcmp(value, "auto") != 0)
        return mgb_fail(MGB_INVALID, "%s: a count of steps or auto expected, got '%s'",
                        known[index].flag, value);
    if (strcmp(known[index].flag, "--tag") == 0)
        MGB_TRY(mgb_name_check("--tag", value));
    else if (strcmp(known[index].flag, "--optimizer") == 0)
        MGB_TRY(optimizer_check(known[index].flag, value));
    if (kind == 'f' && !*value)
        return mgb_fail(MGB_INVALID, "%s: the name of a file expected, got an empty text",
                        known[index].flag);
    if (kind == 'b' && !yes_no_read(&value))
        return mgb_fail(MGB_INVALID, "%s: yes or no expected, got '%s'", known[index].flag, value);
    return word_add(out, known[index].group, kind, known[index].key, value);
}

static char kind_letter(enum mgb_option_kind kind, const char *text)
{
    switch (kind) {
    case MGB_KIND_BOOL:
        return 'b';
    case MGB_KIND_CHOICE:
        return 'w';
    case MGB_KIND_INT:
    case MGB_KIND_NUMBER:
        return 'n';
    case MGB_KIND_GPUS:
        return strpbrk(text, ",{") ? 'l' : 'n';
    case MGB_KIND_BYTES:
    case MGB_KIND_ENUM:
    case MGB_KIND_DEVICE:
        return 's';
    }
    return 's';
}

static enum mgb_status placement_add(struct mgb_cli_settings *out, struct mgb_placement *placement,
                                     const char *flag, const char *value)
{
    char text[512];
    const struct mgb_option *option = mgb_placement_find_option(flag + 2);
    if (!option)
        return MGB_OK; /* one that says nothing about the run */
    bool may_be_bare = option->kind == MGB_KIND_BOOL || option->kind == MGB_KIND_CHOICE;
    char help[200];
    help_write(help, sizeof help, option);
    if (!*value && !may_be_bare)
        return mgb_fail(MGB_INVALID, "%s: %s expected, got an empty text: %s", flag,
                        kind_word(option->kind), help);
    MGB_TRY(mgb_placement_set(placement, option->name, *value ? value : "true"));
    mgb_placement_get_text(text, sizeof text, placement, option->id);
    if (!*text)
        return word_add(out, 'p', 's', option->name, "nil");
    return word_add(out, 'p', kind_letter(option->kind, text), option->name, text);
}

static enum mgb_status model_option_add(struct mgb_cli_settings *out, const char *value)
{
    const char *equals = strchr(value, '=');
    if (!equals || equals == value)
        return mgb_fail(MGB_INVALID, "--option: NAME=VALUE expected, got '%s'", value);
    char *name = strndup(value, (size_t)(equals - value));
    enum mgb_status status =
        name ? word_add(out, 'm', 'w', name, equals + 1)
             : mgb_fail(MGB_NO_MEMORY, "reading the command line: memory is exhausted");
    free(name);
    return status;
}

static enum mgb_status flag_add(struct mgb_cli_settings *out, struct mgb_placement *placement,
                                const struct mgb_given *given)
{
    const char *value = given->value ? given->value : "";
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i].flag, given->name) == 0)
            return training_add(out, (int)i, value);
    if (strcmp(given->name, "--option") == 0)
        return model_option_add(out, value);
    return placement_add(out, placement, given->name, value);
}

static bool is_given(const struct mgb_invocation *in, int first, int end, const char *name)
{
    for (int i = first; i < end; i++)
        if (strcmp(in->flags[i].name, name) == 0)
            return true;
    return false;
}

/* Each of the two clears the other, so that the last word would win in silence. */
static enum mgb_status side_check(const struct mgb_invocation *in, int first, int end)
{
    if (is_given(in, first, end, "--batch") && is_given(in, first, end, "--global-batch"))
        return mgb_fail(MGB_INVALID, "--batch and --global-batch exclude each other: examples for "
                                     "each GPU, or of all together");
    return MGB_OK;
}

static enum mgb_status flags_add(struct mgb_cli_settings *out, const struct mgb_invocation *in)
{
    struct mgb_placement placement;
    mgb_placement_init(&out->placement);
    placement = out->placement;
    bool against = false;
    int side = 0; /* its first flag */
    for (int i = 0; i < in->flag_count; i++) {
        if (strcmp(in->flags[i].name, "--against") == 0) {
            if (against)
                return mgb_fail(MGB_INVALID, "--against: two sides are compared, not three");
            against = true;
            MGB_TRY(side_check(in, 0, i));
            side = i;
            MGB_TRY(word_add(out, 'x', 's', "against", ""));
            continue;
        }
        MGB_TRY(flag_add(out, &placement, &in->flags[i]));
        if (!against)
            out->placement = placement;
    }
    return side_check(in, side, in->flag_count);
}

enum mgb_status mgb_cli_settings_make(struct mgb_cli_settings *out, const struct mgb_invocation *in)
{
    *out =
        (struct mgb_cli_settings){.words = calloc((size_t)in->flag_count + 1, sizeof *out->words)};
    enum mgb_status status =
        out->words ? flags_add(out, in)
                   : mgb_fail(MGB_NO_MEMORY, "reading the command line: memory is exhausted");
    if (status != MGB_OK)
        mgb_cli_settings_done(out);
    return status;
}

void mgb_cli_settings_done(struct mgb_cli_settings *settings)
{
    for (int i = 0; i < settings->count; i++)
        free(settings->words[i]);
    free(settings->words);
    *settings = (struct mgb_cli_settings){0};
}
