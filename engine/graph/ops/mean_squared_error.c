/* The sum over rows of the mean over elements of (prediction - target)^2. */
#include "engine/graph/ops/loss.h"

static const struct mgb_loss_pair mse_pair = {
    .kind = MGB_OP_MSE, .first = "prediction", .second = "target", .second_role = "target"};

enum mgb_status mgb_op_mean_squared_error(struct mgb_graph *graph, int *out, const char *name,
                                          int prediction, int target)
{
    return mgb_loss_make(graph, out, &mse_pair, name, prediction, target);
}

static enum mgb_status mse_differentiate(struct mgb_gradient *gradient, struct mgb_node node,
                                         int dy)
{
    (void)dy;
    MGB_TRY(mgb_loss_check_target(gradient, &node, &mse_pair));
    return mgb_loss_differentiate(gradient, &node, MGB_OP_MSE_GRAD);
}

static double mse_flops(const struct mgb_graph *graph, const struct mgb_node *node)
{
    return 3.0 * (double)mgb_shape_count(&graph->tensors[node->inputs[0]].shape);
}

static double mse_grad_flops(const struct mgb_graph *graph, const struct mgb_node *node)
{
    return 2.0 * (double)mgb_shape_count(&graph->tensors[node->inputs[0]].shape);
}

const struct mgb_op_rules mgb_op_rules_MSE = {
    .head = true, .loss = true, .differentiate = mse_differentiate, .flops = mse_flops};
const struct mgb_op_rules mgb_op_rules_MSE_GRAD = {.flops = mse_grad_flops,
                                                   .text = mgb_loss_grad_text};
