/* Facts of an imagined device: everything in plain layout, no workspace. */
#include "engine/graph/facts.h"

#include "engine/graph/op.h"

static enum mgb_status plain_describe(void *context, int device, const struct mgb_node_use *use,
                                      struct mgb_operator_facts *out)
{
    const struct mgb_node *node = &use->graph->nodes[use->node];
    const struct mgb_op_rules *rules = mgb_op_rules_get(node->kind);
    (void)context;
    (void)device;
    *out = (struct mgb_operator_facts){.alias = rules->alias - 1, .in_place = rules->in_place - 1};
    for (int i = 0; i < MGB_MAX_OUTPUTS; i++)
        if (node->outputs[i] >= 0)
            out->out_bytes[i] = mgb_tensor_bytes(use->graph, node->outputs[i], use->rows);
    if (!use->training && rules->alias_untrained > 0)
        out->alias = rules->alias_untrained - 1;
    return MGB_OK;
}

struct mgb_fact_source mgb_plain_facts(void)
{
    return (struct mgb_fact_source){.describe = plain_describe};
}
