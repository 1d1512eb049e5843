/* Entries of the lists of flags that programs have for every command, and looking up what is in such lists. */
#ifndef MGB_APP_CLI_FLAGS_H
#define MGB_APP_CLI_FLAGS_H

#include "app/cli/cli.h"

#define MGB_CLI_PLACE_FLAGS                                                                        \
    {"--db", "FILE", "results database (default: $MGBENCH_DB, or results.db in the data folder)",  \
     false},                                                                                       \
        {"--backend", "auto|cuda|host|sim", "what plays the plan (default: auto)", false},         \
        {"--machine", "MACHINE", "machine for the simulator: one of mgbench machines, or a file",  \
         false},                                                                                   \
        {"--lua-path", "DIR", "another folder in which require looks; may be repeated", false},    \
    {                                                                                              \
        "--no-supervisor", NULL, "one process only: for debuggers and sanitizers", false           \
    }
#define MGB_CLI_REMARK_FLAGS                                                                       \
    {                                                                                              \
        "--quiet-warnings", "NAMES",                                                               \
            "not these warnings, by the names at their ends: crowded,idle", false                  \
    }
#define MGB_CLI_HELP_FLAGS                                                                         \
    {"--version", NULL, "print the version", false},                                               \
    {                                                                                              \
        "--help", NULL, "print this help; also -h", false                                          \
    }

/* The flag of that name in a list, which may be NULL; NULL: there is none. `name` need not end after `length`. */
const struct mgb_flag *mgb_flag_find(const struct mgb_flag *flags, const char *name, size_t length);
/* A flag of the command. "--no-x" stands for an x whose value may be left out; *negated tells. */
const struct mgb_flag *mgb_flag_find_own(const struct mgb_command *command, const char *name,
                                         size_t length, bool *negated);
/* The name of a flag, of the program or of the command, that is much like `name`; NULL: none is. */
const char *mgb_flag_nearest(const struct mgb_invocation *in, const char *name);

#endif
