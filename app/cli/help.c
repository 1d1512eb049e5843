/* Help texts. See help.h. */
#include "app/cli/help.h"
#include "app/cli/wrap.h"
#include <string.h>
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

void mgb_help_print_all(FILE *out, const struct mgb_manual *manual, bool with_flags)
{
    fprintf(out, "%s: %s\n\nusage: %s COMMAND [options] [-- words]\n\ncommands:\n", manual->program,
            manual->summary, manual->program);
    for (const struct mgb_command *const *c = mgb_manual_next(manual->commands); c;
         c = mgb_manual_next(c + 1))
        fprintf(out, "  %-24s%s\n", (*c)->name, (*c)->summary);
    if (with_flags) {
        fputs("\noptions of every command:\n", out);
        mgb_help_print_flags(out, manual->flags);
        fputs("\nexit codes:\n", out);
        for (const struct mgb_manual_row *row = mgb_manual_exit_codes; row->word; row++)
            fprintf(out, "  %-24s%s\n", row->word, row->what);
    }
    fprintf(out, "\n%s COMMAND --help tells more about one.\n", manual->program);
    if (manual->also)
        fprintf(out, "%s\n", manual->also);
}

/* Whether the line at `next` goes on with the sentence of the one before it, which had `length` bytes. */
static bool goes_on(const char *next, size_t length)
{
    size_t end = strcspn(next, "\n");
    const char *gap = strstr(next, "  ");
    return length > 55 && end > 0 && *next != ' ' && !(gap && gap < next + end);
}

/* On a terminal the lines of a paragraph are put together: who prints them breaks them anew. */
static void text_print(FILE *out, const char *text, bool together)
{
    while (*text) {
        size_t length = strcspn(text, "\n");
        const char *next = text + length + (text[length] == '\n');
        fwrite(text, 1, length, out);
        fputc(together && *text != ' ' && goes_on(next, length) ? ' ' : '\n', out);
        text = next;
    }
}

void mgb_help_print_command(FILE *out, const struct mgb_manual *manual,
                            const struct mgb_command *command)
{
    bool itself = command == manual->itself;
    fprintf(out, "usage: %s%s%s%s%s\n\n%s\n", manual->program, itself ? "" : " ",
            itself ? "" : command->name, *command->usage ? " " : "", command->usage,
            command->summary);
    if (command->help) {
        fputc('\n', out);
        text_print(out, command->help, mgb_wrap_is_on());
    }
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
    fputs(itself ? "\nfurther options:\n" : "\noptions of every command:\n", out);
    mgb_help_print_flags(out, manual->flags);
}
