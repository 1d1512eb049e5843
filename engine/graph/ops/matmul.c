/* Products of an example's matrices, [.., m, k] x [.., k, n], the leading axes alike. The gradients are such products. */
#include "engine/graph/op.h"

static enum mgb_status operands_check(const struct mgb_op_call *call, const struct mgb_shape *a,
                                      const struct mgb_shape *b)
{
    char one[96], two[96];
    mgb_shape_format(one, sizeof one, a);
    mgb_shape_format(two, sizeof two, b);
    if (a->rank < 2 || b->rank < 2)
        return mgb_op_fail(call, "its inputs are %s and %s, it takes two axes or more each",
                           a->rank == 0 ? "one number" : one, b->rank == 0 ? "one number" : two);
    bool fits = a->rank == b->rank;
    for (int i = 0; fits && i < a->rank - 2; i++)
        fits = a->dim[i] == b->dim[i];
    if (!fits)
        return mgb_op_fail(call, "%s and %s differ before their last two axes", one, two);
    return MGB_OK;
}

enum mgb_status mgb_op_matmul(struct mgb_graph *graph, int *out, const char *name, int a, int b,
                              bool transpose_a, bool transpose_b)
{
    struct mgb_op_call call;
    struct mgb_shape as, bs;
    char one[96], two[96];
    MGB_TRY(mgb_op_begin(&call, graph, MGB_OP_MATMUL, name));
    MGB_TRY(mgb_op_take(&call, "first input", a, MGB_F32, &as));
    MGB_TRY(mgb_op_take(&call, "second input", b, MGB_F32, &bs));
    MGB_TRY(operands_check(&call, &as, &bs));
    int row = as.rank - 2, column = as.rank - 1;
    int64_t k = as.dim[transpose_a ? row : column];
    if (k != bs.dim[transpose_b ? column : row])
        return mgb_op_fail(
            &call, "%s%s does not fit %s%s: the inner axes are %lld and %lld",
            mgb_shape_format(one, sizeof one, &as), transpose_a ? " (transposed)" : "",
            mgb_shape_format(two, sizeof two, &bs), transpose_b ? " (transposed)" : "",
            (long long)k, (long long)bs.dim[transpose_b ? column : row]);
    call.a.matmul.transpose_a = transpose_a;
    call.a.matmul.transpose_b = transpose_b;
    struct mgb_shape to = as;
    to.dim[row] = as.dim[transpose_a ? column : row];
    to.dim[column] = bs.dim[transpose_b ? row : column];
    return mgb_op_end(&call, out, &to, MGB_F32);
}

static enum mgb_status product_add(struct mgb_gradient *gradient, const char *of,
                                   const char *suffix, int tensor, const int operands[2],
                                   bool transpose_a, bool transpose_b)
{
    const struct mgb_gradient_request request = {.kind = MGB_OP_MATMUL,
                                                 .of = of,
                                                 .suffix = suffix,
                                                 .a.matmul = {transpose_a, transpose_b},
                                                 .inputs = {operands[0], operands[1]},
                                                 .input_count = 2,
                                                 .like = {tensor},
                                                 .like_count = 1};
    return mgb_gradient_simple(gradient, &request, tensor);
}

/* y = A B gives dA = dy B' and dB = A' dy; an operand that was transposed wants its gradient so, too. */
static enum mgb_status matmul_differentiate(struct mgb_gradient *gradient, struct mgb_node node,
                                            int dy)
{
    int a = node.inputs[0], b = node.inputs[1];
    bool ta = node.a.matmul.transpose_a, tb = node.a.matmul.transpose_b;
    if (ta)
        MGB_TRY(product_add(gradient, node.name, "grad_a", a, (int[]){b, dy}, tb, true));
    else
        MGB_TRY(product_add(gradient, node.name, "grad_a", a, (int[]){dy, b}, false, !tb));
    if (tb)
        return product_add(gradient, node.name, "grad_b", b, (int[]){dy, a}, true, ta);
    return product_add(gradient, node.name, "grad_b", b, (int[]){a, dy}, !ta, false);
}

static double matmul_flops(const struct mgb_graph *graph, const struct mgb_node *node)
{
    const struct mgb_shape *a = &graph->tensors[node->inputs[0]].shape;
    const struct mgb_shape *y = &graph->tensors[node->outputs[0]].shape;
    int64_t k = a->dim[node->a.matmul.transpose_a ? a->rank - 2 : a->rank - 1];
    return 2.0 * (double)mgb_shape_count(y) * (double)k;
}

static void matmul_text(struct mgb_text *text, const struct mgb_node *node)
{
    if (node->a.matmul.transpose_a)
        mgb_text_add(text, " transpose_a");
    if (node->a.matmul.transpose_b)
        mgb_text_add(text, " transpose_b");
}

const struct mgb_op_rules mgb_op_rules_MATMUL = {
    .differentiate = matmul_differentiate, .flops = matmul_flops, .text = matmul_text};
