/* mgbench generate: what is made from the table of commands. Not in --help: the build calls it, and tests. */
#include "app/cli/commands.h"
#include "app/cli/manual.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The exit codes that an example tells in its words, "exit 1", "exit 3 if": 0 unless there is one without an if. */
static void codes_print(FILE *out, const char *what)
{
    const char *at = strstr(what, "exit ");
    if (!at || !strstr(at, " if"))
        fputs(at ? "" : "0", out);
    else
        fputs("0,", out);
    for (bool first = true; at && *at; at++)
        if (*at >= '0' && *at <= '9') {
            char *end;
            fprintf(out, "%s%ld", first ? "" : ",", strtol(at, &end, 10));
            first = false;
            at = end - 1;
        }
}

static void examples_of(FILE *out, const struct mgb_command *command)
{
    for (const struct mgb_example *e = command->examples; e && e->command; e++) {
        codes_print(out, e->what);
        fprintf(out, "\t%s\t%s\n", command->name, e->command);
    }
}

static void examples_print(FILE *out, const struct mgb_manual *manual)
{
    for (const struct mgb_command *const *c = mgb_manual_next(manual->commands); c;
         c = mgb_manual_next(c + 1))
        examples_of(out, *c);
    if (manual->itself)
        examples_of(out, manual->itself);
}

static void flags_print(FILE *out, const char *command, const struct mgb_flag *flags)
{
    for (; flags && flags->name; flags++)
        fprintf(out, "flag\t%s\t%s\t%s\n", command, flags->name, flags->help);
}

static void command_print(FILE *out, const struct mgb_command *command)
{
    int examples = 0;
    while (command->examples && command->examples[examples].command)
        examples++;
    fprintf(out, "command\t%s\t%d\t%s\n", command->name, examples, command->summary);
    flags_print(out, command->name, command->flags);
    flags_print(out, command->name, command->more_flags ? command->more_flags() : NULL);
}

/* The table itself, for tests. */
static void table_print(FILE *out, const struct mgb_manual *manual)
{
    for (const struct mgb_command *const *c = mgb_manual_next(manual->commands); c;
         c = mgb_manual_next(c + 1))
        command_print(out, *c);
    if (manual->itself)
        command_print(out, manual->itself);
    flags_print(out, "*", manual->flags);
}

static const struct {
    const char *what;
    void (*print)(FILE *out, const struct mgb_manual *manual);
} kinds[] = {{"man", mgb_manual_print_man}, {"bash", mgb_manual_print_bash},
             {"zsh", mgb_manual_print_zsh}, {"fish", mgb_manual_print_fish},
             {"examples", examples_print},  {"table", table_print}};

static int file_write(const struct mgb_invocation *in, const char *file, size_t kind)
{
    FILE *out = fopen(file, "w");
    if (out)
        kinds[kind].print(out, in->manual);
    bool failed = !out || ferror(out);
    failed = (out && fclose(out) != 0) || failed;
    return failed ? mgb_cli_complain(in, MGB_EXIT_FAILED, "generate: cannot write '%s': %s", file,
                                     strerror(errno))
                  : MGB_EXIT_OK;
}

static int generate_run(struct mgb_invocation *in)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (strcmp(in->words[0], kinds[i].what) != 0)
            continue;
        if (in->word_count > 1)
            return file_write(in, in->words[1], i);
        kinds[i].print(stdout, in->manual);
        return MGB_EXIT_OK;
    }
    return mgb_cli_complain(in, MGB_EXIT_USAGE,
                            "generate: one of man, bash, zsh, fish, examples, table expected");
}

const struct mgb_command mgb_command_generate = {
    .name = "generate",
    .usage = "man|bash|zsh|fish|examples|table [FILE]",
    .summary = "the man page and the completions, from the table of commands",
    .least_words = 1,
    .most_words = 2,
    .hidden = true,
    .run = generate_run,
};
