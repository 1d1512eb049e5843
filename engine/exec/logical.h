/* See logical.c. */
#ifndef MGB_EXEC_LOGICAL_H
#define MGB_EXEC_LOGICAL_H

#include <mgb/placement.h>
#include <mgb/topology.h>

/* Adds logical devices to a fresh topology when `asked` allows and needs them; a later change of placement finds those. */
enum mgb_status mgb_topology_share(struct mgb_topology *topology,
                                   const struct mgb_placement *asked);

#endif
