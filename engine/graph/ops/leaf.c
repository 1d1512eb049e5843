/* The leaves of a graph: inputs, which arrive with the batch, and reads of variables. */
#include "engine/graph/op.h"

const struct mgb_op_rules mgb_op_rules_INPUT = {0};
const struct mgb_op_rules mgb_op_rules_READ = {0};
