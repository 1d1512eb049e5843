/* The completion of a program for bash: its tables, and completion_bash.sh, which reads them. */
#include "app/cli/manual.h"
#include "app/cli/mgb_shell_completion_bash.h"
#include <string.h>

static void set_print(FILE *out, const struct mgb_word_set *set, const char *more)
{
    fprintf(out, "kind='%s%s%s%s%s%s%s'", more, set->files ? " files" : "",
            set->folders ? " folders" : "", set->models ? " models" : "",
            set->machines ? " machines" : "", set->runs ? " runs" : "", set->text ? " text" : "");
    if (set->choices[0])
        fprintf(out, " words='%s'", set->choices);
    fputs(" ;;\n", out);
}

static void flag_names_print(FILE *out, const struct mgb_flag *flags)
{
    for (; flags && flags->name; flags++)
        fprintf(out, " %s", flags->name);
}

static void values_print(FILE *out, const char *command, const struct mgb_flag *flags)
{
    for (; flags && flags->name; flags++) {
        if (!flags->value)
            continue;
        struct mgb_word_set set;
        mgb_words_of_flag(&set, flags);
        if (command)
            fprintf(out, "        '%s %s') ", command, flags->name);
        else
            fprintf(out, "        *' %s') ", flags->name);
        set_print(out, &set, flags->optional ? "optional" : "value");
    }
}

static void flags_all_print(FILE *out, const struct mgb_command *command)
{
    flag_names_print(out, command->flags);
    flag_names_print(out, command->more_flags ? command->more_flags() : NULL);
}

/* Those of tables kept elsewhere, each table once. */
static void shared_values_print(FILE *out, const struct mgb_manual *manual)
{
    const struct mgb_command *const *first = mgb_manual_next(manual->commands);
    for (const struct mgb_command *const *c = first; c; c = mgb_manual_next(c + 1)) {
        bool seen = !(*c)->more_flags;
        for (const struct mgb_command *const *b = first; b != c && !seen;
             b = mgb_manual_next(b + 1))
            seen = (*b)->more_flags == (*c)->more_flags;
        if (!seen)
            values_print(out, NULL, (*c)->more_flags());
    }
}

/* `name`: what the line has of the command; "" for that of the program itself. */
static void words_print(FILE *out, const struct mgb_command *command, const char *name)
{
    bool repeats;
    int count = mgb_words_positions(command->usage, &repeats);
    for (int i = 0; i < count; i++) {
        struct mgb_word_set set;
        mgb_words_of_usage(&set, command->usage, i);
        if (repeats && i == count - 1)
            fprintf(out, "        '%s '*) ", name);
        else
            fprintf(out, "        '%s %d') ", name, i);
        set_print(out, &set, "value");
    }
}

/* Which words may stand where. */
static void positions_print(FILE *out, const struct mgb_manual *manual)
{
    const struct mgb_command *const *first = mgb_manual_next(manual->commands);
    fprintf(out, "_%s_word() # 'COMMAND POSITION': sets kind and words\n{\n    case $1 in\n",
            manual->program);
    if (first) {
        fputs("        ' '*) kind=value words='", out);
        for (const struct mgb_command *const *c = first; c; c = mgb_manual_next(c + 1))
            fprintf(out, "%s%s", c == first ? "" : " ", (*c)->name);
        fputs("' ;;\n", out);
    }
    for (const struct mgb_command *const *c = first; c; c = mgb_manual_next(c + 1))
        words_print(out, *c, (*c)->name);
    if (manual->itself)
        words_print(out, manual->itself, "");
    fputs("    esac\n}\n\n", out);
}

static void tables_print(FILE *out, const struct mgb_manual *manual)
{
    const struct mgb_command *const *first = mgb_manual_next(manual->commands);
    const char *name = manual->program;
    fprintf(out, "_%s_flags() # COMMAND: the options it takes\n{\n    case $1 in\n", name);
    for (const struct mgb_command *const *c = first; c; c = mgb_manual_next(c + 1)) {
        if ((*c)->name[0] == '-')
            fprintf(out, "        '') echo ' %s' ;;\n", (*c)->name);
        if (!(*c)->flags && !(*c)->more_flags)
            continue;
        fprintf(out, "        %s) echo '", (*c)->name);
        flags_all_print(out, *c);
        fputs("' ;;\n", out);
    }
    fputs("    esac\n    echo '", out);
    if (manual->itself)
        flags_all_print(out, manual->itself);
    flag_names_print(out, manual->flags);
    fprintf(out, "'\n}\n\n_%s_value() # 'COMMAND OPTION': sets kind and words\n{\n    case $1 in\n",
            name);
    for (const struct mgb_command *const *c = first; c; c = mgb_manual_next(c + 1))
        values_print(out, (*c)->name, (*c)->flags);
    shared_values_print(out, manual);
    if (manual->itself) {
        values_print(out, NULL, manual->itself->flags);
        values_print(out, NULL, manual->itself->more_flags ? manual->itself->more_flags() : NULL);
    }
    values_print(out, NULL, manual->flags);
    fputs("    esac\n}\n\n", out);
    positions_print(out, manual);
}

void mgb_manual_print_bash(FILE *out, const struct mgb_manual *manual)
{
    fprintf(out, "# bash completion of %s %s, written by its program from its table of commands.\n",
            manual->program, manual->version);
    tables_print(out, manual);
    mgb_manual_print_template(out, mgb_shell_completion_bash, manual->program);
}
