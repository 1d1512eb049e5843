/* Models that the tests of the CUDA backend train: small, but with what placement can get wrong. */
#include "tests/engine/cuda/models.h"

#include "engine/base/random.h"
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

int machine_drawn;

static int draw(int stream, int below)
{
    uint32_t bits = mgb_random_at(5, (uint64_t)stream, (uint64_t)machine_drawn).v[0];
    return (int)mgb_random_below(bits, (uint32_t)below);
}

/* Some windows do not fit the image: then the next draw of their size. */
static int conv_draw(struct mgb_graph *graph, int x, int channels)
{
    static const int groups[] = {1, 1, 2, 4}, filters[] = {1, 3, 4};
    struct mgb_window window = {.groups = draw(0, 5) == 4 ? channels : groups[draw(1, 4)],
                                .padding = (enum mgb_padding)draw(2, 3)};
    for (int i = 0; i < 2; i++) {
        window.size[i] = 1 + draw(3 + i, 3);
        window.stride[i] = 1 + draw(5 + i, 3);
        window.dilation[i] = 1 + draw(7 + i, 2);
        window.pad[i] = window.padding == MGB_EXPLICIT ? draw(9 + i, 3) : 0;
    }
    return model_conv2d(graph, "drawn", x, window.groups * filters[draw(11, 3)], &window,
                        (enum mgb_activation)draw(12, MGB_ACTIVATION_COUNT));
}

struct mgb_graph *machine_drawn_convolution(void)
{
    struct mgb_graph *graph = model_make("drawn");
    int channels = draw(13, 2) ? 8 : 4, label = model_label(graph, "label");
    int x = model_input(graph, "x", SHAPE(3, 5 + draw(14, 4), 5 + draw(15, 4), 3));
    struct mgb_window whole = model_window(1, 1, MGB_SAME);
    x = conv_draw(graph, model_conv2d(graph, "in", x, channels, &whole, MGB_TANH), channels);
    x = model_dense(graph, "logits", model_flatten(graph, x), 3, MGB_LINEAR);
    model_classify(graph, x, label);
    return graph;
}

static struct mgb_graph *(*const makers[MACHINE_MODELS])(void) = {
    model_mlp, machine_image_model, machine_language_model, machine_transformer_model};

struct mgb_graph *machine_model(int number)
{
    return makers[number]();
}
