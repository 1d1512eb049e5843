/* Running a script for a command: -e as it is, others with more before and after. */
#ifndef MGB_APP_CLI_SCRIPT_H
#define MGB_APP_CLI_SCRIPT_H

#include "app/cli/hub.h"

struct mgb_cli_script_use {
    const char *then; /* a text of the program, called with what the script gave back; NULL: none */
    /* Changes the services before the script sees them; NULL: as they are. */
    void (*prepare)(void *context, struct mgb_cli_hub *hub);
    /* The exit code after the script ended with `code` (its failure has been told); NULL: that one. */
    int (*finish)(void *context, const struct mgb_invocation *in, int code);
    void *context;
    bool tells_interruption; /* finish does */
};

/* Runs the script that the first word of `in` names; flags that the command does not have itself are the script's. Returns
 * the exit code. */
int mgb_cli_script_run(struct mgb_invocation *in, const struct mgb_cli_script_use *use);

#endif
