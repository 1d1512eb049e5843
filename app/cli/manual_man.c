/* The man page of a program, in the man(7) macros that groff and mandoc both know. */
#include "app/cli/manual.h"
#include <ctype.h>
#include <string.h>

/* `code`: to be typed as it stands, so a '-' is a minus sign. In other text only those of options and numbers are. */
static void text_print(FILE *out, const char *text, size_t length, bool code)
{
    for (size_t i = 0, start = 0; i < length; i++) {
        char before = i ? text[i - 1] : ' ', c = text[i];
        char after = i + 1 < length ? text[i + 1] : ' ';
        bool minus = code || ((isspace((unsigned char)before) || strchr("-([=", before)) &&
                              !isspace((unsigned char)after));
        bool breaks =
            !code && c == ' ' && i - start > 60 && !isspace((unsigned char)after) && after != '.';
        if (breaks) {
            fputc('\n', out);
            start = i;
        } else if (c == '-' && minus)
            fputs("\\-", out);
        else if (c == '\\')
            fputs("\\e", out);
        else if (c == '~')
            fputs("\\(ti", out);
        else if (c == '^')
            fputs("\\(ha", out);
        else if (c == '`')
            fputs("\\(ga", out);
        else if (c == '\'')
            fputs("\\(aq", out);
        else if (c == '.' && i == 0)
            fputs("\\&.", out);
        else
            fputc(c, out);
    }
}

static void part_print(FILE *out, const char *text, size_t length, bool code)
{
    text_print(out, text, length, code);
    fputc('\n', out);
}

static void line_print(FILE *out, const char *text, bool code)
{
    part_print(out, text, strlen(text), code);
}

/* "word  what it means" in a text: where the second part begins; 0: it is no such line. */
static size_t row_split(const char *line, size_t length)
{
    for (size_t i = 1; i + 2 < length; i++)
        if (line[i] == ' ') {
            if (line[i + 1] != ' ')
                return 0;
            while (line[i] == ' ')
                i++;
            return i;
        }
    return 0;
}

enum paragraph { RUNNING, ROWS, VERBATIM };

static enum paragraph paragraph_of(const char *line, size_t length)
{
    return line[0] == ' ' ? VERBATIM : row_split(line, length) ? ROWS : RUNNING;
}

static void row_print(FILE *out, const char *line, size_t length)
{
    size_t at = row_split(line, length), word = strcspn(line, " ");
    fputs(".TP 12\n.B ", out);
    part_print(out, line, word, true);
    part_print(out, line + at, length - at, false);
}

/* Text as --help prints it: blank lines between paragraphs, indented lines as they are, rows of "word  meaning". */
static void help_print(FILE *out, const char *text, bool after_heading)
{
    enum paragraph now = RUNNING;
    bool first = true; /* of a paragraph */
    for (size_t length; *text; text += length + (text[length] == '\n')) {
        length = strcspn(text, "\n");
        if (length == 0) {
            first = true;
            continue;
        }
        enum paragraph next = paragraph_of(text, length);
        if (now == VERBATIM && next != VERBATIM)
            fputs(".EE\n.RE\n", out);
        if ((first || next != now) && next == RUNNING && !after_heading)
            fputs(".PP\n", out);
        if (next == VERBATIM && now != VERBATIM)
            fputs(".PP\n.RS 4\n.EX\n", out);
        if (next == ROWS)
            row_print(out, text, length);
        else
            part_print(out, text, length, next == VERBATIM);
        now = next;
        first = after_heading = false;
    }
    if (now == VERBATIM)
        fputs(".EE\n.RE\n", out);
}

static void flag_print(FILE *out, const struct mgb_flag *flag)
{
    fputs(".TP\n.B ", out);
    text_print(out, flag->name, strlen(flag->name), true);
    if (flag->value) {
        fputs(flag->optional ? "\\fR[=\\fI" : " \\fI", out);
        text_print(out, flag->value, strlen(flag->value), true);
        fputs(flag->optional ? "\\fR]" : "\\fR", out);
    }
    fputc('\n', out);
    line_print(out, flag->help, false);
}

static void flags_print(FILE *out, const struct mgb_flag *flags)
{
    for (; flags && flags->name; flags++)
        flag_print(out, flags);
}

static void examples_print(FILE *out, const struct mgb_example *examples)
{
    if (!examples)
        return;
    for (; examples->command; examples++) {
        fputs(".TP 4\n.B ", out);
        line_print(out, examples->command, true);
        line_print(out, examples->what, false);
    }
}

static bool shares_flags(const struct mgb_command *a, const struct mgb_command *b)
{
    return a->more_flags && a->more_flags == b->more_flags;
}

static void command_print(FILE *out, const struct mgb_manual *manual,
                          const struct mgb_command *command)
{
    fputs(".SS ", out);
    text_print(out, manual->program, strlen(manual->program), true);
    fputc(' ', out);
    text_print(out, command->name, strlen(command->name), true);
    fputs(*command->usage ? " " : "", out);
    line_print(out, command->usage, true);
    fputc(toupper((unsigned char)command->summary[0]), out);
    text_print(out, command->summary + 1, strlen(command->summary) - 1, false);
    fputs(".\n", out);
    if (command->help)
        help_print(out, command->help, false);
    flags_print(out, command->flags);
    if (command->more_flags)
        fputs(".PP\nIt also takes the options under\n.BR \"PLACEMENT OPTIONS\" .\n", out);
    fputs(command->examples ? ".PP\nExamples:\n" : "", out);
    examples_print(out, command->examples);
}

static void placement_print(FILE *out, const struct mgb_command *command)
{
    fputs("named as in scripts.\nOne whose value may be left out means yes then, and\n"
          ".BI \\-\\-no\\- name\nmeans no.\n",
          out);
    flags_print(out, command->more_flags());
}

/* Of a program without commands. */
static void itself_print(FILE *out, const struct mgb_manual *manual)
{
    const struct mgb_command *itself = manual->itself;
    fputs(".SH OPTIONS\n", out);
    flags_print(out, itself ? itself->flags : NULL);
    flags_print(out, manual->flags);
    if (itself && itself->more_flags) {
        fputs(".SH PLACEMENT OPTIONS\nThey are ", out);
        placement_print(out, itself);
    }
    if (itself && itself->examples) {
        fputs(".SH EXAMPLES\n", out);
        examples_print(out, itself->examples);
    }
}

static void commands_print(FILE *out, const struct mgb_manual *manual)
{
    const struct mgb_command *const *first = mgb_manual_next(manual->commands), *const * c;
    fputs(".SH COMMANDS\n", out);
    for (c = first; c; c = mgb_manual_next(c + 1))
        command_print(out, manual, *c);
    for (c = first; c && !(*c)->more_flags;)
        c = mgb_manual_next(c + 1);
    if (!c)
        return;
    fputs(".SH PLACEMENT OPTIONS\nOptions of", out);
    for (const struct mgb_command *const *b = first; b; b = mgb_manual_next(b + 1))
        if (shares_flags(*b, *c))
            fprintf(out, "\n.BR %s ,", (*b)->name);
    fputc('\n', out);
    placement_print(out, *c);
}

static void sections_print(FILE *out, const struct mgb_manual_section *section)
{
    for (; section && section->heading; section++) {
        fprintf(out, ".SH %s\n", section->heading);
        if (section->text)
            help_print(out, section->text, true);
        for (const struct mgb_manual_row *row = section->rows; row && row->word; row++) {
            fputs(".TP\n.B ", out);
            line_print(out, row->word, true);
            line_print(out, row->what, false);
        }
    }
}

static void warnings_print(FILE *out, const struct mgb_remark *remark)
{
    if (remark)
        fputs(".SH WARNINGS\nA warning ends with its name in brackets;\n.B \\-\\-quiet\\-warnings\n"
              "silences it.\n",
              out);
    for (; remark && remark->name; remark++) {
        fputs(".TP\n.B ", out);
        line_print(out, remark->name, true);
        line_print(out, remark->what, false);
    }
}

/* "sqlite3(1), gnuplot(1)" as references. */
static void see_also_print(FILE *out, const char *text)
{
    fputs(".SH SEE ALSO\n", out);
    while (*text) {
        size_t name = strcspn(text, "("), end = strcspn(text, ", ");
        fprintf(out, ".BR %.*s %.*s%s\n", (int)name, text, (int)(end - name), text + name,
                text[end] ? " ," : "");
        text += end;
        text += strspn(text, ", ");
    }
}

static void heading_print(FILE *out, const struct mgb_manual *manual)
{
    const char *name = manual->program;
    fputs(".\\\" Written by the program from its table of commands.\n.TH ", out);
    for (const char *c = name; *c; c++)
        fputc(toupper((unsigned char)*c), out);
    fprintf(out, " 1 %s \"%s %s\" \"User commands\"\n.SH NAME\n%s \\- ", manual->date, name,
            manual->version, name);
    line_print(out, manual->summary, false);
    fprintf(out, ".SH SYNOPSIS\n.B %s\n", name);
    if (mgb_manual_next(manual->commands))
        fputs(".I COMMAND\n[options] [\\-\\- words]\n", out);
    else
        line_print(out, manual->itself ? manual->itself->usage : "[options]", true);
}

void mgb_manual_print_man(FILE *out, const struct mgb_manual *manual)
{
    heading_print(out, manual);
    fputs(".SH DESCRIPTION\n", out);
    help_print(out, manual->description, true);
    if (manual->itself && manual->itself->help)
        help_print(out, manual->itself->help, false);
    if (mgb_manual_next(manual->commands)) {
        commands_print(out, manual);
        fputs(".SH OPTIONS OF EVERY COMMAND\n", out);
        flags_print(out, manual->flags);
    } else
        itself_print(out, manual);
    sections_print(out, manual->sections);
    warnings_print(out, manual->warnings);
    see_also_print(out, manual->see_also);
}
