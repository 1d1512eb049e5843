/* What an operator is, apart from its rows: kind, shapes, and what of its attributes says how much work there is. Stable from
 * version to version: files of measured costs hold it. */
#include "engine/sim/sim.h"

#include "engine/base/hash.h"
#include <stddef.h>
#include <string.h>

/* Keys of masks, scales and weights of losses change what is computed, not how much; the rest shapes say. */
struct part {
    enum mgb_op_kind kind;
    size_t offset, size;
};
#define SIZE(field) sizeof(((union mgb_attributes *)NULL)->field)
#define PART(op, field)                                                                            \
    {                                                                                              \
        MGB_OP_##op, offsetof(union mgb_attributes, field), SIZE(field)                            \
    }
static const struct part parts[] = {
    PART(CONV2D, conv2d.window),
    PART(CONV2D, conv2d.pad_before),
    PART(CONV2D, conv2d.pad_after),
    PART(CONV2D, conv2d.activation),
    PART(CONV2D_GRAD_X, conv2d.window),
    PART(CONV2D_GRAD_X, conv2d.pad_before),
    PART(CONV2D_GRAD_X, conv2d.pad_after),
    PART(CONV2D_GRAD_X, conv2d.activation),
    PART(CONV2D_GRAD_W, conv2d.window),
    PART(CONV2D_GRAD_W, conv2d.pad_before),
    PART(CONV2D_GRAD_W, conv2d.pad_after),
    PART(CONV2D_GRAD_W, conv2d.activation),
    PART(MAX_POOL2D, pool2d.window),
    PART(MAX_POOL2D, pool2d.pad_before),
    PART(MAX_POOL2D_GRAD, pool2d.window),
    PART(MAX_POOL2D_GRAD, pool2d.pad_before),
    PART(AVG_POOL2D, pool2d.window),
    PART(AVG_POOL2D, pool2d.pad_before),
    PART(AVG_POOL2D_GRAD, pool2d.window),
    PART(AVG_POOL2D_GRAD, pool2d.pad_before),
    PART(DENSE, dense.activation),
    PART(DENSE, dense.transposed),
    PART(DENSE_GRAD_X, dense.activation),
    PART(DENSE_GRAD_X, dense.transposed),
    PART(DENSE_GRAD_W, dense.activation),
    PART(DENSE_GRAD_W, dense.transposed),
    PART(ACTIVATION, activation.activation),
    PART(ACTIVATION_GRAD, activation.activation),
    PART(ATTENTION, attention.heads),
    PART(ATTENTION, attention.causal),
    PART(ATTENTION, attention.dropout),
    PART(ATTENTION_GRAD, attention.heads),
    PART(ATTENTION_GRAD, attention.causal),
    PART(ATTENTION_GRAD, attention.dropout),
    PART(MATMUL, matmul),
    PART(TRANSPOSE, transpose.axes),
    PART(SOFTMAX, softmax.log),
    PART(LSTM, recurrent.steps),
    PART(LSTM, recurrent.in),
    PART(LSTM, recurrent.units),
    PART(LSTM, recurrent.sequences),
    PART(LSTM, recurrent.reset_after),
    PART(LSTM_GRAD, recurrent.steps),
    PART(LSTM_GRAD, recurrent.in),
    PART(LSTM_GRAD, recurrent.units),
    PART(LSTM_GRAD, recurrent.sequences),
    PART(LSTM_GRAD, recurrent.reset_after),
    PART(GRU, recurrent.steps),
    PART(GRU, recurrent.in),
    PART(GRU, recurrent.units),
    PART(GRU, recurrent.sequences),
    PART(GRU, recurrent.reset_after),
    PART(GRU_GRAD, recurrent.steps),
    PART(GRU_GRAD, recurrent.in),
    PART(GRU_GRAD, recurrent.units),
    PART(GRU_GRAD, recurrent.sequences),
    PART(GRU_GRAD, recurrent.reset_after),
    PART(CONCAT, slice.axis),
    PART(SLICE, slice.axis),
    PART(PAD, pad.axis),
    PART(SUM, reduce.axis),
    PART(MEAN, reduce.axis),
    PART(MAX, reduce.axis),
    PART(SPREAD, reduce.axis),
    PART(MAX_GRAD, reduce.axis),
};

static void attributes_hash(uint64_t *hash, const struct mgb_node *node)
{
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (parts[i].kind == node->kind)
            *hash = mgb_hash(*hash, (const char *)&node->a + parts[i].offset, parts[i].size);
}

static void tensor_hash(uint64_t *hash, const struct mgb_graph *graph, int tensor)
{
    int64_t words[3 + MGB_MAX_RANK] = {-1};
    if (tensor >= 0) {
        const struct mgb_tensor *t = &graph->tensors[tensor];
        words[0] = t->shape.rank;
        words[1] = t->type;
        words[2] = t->batched;
        for (int i = 0; i < t->shape.rank; i++)
            words[3 + i] = t->shape.dim[i];
    }
    *hash = mgb_hash(*hash, words, sizeof words);
}

uint64_t mgb_sim_signature(const struct mgb_graph *graph, int node)
{
    const struct mgb_node *n = &graph->nodes[node];
    const char *name = mgb_op_name(n->kind);
    uint64_t hash = mgb_hash(0, name, strlen(name));
    attributes_hash(&hash, n);
    for (int i = 0; i < n->input_count; i++)
        tensor_hash(&hash, graph, n->inputs[i]);
    for (int i = 0; i < n->output_count; i++)
        tensor_hash(&hash, graph, n->outputs[i]);
    return hash;
}
