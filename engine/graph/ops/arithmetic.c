/* Element by element with two operands: sum, difference, product and quotient. Counted from the last axis of an example,
 * two axes are equal or one of them is 1 or missing; that operand is repeated, and its gradient is the sum over the
 * repetitions. A variable is repeated for every example, too. */
#include "engine/graph/ops/arithmetic.h"

#include <string.h>

bool mgb_tensor_is_variable(const struct mgb_graph *graph, int tensor)
{
    struct mgb_tensor scratch;
    const struct mgb_tensor *found = mgb_graph_find_tensor(graph, tensor, &scratch);
    if (!found || found->batched)
        return false;
    return tensor >= graph->tensor_count || graph->nodes[found->node].kind == MGB_OP_READ;
}

static enum mgb_status operand_take(struct mgb_op_call *call, const char *role, int tensor,
                                    struct mgb_shape *shape)
{
    if (mgb_tensor_is_variable(call->graph, tensor))
        return mgb_op_take_variable(call, role, tensor, shape);
    return mgb_op_take(call, role, tensor, MGB_F32, shape);
}

static enum mgb_status shapes_fit(const struct mgb_op_call *call, struct mgb_shape *out,
                                  const struct mgb_shape *a, const struct mgb_shape *b)
{
    char one[96], two[96];
    out->rank = a->rank > b->rank ? a->rank : b->rank;
    for (int back = 1; back <= out->rank; back++) {
        int64_t p = back <= a->rank ? a->dim[a->rank - back] : 1,
                q = back <= b->rank ? b->dim[b->rank - back] : 1;
        if (p != q && p != 1 && q != 1)
            return mgb_op_fail(call,
                               "%s and %s have different shapes that do not fit each other: "
                               "counted from the last axis, two are equal or one is 1",
                               mgb_shape_format(one, sizeof one, a),
                               mgb_shape_format(two, sizeof two, b));
        out->dim[out->rank - back] = p == 1 ? q : p;
    }
    return MGB_OK;
}

enum mgb_status mgb_arithmetic_make(struct mgb_graph *graph, int *out, enum mgb_op_kind kind,
                                    enum mgb_op_kind word, const char *name, int a, int b)
{
    struct mgb_op_call call;
    struct mgb_shape one, two, shape = {0};
    MGB_TRY(mgb_op_begin(&call, graph, word, name));
    if (mgb_tensor_is_variable(graph, a) && mgb_tensor_is_variable(graph, b))
        return mgb_op_fail(&call, "both operands are variables; one must have a value for each "
                                  "example");
    MGB_TRY(operand_take(&call, "first input", a, &one));
    MGB_TRY(operand_take(&call, "second input", b, &two));
    MGB_TRY(shapes_fit(&call, &shape, &one, &two));
    call.kind = kind;
    return mgb_op_end(&call, out, &shape, MGB_F32);
}

enum mgb_status mgb_op_sub(struct mgb_graph *graph, int *out, const char *name, int a, int b)
{
    return mgb_arithmetic_make(graph, out, MGB_OP_SUB, MGB_OP_SUB, name, a, b);
}

enum mgb_status mgb_op_mul(struct mgb_graph *graph, int *out, const char *name, int a, int b)
{
    return mgb_arithmetic_make(graph, out, MGB_OP_MUL, MGB_OP_MUL, name, a, b);
}

enum mgb_status mgb_op_div(struct mgb_graph *graph, int *out, const char *name, int a, int b)
{
    return mgb_arithmetic_make(graph, out, MGB_OP_DIV, MGB_OP_DIV, name, a, b);
}

/* A gradient operator of `node` whose output has the shape of `like`. */
struct step {
    enum mgb_op_kind kind;
    const char *suffix;
    int inputs[2], input_count, like;
    float factor; /* of AFFINE */
};

static enum mgb_status step_add(struct mgb_gradient *gradient, int *out,
                                const struct mgb_node *node, const struct step *step)
{
    int outputs[MGB_MAX_OUTPUTS];
    struct mgb_gradient_request request = {.kind = step->kind,
                                           .of = node->name,
                                           .suffix = step->suffix,
                                           .inputs = {step->inputs[0], step->inputs[1]},
                                           .input_count = step->input_count,
                                           .like = {step->like},
                                           .like_count = 1};
    memset(&request.a, 0, sizeof request.a);
    request.a.affine.factor = step->factor;
    MGB_TRY(mgb_gradient_node(gradient, outputs, &request));
    *out = outputs[0];
    return MGB_OK;
}

/* Hands in the gradient of one operand, given as one of the whole result. */
static enum mgb_status operand_add(struct mgb_gradient *gradient, const struct mgb_node *node,
                                   int operand, int whole)
{
    const struct mgb_graph *graph = mgb_gradient_graph(gradient);
    int tensor = node->inputs[operand];
    const struct mgb_tensor *to = &graph->tensors[tensor], *from = &graph->tensors[whole];
    if (!to->batched || !mgb_shape_equal(&to->shape, &from->shape)) {
        struct step step = {.kind = MGB_OP_SUM_TO,
                            .suffix = operand == 0 ? "grad_a_sum" : "grad_b_sum",
                            .inputs = {whole},
                            .input_count = 1,
                            .like = tensor};
        MGB_TRY(step_add(gradient, &whole, node, &step));
    }
    return mgb_gradient_add(gradient, tensor, whole);
}

static enum mgb_status negative_add(struct mgb_gradient *gradient, const struct mgb_node *node,
                                    int operand, int whole)
{
    struct step step = {.kind = MGB_OP_AFFINE,
                        .suffix = "grad_b",
                        .inputs = {whole},
                        .input_count = 1,
                        .like = node->outputs[0],
                        .factor = -1};
    MGB_TRY(step_add(gradient, &whole, node, &step));
    return operand_add(gradient, node, operand, whole);
}

static enum mgb_status sum_differentiate(struct mgb_gradient *gradient, struct mgb_node node,
                                         int dy)
{
    bool minus = node.kind == MGB_OP_SUB;
    if (mgb_gradient_needs(gradient, node.inputs[0]))
        MGB_TRY(operand_add(gradient, &node, 0, dy));
    if (!mgb_gradient_needs(gradient, node.inputs[1]))
        return MGB_OK;
    return minus ? negative_add(gradient, &node, 1, dy) : operand_add(gradient, &node, 1, dy);
}

static enum mgb_status mul_differentiate(struct mgb_gradient *gradient, struct mgb_node node,
                                         int dy)
{
    for (int i = 0; i < 2; i++) {
        int whole;
        struct step step = {.kind = MGB_OP_MUL,
                            .suffix = i == 0 ? "grad_a" : "grad_b",
                            .inputs = {dy, node.inputs[1 - i]},
                            .input_count = 2,
                            .like = node.outputs[0]};
        if (!mgb_gradient_needs(gradient, node.inputs[i]))
            continue;
        MGB_TRY(step_add(gradient, &whole, &node, &step));
        MGB_TRY(operand_add(gradient, &node, i, whole));
    }
    return MGB_OK;
}

/* da = dy / b, db = -dy y / b. */
static enum mgb_status div_differentiate(struct mgb_gradient *gradient, struct mgb_node node,
                                         int dy)
{
    int y = node.outputs[0], b = node.inputs[1], whole;
    struct step over = {MGB_OP_DIV, "grad_a", {dy, b}, 2, y, 0};
    struct step times = {MGB_OP_MUL, "grad_b_times", {dy, y}, 2, y, 0};
    if (mgb_gradient_needs(gradient, node.inputs[0])) {
        MGB_TRY(step_add(gradient, &whole, &node, &over));
        MGB_TRY(operand_add(gradient, &node, 0, whole));
    }
    if (!mgb_gradient_needs(gradient, b))
        return MGB_OK;
    MGB_TRY(step_add(gradient, &whole, &node, &times));
    over.suffix = "grad_b_over";
    over.inputs[0] = whole;
    MGB_TRY(step_add(gradient, &whole, &node, &over));
    return negative_add(gradient, &node, 1, whole);
}

static double arithmetic_flops(const struct mgb_graph *graph, const struct mgb_node *node)
{
    return (double)mgb_shape_count(&graph->tensors[node->outputs[0]].shape);
}

static double sum_to_flops(const struct mgb_graph *graph, const struct mgb_node *node)
{
    return (double)mgb_shape_count(&graph->tensors[node->inputs[0]].shape);
}

const struct mgb_op_rules mgb_op_rules_ADD_WIDE = {
    .differentiate = sum_differentiate, .flops = arithmetic_flops, .in_place = 1 + 0};
const struct mgb_op_rules mgb_op_rules_SUB = {
    .differentiate = sum_differentiate, .flops = arithmetic_flops, .in_place = 1 + 0};
const struct mgb_op_rules mgb_op_rules_MUL = {
    .differentiate = mul_differentiate, .flops = arithmetic_flops, .in_place = 1 + 0};
const struct mgb_op_rules mgb_op_rules_DIV = {
    .differentiate = div_differentiate, .flops = arithmetic_flops, .in_place = 1 + 0};
const struct mgb_op_rules mgb_op_rules_SUM_TO = {.flops = sum_to_flops};
