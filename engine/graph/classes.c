/* How many classes a label input has, found from the operators that compare it with logits. */
#include "engine/graph/graph.h"

/* The input behind a tensor, through operators that only change its shape; -1: computed from
 * something else. */
static int input_of(const struct mgb_graph *graph, int tensor)
{
    for (;;) {
        const struct mgb_node *node = &graph->nodes[graph->tensors[tensor].node];
        if (node->kind == MGB_OP_INPUT)
            return node->a.input;
        if (node->kind != MGB_OP_RESHAPE)
            return -1;
        tensor = node->inputs[0];
    }
}

int64_t mgb_graph_input_classes(const struct mgb_graph *graph, int index)
{
    int64_t classes = 0;
    for (int i = 0; i < graph->node_count; i++) {
        const struct mgb_node *node = &graph->nodes[i];
        if (node->kind != MGB_OP_SOFTMAX_XENT && node->kind != MGB_OP_ACCURACY)
            continue;
        const struct mgb_shape *logits = &graph->tensors[node->inputs[0]].shape;
        if (logits->rank < 1 || input_of(graph, node->inputs[1]) != index)
            continue;
        int64_t width = logits->dim[logits->rank - 1];
        if (classes == 0 || width < classes)
            classes = width;
    }
    return classes;
}
