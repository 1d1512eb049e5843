/* Attention of GPT-2 small, its vocabulary softmax and a tied output on a CPU device, beside the bare products of the same shapes:
 *     bench_attention [threads] [batch] [positions] [repeats]
 * Milliseconds are the least of some repeats. GF/s count multiply-adds as two and all pairs, also those that causal attention
 * skips; GB/s count what an operator reads and writes once. */
#include "tests/support/check.h"

#include "engine/base/parallel.h"
#include "engine/host/dnnl_shim.h"
#include "tests/support/model.h"
#include "tests/support/rig.h"
#include <mgb/op.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define HEADS 12
#define SIZE 64
#define WIDTH (HEADS * SIZE)
#define VOCABULARY 10000

static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

struct bare { /* the two products of the forward pass, matrices as they lie in attention */
    float *q, *scores, *y;
    int64_t positions;
};

static void bare_range(void *context, long long begin, long long end)
{
    struct bare *bare = context;
    int64_t t = bare->positions;
    for (long long i = begin; i < end; i++) {
        const float *head = bare->q + i / HEADS * t * WIDTH + i % HEADS * SIZE;
        float *scores = bare->scores + i * t * t;
        struct mgb_matrix q = {head, WIDTH, false}, k = {head, WIDTH, true}, p = {scores, t, false};
        (void)mgb_dnnl_product(scores, t, q, k, (struct mgb_product){t, t, SIZE, 1, 0});
        (void)mgb_dnnl_product(bare->y + (head - bare->q), WIDTH, p, q,
                               (struct mgb_product){t, SIZE, t, 1, 0});
    }
}

static void bare_print(int threads, int batch, int positions, int repeats)
{
    size_t rows = (size_t)batch * (size_t)positions;
    struct bare bare = {.positions = positions};
    bare.q = calloc(rows * WIDTH, sizeof *bare.q);
    bare.y = calloc(rows * WIDTH, sizeof *bare.y);
    bare.scores = calloc(rows * HEADS * (size_t)positions, sizeof *bare.scores);
    double best = 1e9;
    mgb_parallel_set_threads(threads);
    for (int i = 0; i < repeats; i++) {
        double begin = seconds_now();
        mgb_parallel_for(batch * HEADS, 1, bare_range, &bare);
        double took = seconds_now() - begin;
        best = took < best ? took : best;
    }
    printf("%-32s %9.3f ms %7.1f GF/s\n", "bare products, forward", best * 1e3,
           4.0 * batch * (double)positions * positions * WIDTH / best * 1e-9);
    free(bare.q);
    free(bare.y);
    free(bare.scores);
}

static int attend(struct mgb_graph *graph, const char *name, int x, bool causal, float dropout)
{
    struct mgb_attention options = {.heads = HEADS, .causal = causal, .dropout = dropout};
    int y = -1;
    assert_ok(mgb_op_attention(graph, &y, name, x, x, x, -1, &options));
    return y;
}

static struct mgb_graph *graph_make(int positions)
{
    struct mgb_graph *graph = model_make("bench");
    int x = model_input(graph, "x", SHAPE(2, positions, WIDTH)), label = -1, loss = -1;
    assert_ok(mgb_graph_input(graph, &label, "label", SHAPE(1, positions), MGB_I32));
    int w = model_weight(graph, "table", SHAPE(2, VOCABULARY, WIDTH));
    x = model_dense(graph, "dense", x, WIDTH, MGB_LINEAR);
    x = attend(graph, "attention", x, false, 0);
    x = attend(graph, "causal", x, true, 0);
    x = attend(graph, "causal_drops", x, true, 0.1f);
    assert_ok(mgb_op_gelu(graph, &x, "gelu", x, false));
    assert_ok(mgb_op_gelu(graph, &x, "gelu_tanh", x, true));
    assert_ok(mgb_op_dense_tied(graph, &x, "tied", x, w, -1, MGB_LINEAR));
    assert_ok(mgb_op_softmax_cross_entropy(graph, &loss, "loss", x, label));
    assert_ok(mgb_graph_loss(graph, loss, 1));
    assert_ok(mgb_graph_finish(graph));
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
    int threads = argc > 1 ? atoi(argv[1]) : 2, batch = argc > 2 ? atoi(argv[2]) : 2;
    int positions = argc > 3 ? atoi(argv[3]) : 256, repeats = argc > 4 ? atoi(argv[4]) : 20;
    struct mgb_graph *graph = graph_make(positions);
    struct reference reference = reference_make(graph, batch);
    reference_fill(&reference, 1);
    struct rig rig = rig_open(&mgb_host_backend, 0);
    int64_t *ns = calloc((size_t)graph->node_count, sizeof *ns);
    struct rig_play play = {
        .device = 1, .threads = threads, .in_place = true, .repeats = repeats, .node_ns = ns};
    struct rig_values values;
    if (rig_run(&values, &rig, &reference, &play) != MGB_OK) {
        fprintf(stderr, "%s\n", mgb_message_get());
        return 1;
    }
    bare_print(threads, batch, positions, repeats);
    for (int i = 0; i < graph->node_count; i++) {
        const struct mgb_node *node = &graph->nodes[i];
        double ms = (double)ns[i] * 1e-6;
        if (node->kind != MGB_OP_INPUT && node->kind != MGB_OP_READ)
            printf("%-32s %9.3f ms %7.1f GF/s %6.1f GB/s\n", node->name, ms,
                   mgb_node_flops(graph, node, batch) / ms * 1e-6,
                   bytes_of(&reference, node) / ms * 1e-6);
    }
    rig_values_free(&values);
    rig_close(&rig);
    reference_free(&reference);
    mgb_graph_free(graph);
    free(ns);
    return 0;
}
