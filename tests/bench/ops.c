/* Milliseconds an operator of mnist_cnn takes on a CPU device, the least of some repeats:
 *     bench_ops [threads] [batch] [repeats]
 * GF/s counts multiply-adds as two; GB/s counts what an operator reads and writes once, plain. */
#include "tests/support/check.h"

#include "tests/support/model.h"
#include "tests/support/rig.h"
#include <stdio.h>
#include <stdlib.h>

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
    struct mgb_graph *graph = model_mnist_cnn();
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
