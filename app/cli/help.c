/* Help texts. See help.h. */
#include "app/cli/help.h"
#include "app/cli/later.h"
#include "app/cli/manual.h"

void mgb_help_print_flags(FILE *out, const struct mgb_flag *flags)
{
    for (; flags && flags->name; flags++) {
        int width = fprintf(out, "  %s%s%s%s", flags->name,
                            !flags->value     ? ""
                            : flags->optional ? "[="
                                              : " ",
                            flags->value ? flags->value : "", flags->optional ? "]" : "");
        fprintf(out, "%*s%s\n", width < 26 ? 26 - width : 1, "", flags->help);
    }
}

void mgb_help_print_all(FILE *out, bool with_flags)
{
    fputs("mgbench: where should the weights live, where should the towers meet, how many GPUs are "
          "worth it\n"
          "\nusage: mgbench COMMAND [options] [-- words]\n\ncommands:\n",
          out);
    for (const struct mgb_command *const *c = mgb_manual_next(mgb_commands); c;
         c = mgb_manual_next(c + 1))
        fprintf(out, "  %-24s%s\n", (*c)->name, (*c)->summary);
    if (with_flags) {
        fputs("\nlater (not in this version; each tells what to use instead):\n ", out);
        for (const struct mgb_later_command *c = mgb_later_commands; c->name; c++)
            fprintf(out, " %s", c->name);
        fputs("\n\noptions of every command:\n", out);
        mgb_help_print_flags(out, mgb_global_flags);
        fputs("\nexit codes:\n", out);
        for (const struct mgb_manual_row *row = mgb_manual_exit_codes; row->word; row++)
            fprintf(out, "  %-24s%s\n", row->word, row->what);
    }
    fputs("\nmgbench COMMAND --help tells more about one.\n", out);
}

void mgb_help_print_command(FILE *out, const struct mgb_command *command)
{
    fprintf(out, "usage: mgbench %s%s%s\n\n%s\n", command->name, *command->usage ? " " : "",
            command->usage, command->summary);
    if (command->help)
        fprintf(out, "\n%s", command->help);
    if (command->examples)
        fputs("\nexamples:\n", out);
    for (const struct mgb_example *e = command->examples; e && e->command; e++)
        fprintf(out, "  %s\n      %s\n", e->command, e->what);
    if (command->flags) {
        fputs("\noptions:\n", out);
        mgb_help_print_flags(out, command->flags);
    }
    if (command->more_flags) {
        fputs("\nplacement options:\n", out);
        mgb_help_print_flags(out, command->more_flags());
    }
    fputs("\noptions of every command:\n", out);
    mgb_help_print_flags(out, mgb_global_flags);
}
