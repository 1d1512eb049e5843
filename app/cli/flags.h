/* Entries of the lists of flags that programs have for every command. */
#ifndef MGB_APP_CLI_FLAGS_H
#define MGB_APP_CLI_FLAGS_H

#include "app/cli/cli.h"

#define MGB_CLI_PLACE_FLAGS                                                                        \
    {"--db", "FILE", "results database (default: $MGBENCH_DB, or results.db in the data folder)",  \
     false},                                                                                       \
        {"--backend", "auto|cuda|host|sim", "what plays the plan (default: auto) [later: sim]",    \
         false},                                                                                   \
        {"--machine", "NAME", "machine file for the simulator [later]", false},                    \
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

#endif
