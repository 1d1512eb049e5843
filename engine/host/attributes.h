/* What of a node's attributes a kernel depends on. */
#ifndef MGB_HOST_ATTRIBUTES_H
#define MGB_HOST_ATTRIBUTES_H

#include "engine/graph/graph.h"

/* Field by field into a zeroed union: bytes between fields stay zero, so that equal ones have equal bytes. */
void mgb_host_attributes_copy(union mgb_attributes *to, const struct mgb_node *node);
/* Is it said of this kind what its kernel depends on? Where not, it must not be made: two would pass for one. */
bool mgb_host_attributes_known(enum mgb_op_kind kind);
void mgb_host_shape_copy(struct mgb_shape *to, const struct mgb_shape *from);

#endif
