/* What both programs do around their command line: open standard descriptors, a limit for spinning threads, the supervisor
 * and what its worker knows of it. */
#ifndef MGB_APP_PROGRAM_H
#define MGB_APP_PROGRAM_H

#include "app/cli/manual.h"

/* main: reads the words and calls `run` in a supervised worker; returns the exit code. `point` is what people are told of
 * where the program was when it died, NULL: as the worker itself called it. */
int mgb_program_run(const struct mgb_manual *manual, int (*run)(struct mgb_invocation *in),
                    const char *point, int argc, char **argv);

#endif
