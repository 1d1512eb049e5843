/* Models that the tests of the CUDA backend train: small, but with what placement can get wrong. */
#include "tests/engine/cuda/models.h"

#include "tests/support/check.h"
#include <mgb/op.h>

struct mgb_graph *machine_image_model(void)
{
    struct mgb_graph *graph = model_make("image");
    struct mgb_window window = model_window(3, 1, MGB_SAME);
    int x = model_input(graph, "image", SHAPE(3, 6, 5, 3)), label = model_label(graph, "label");
    x = model_conv2d(graph, "conv", x, 8, &window, MGB_LINEAR);
    x = model_batch_norm(graph, "channels", x, MGB_RELU);
    x = model_dropout(graph, model_max_pool2d(graph, x, 2), 0.25f);
    x = model_dense(graph, "dense", model_flatten(graph, x), 7, MGB_LINEAR);
    x = model_batch_norm(graph, "units", x, MGB_LINEAR);
    model_classify(graph, model_dense(graph, "logits", x, 3, MGB_LINEAR), label);
    return graph;
}

static int words_look_up(struct mgb_graph *graph, int positions, int vocabulary, int units)
{
    int ids = -1, words = -1;
    assert_ok(mgb_graph_input(graph, &ids, "ids", SHAPE(1, positions), MGB_I32));
    int table = model_weight(graph, "embeddings", SHAPE(2, vocabulary, units));
    assert_ok(mgb_op_embedding(graph, &words, "words", ids, table));
    return words;
}

struct mgb_graph *machine_language_model(void)
{
    struct mgb_graph *graph = model_make("language");
    struct mgb_recurrent cells = mgb_recurrent_init();
    int label = -1, x = words_look_up(graph, 5, 90, 6);
    assert_ok(mgb_graph_input(graph, &label, "label", SHAPE(1, 5), MGB_I32));
    cells.sequences = true;
    cells.kernel = model_weight(graph, "kernel", SHAPE(2, 6, 20));
    cells.recurrent = model_weight(graph, "recurrent_kernel", SHAPE(2, 5, 20));
    cells.bias = model_weight(graph, "bias", SHAPE(1, 20));
    assert_ok(mgb_op_lstm(graph, &x, "lstm", x, &cells));
    x = model_dropout(graph, x, 0.25f);
    model_classify(graph, model_dense(graph, "logits", x, 7, MGB_LINEAR), label);
    return graph;
}

struct mgb_graph *machine_transformer_model(void)
{
    struct mgb_graph *graph = model_make("transformer");
    const struct mgb_attention options = {.heads = 2, .causal = true, .dropout = 0.25f};
    int label = model_label(graph, "label"), words = words_look_up(graph, 4, 90, 8), x = -1, y = -1;
    x = model_layer_norm(graph, "before", words);
    x = model_dense(graph, "query", x, 8, MGB_LINEAR);
    assert_ok(mgb_op_attention(graph, &x, "attention", x, words, words, -1, &options));
    assert_ok(mgb_op_add(graph, &x, "residual", x, words));
    y = model_dense(graph, "wide", model_layer_norm(graph, "between", x), 12, MGB_LINEAR);
    assert_ok(mgb_op_gelu(graph, &y, "gelu", y, true));
    y = model_dense(graph, "narrow", y, 8, MGB_LINEAR);
    assert_ok(mgb_op_add(graph, &x, "sum", x, y));
    model_classify(graph, model_dense(graph, "logits", model_flatten(graph, x), 3, MGB_LINEAR),
                   label);
    return graph;
}

static struct mgb_graph *(*const makers[MACHINE_MODELS])(void) = {
    model_mlp, machine_image_model, machine_language_model, machine_transformer_model};

struct mgb_graph *machine_model(int number)
{
    return makers[number]();
}
