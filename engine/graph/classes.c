/* How many classes a label input has, found from the operators that compare it with logits, and how many rows a table has in
 * which an input is looked up. */
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

/* Numbers that an operator can tell apart in `*input`; 0: it reads no such numbers. */
static int64_t node_classes(const struct mgb_graph *graph, const struct mgb_node *node, int *input)
{
    const struct mgb_shape *shape =
        &graph->tensors[node->inputs[node->kind == MGB_OP_EMBEDDING]].shape;
    if (node->kind == MGB_OP_EMBEDDING) {
        *input = node->inputs[0];
        return shape->dim[0];
    }
    if ((node->kind != MGB_OP_SOFTMAX_XENT && node->kind != MGB_OP_ACCURACY) || shape->rank < 1)
        return 0;
    *input = node->inputs[1];
    return shape->dim[shape->rank - 1];
}

int64_t mgb_graph_input_classes(const struct mgb_graph *graph, int index)
{
    int64_t classes = 0;
    for (int i = 0; i < graph->node_count; i++) {
        int input;
        int64_t width =
            graph->nodes[i].input_count > 0 ? node_classes(graph, &graph->nodes[i], &input) : 0;
        if (width > 0 && input_of(graph, input) == index && (classes == 0 || width < classes))
            classes = width;
    }
    return classes;
}

const char *mgb_graph_input_lookup(const struct mgb_graph *graph, int index)
{
    for (int i = 0; i < graph->node_count; i++)
        if (graph->nodes[i].kind == MGB_OP_EMBEDDING &&
            input_of(graph, graph->nodes[i].inputs[0]) == index)
            return graph->nodes[i].name;
    return NULL;
}
