/* What is typed after ':'. In this order: the name of an action ("weights", "undo", "quit"); settings of the bench
 * ("set batch=64 gpus=2", or without set; "model resnet depth=50", "data mnist", "backend host", "machine FILE", "record
 * FILE", "sweep {...}", "save-layout"); a verb of the command line ("compare 12 13", "show last"), run by mgbench itself on
 * the same database; else a Lua expression or statement, in which `s` is the session. A line that begins with '=' is Lua
 * whatever it says. */
#ifndef APP_TUI_COMMAND_H
#define APP_TUI_COMMAND_H

#include "app/tui/desk.h"
#include "app/tui/jobs.h"
#include "app/tui/prompt.h"

struct tui_verb {
    const char *name, *usage, *summary; /* of mgbench */
};

struct tui_command_table {
    const struct tui_verb *verbs; /* ended by a NULL name */
    struct tui_jobs *jobs;
    bool readonly; /* verbs that run, store or delete are refused */
    /* This program records: no command can write to the results file before that ends. Tags and notes are wishes then. */
    bool recording;
    int64_t run; /* recorded by the bench; 0: none */
};

/* Bytes of the longest line: what was typed, every character of it quoted, and words around it. */
enum { TUI_COMMAND_BYTES = 4 * TUI_PROMPT_BYTES + 400 };

/* What is said while a verb runs. */
#define TUI_COMMAND_RUNS "running: mgbench %s"

void tui_command_run(const struct tui_command_table *table, struct tui_desk *desk,
                     const char *line);

struct tui_completions {
    const struct tui_command_table *table;
    const struct mgb_facts *facts; /* NULL: no values of options */
    const char *models;            /* a line each; NULL */
};
/* For tui_prompt_key; the context is a struct tui_completions. */
int tui_command_complete(void *context, const char *line, char (*out)[160], int most, size_t *from);

/* Runs a verb, given as words, as a job called `line`, and says so. */
void tui_command_start(const struct tui_command_table *table, struct tui_desk *desk,
                       char *const *words, int count, const char *line);
/* command_label.c: whether the line labels runs, pins or deletes one, and what that means was told or asked for; false:
 * mgbench can do it. */
bool tui_command_label(const struct tui_command_table *table, struct tui_desk *desk,
                       const char *line);
/* Whether this program writes to its results file, or will in a moment. */
bool tui_is_recording(const struct mgb_snapshot *snapshot);
/* Why a run is not to be written to by a command. */
#define TUI_COMMAND_RECORDING "a run is being recorded: end it first (x on the bench)"

/* Words of a line as a shell takes them: blanks, '...', "...", backslash. Returns how many, -1: a quote is not closed, or
 * there are more. `out` has pointers into `buffer`. */
int tui_command_split(char *buffer, size_t size, char **out, int most, const char *line);

/* Whether all can be tags; the first that cannot is told. "-NAME" takes one off, whatever it is. */
bool tui_command_tags(struct tui_desk *desk, char *const *names, int count);

/* Words that are no actions and no verbs: "set", "model", ...; ended by NULL. */
extern const char *const tui_command_settings[];

#endif
