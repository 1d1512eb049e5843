/* The completion of a program for zsh: specifications for _arguments, with what each option is for. */
#include "app/cli/manual.h"
#include "app/cli/mgb_shell_completion_zsh.h"
#include <string.h>

/* Inside single quotes; `special` gets a backslash. */
static void text_print(FILE *out, const char *text, const char *special)
{
    for (; *text; text++)
        if (*text == '\'')
            fputs("'\\''", out);
        else
            fprintf(out, "%s%c", strchr(special, *text) ? "\\" : "", *text);
}

/* "value:_files": a message, and what is offered. */
static void action_print(FILE *out, const char *program, const struct mgb_word_set *set)
{
    int kinds = set->files + set->folders + set->models + set->machines + set->runs +
                (set->choices[0] != 0);
    if (kinds == 1 && set->choices[0] && !strchr(set->choices, ':')) {
        fprintf(out, "value:(%s)", set->choices);
        return;
    }
    fputs(kinds ? "value:{" : "value: ", out);
    if (set->choices[0])
        fputs("compadd -S \"\" -- ", out);
    text_print(out, set->choices, ":");
    fputs(set->choices[0] ? "; " : "", out);
    if (set->runs)
        fprintf(out, "_%s_runs; ", program);
    if (set->models)
        fprintf(out, "_%s_models; ", program);
    if (set->machines)
        fprintf(out, "_%s_machines; ", program);
    fprintf(out, "%s%s%s", set->files ? "_files; " : "", set->folders ? "_files -/; " : "",
            kinds ? "}" : "");
}

static void flags_print(FILE *out, const char *program, const struct mgb_flag *flags)
{
    for (; flags && flags->name; flags++) {
        fprintf(out, "        '%s%s%s[", strstr(flags->help, "may be repeated") ? "*" : "",
                flags->name,
                !flags->value     ? ""
                : flags->optional ? "=-"
                                  : "=");
        text_print(out, flags->help, "[]:\\");
        fputc(']', out);
        if (flags->value) {
            struct mgb_word_set set;
            mgb_words_of_flag(&set, flags);
            fputs(flags->optional ? "::" : ":", out);
            action_print(out, program, &set);
        }
        fputs("'\n", out);
        if (flags->value && flags->optional)
            fprintf(out, "        '--no-%s[not %s]'\n", flags->name + 2, flags->name);
    }
}

static void words_print(FILE *out, const char *program, const struct mgb_command *command)
{
    bool repeats;
    int count = mgb_words_positions(command->usage, &repeats);
    for (int i = 0; i < count; i++) {
        struct mgb_word_set set;
        mgb_words_of_usage(&set, command->usage, i);
        if (repeats && i == count - 1)
            fputs("        '*:", out);
        else
            fprintf(out, "        '%d:", i + 1);
        action_print(out, program, &set);
        fputs("'\n", out);
    }
}

static void own_print(FILE *out, const char *program, const struct mgb_command *command)
{
    flags_print(out, program, command->flags);
    flags_print(out, program, command->more_flags ? command->more_flags() : NULL);
    words_print(out, program, command);
}

static void commands_print(FILE *out, const struct mgb_manual *manual)
{
    const struct mgb_command *const *first = mgb_manual_next(manual->commands);
    fputs("    local -a commands=(\n", out);
    for (const struct mgb_command *const *c = first; c; c = mgb_manual_next(c + 1)) {
        fprintf(out, "        '%s:", (*c)->name);
        text_print(out, (*c)->summary, "");
        fputs("'\n", out);
    }
    fputs("    )\n    _arguments -C -S $common '1:command:->command' '*::word:->words' && ret=0\n"
          "    case $state in\n"
          "    (command) _describe -t commands command commands && ret=0; return ret ;;\n"
          "    (words) ;;\n"
          "    (*) return ret ;;\n"
          "    esac\n"
          "    local -a own=()\n"
          "    case $words[1] in\n",
          out);
    for (const struct mgb_command *const *c = first; c; c = mgb_manual_next(c + 1)) {
        fprintf(out, "    (%s) own=(\n", (*c)->name);
        own_print(out, manual->program, *c);
        fputs("        ) ;;\n", out);
    }
    fputs("    esac\n    _arguments -S $common $own && ret=0\n", out);
}

void mgb_manual_print_zsh(FILE *out, const struct mgb_manual *manual)
{
    fprintf(out,
            "#compdef %s\n# zsh completion of %s %s, written by its program from its table of "
            "commands.\n",
            manual->program, manual->program, manual->version);
    mgb_manual_print_template(out, mgb_shell_completion_zsh, manual->program);
    fprintf(out,
            "_%s()\n{\n    local curcontext=$curcontext context state state_descr line ret=1\n"
            "    typeset -A opt_args\n    local -a common=(\n",
            manual->program);
    flags_print(out, manual->program, manual->flags);
    if (manual->itself)
        own_print(out, manual->program, manual->itself);
    fputs("    )\n", out);
    if (mgb_manual_next(manual->commands))
        commands_print(out, manual);
    else
        fputs("    _arguments -S $common && ret=0\n", out);
    fprintf(out, "    return ret\n}\n\n_%s \"$@\"\n", manual->program);
}
