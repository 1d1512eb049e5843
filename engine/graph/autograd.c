/* Reverse-mode differentiation. Losses first, then the forward operators from last to first, so
 * that the gradients of late layers are ready first and can travel while the rest is computed. Only
 * what leads to a trainable variable is computed: the gradient of the first convolution's input
 * never is. */
#include "engine/graph/op.h"

#include <string.h>

struct mgb_gradient {
    struct mgb_graph *graph;
    enum mgb_section section;
    bool *needs;  /* by tensor of the forward part */
    int *pending; /* the sum so far of the gradients handed in; -1: none */
    int *sums;    /* additions made for it */
};

struct mgb_graph *mgb_gradient_graph(struct mgb_gradient *gradient)
{
    return gradient->graph;
}

bool mgb_gradient_needs(const struct mgb_gradient *gradient, int tensor)
{
    return gradient->needs[tensor];
}

static enum mgb_status outputs_add(struct mgb_gradient *gradient, int node,
                                   const struct mgb_gradient_request *request)
{
    for (int slot = 0; slot < request->like_count; slot++)
        if (request->like[slot] >= 0)
            MGB_TRY(mgb_graph_add_output(gradient->graph, node, slot,
                                         &gradient->graph->tensors[request->like[slot]]));
    return MGB_OK;
}

enum mgb_status mgb_gradient_node(struct mgb_gradient *gradient, int outputs[MGB_MAX_OUTPUTS],
                                  const struct mgb_gradient_request *request)
{
    char name[512];
    int node;
    mgb_format(name, sizeof name, "%s.%s", request->of, request->suffix);
    struct mgb_node_request made = {.kind = request->kind,
                                    .section = gradient->section,
                                    .full = mgb_pool_copy(&gradient->graph->builder->pool, name),
                                    .a = request->a,
                                    .inputs = request->inputs,
                                    .input_count = request->input_count};
    if (!made.full)
        return mgb_graph_no_memory(gradient->graph);
    MGB_TRY(mgb_graph_add_node(gradient->graph, &node, &made));
    MGB_TRY(outputs_add(gradient, node, request));
    for (int slot = 0; slot < MGB_MAX_OUTPUTS; slot++)
        outputs[slot] = gradient->graph->nodes[node].outputs[slot];
    return MGB_OK;
}

/* What the gradients of a tensor are named after. */
static const char *tensor_owner(const struct mgb_graph *graph, int tensor)
{
    const struct mgb_node *node = &graph->nodes[graph->tensors[tensor].node];
    return node->kind == MGB_OP_READ ? graph->variables[node->a.variable].info.name : node->name;
}

enum mgb_status mgb_gradient_add(struct mgb_gradient *gradient, int tensor, int dx)
{
    char suffix[32] = "grad_sum";
    int outputs[MGB_MAX_OUTPUTS];
    if (!gradient->needs[tensor] || dx < 0)
        return MGB_OK;
    if (gradient->pending[tensor] < 0) {
        gradient->pending[tensor] = dx;
        return MGB_OK;
    }
    if (++gradient->sums[tensor] > 1)
        mgb_format(suffix, sizeof suffix, "grad_sum_%d", gradient->sums[tensor]);
    const struct mgb_gradient_request request = {.kind = MGB_OP_ADD,
                                                 .of = tensor_owner(gradient->graph, tensor),
                                                 .suffix = suffix,
                                                 .inputs = {gradient->pending[tensor], dx},
                                                 .input_count = 2,
                                                 .like = {dx},
                                                 .like_count = 1};
    MGB_TRY(mgb_gradient_node(gradient, outputs, &request));
    gradient->pending[tensor] = outputs[0];
    return MGB_OK;
}

enum mgb_status mgb_gradient_simple(struct mgb_gradient *gradient,
                                    const struct mgb_gradient_request *request, int tensor)
{
    int outputs[MGB_MAX_OUTPUTS];
    if (!gradient->needs[tensor])
        return MGB_OK;
    MGB_TRY(mgb_gradient_node(gradient, outputs, request));
    return mgb_gradient_add(gradient, tensor, outputs[0]);
}

enum mgb_status mgb_gradient_of_dy(struct mgb_gradient *gradient, const struct mgb_node *node,
                                   enum mgb_op_kind kind, const union mgb_attributes *a, int dy)
{
    struct mgb_gradient_request request = {.kind = kind,
                                           .of = node->name,
                                           .suffix = "grad",
                                           .inputs = {dy},
                                           .input_count = 1,
                                           .like = {node->inputs[0]},
                                           .like_count = 1};
    if (a)
        request.a = *a;
    return mgb_gradient_simple(gradient, &request, node->inputs[0]);
}

enum mgb_status mgb_gradient_through_activation(struct mgb_gradient *gradient, int *dz,
                                                const struct mgb_node *node,
                                                enum mgb_activation activation, int dy)
{
    int outputs[MGB_MAX_OUTPUTS];
    *dz = dy;
    if (activation == MGB_LINEAR)
        return MGB_OK;
    const struct mgb_gradient_request request = {.kind = MGB_OP_ACTIVATION_GRAD,
                                                 .of = node->name,
                                                 .suffix = "grad_activation",
                                                 .a.activation.activation = activation,
                                                 .inputs = {node->outputs[0], dy},
                                                 .input_count = 2,
                                                 .like = {dy},
                                                 .like_count = 1};
    MGB_TRY(mgb_gradient_node(gradient, outputs, &request));
    *dz = outputs[0];
    return MGB_OK;
}

/* A tensor needs a gradient when a trainable variable leads to it. */
static void needs_find(struct mgb_gradient *gradient)
{
    const struct mgb_graph *graph = gradient->graph;
    for (int i = 0; i < graph->node_count; i++) {
        const struct mgb_node *node = &graph->nodes[i];
        bool needs = node->kind == MGB_OP_READ && graph->variables[node->a.variable].info.trainable;
        for (int k = 0; k < node->input_count; k++)
            needs = needs || gradient->needs[node->inputs[k]];
        gradient->needs[node->outputs[0]] = needs;
    }
}

static enum mgb_status losses_differentiate(struct mgb_gradient *gradient)
{
    struct mgb_graph *graph = gradient->graph;
    gradient->section = MGB_SECTION_HEAD;
    for (int i = 0; i < graph->loss_count; i++) {
        struct mgb_node node = graph->nodes[graph->tensors[graph->losses[i].tensor].node];
        if (gradient->needs[node.outputs[0]])
            MGB_TRY(mgb_op_rules_get(node.kind)->differentiate(gradient, node, -1));
    }
    return MGB_OK;
}

static enum mgb_status forward_differentiate(struct mgb_gradient *gradient)
{
    struct mgb_graph *graph = gradient->graph;
    int count = graph->node_count;
    for (int i = count - 1; i >= 0; i--) {
        struct mgb_node node = graph->nodes[i];
        if (node.section != MGB_SECTION_FORWARD)
            continue;
        int dy = gradient->pending[node.outputs[0]];
        if (dy < 0)
            continue;
        if (node.kind == MGB_OP_READ)
            graph->variables[node.a.variable].gradient = dy;
        else
            MGB_TRY(mgb_op_rules_get(node.kind)->differentiate(gradient, node, dy));
    }
    return MGB_OK;
}

static void twin_follow(struct mgb_variable *twin, const struct mgb_variable *original)
{
    twin->gradient = original->gradient;
    twin->packed = original->packed;
    twin->unpacked = original->unpacked;
}

static enum mgb_status differentiate(struct mgb_gradient *gradient)
{
    struct mgb_graph *graph = gradient->graph;
    needs_find(gradient);
    MGB_TRY(losses_differentiate(gradient));
    gradient->section = MGB_SECTION_BACKWARD;
    MGB_TRY(mgb_batch_norm_move(gradient));
    MGB_TRY(forward_differentiate(gradient));
    MGB_TRY(mgb_embedding_pack(gradient));
    for (int i = 0; i < graph->variable_count; i++)
        if (graph->variables[i].info.twin >= 0)
            twin_follow(&graph->variables[i], &graph->variables[graph->variables[i].info.twin]);
    return MGB_OK;
}

enum mgb_status mgb_graph_differentiate(struct mgb_graph *graph)
{
    size_t count = (size_t)graph->tensor_count;
    struct mgb_gradient gradient = {.graph = graph,
                                    .needs = mgb_alloc(count * sizeof(bool)),
                                    .pending = mgb_alloc(count * sizeof(int)),
                                    .sums = mgb_alloc(count * sizeof(int))};
    enum mgb_status status = MGB_NO_MEMORY;
    if (gradient.needs && gradient.pending && gradient.sums) {
        for (size_t i = 0; i < count; i++)
            gradient.pending[i] = -1;
        status = differentiate(&gradient);
    } else {
        mgb_graph_no_memory(graph);
    }
    mgb_release(gradient.needs);
    mgb_release(gradient.pending);
    mgb_release(gradient.sums);
    return status;
}
