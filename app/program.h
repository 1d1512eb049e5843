/* What both programs do around their command line: open standard descriptors, a limit for spinning threads, the supervisor
 * and what its worker knows of it. */
#ifndef MGB_APP_PROGRAM_H
#define MGB_APP_PROGRAM_H

#include "app/cli/manual.h"

/* main: reads the words and calls `run` in a supervised worker; returns the exit code. */
int mgb_program_run(const struct mgb_manual *manual, int (*run)(struct mgb_invocation *in),
                    int argc, char **argv);

#endif
