/* Softmax and cross-entropy in one: the sum over rows of the mean over positions of -log
 * softmax(logits)[label]. */
#include "engine/graph/ops/classes.h"
#include "engine/graph/ops/loss.h"

#include <string.h>

enum mgb_status mgb_classes_make(struct mgb_graph *graph, int *out, enum mgb_op_kind kind,
                                 const char *name, int logits, int label)
{
    struct mgb_op_call call;
    struct mgb_shape scores, classes;
    char one[96], two[96];
    MGB_TRY(mgb_op_begin(&call, graph, kind, name));
    MGB_TRY(mgb_op_take(&call, "logits", logits, MGB_F32, &scores));
    MGB_TRY(mgb_op_take(&call, "label (classes counted from 0)", label, MGB_I32, &classes));
    if (scores.rank < 1)
        return mgb_op_fail(&call,
                           "its logits are one number an example, it takes one for each class");
    if (classes.rank != scores.rank - 1 ||
        memcmp(classes.dim, scores.dim, (size_t)classes.rank * sizeof classes.dim[0]) != 0)
        return mgb_op_fail(&call, "label %s does not fit logits %s: it has all axes but the last",
                           mgb_shape_format(one, sizeof one, &classes),
                           mgb_shape_format(two, sizeof two, &scores));
    return mgb_op_end(&call, out, &(struct mgb_shape){0}, MGB_F32);
}

enum mgb_status mgb_op_softmax_cross_entropy(struct mgb_graph *graph, int *out, const char *name,
                                             int logits, int label)
{
    return mgb_classes_make(graph, out, MGB_OP_SOFTMAX_XENT, name, logits, label);
}

static enum mgb_status softmax_differentiate(struct mgb_gradient *gradient, struct mgb_node node,
                                             int dy)
{
    (void)dy;
    return mgb_loss_differentiate(gradient, &node, MGB_OP_SOFTMAX_XENT_GRAD);
}

/* A comparison, a subtraction, an exponential and an addition or a division for each score. */
static double softmax_flops(const struct mgb_graph *graph, const struct mgb_node *node)
{
    return 4.0 * (double)mgb_shape_count(&graph->tensors[node->inputs[0]].shape);
}

const struct mgb_op_rules mgb_op_rules_SOFTMAX_XENT = {
    .head = true, .loss = true, .differentiate = softmax_differentiate, .flops = softmax_flops};
const struct mgb_op_rules mgb_op_rules_SOFTMAX_XENT_GRAD = {.flops = softmax_flops,
                                                            .text = mgb_loss_grad_text};
