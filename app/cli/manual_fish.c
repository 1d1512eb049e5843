/* The completion of a program for fish: a `complete` line for each command, option and kind of word. */
#include "app/cli/manual.h"
#include "app/cli/mgb_shell_completion_fish.h"
#include <string.h>

/* fish knows \' in single quotes. */
static void text_print(FILE *out, const char *text)
{
    fputc('\'', out);
    for (; *text; text++)
        fprintf(out, "%s%c", strchr("'\\", *text) ? "\\" : "", *text);
    fputc('\'', out);
}

static void start_print(FILE *out, const char *program, const char *command)
{
    fprintf(out, "complete -c %s", program);
    if (command)
        fprintf(out, " -n '__%s_is %s'", program, *command ? command : "\"\"");
}

/* What may stand there, as -a takes it; `files` too unless they are named otherwise. */
static void set_print(FILE *out, const char *program, const struct mgb_word_set *set)
{
    if (set->folders)
        fputs(" -a '(__fish_complete_directories)'", out);
    if (set->models)
        fprintf(out, " -a '(__%s_models)'", program);
    if (set->machines)
        fprintf(out, " -a '(__%s_machines)'", program);
    if (set->runs)
        fprintf(out, " -a '(__%s_runs)'", program);
    if (set->choices[0])
        fprintf(out, " -a '%s'", set->choices);
    if (set->files)
        fputs(" -F", out);
}

static void flags_print(FILE *out, const char *program, const char *command,
                        const struct mgb_flag *flags)
{
    for (; flags && flags->name; flags++) {
        start_print(out, program, command);
        fprintf(out, " -l %s", flags->name + 2);
        if (flags->value && !flags->optional) {
            struct mgb_word_set set;
            mgb_words_of_flag(&set, flags);
            fputs(set.files ? " -r" : " -x", out);
            set_print(out, program, &set);
        }
        fputs(" -d ", out);
        text_print(out, flags->help);
        fputc('\n', out);
        if (!flags->value || !flags->optional)
            continue;
        start_print(out, program, command);
        fprintf(out, " -l no-%s -d 'not %s'\n", flags->name + 2, flags->name);
    }
}

/* What a command takes; `name` as start_print has it, NULL for options that stand anywhere. */
static void own_print(FILE *out, const char *program, const struct mgb_command *command,
                      const char *name)
{
    bool repeats;
    int count = mgb_words_positions(command->usage, &repeats);
    for (int i = 0; i < count; i++) {
        struct mgb_word_set set;
        mgb_words_of_usage(&set, command->usage, i);
        if (!set.files && !set.folders && !set.models && !set.machines && !set.runs &&
            !set.choices[0])
            continue;
        start_print(out, program, name ? name : "");
        set_print(out, program, &set);
        fputc('\n', out);
    }
    flags_print(out, program, name, command->flags);
    flags_print(out, program, name, command->more_flags ? command->more_flags() : NULL);
}

static void command_print(FILE *out, const char *program, const struct mgb_command *command)
{
    start_print(out, program, "");
    if (command->name[0] == '-')
        fprintf(out, " -s %s -r -F -d ", command->name + 1);
    else
        fprintf(out, " -a %s -d ", command->name);
    text_print(out, command->summary);
    fputc('\n', out);
    own_print(out, program, command, command->name);
}

static void names_print(FILE *out, const struct mgb_flag *flags)
{
    for (; flags && flags->name; flags++)
        if (flags->value && !flags->optional)
            fprintf(out, " %s", flags->name);
}

void mgb_manual_print_fish(FILE *out, const struct mgb_manual *manual)
{
    fprintf(out, "# fish completion of %s %s, written by its program from its table of commands.\n",
            manual->program, manual->version);
    fprintf(out,
            "function __%s_takes_value -d 'has this option a value as the next word'\n"
            "    contains -- $argv[1]",
            manual->program);
    names_print(out, manual->flags);
    if (manual->itself) {
        names_print(out, manual->itself->flags);
        names_print(out, manual->itself->more_flags ? manual->itself->more_flags() : NULL);
    }
    fputs("\nend\n\n", out);
    mgb_manual_print_template(out, mgb_shell_completion_fish, manual->program);
    flags_print(out, manual->program, NULL, manual->flags);
    if (manual->itself)
        own_print(out, manual->program, manual->itself, NULL);
    for (const struct mgb_command *const *c = mgb_manual_next(manual->commands); c;
         c = mgb_manual_next(c + 1))
        command_print(out, manual->program, *c);
}
