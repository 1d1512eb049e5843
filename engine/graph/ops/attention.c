/* softmax(q k' scale) v in heads (A. Vaswani et al., arXiv 1706.03762, section 3.2). The probabilities are not kept: the gradient makes
 * them once more, for one product in five, so that memory grows with the length of a sequence and not with its square. */
#include "engine/graph/op.h"

#include <math.h>

static enum mgb_status operands_check(const struct mgb_op_call *call, const struct mgb_shape *q,
                                      const struct mgb_shape *k, const struct mgb_shape *v)
{
    char text[3][96];
    mgb_shape_format(text[0], sizeof text[0], q);
    mgb_shape_format(text[1], sizeof text[1], k);
    mgb_shape_format(text[2], sizeof text[2], v);
    if (q->rank != 2 || k->rank != 2 || v->rank != 2)
        return mgb_op_fail(call,
                           "query, key and value are %s, %s and %s; it takes positions x "
                           "size each",
                           q->rank ? text[0] : "one number", k->rank ? text[1] : "one number",
                           v->rank ? text[2] : "one number");
    if (q->dim[1] != k->dim[1])
        return mgb_op_fail(call, "query %s and key %s differ in size", text[0], text[1]);
    if (k->dim[0] != v->dim[0])
        return mgb_op_fail(call, "key %s and value %s differ in positions", text[1], text[2]);
    return MGB_OK;
}

static enum mgb_status options_check(const struct mgb_op_call *call,
                                     const struct mgb_attention *options, const struct mgb_shape *q,
                                     const struct mgb_shape *k, const struct mgb_shape *v)
{
    int heads = options->heads;
    if (heads < 1 || q->dim[1] % heads != 0 || v->dim[1] % heads != 0)
        return mgb_op_fail(call, "%d heads do not divide queries of %lld and values of %lld", heads,
                           (long long)q->dim[1], (long long)v->dim[1]);
    if (options->causal && q->dim[0] != k->dim[0])
        return mgb_op_fail(call,
                           "causal attention takes as many queries as keys, not %lld and %lld",
                           (long long)q->dim[0], (long long)k->dim[0]);
    if (!(options->dropout >= 0 && options->dropout < 1))
        return mgb_op_fail(call,
                           "a dropout of %g; it is the share that is dropped, from 0 to below 1",
                           (double)options->dropout);
    if (!isfinite(options->scale))
        return mgb_op_fail(call, "a scale of %g is no number", (double)options->scale);
    return MGB_OK;
}

static enum mgb_status mask_take(struct mgb_op_call *call, int mask, const struct mgb_shape *k)
{
    struct mgb_shape shape;
    char text[96];
    enum mgb_type type = mgb_tensor_type(call->graph, mask) == MGB_I32 ? MGB_I32 : MGB_F32;
    MGB_TRY(mgb_op_take(call, "mask", mask, type, &shape));
    if (shape.rank != 1 || shape.dim[0] != k->dim[0])
        return mgb_op_fail(call, "its mask is %s, it takes %lld, one number a key",
                           shape.rank ? mgb_shape_format(text, sizeof text, &shape) : "one number",
                           (long long)k->dim[0]);
    return MGB_OK;
}

enum mgb_status mgb_op_attention(struct mgb_graph *graph, int *out, const char *name, int query,
                                 int key, int value, int mask, const struct mgb_attention *options)
{
    struct mgb_op_call call;
    struct mgb_shape q, k, v;
    MGB_TRY(mgb_op_begin(&call, graph, MGB_OP_ATTENTION, name));
    MGB_TRY(mgb_op_take(&call, "query", query, MGB_F32, &q));
    MGB_TRY(mgb_op_take(&call, "key", key, MGB_F32, &k));
    MGB_TRY(mgb_op_take(&call, "value", value, MGB_F32, &v));
    MGB_TRY(operands_check(&call, &q, &k, &v));
    MGB_TRY(options_check(&call, options, &q, &k, &v));
    if (mask >= 0)
        MGB_TRY(mask_take(&call, mask, &k));
    float size = (float)(q.dim[1] / options->heads);
    bool drops = options->dropout > 0;
    call.a.attention.heads = options->heads;
    call.a.attention.causal = options->causal;
    call.a.attention.scale = options->scale != 0 ? options->scale : 1.0f / sqrtf(size);
    call.a.attention.dropout = options->dropout;
    call.a.attention.key = drops ? graph->builder->dropout_count : 0;
    q.dim[1] = v.dim[1];
    MGB_TRY(mgb_op_end(&call, out, &q, MGB_F32));
    graph->builder->dropout_count += drops;
    return MGB_OK;
}

/* One node makes all three; that of the query always. */
static enum mgb_status attention_differentiate(struct mgb_gradient *gradient, struct mgb_node node,
                                               int dy)
{
    const int *in = node.inputs;
    int made[MGB_MAX_OUTPUTS];
    struct mgb_gradient_request request = {.kind = MGB_OP_ATTENTION_GRAD,
                                           .of = node.name,
                                           .suffix = "grad",
                                           .a = node.a,
                                           .inputs = {in[0], in[1], in[2], dy},
                                           .input_count = node.input_count + 1,
                                           .like = {in[0], in[1], in[2]},
                                           .like_count = 3};
    bool any = mgb_gradient_needs(gradient, in[0]);
    for (int i = 1; i < 3; i++) {
        any = any || mgb_gradient_needs(gradient, in[i]);
        request.like[i] = mgb_gradient_needs(gradient, in[i]) ? in[i] : -1;
    }
    if (!any)
        return MGB_OK;
    if (node.input_count > 3)
        request.inputs[4] = in[3];
    MGB_TRY(mgb_gradient_node(gradient, made, &request));
    for (int i = 0; i < 3; i++)
        MGB_TRY(mgb_gradient_add(gradient, in[i], made[i]));
    return MGB_OK;
}

/* All pairs count, also those that a causal one leaves out, as published figures have it; the softmax does not. */
static double pairs_flops(const struct mgb_graph *graph, const struct mgb_node *node)
{
    const struct mgb_shape *q = &graph->tensors[node->inputs[0]].shape;
    const struct mgb_shape *v = &graph->tensors[node->inputs[2]].shape;
    return 2.0 * (double)q->dim[0] * (double)v->dim[0] * (double)(q->dim[1] + v->dim[1]);
}

/* Twice the forward products; making the probabilities once more is the engine's own affair. */
static double attention_grad_flops(const struct mgb_graph *graph, const struct mgb_node *node)
{
    return 2.0 * pairs_flops(graph, node);
}

static void attention_text(struct mgb_text *text, const struct mgb_node *node)
{
    const struct mgb_attention_attributes *a = &node->a.attention;
    mgb_text_add(text, " heads=%d scale=%.9g", a->heads, (double)a->scale);
    if (a->causal)
        mgb_text_add(text, " causal");
    if (a->dropout > 0)
        mgb_text_add(text, " dropout=%.9g key=%d", (double)a->dropout, a->key);
}

const struct mgb_op_rules mgb_op_rules_ATTENTION = {
    .differentiate = attention_differentiate, .flops = pairs_flops, .text = attention_text};
const struct mgb_op_rules mgb_op_rules_ATTENTION_GRAD = {.flops = attention_grad_flops,
                                                         .text = attention_text};
