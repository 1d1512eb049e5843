/* The number of rows whose largest score is that of the label (of several positions: their mean). A
 * metric only. */
#include "engine/graph/ops/classes.h"

enum mgb_status mgb_op_accuracy(struct mgb_graph *graph, int *out, const char *name, int logits,
                                int label)
{
    return mgb_classes_make(graph, out, MGB_OP_ACCURACY, name, logits, label);
}

static double accuracy_flops(const struct mgb_graph *graph, const struct mgb_node *node)
{
    return (double)mgb_shape_count(&graph->tensors[node->inputs[0]].shape);
}

const struct mgb_op_rules mgb_op_rules_ACCURACY = {.head = true, .flops = accuracy_flops};
