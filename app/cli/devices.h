/* Between devices.c and devices_links.c. */
#ifndef MGB_APP_CLI_DEVICES_H
#define MGB_APP_CLI_DEVICES_H

#include "app/script/table.h"
#include <mgb/topology.h>

/* Tries the ways between the GPUs and prints what they showed. MGB_MISSING where there are none. */
enum mgb_status mgb_cli_devices_links(struct mgb_topology *topology, const char *backend,
                                      enum mgb_table_format format);

#endif
