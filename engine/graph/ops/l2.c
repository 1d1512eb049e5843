/* strength * (sum of the squares of variables) as a loss.
 *
 * Why it is made of two operators: the squares belong to a tower, which has the variables, and the loss to the head, which
 * sees what has rows only. So every row of the batch gets the same value ("squares"), and the loss is the mean of it over
 * the rows ("total"). Rows are cut, joined and weighted as for every other loss: the towers' shares add up to the whole
 * once, under any strategy and any split, and the gradients of the variables are summed as all gradients are. */
#include "engine/graph/op.h"

#include <math.h>

static enum mgb_status squares_make(struct mgb_graph *graph, int *out, const char *name,
                                    const int *variables, int count, float strength)
{
    struct mgb_op_call call;
    struct mgb_shape shape;
    MGB_TRY(mgb_op_begin(&call, graph, MGB_OP_SQUARES, name));
    if (!isfinite(strength) || strength < 0)
        return mgb_op_fail(&call, "a weight of %g; give a finite number from 0 up",
                           (double)strength);
    for (int i = 0; i < count; i++)
        MGB_TRY(mgb_op_take_variable(&call, "operand", variables[i], &shape));
    call.a.squares.strength = strength;
    return mgb_op_end(&call, out, &(struct mgb_shape){0}, MGB_F32);
}

static enum mgb_status total_make(struct mgb_graph *graph, int *out, const char *name, int x)
{
    struct mgb_op_call call;
    struct mgb_shape shape;
    MGB_TRY(mgb_op_begin(&call, graph, MGB_OP_TOTAL, name));
    MGB_TRY(mgb_op_take(&call, "input", x, MGB_F32, &shape));
    return mgb_op_end(&call, out, &(struct mgb_shape){0}, MGB_F32);
}

enum mgb_status mgb_op_l2(struct mgb_graph *graph, int *out, const char *name, const int *variables,
                          int count, float strength)
{
    char loss[160];
    int sum = -1;
    if (count < 1)
        return mgb_fail(MGB_INVALID, "l2 '%s' of no variable; give at least one", name);
    for (int at = 0; at < count; at += MGB_MAX_INPUTS) {
        int now = count - at < MGB_MAX_INPUTS ? count - at : MGB_MAX_INPUTS, part;
        MGB_TRY(squares_make(graph, &part, name, variables + at, now, strength));
        if (sum >= 0)
            MGB_TRY(mgb_op_add(graph, &part, name, sum, part));
        sum = part;
    }
    mgb_format(loss, sizeof loss, "%s_loss", name);
    return total_make(graph, out, loss, sum);
}

static enum mgb_status squares_differentiate(struct mgb_gradient *gradient, struct mgb_node node,
                                             int dy)
{
    for (int i = 0; i < node.input_count; i++) {
        char suffix[32];
        mgb_format(suffix, sizeof suffix, "grad_%d", i);
        const struct mgb_gradient_request request = {.kind = MGB_OP_SQUARES_GRAD,
                                                     .of = node.name,
                                                     .suffix = suffix,
                                                     .a = node.a,
                                                     .inputs = {node.inputs[i], dy},
                                                     .input_count = 2,
                                                     .like = {node.inputs[i]},
                                                     .like_count = 1};
        MGB_TRY(mgb_gradient_simple(gradient, &request, node.inputs[i]));
    }
    return MGB_OK;
}

static enum mgb_status total_differentiate(struct mgb_gradient *gradient, struct mgb_node node,
                                           int dy)
{
    (void)dy;
    const struct mgb_gradient_request request = {.kind = MGB_OP_TOTAL_GRAD,
                                                 .of = node.name,
                                                 .suffix = "grad",
                                                 .a = node.a,
                                                 .inputs = {node.inputs[0]},
                                                 .input_count = 1,
                                                 .like = {node.inputs[0]},
                                                 .like_count = 1};
    return mgb_gradient_simple(gradient, &request, node.inputs[0]);
}

static double squares_flops(const struct mgb_graph *graph, const struct mgb_node *node)
{
    double count = 0;
    for (int i = 0; i < node->input_count; i++)
        if (!graph->tensors[node->inputs[i]].batched)
            count += 2.0 * (double)mgb_shape_count(&graph->tensors[node->inputs[i]].shape);
    return count;
}

static double total_flops(const struct mgb_graph *graph, const struct mgb_node *node)
{
    return (double)mgb_shape_count(&graph->tensors[node->inputs[0]].shape);
}

static void squares_text(struct mgb_text *text, const struct mgb_node *node)
{
    mgb_text_add(text, " strength=%.9g", (double)node->a.squares.strength);
}

static void total_grad_text(struct mgb_text *text, const struct mgb_node *node)
{
    mgb_text_add(text, " weight=%.9g", (double)node->a.loss.weight);
}

const struct mgb_op_rules mgb_op_rules_SQUARES = {
    .differentiate = squares_differentiate, .flops = squares_flops, .text = squares_text};
const struct mgb_op_rules mgb_op_rules_SQUARES_GRAD = {.text = squares_text};
const struct mgb_op_rules mgb_op_rules_TOTAL = {
    .head = true, .loss = true, .differentiate = total_differentiate, .flops = total_flops};
const struct mgb_op_rules mgb_op_rules_TOTAL_GRAD = {.text = total_grad_text};
