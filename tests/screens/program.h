/* mgbench-tui on a terminal, in a folder of its own with its database, its configuration and nothing of the user's. */
#ifndef TESTS_SCREENS_PROGRAM_H
#define TESTS_SCREENS_PROGRAM_H

#include "tests/screens/terminal.h"

struct program {
    char folder[64];
    char database[96]; /* folder/r.db, MGBENCH_DB of what is started */
    struct terminal *terminal;
    char answer[4096];
};

/* A test whose program is not built ends with 77. */
void program_make(struct program *program);
/* Ends the program and removes the folder. */
void program_free(struct program *program);

/* Starts mgbench-tui with these words, ended by NULL; a C.UTF-8 locale and four CPU devices unless options->environment
 * says otherwise. */
struct terminal *program_start(struct program *program, const struct terminal_options *options, ...)
    __attribute__((sentinel));
/* The same for any program, found by PATH, where mgbench-tui and mgbench are first. */
struct terminal *program_start_words(struct program *program,
                                     const struct terminal_options *options,
                                     const char *const *words);
/* The first row of a query of the database, as CSV; "": no row, or no database. Borrowed. */
const char *program_ask(struct program *program, const char *sql);
/* `mgbench WORDS` in the folder, by a shell; its exit code. Output of the first line is `answer`. */
int program_run(struct program *program, const char *words);

#endif
