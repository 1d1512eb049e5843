#include "tests/support/draws.h"

#include "engine/base/random.h"
#include "engine/graph/graph.h"
#include "tests/support/check.h"
#include "tests/support/model.h"
#include "tests/support/random_model.h"
#include <mgb/op.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct mgb_graph *model_conv(void)
{
    struct mgb_graph *graph = model_make("conv");
    struct mgb_window window = model_window(3, 1, MGB_SAME);
    int image = model_input(graph, "image", SHAPE(3, 8, 6, 2));
    int label = model_label(graph, "label");
    int x = model_conv2d(graph, "conv2d", image, 5, &window, MGB_RELU);
    x = model_dropout(graph, model_max_pool2d(graph, x, 2), 0.25f);
    x = model_dense(graph, "dense", model_flatten(graph, x), 9, MGB_TANH);
    model_classify(
        graph, model_dense(graph, "logits", model_dropout(graph, x, 0.5f), 4, MGB_LINEAR), label);
    return graph;
}

static struct mgb_graph *model_siamese(void)
{
    struct mgb_graph *graph = model_make("siamese");
    int left = model_input(graph, "left", SHAPE(1, 6)),
        right = model_input(graph, "right", SHAPE(1, 6));
    int label = model_label(graph, "label");
    struct model_layer layer = model_dense_layer(graph, "encoder", 6, 5);
    int a = model_dense_use(graph, "encoder", left, layer, MGB_SIGMOID);
    int b = model_dense_use(graph, "encoder", right, layer, MGB_SIGMOID);
    int both, distance;
    assert_ok(mgb_op_concat(graph, &both, "concat", (int[]){a, b}, 2, -1));
    assert_ok(mgb_op_mean_squared_error(graph, &distance, "distance",
                                        model_dense(graph, "decoder", a, 6, MGB_LINEAR), right));
    assert_ok(mgb_graph_loss(graph, distance, 0.4f));
    model_classify(graph, model_dense(graph, "logits", both, 3, MGB_LINEAR), label);
    return graph;
}

struct mgb_graph *draw_model(int number)
{
    struct mgb_graph *graph;
    switch (number) {
    case 0:
        return model_mlp();
    case 1:
        return model_conv();
    case 2:
        return model_siamese();
    default:
        assert_ok(random_model_make(&graph, (uint64_t)number));
        return graph;
    }
}

bool draw_sees_towers(const struct mgb_graph *graph)
{
    for (int i = 0; i < graph->node_count; i++)
        if (graph->nodes[i].kind == MGB_OP_BATCH_STATS)
            return true;
    return false;
}

/* One of "", /cpu:0, the first, the last GPU, or spread where that is possible. */
static void place_draw(char *out, size_t size, const char *name, uint32_t bits, int gpus,
                       bool spread)
{
    size_t used = strlen(out);
    char device[24];
    snprintf(device, sizeof device, "/gpu:%d", gpus - 1);
    const char *choices[] = {"/cpu:0", "/gpu:0", device, "spread"};
    uint32_t pick = mgb_random_below(bits, spread ? 5 : 4);
    if (pick > 0)
        snprintf(out + used, size - used, " %s=%s", name, choices[pick - 1]);
}

void draw_places(char *out, size_t size, const char *strategy, int gpus, int number)
{
    bool outputs = strcmp(strategy, "outputs") == 0;
    struct mgb_random4 a = mgb_random_at(11, (uint64_t)number, 0),
                       b = mgb_random_at(12, (uint64_t)number, 0);
    out[0] = '\0';
    if (number == 0)
        return;
    place_draw(out, size, "weights_at", a.v[0], gpus, true);
    place_draw(out, size, "update_at", a.v[1], gpus, false);
    place_draw(out, size, "sum_at", a.v[2], gpus, true);
    if (outputs) {
        place_draw(out, size, "join_at", a.v[3], gpus, false);
        place_draw(out, size, "loss_at", b.v[0], gpus, false);
    }
    size_t used = strlen(out);
    if (b.v[1] & 1)
        used += (size_t)snprintf(out + used, size - used, " relocation=clone");
    if (b.v[1] & 2)
        used += (size_t)snprintf(out + used, size - used, " cpu_merge=%s",
                                 b.v[1] & 4 ? "true" : "false");
    if (!outputs && (b.v[1] & 8))
        snprintf(out + used, size - used, " bucket_mib=%s overlap=%s", b.v[1] & 16 ? "0.0001" : "1",
                 b.v[1] & 32 ? "true" : "false");
}

bool draw_long(void)
{
    const char *value = getenv("MGB_LONG");
    return value && strcmp(value, "1") == 0;
}

int draw_count(int few, int wide)
{
    if (draw_long())
        return wide;
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
    return (few + 1) / 2;
#else
    return few;
#endif
}
