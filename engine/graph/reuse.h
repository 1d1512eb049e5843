/* Handing out again what was made before: later towers and shared sub-models. Private to
 * engine/graph. */
#ifndef MGB_GRAPH_REUSE_H
#define MGB_GRAPH_REUSE_H

#include "engine/graph/build.h"

/* Towers after the first: the operator that tower 0 made at this point, checked to be the same one.
 */
enum mgb_status mgb_tower_replay(struct mgb_graph *graph, int *out,
                                 const struct mgb_node_request *request,
                                 const struct mgb_shape *shape);
bool mgb_tower_replaying(const struct mgb_graph *graph);

/* Sharing: `*variable` is what the first use made in this place, -1 when this is the first use or
 * nothing is shared. */
enum mgb_status mgb_share_find(struct mgb_graph *graph, int *variable, const char *name,
                               const struct mgb_shape *shape);
enum mgb_status mgb_share_note(struct mgb_graph *graph, int variable, const char *name);

#endif
