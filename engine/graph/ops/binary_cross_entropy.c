/* Sigmoid and cross-entropy in one: the sum over rows of the mean over elements of log(1 + exp(z)) - t z, for logits z
 * and targets t, usually from 0 to 1. */
#include "engine/graph/ops/loss.h"

static const struct mgb_loss_pair bce_pair = {.kind = MGB_OP_BCE,
                                              .first = "logits",
                                              .second = "target",
                                              .second_role = "target (f32, from 0 to 1)"};

enum mgb_status mgb_op_binary_cross_entropy(struct mgb_graph *graph, int *out, const char *name,
                                            int logits, int target)
{
    return mgb_loss_make(graph, out, &bce_pair, name, logits, target);
}

static enum mgb_status bce_differentiate(struct mgb_gradient *gradient, struct mgb_node node,
                                         int dy)
{
    (void)dy;
    MGB_TRY(mgb_loss_check_target(gradient, &node, &bce_pair));
    return mgb_loss_differentiate(gradient, &node, MGB_OP_BCE_GRAD);
}

/* An exponential, a logarithm, a product and a sum an element. */
static double bce_flops(const struct mgb_graph *graph, const struct mgb_node *node)
{
    return 4.0 * (double)mgb_shape_count(&graph->tensors[node->inputs[0]].shape);
}

const struct mgb_op_rules mgb_op_rules_BCE = {
    .head = true, .loss = true, .differentiate = bce_differentiate, .flops = bce_flops};
const struct mgb_op_rules mgb_op_rules_BCE_GRAD = {.flops = bce_flops, .text = mgb_loss_grad_text};
