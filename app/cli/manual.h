/* The manual of a program: its table of commands and flags and what else there is to say, from which its words are read and
 * help, the man page and the completions for shells are written. A second program has a table of its own. */
#ifndef MGB_APP_CLI_MANUAL_H
#define MGB_APP_CLI_MANUAL_H

#include "app/cli/cli.h"
#include "app/session/hub.h"
#include <stdio.h>

struct mgb_manual_row { /* ended by a NULL word */
    const char *word, *what;
};

struct mgb_manual_section {     /* ended by a NULL heading */
    const char *heading, *text; /* "EXIT STATUS"; text: NULL, or lines as in mgb_command.help */
    const struct mgb_manual_row *rows; /* NULL: none */
};

struct mgb_manual {
    const char *program, *version, *date;      /* "mgbench", "0.1.0", "2026-11-30" */
    const char *summary, *description;         /* a line; lines as in mgb_command.help */
    const struct mgb_command *const *commands; /* ended by NULL; NULL: it has none */
    const struct mgb_command *itself; /* what it does without a command's word; NULL: nothing */
    const struct mgb_flag *flags;     /* of every command, or of the program */
    const struct mgb_manual_section *sections;
    const struct mgb_remark *warnings; /* ended by a NULL name; NULL: none */
    const char *see_also;              /* "sqlite3(1), gnuplot(1)" */
    const char *also;                  /* the last line of its help: another program; NULL: none */
};

extern const struct mgb_manual mgb_manual_mgbench;
extern const struct mgb_manual_row mgb_manual_exit_codes[];

void mgb_manual_print_man(FILE *out, const struct mgb_manual *manual);
void mgb_manual_print_bash(FILE *out, const struct mgb_manual *manual);
void mgb_manual_print_zsh(FILE *out, const struct mgb_manual *manual);
void mgb_manual_print_fish(FILE *out, const struct mgb_manual *manual);

/* The next command that is no hidden one, from `at` on; NULL at the end. */
const struct mgb_command *const *mgb_manual_next(const struct mgb_command *const *at);
/* The text with the program's name for each PROGRAM in it. */
void mgb_manual_print_template(FILE *out, const char *text, const char *program);

/* What may stand in a place of the command line. */
struct mgb_word_set {
    bool files, folders, models, machines, runs, text; /* text: something that cannot be listed */
    char choices[512];                                 /* with blanks between */
};
/* The words at `position`, from 0, of a command's usage. */
void mgb_words_of_usage(struct mgb_word_set *out, const char *usage, int position);
/* How many positions differ: from the last one on, all are alike (or there are none). */
int mgb_words_positions(const char *usage, bool *last_repeats);
/* The value of a flag that has one. */
void mgb_words_of_flag(struct mgb_word_set *out, const struct mgb_flag *flag);

#endif
