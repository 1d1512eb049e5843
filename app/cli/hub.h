/* What every command that runs something opens first: the hub of sessions, its database, progress and interrupts. */
#ifndef MGB_APP_CLI_HUB_H
#define MGB_APP_CLI_HUB_H

#include "app/cli/cli.h"
#include "app/script/services.h"
#include "app/session/hub.h"

struct mgb_cli_hub {
    const struct mgb_invocation *in;
    struct mgb_hub *hub;
    struct script_services services; /* of the hub */
    char *database, *command;        /* owned */
    char digest[24];                 /* of the script; "" without one */
};

/* Of the options of a hub what follows from the command line alone: database (its default, whose folders are made unless
 * `looks_only`), version, commit, command, time of the start, limit of a step, remarks. Both texts are to be freed after the
 * hub is closed. */
enum mgb_status mgb_cli_hub_options(struct mgb_hub_options *out, const struct mgb_invocation *in,
                                    bool looks_only, char **database, char **command);

/* `script` (a path or a text, `is_file` says which) is NULL for commands without one. The database is --db, else MGBENCH_DB,
 * else $XDG_DATA_HOME/mgbench/results.db. `out` must stay where it is until mgb_cli_hub_close. */
enum mgb_status mgb_cli_hub_open(struct mgb_cli_hub *out, const struct mgb_invocation *in,
                                 const char *script, bool is_file);
/* Stores what is left. Returns `code`, or 1 with a message when something was not recorded and `code` is 0. */
int mgb_cli_hub_close(struct mgb_cli_hub *hub, int code);

/* Tells which command repeats this, and what its script was, unless that is not wanted. */
void mgb_cli_hub_repeat(const struct mgb_cli_hub *hub, FILE *out);

/* Runs that are still open end with this message; the context is the struct mgb_cli_hub. */
void mgb_cli_hub_fail(void *hub, const char *message);

/* For mgb_interrupt_target: the context is the struct mgb_cli_hub. */
void mgb_cli_hub_interrupt(void *hub);

/* The words that repeat this invocation, quoted for a shell; to be freed, NULL when memory is out. */
char *mgb_cli_command_text(const struct mgb_invocation *in);

/* The results database of an invocation, to be freed; NULL when there is no place for one or memory is out. */
char *mgb_cli_database(const struct mgb_invocation *in);
enum mgb_status mgb_cli_no_database(void); /* what to tell then */

#endif
