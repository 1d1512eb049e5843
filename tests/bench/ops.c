/* Milliseconds an operator of mnist_cnn, or of a recurrent layer, takes on a CPU device, the least of some repeats:
 *     bench_ops [threads] [batch] [repeats] [lstm or gru]
 * Beside the recurrent layer (32 words of 256 numbers, 512 units) stands `bare`, one product with as many multiply-adds.
 * GF/s counts multiply-adds as two; GB/s counts what an operator reads and writes once, plain. */
#include "tests/support/check.h"

#include "tests/support/model.h"
#include "tests/support/rig.h"
#include <mgb/op.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS = 32, WIDTH = 256, UNITS = 512, VOCABULARY = 10000 };

static struct mgb_graph *recurrent_make(int gates)
{
    struct mgb_graph *graph = model_make("recurrent");
    struct mgb_recurrent r = mgb_recurrent_init();
    int ids = -1, x = -1, y = -1;
    assert_ok(mgb_graph_input(graph, &ids, "ids", SHAPE(1, WORDS), MGB_I32));
    int wide = model_input(graph, "wide", SHAPE(2, WORDS, WIDTH + UNITS));
    int table = model_weight(graph, "embeddings", SHAPE(2, VOCABULARY, WIDTH));
    assert_ok(mgb_op_embedding(graph, &x, "embedding", ids, table));
    r.kernel = model_weight(graph, "kernel", SHAPE(2, WIDTH, gates * UNITS));
    r.recurrent = model_weight(graph, "recurrent", SHAPE(2, UNITS, gates * UNITS));
    r.sequences = true;
    if (gates == 4)
        assert_ok(mgb_op_lstm(graph, &y, "lstm", x, &r));
    else
        assert_ok(mgb_op_gru(graph, &y, "gru", x, &r));
    wide = model_dense(graph, "before", wide, WIDTH + UNITS, MGB_LINEAR);
    wide = model_dense(graph, "bare", wide, gates * UNITS, MGB_LINEAR);
    int both[] = {y, wide};
    assert_ok(mgb_op_concat(graph, &y, "concat", both, 2, -1));
    model_classify(graph, model_dense(graph, "logits", model_flatten(graph, y), 2, MGB_LINEAR),
                   model_label(graph, "label"));
    return graph;
}

static double bytes_of(const struct reference *reference, const struct mgb_node *node)
{
    double bytes = 0;
    for (int i = 0; i < node->input_count; i++)
        bytes += (double)mgb_tensor_bytes(reference->graph, node->inputs[i], reference->rows);
    for (int i = 0; i < node->output_count; i++)
        if (node->outputs[i] >= 0)
            bytes += (double)mgb_tensor_bytes(reference->graph, node->outputs[i], reference->rows);
    return bytes;
}

int main(int argc, char **argv)
{
    int threads = argc > 1 ? atoi(argv[1]) : 2, batch = argc > 2 ? atoi(argv[2]) : 128;
    int repeats = argc > 3 ? atoi(argv[3]) : 15;
    const char *which = argc > 4 ? argv[4] : "";
    struct mgb_graph *graph = !*which                     ? model_mnist_cnn()
                              : strcmp(which, "gru") == 0 ? recurrent_make(3)
                                                          : recurrent_make(4);
    struct reference reference = reference_make(graph, batch);
    reference_fill(&reference, 1);
    struct rig rig = rig_open(&mgb_host_backend, 0);
    int64_t *ns = calloc((size_t)graph->node_count, sizeof *ns), total = 0;
    int *layout = calloc((size_t)graph->node_count, sizeof *layout);
    struct rig_play play = {.device = 1,
                            .threads = threads,
                            .in_place = true,
                            .repeats = repeats,
                            .node_ns = ns,
                            .node_layout = layout};
    struct rig_values values;
    if (rig_run(&values, &rig, &reference, &play) != MGB_OK) {
        fprintf(stderr, "%s\n", mgb_message_get());
        return 1;
    }
    for (int i = 0; i < graph->node_count; i++) {
        const struct mgb_node *node = &graph->nodes[i];
        double ms = (double)ns[i] * 1e-6;
        total += ns[i];
        if (node->kind != MGB_OP_INPUT && node->kind != MGB_OP_READ)
            printf("%-28s layout %d %8.3f ms %7.1f GF/s %6.1f GB/s\n", node->name, layout[i], ms,
                   mgb_node_flops(graph, node, batch) / ms * 1e-6,
                   bytes_of(&reference, node) / ms * 1e-6);
    }
    printf("%-28s          %8.3f ms  (%d threads, batch %d)\n", "all", (double)total * 1e-6,
           threads, batch);
    rig_values_free(&values);
    rig_close(&rig);
    reference_free(&reference);
    mgb_graph_free(graph);
    free(ns);
    free(layout);
    return 0;
}
