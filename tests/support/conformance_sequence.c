/* Widths that fill no vector, masks with padding inside, at the end and everywhere, states from outside, both directions. */
#include "tests/support/conformance_sequence.h"

#include "tests/support/check.h"
#include "tests/support/model.h"
#include <mgb/op.h>

enum { STEPS = 5, VOCABULARY = 6 };

static int ids_input(struct mgb_graph *graph, const char *name)
{
    int tensor = -1;
    assert_ok(mgb_graph_input(graph, &tensor, name, SHAPE(1, STEPS), MGB_I32));
    return tensor;
}

static int embedding(struct mgb_graph *graph, int ids, int units)
{
    int out = -1, table = model_weight(graph, "embeddings", SHAPE(2, VOCABULARY, units));
    assert_ok(mgb_op_embedding(graph, &out, "embedding", ids, table));
    return out;
}

static int mask(struct mgb_graph *graph, int x)
{
    int out = -1;
    assert_ok(mgb_op_mask(graph, &out, "mask", x, 0));
    return out;
}

struct layer {
    int units, gates;
    bool bias, reset_after;
    struct mgb_recurrent r; /* what else is asked */
};

static int recurrent(struct mgb_graph *graph, const char *name, int x, struct layer layer)
{
    int out = -1, in = (int)mgb_tensor_shape(graph, x)->dim[1], width = layer.gates * layer.units;
    struct mgb_recurrent r = layer.r;
    assert_ok(mgb_graph_begin_scope(graph, name));
    r.kernel = model_weight(graph, "kernel", SHAPE(2, in, width));
    r.recurrent = model_weight(graph, "recurrent_kernel", SHAPE(2, layer.units, width));
    r.reset_after = layer.reset_after;
    if (layer.bias && layer.reset_after)
        r.bias = model_weight(graph, "bias", SHAPE(2, 2, width));
    else if (layer.bias)
        r.bias = model_weight(graph, "bias", SHAPE(1, width));
    mgb_graph_end_scope(graph);
    if (layer.gates == 4)
        assert_ok(mgb_op_lstm(graph, &out, name, x, &r));
    else
        assert_ok(mgb_op_gru(graph, &out, name, x, &r));
    return out;
}

static struct layer layer_of(int gates, int units)
{
    return (struct layer){.units = units, .gates = gates, .bias = true, .r = mgb_recurrent_init()};
}

/* An initial state that has a gradient. */
static int state(struct mgb_graph *graph, const char *name, int units)
{
    int x = model_input(graph, name, SHAPE(1, 3));
    return model_dense(graph, name, x, units, MGB_TANH);
}

static struct mgb_graph *classify(struct mgb_graph *graph, int x)
{
    int label = model_label(graph, "label");
    x = model_flatten(graph, x);
    model_classify(graph, model_dense(graph, "logits", x, 3, MGB_LINEAR), label);
    return graph;
}

/* Words looked up twice in one table, so that its gradient is a sum; a class for every position. */
struct mgb_graph *conformance_words_make(void)
{
    struct mgb_graph *graph = model_make("words");
    int table = model_weight(graph, "embeddings", SHAPE(2, VOCABULARY, 19)), a = -1, b = -1;
    assert_ok(mgb_op_embedding(graph, &a, "a", ids_input(graph, "a"), table));
    assert_ok(mgb_op_embedding(graph, &b, "b", ids_input(graph, "b"), table));
    assert_ok(mgb_op_add(graph, &a, "add", a, b));
    return classify(graph, a);
}

struct mgb_graph *conformance_lstm_make(void)
{
    struct mgb_graph *graph = model_make("lstm");
    struct layer first = layer_of(4, 17), second = layer_of(4, 5), third = layer_of(4, 3);
    int ids = ids_input(graph, "ids"), x = embedding(graph, ids, 7);
    first.r.mask = second.r.mask = mask(graph, ids);
    first.r.h0 = state(graph, "h", 17);
    first.r.c0 = state(graph, "c", 17);
    first.r.sequences = second.r.cell = second.r.reverse = true;
    x = recurrent(graph, "first", x, first);
    x = recurrent(graph, "second", x, second);
    third.bias = false;
    return classify(graph, recurrent(graph, "third", x, third));
}

/* Backwards to the last state, with a mask and a state; a mask of vectors; one position. */
struct mgb_graph *conformance_lstm_short_make(void)
{
    struct mgb_graph *graph = model_make("lstm_short");
    struct layer last = layer_of(4, 16), one = layer_of(4, 2);
    int ids = ids_input(graph, "ids"), x = embedding(graph, ids, 16), y = -1;
    last.r.mask = ids; /* whole numbers as they are: 0 is padding */
    last.r.reverse = true;
    last.r.h0 = state(graph, "h", 16);
    last.r.c0 = state(graph, "c", 16);
    x = recurrent(graph, "last", x, last);
    assert_ok(mgb_op_reshape(graph, &y, "one", x, SHAPE(2, 1, 16)));
    one.r.mask = mask(graph, y);
    return classify(graph, recurrent(graph, "one", y, one));
}

static struct mgb_graph *gru_make(const char *name, bool reset_after)
{
    struct mgb_graph *graph = model_make(name);
    struct layer first = layer_of(3, 17), second = layer_of(3, 5), third = layer_of(3, 3);
    int ids = ids_input(graph, "ids"), x = embedding(graph, ids, 7);
    first.reset_after = second.reset_after = third.reset_after = reset_after;
    first.r.mask = second.r.mask = mask(graph, ids);
    first.r.h0 = state(graph, "h", 17);
    first.r.sequences = second.r.sequences = second.r.reverse = true;
    x = recurrent(graph, "first", x, first);
    x = recurrent(graph, "second", x, second);
    third.bias = false;
    return classify(graph, recurrent(graph, "third", x, third));
}

struct mgb_graph *conformance_gru_make(void)
{
    return gru_make("gru", true);
}

struct mgb_graph *conformance_gru_before_make(void)
{
    return gru_make("gru_before", false);
}
