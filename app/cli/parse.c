/* Reading the command line into an invocation: global options may stand anywhere before --, a command's own flags after
 * it. Every refusal names the word and, where one is near, what was probably meant. */
#include "app/cli/wrap.h"
#include "app/cli/cli.h"
#include "app/cli/flags.h"
#include "app/cli/help.h"
#include "app/cli/interrupt.h"
#include "app/cli/progress.h"
#include "app/cli/manual.h"
#include "app/script/terminal.h"
#include "app/session/hub.h"
#include <mgb/text.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

const struct mgb_flag mgb_global_flags[] = {
    MGB_CLI_PLACE_FLAGS,
    {"--json", NULL, "results as JSON, one object a line", false},
    {"--csv", NULL, "results as CSV (RFC 4180)", false},
    {"--quiet", NULL, "no progress, no remarks", false},
    MGB_CLI_REMARK_FLAGS,
    {"--no-color", NULL, "no colour (also: NO_COLOR, TERM=dumb, not a terminal)", false},
    MGB_CLI_HELP_FLAGS,
    {NULL, NULL, NULL, false}};

struct reader { /* the words still to be read */
    struct mgb_invocation *in;
    char **at;
    bool version;
};

int mgb_cli_complain(const struct mgb_invocation *in, int code, const char *format, ...)
{
    if (mgb_interrupt_pipe_closed()) /* that, not `format`, is why it failed, and is no fault */
        return code;
    va_list args;
    va_start(args, format);
    mgb_cli_progress_clear();
    fprintf(stderr, "%s: ", in->program);
    mgb_say_list(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    return code;
}

static bool is(const struct mgb_flag *flag, const char *name)
{
    return strcmp(flag->name, name) == 0;
}

static int format_set(struct mgb_invocation *in, enum mgb_table_format format)
{
    if (in->format != MGB_TABLE_TEXT && in->format != format)
        return mgb_cli_complain(in, MGB_EXIT_USAGE, "--json and --csv exclude each other");
    in->format = format;
    return -1;
}

static int quiet_set(struct mgb_invocation *in, const char *names)
{
    if (mgb_remarks_check(names) != MGB_OK)
        return mgb_cli_complain(in, MGB_EXIT_USAGE, "--quiet-warnings: %s", mgb_message_get());
    in->quiet_warnings = names;
    return -1;
}

static int global_set(struct reader *r, const struct mgb_flag *flag, const char *value)
{
    struct mgb_invocation *in = r->in;
    if (value && !*value)
        return mgb_cli_complain(in, MGB_EXIT_USAGE, "%s: %s expected, got an empty text",
                                flag->name, flag->value);
    if (is(flag, "--db"))
        in->db = value;
    else if (is(flag, "--backend"))
        in->backend = value;
    else if (is(flag, "--machine"))
        in->machine = value;
    else if (is(flag, "--lua-path"))
        in->lua_path[in->lua_path_count++] = value;
    else if (is(flag, "--no-supervisor"))
        in->no_supervisor = true;
    else if (is(flag, "--json"))
        return format_set(in, MGB_TABLE_JSON);
    else if (is(flag, "--csv"))
        return format_set(in, MGB_TABLE_CSV);
    else if (is(flag, "--quiet"))
        in->quiet = true;
    else if (is(flag, "--quiet-warnings"))
        return quiet_set(in, value);
    else if (is(flag, "--no-color"))
        in->color = false;
    else if (is(flag, "--version"))
        r->version = true;
    else if (is(flag, "--help"))
        in->help = true;
    return -1;
}

/* The value of a flag that takes one: after '=' or the next word. */
static int value_take(struct reader *r, const struct mgb_flag *flag, const char *equals,
                      const char **value)
{
    *value = equals ? equals + 1 : NULL;
    if (flag->optional)
        return -1;
    if (!flag->value && equals)
        return mgb_cli_complain(r->in, MGB_EXIT_USAGE, "%s takes no value", flag->name);
    if (flag->value && !equals) {
        if (!r->at[1])
            return mgb_cli_complain(r->in, MGB_EXIT_USAGE, "%s: a value (%s) is missing",
                                    flag->name, flag->value);
        *value = *++r->at;
    }
    return -1;
}

static int flag_unknown(const struct reader *r, const char *word, size_t length)
{
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)length, word);
    const char *near = mgb_flag_nearest(r->in, name);
    char model[112] = "";
    bool negated;
    if (r->in->command && strncmp(name, "--", 2) == 0 && !strchr(name + 2, '-') &&
        mgb_flag_find_own(r->in->command, "--option", strlen("--option"), &negated))
        snprintf(model, sizeof model, "; one of the model is --option %s=%s", name + 2,
                 word[length] == '=' ? "..." : "true");
    return mgb_cli_complain(r->in, MGB_EXIT_USAGE,
                            near ? "unknown option '%s' (did you mean '%s'?)%s"
                                 : "unknown option '%s'; --help lists what there is%s%s",
                            name, near ? near : model, near ? model : "");
}

static int flag_take(struct reader *r)
{
    struct mgb_invocation *in = r->in;
    const char *word = strcmp(*r->at, "-h") == 0 ? "--help" : *r->at, *value;
    const char *equals = strchr(word, '=');
    size_t length = equals ? (size_t)(equals - word) : strlen(word);
    const struct mgb_flag *flag = mgb_flag_find(in->manual->flags, word, length);
    if (flag) {
        int code = value_take(r, flag, equals, &value);
        return code >= 0 ? code : global_set(r, flag, value);
    }
    bool negated;
    flag = mgb_flag_find_own(in->command, word, length, &negated);
    if (flag && negated && equals)
        return mgb_cli_complain(in, MGB_EXIT_USAGE, "%.*s takes no value", (int)length, word);
    if (flag) {
        int code = value_take(r, flag, equals, &value);
        value = negated ? "no" : value;
        if (code < 0)
            in->flags[in->flag_count++] = (struct mgb_given){flag->name, value};
        return code;
    }
    if (!in->command || !in->command->takes_any_flag)
        return flag_unknown(r, word, length);
    in->flags[in->flag_count++] = (struct mgb_given){word, NULL};
    return -1;
}

static const struct mgb_command *command_find(const struct mgb_manual *manual, const char *name)
{
    for (const struct mgb_command *const *c = manual->commands; c && *c; c++)
        if (strcmp((*c)->name, name) == 0)
            return *c;
    return NULL;
}

static int command_take(struct reader *r, const char *name)
{
    struct mgb_invocation *in = r->in;
    in->command = command_find(in->manual, name);
    if (in->command)
        return -1;
    const char *names[64];
    int count = 0;
    for (const struct mgb_command *const *c = in->manual->commands; *c && count < 64; c++)
        names[count++] = (*c)->name;
    const char *near = mgb_nearest_name(name, names, count);
    return mgb_cli_complain(in, MGB_EXIT_USAGE,
                            near ? "unknown command '%s' (did you mean '%s'?)"
                                 : "unknown command '%s'; mgbench --help lists them",
                            name, near);
}

static int word_take(struct reader *r)
{
    struct mgb_invocation *in = r->in;
    const char *word = *r->at;
    if (in->command && in->command == in->manual->itself && !in->word_count && !in->flag_count &&
        word[0] != '-' && command_find(in->manual, word))
        in->command = NULL; /* the first word is a command's */
    if (strcmp(word, "-e") == 0 && !in->command)
        return command_take(r, "-e");
    if (word[0] == '-' && word[1])
        return flag_take(r);
    if (!in->command && strcmp(word, "help") == 0 && !in->help) {
        in->help = true;
        return -1;
    }
    if (!in->command)
        return command_take(r, word);
    if (in->command->takes_any_flag && in->word_count == in->command->most_words)
        in->flags[in->flag_count++] = (struct mgb_given){word, NULL};
    else
        in->words[in->word_count++] = word;
    return -1;
}

/* The flag before `word` whose value follows '=' only, when `word` looks like one: "--cpu-merge no". */
static const char *flag_before(const struct mgb_invocation *in, const char *word)
{
    static const char *const values[] = {"yes", "no", "true", "false", "on", "off", "auto"};
    bool is_value = false, negated;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        is_value = is_value || strcmp(word, values[i]) == 0;
    for (char **at = in->argv + 1; is_value && at[0] && at[1]; at++) {
        const struct mgb_flag *flag =
            at[1] == word ? mgb_flag_find_own(in->command, at[0], strlen(at[0]), &negated) : NULL;
        if (flag && flag->optional && !negated)
            return flag->name;
    }
    return NULL;
}

/* "tag:nightly" names runs to other commands; where there is --tag, that is meant. NULL: it is no such word. */
static const char *flag_of_selector(const struct mgb_invocation *in, const char *word)
{
    char name[32];
    bool negated;
    size_t length = strcspn(word, ":");
    snprintf(name, sizeof name, "--%.*s", (int)length, word);
    const struct mgb_flag *flag = word[length] && word[length + 1] && length < 20
                                      ? mgb_flag_find_own(in->command, name, strlen(name), &negated)
                                      : NULL;
    return flag && flag->value ? flag->name : NULL;
}

static int words_check(const struct mgb_invocation *in)
{
    const struct mgb_command *c = in->command;
    char before[40] = "", usage[300];
    if (c != in->manual->itself)
        snprintf(before, sizeof before, "%s: ", c->name);
    snprintf(usage, sizeof usage, "%s%s%s %s", in->program, *before ? " " : "",
             *before ? c->name : "", c->usage);
    if (in->word_count < c->least_words)
        return mgb_cli_complain(in, MGB_EXIT_USAGE, "%sa word is missing; usage: %s", before,
                                usage);
    for (int i = 0; c->most_words >= 0 && in->word_count > c->most_words && i < in->word_count; i++)
        if (flag_before(in, in->words[i]))
            return mgb_cli_complain(in, MGB_EXIT_USAGE,
                                    "%s'%s' is one word too many (did you mean '%s=%s'?)", before,
                                    in->words[i], flag_before(in, in->words[i]), in->words[i]);
    const char *extra =
        c->most_words >= 0 && in->word_count > c->most_words ? in->words[c->most_words] : NULL;
    if (extra && flag_of_selector(in, extra))
        return mgb_cli_complain(in, MGB_EXIT_USAGE,
                                "%s'%s' is one word too many (did you mean '%s %s'?)", before,
                                extra, flag_of_selector(in, extra), strchr(extra, ':') + 1);
    if (extra)
        return mgb_cli_complain(in, MGB_EXIT_USAGE, "%s'%s' is one word too many; usage: %s",
                                before, extra, usage);
    if (in->rest_count > 0 && !c->takes_any_flag)
        return mgb_cli_complain(in, MGB_EXIT_USAGE, "%swords after -- are for scripts", before);
    return -1;
}

static int wishes_answer(const struct reader *r)
{
    const struct mgb_invocation *in = r->in;
    if (r->version) {
        printf("%s " MGB_VERSION "\n", in->program);
        return mgb_cli_output_end(in, MGB_EXIT_OK);
    }
    if (in->help && !in->command) {
        mgb_wrap_begin();
        mgb_help_print_all(stdout, in->manual, true);
        mgb_wrap_end();
        return mgb_cli_output_end(in, MGB_EXIT_OK);
    }
    if (in->help && !(in->command->takes_any_flag && in->word_count > 0)) {
        mgb_wrap_begin();
        mgb_help_print_command(stdout, in->manual, in->command);
        mgb_wrap_end();
        return mgb_cli_output_end(in, MGB_EXIT_OK);
    }
    if (!in->command) {
        mgb_help_print_all(stderr, in->manual, false);
        return MGB_EXIT_USAGE;
    }
    return words_check(in);
}

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static bool color_wanted(void)
{
    const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
    return isatty(STDOUT_FILENO) && !(no && *no) && term && *term && strcmp(term, "dumb") != 0 &&
           strcmp(term, "unknown") != 0;
}

int mgb_cli_parse(struct mgb_invocation *out, const struct mgb_manual *manual, int argc,
                  char **argv)
{
    size_t most = (size_t)argc + 1;
    *out = (struct mgb_invocation){.manual = manual,
                                   .command = manual->itself,
                                   .program = manual->program,
                                   .argv = argv,
                                   .color = color_wanted(),
                                   .started_ms = now_ms()};
    out->lua_path = calloc(most, sizeof *out->lua_path);
    out->words = calloc(most, sizeof *out->words);
    out->flags = calloc(most, sizeof *out->flags);
    if (!out->lua_path || !out->words || !out->flags)
        return mgb_cli_complain(out, MGB_EXIT_FAILED, "memory is exhausted");
    struct reader reader = {.in = out, .at = argv + 1};
    for (; *reader.at && strcmp(*reader.at, "--") != 0; reader.at++) {
        int code = word_take(&reader);
        if (code >= 0)
            return code;
    }
    if (*reader.at) {
        out->rest = (const char **)reader.at + 1;
        while (out->rest[out->rest_count])
            out->rest_count++;
    }
    const char *db = getenv("MGBENCH_DB");
    if (!out->db && db && *db)
        out->db = db;
    return wishes_answer(&reader);
}

void mgb_cli_done(struct mgb_invocation *in)
{
    free(in->lua_path);
    free(in->words);
    free(in->flags);
}

const char *mgb_cli_find_flag(const struct mgb_invocation *in, const char *name)
{
    for (int i = in->flag_count - 1; i >= 0; i--)
        if (strcmp(in->flags[i].name, name) == 0)
            return in->flags[i].value ? in->flags[i].value : "";
    return NULL;
}
