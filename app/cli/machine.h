/* Machine files on the command line: read, drawn and listed. Between machines.c, devices.c and machine_*.c. */
#ifndef MGB_APP_CLI_MACHINE_H
#define MGB_APP_CLI_MACHINE_H

#include "app/cli/cli.h"
#include <mgb/machine.h>

/* Reads a machine by name or file; the caller frees it. What is wrong with the file is in `fault` (shown to people, cut at
 * `size`) and told by the status. Ctrl-C ends it. */
enum mgb_status mgb_cli_machine_read(struct mgb_machine **out, char *fault, size_t size,
                                     const struct mgb_invocation *in, const char *name);

int mgb_cli_machine_gpus(const struct mgb_machine *machine);
/* "8 x P100-SXM2-16GB", kinds joined by " + ", into `out`; returns it. */
char *mgb_cli_machine_kinds(char *out, size_t size, const struct mgb_machine *machine);

/* `mgbench devices --machine X`: a picture for people, a table otherwise; `links`: instead, the ways between devices. */
enum mgb_status mgb_cli_machine_show(const struct mgb_machine *machine, bool links,
                                     enum mgb_table_format format);
/* How devices hang together, from /cpu:0 down, and the wires beside that. */
enum mgb_status mgb_cli_machine_draw(const struct mgb_machine *machine, bool utf8);

#endif
