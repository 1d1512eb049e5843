/* Between devices.c and devices_links.c. */
#ifndef MGB_APP_CLI_DEVICES_H
#define MGB_APP_CLI_DEVICES_H

#include "app/script/table.h"
#include <mgb/topology.h>

/* Adds a cell of bytes, in words for people; 0, which is not limited, is an empty one. */
void mgb_cli_memory_add(struct mgb_table *table, int64_t bytes, enum mgb_table_format format);
/* Adds a cell of a number; 0, which is not known, is an empty one. */
void mgb_cli_figure_add(struct mgb_table *table, double value);

/* Tries the ways between the GPUs and prints what they showed. MGB_MISSING where there are none. */
enum mgb_status mgb_cli_devices_links(struct mgb_topology *topology, const char *backend,
                                      enum mgb_table_format format);

#endif
