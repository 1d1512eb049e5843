/* Batch normalisation (Ioffe and Szegedy 2015, arXiv:1502.03167) over the last axis, as two operators: the statistics of the
 * batch, which are those of one tower or of all, whatever the placement says, and the normalisation, which takes them as
 * they come. On evaluation and where the layer is frozen the statistics are a view of the moving ones. Variances are those
 * of the values at hand (divided by their number), also in the moving variance, as Keras documents it. */
#include "engine/graph/op.h"

#include <math.h>

static enum mgb_status channels_check(const struct mgb_op_call *call, const char *role,
                                      const struct mgb_shape *shape, int64_t channels)
{
    char text[96];
    if (shape->rank == 1 && shape->dim[0] == channels)
        return MGB_OK;
    return mgb_op_fail(call, "its %s is %s, it takes %lld, one number a channel", role,
                       mgb_shape_format(text, sizeof text, shape), (long long)channels);
}

/* The last axis of the input `x`. */
static enum mgb_status input_take(struct mgb_op_call *call, int x, struct mgb_shape *shape,
                                  int64_t *channels)
{
    MGB_TRY(mgb_op_take(call, "input", x, MGB_F32, shape));
    if (shape->rank < 1)
        return mgb_op_fail(call, "its input is one number an example, it takes at least one axis");
    *channels = shape->dim[shape->rank - 1];
    return MGB_OK;
}

static enum mgb_status parameter_take(struct mgb_op_call *call, const char *role, int tensor,
                                      int64_t channels)
{
    struct mgb_shape shape;
    if (tensor < 0)
        return MGB_OK;
    MGB_TRY(mgb_op_take_variable(call, role, tensor, &shape));
    return channels_check(call, role, &shape, channels);
}

static int variable_of(const struct mgb_graph *graph, int tensor)
{
    return tensor >= MGB_TOWER_READ ? tensor - MGB_TOWER_READ
                                    : graph->nodes[graph->tensors[tensor].node].a.variable;
}

/* From now on the variable is moved by steps and by nothing else. */
static enum mgb_status state_mark(const struct mgb_op_call *call, int tensor, float momentum)
{
    struct mgb_variable *v = &call->graph->variables[variable_of(call->graph, tensor)];
    if (v->info.state && v->momentum != momentum)
        return mgb_op_fail(call, "the momentum %g, and %g where its statistics were used before",
                           (double)momentum, (double)v->momentum);
    if (!v->info.state)
        v->info.frozen = !v->info.trainable;
    v->info.state = true;
    v->info.trainable = false;
    v->momentum = momentum;
    return MGB_OK;
}

static enum mgb_status options_check(const struct mgb_op_call *call,
                                     const struct mgb_batch_norm_options *options)
{
    if (!(options->momentum >= 0 && options->momentum <= 1))
        return mgb_op_fail(call, "a momentum of %g; it is a share from 0 to 1",
                           (double)options->momentum);
    if (!(options->epsilon > 0) || isinf(options->epsilon))
        return mgb_op_fail(call, "an epsilon of %g; it keeps a variance of 0 finite, so above 0",
                           (double)options->epsilon);
    if (options->activation != MGB_LINEAR && options->activation != MGB_RELU)
        return mgb_op_fail(call, "activation %s; it applies linear or relu itself",
                           mgb_activation_name(options->activation));
    return MGB_OK;
}

/* The statistics: *mean is the node's first output, its second the variance. */
static enum mgb_status stats_make(struct mgb_graph *graph, int *mean, const char *name, int x,
                                  const struct mgb_batch_norm_options *options)
{
    struct mgb_op_call call;
    struct mgb_shape shape;
    char own[MGB_NAME_MOST + 1];
    int64_t channels = 0;
    mgb_format(own, sizeof own, "%s_stats", name);
    MGB_TRY(mgb_op_begin(&call, graph, MGB_OP_BATCH_STATS, own));
    MGB_TRY(input_take(&call, x, &shape, &channels));
    MGB_TRY(parameter_take(&call, "moving mean", options->moving_mean, channels));
    MGB_TRY(parameter_take(&call, "moving variance", options->moving_variance, channels));
    MGB_TRY(state_mark(&call, options->moving_mean, options->momentum));
    MGB_TRY(state_mark(&call, options->moving_variance, options->momentum));
    call.whole = true;
    MGB_TRY(mgb_op_end(&call, mean, &(struct mgb_shape){1, {channels}}, MGB_F32));
    const struct mgb_tensor *made = &graph->tensors[*mean];
    if (graph->nodes[made->node].outputs[1] >= 0)
        return MGB_OK; /* a later tower finds tower 0's */
    return mgb_graph_add_output(graph, made->node, 1, made);
}

enum mgb_status mgb_op_batch_norm(struct mgb_graph *graph, int *out, const char *name, int x,
                                  const struct mgb_batch_norm_options *options)
{
    struct mgb_op_call call;
    struct mgb_shape shape;
    int64_t channels = 0;
    int mean;
    MGB_TRY(mgb_op_begin(&call, graph, MGB_OP_BATCH_NORM, name));
    MGB_TRY(options_check(&call, options));
    MGB_TRY(input_take(&call, x, &shape, &channels));
    MGB_TRY(stats_make(graph, &mean, name, x, options));
    call.inputs[call.input_count++] = mean;
    call.inputs[call.input_count++] = graph->nodes[graph->tensors[mean].node].outputs[1];
    MGB_TRY(parameter_take(&call, "gamma", options->gamma, channels));
    MGB_TRY(parameter_take(&call, "beta", options->beta, channels));
    call.a.norm.epsilon = options->epsilon;
    call.a.norm.activation = options->activation;
    call.a.norm.scale = options->gamma >= 0;
    call.a.norm.center = options->beta >= 0;
    return mgb_op_end(&call, out, &shape, MGB_F32);
}

/* Two operators: the sums over the batch, which are the gradients of gamma and beta, and dx, which needs them. It has a
 * second pair of its own: where towers exchange sums, those of all of them, while the gradients stay the tower's. */
static enum mgb_status batch_norm_differentiate(struct mgb_gradient *gradient, struct mgb_node node,
                                                int dy)
{
    int x = node.inputs[0], mean = node.inputs[1], variance = node.inputs[2], next = 3;
    int gamma = node.a.norm.scale ? node.inputs[next++] : -1;
    int beta = node.a.norm.center ? node.inputs[next++] : -1, made[MGB_MAX_OUTPUTS];
    struct mgb_gradient_request sums = {.kind = MGB_OP_BATCH_NORM_SUMS,
                                        .of = node.name,
                                        .suffix = "grad_sums",
                                        .a = node.a,
                                        .inputs = {dy, x, mean, variance},
                                        .input_count = 4,
                                        .like = {mean, mean, mean, mean},
                                        .like_count = mgb_gradient_needs(gradient, x) ? 4 : 2};
    for (int i = 3; i < node.input_count; i++)
        sums.inputs[sums.input_count++] = node.inputs[i];
    bool wanted = gamma >= 0 && mgb_gradient_needs(gradient, gamma);
    wanted = wanted || (beta >= 0 && mgb_gradient_needs(gradient, beta));
    if (!wanted && !mgb_gradient_needs(gradient, x))
        return MGB_OK;
    MGB_TRY(mgb_gradient_node(gradient, made, &sums));
    if (gamma >= 0)
        MGB_TRY(mgb_gradient_add(gradient, gamma, made[0]));
    if (beta >= 0)
        MGB_TRY(mgb_gradient_add(gradient, beta, made[1]));
    struct mgb_gradient_request dx = {.kind = MGB_OP_BATCH_NORM_GRAD,
                                      .of = node.name,
                                      .suffix = "grad_x",
                                      .a = node.a,
                                      .inputs = {dy, x, mean, variance, made[2], made[3]},
                                      .input_count = 6,
                                      .like = {x},
                                      .like_count = 1};
    for (int i = 3; i < node.input_count; i++)
        dx.inputs[dx.input_count++] = node.inputs[i];
    return mgb_gradient_simple(gradient, &dx, x);
}

static bool moves(const struct mgb_node *node, int moving_mean)
{
    return node->kind == MGB_OP_BATCH_STATS && node->inputs[1] == moving_mean;
}

/* The shares of one layer's two states, from all its uses. */
static enum mgb_status layer_move(struct mgb_gradient *gradient, struct mgb_node first)
{
    struct mgb_graph *graph = mgb_gradient_graph(gradient);
    struct mgb_gradient_request request = {.kind = MGB_OP_BATCH_MOVING,
                                           .of = first.name,
                                           .suffix = "moving",
                                           .like = {first.outputs[0], first.outputs[1]},
                                           .like_count = 2};
    int made[MGB_MAX_OUTPUTS], nodes = graph->node_count;
    for (int i = 0; i < nodes; i++) {
        const struct mgb_node *node = &graph->nodes[i];
        if (!moves(node, first.inputs[1]))
            continue;
        if (request.input_count + 2 > MGB_MAX_INPUTS)
            return mgb_fail(
                MGB_UNSUPPORTED,
                "batch_norm '%s' is used more than %d times in model '%s', more than its "
                "moving statistics can follow; give the uses layers of their own",
                first.name, MGB_MAX_INPUTS / 2, graph->name);
        request.inputs[request.input_count++] = node->outputs[0];
        request.inputs[request.input_count++] = node->outputs[1];
    }
    MGB_TRY(mgb_gradient_node(gradient, made, &request));
    graph->variables[variable_of(graph, first.inputs[1])].gradient = made[0];
    graph->variables[variable_of(graph, first.inputs[2])].gradient = made[1];
    return MGB_OK;
}

enum mgb_status mgb_batch_norm_move(struct mgb_gradient *gradient)
{
    struct mgb_graph *graph = mgb_gradient_graph(gradient);
    int nodes = graph->node_count;
    for (int i = 0; i < nodes; i++) {
        struct mgb_node node = graph->nodes[i];
        if (node.kind == MGB_OP_BATCH_STATS &&
            graph->variables[variable_of(graph, node.inputs[1])].gradient < 0)
            MGB_TRY(layer_move(gradient, node));
    }
    return MGB_OK;
}

/* The tensor of the mean that a node normalises with; -1: it is no part of a batch norm. */
static int mean_of(const struct mgb_node *node)
{
    if (node->kind == MGB_OP_BATCH_STATS)
        return node->outputs[0];
    if (node->kind == MGB_OP_BATCH_NORM)
        return node->inputs[1];
    bool back = node->kind == MGB_OP_BATCH_NORM_SUMS || node->kind == MGB_OP_BATCH_NORM_GRAD;
    return back ? node->inputs[2] : -1;
}

bool mgb_node_trains(const struct mgb_graph *graph, int node, bool training)
{
    int mean = mean_of(&graph->nodes[node]);
    if (!training || mean < 0)
        return training;
    const struct mgb_node *stats = &graph->nodes[graph->tensors[mean].node];
    return !graph->variables[variable_of(graph, stats->inputs[1])].info.frozen;
}

const char *mgb_graph_find_batch_norm(const struct mgb_graph *graph)
{
    for (int n = 0; n < graph->node_count; n++) {
        const struct mgb_node *node = &graph->nodes[n];
        if (node->kind == MGB_OP_BATCH_NORM && graph->tensors[node->inputs[0]].shape.rank == 1 &&
            mgb_node_trains(graph, n, true))
            return node->name;
    }
    return NULL;
}

static double elements(const struct mgb_graph *graph, const struct mgb_node *node, int input)
{
    return (double)mgb_shape_count(&graph->tensors[node->inputs[input]].shape);
}

/* Scale and shift: a multiply-add an element, as in published figures. */
static double batch_norm_flops(const struct mgb_graph *graph, const struct mgb_node *node)
{
    return 2 * elements(graph, node, 0);
}

/* A difference, its sum and the sum of its squares. */
static double batch_stats_flops(const struct mgb_graph *graph, const struct mgb_node *node)
{
    return 4 * elements(graph, node, 0);
}

static double batch_norm_grad_flops(const struct mgb_graph *graph, const struct mgb_node *node)
{
    return 4 * elements(graph, node, 0);
}

static void batch_norm_text(struct mgb_text *text, const struct mgb_node *node)
{
    mgb_text_add(text, " epsilon=%.9g %s%s%s", (double)node->a.norm.epsilon,
                 mgb_activation_name(node->a.norm.activation), node->a.norm.scale ? " scale" : "",
                 node->a.norm.center ? " center" : "");
}

const struct mgb_op_rules mgb_op_rules_BATCH_STATS = {.flops = batch_stats_flops,
                                                      .alias_untrained = 1 + 1};
const struct mgb_op_rules mgb_op_rules_BATCH_NORM = {.differentiate = batch_norm_differentiate,
                                                     .flops = batch_norm_flops,
                                                     .text = batch_norm_text,
                                                     .in_place = 1 + 0};
const struct mgb_op_rules mgb_op_rules_BATCH_NORM_SUMS = {.flops = batch_norm_grad_flops,
                                                          .text = batch_norm_text};
const struct mgb_op_rules mgb_op_rules_BATCH_NORM_GRAD = {
    .flops = batch_norm_grad_flops, .text = batch_norm_text, .in_place = 1 + 0};
const struct mgb_op_rules mgb_op_rules_BATCH_MOVING = {0};
