/* The command line of a program: one const record a subcommand, or one that is the program itself, from which parsing, help
 * and the list of commands follow. Parsing has no effects and comes before the supervisor forks; running happens in the
 * worker. */
#ifndef MGB_APP_CLI_H
#define MGB_APP_CLI_H

#include "app/script/table.h"
#include <stdbool.h>
#include <stdint.h>

enum mgb_exit {
    MGB_EXIT_OK = 0,
    MGB_EXIT_FAILED = 1,      /* a run or script failed */
    MGB_EXIT_USAGE = 2,       /* wrong words or flags */
    MGB_EXIT_SLOWER = 3,      /* a comparison asked to fail if slower did */
    MGB_EXIT_UNAVAILABLE = 4, /* hardware or configuration not available */
    MGB_EXIT_INTERRUPTED = 130,
};

struct mgb_flag {
    const char *name; /* "--db" */
    const char *
        value; /* what --help calls its value, names in small letters as they are: "N|auto"; NULL: a switch */
    const char *help; /* one line */
    bool optional;    /* the value may be left out, else follows '='; --no-x is --x=no */
};

struct mgb_example {     /* tests run each one */
    const char *command; /* "mgbench runs --last 5" */
    const char *
        what; /* what it answers, in a few words; "exit 1", "exit 3 if": the code it ends with, or may */
};

struct mgb_invocation;

struct mgb_command {
    const char *name;                   /* "devices"; "-e" for scripts; the program's for itself */
    const char *usage;                  /* the words after the name: "MODEL [placement options]" */
    const char *summary;                /* one line */
    const char *help;                   /* further lines for its own --help, or NULL */
    const struct mgb_example *examples; /* ended by a NULL command; NULL: none */
    const struct mgb_flag *flags;       /* ended by a NULL name; NULL: none */
    const struct mgb_flag *(*more_flags)(void); /* those of a table kept elsewhere; NULL: none */
    int least_words, most_words;                /* most_words < 0: any number */
    bool takes_any_flag;                        /* flags it does not know are kept for the script */
    bool hidden; /* for those who build the program: not in lists and manuals */
    int (*run)(struct mgb_invocation *in);
};

struct mgb_given {            /* a flag as typed, in order */
    const char *name, *value; /* value NULL: none */
};

/* What the program that holds the command line lends to commands. */
struct mgb_cli_host {
    /* Work can be taken up again at `point` after a crash; NULL: no longer. */
    void (*restartable)(void *context, const char *point);
    /* A full-screen program has the terminal, or no longer has. */
    void (*screen)(void *context, bool on);
    void *context;      /* of both */
    int restarts;       /* how often the program was started again after a crash */
    const char *point;  /* where it crashed */
    const char *commit; /* of the sources it was built from; NULL: not known */
};

struct mgb_invocation { /* borrowed from argv; the lists are freed by mgb_cli_done */
    const struct mgb_command *command;
    const struct mgb_manual *manual;    /* of the program */
    const char *program;                /* its name */
    char **argv;                        /* as given, the program's name first */
    const char *db, *backend, *machine; /* NULL: not given */
    const char **lua_path;
    int lua_path_count;
    bool no_supervisor, quiet, color, help;
    const char *quiet_warnings; /* names, comma separated; NULL: all are told */
    enum mgb_table_format format;
    const char **words; /* not flags */
    int word_count;
    struct mgb_given *flags; /* of the command */
    int flag_count;
    const char **rest; /* after -- */
    int rest_count;
    struct mgb_cli_host host;
    int64_t started_ms; /* UTC, of the program, before any restart */
};

struct mgb_manual;

/* Reads the command line of the program that `manual` (manual.h) describes. -1: go on with mgb_cli_run; else the exit code
 * (help was printed, or what is wrong). */
int mgb_cli_parse(struct mgb_invocation *out, const struct mgb_manual *manual, int argc,
                  char **argv);
void mgb_cli_done(struct mgb_invocation *in);

/* Runs the command in this process and returns the exit code; standard output is flushed. */
int mgb_cli_run(struct mgb_invocation *in);

/* Flushes standard output; `code`, or 1 with a message where it could not be written. */
int mgb_cli_output_end(const struct mgb_invocation *in, int code);

/* For the supervisor after the worker died: marks its run as crashed, if there is a results database. */
void mgb_cli_mark_crashed(const struct mgb_invocation *in);

/* For commands. The last value given for a flag of the command, or NULL; "" for a switch. */
const char *mgb_cli_find_flag(const struct mgb_invocation *in, const char *name);
/* "mgbench: ..." to standard error; returns `code`. */
int mgb_cli_complain(const struct mgb_invocation *in, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The exit code for a failed engine call. */
int mgb_cli_exit_code(enum mgb_status status);
/* The same where what was typed is what was refused: MGB_INVALID is wrong usage. */
int mgb_cli_refusal_code(enum mgb_status status);

extern const struct mgb_command *const mgb_commands[]; /* ended by NULL */
extern const struct mgb_flag mgb_global_flags[];       /* ended by a NULL name */

#endif
