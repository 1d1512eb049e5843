/* GPU operators of sequences and transformers beyond what conformance asks: every order of threads, attention in chunks of
 * any size, tables whose uses fill several blocks, rows that take a block each, numbers outside of a table. */
#include "tests/engine/cuda/machine.h"

#include "engine/cuda/ops/attention.h"
#include "tests/support/check.h"
#include "tests/support/conformance.h"
#include "tests/support/model.h"
#include "tests/support/training.h"
#include <mgb/op.h>
#include <stdlib.h>
#include <string.h>

static struct rig machine_open(const struct mgb_backend *backend)
{
    machine_set("1", NULL);
    return rig_open(backend, 0);
}

static void machine_close(struct rig *rig)
{
    rig_close(rig);
    machine_check_empty();
}

static void model_check(const struct rig *rig, const struct conformance_model *model)
{
    const struct rig_play play = {.device = 1, .threads = 1};
    if (!conformance_model_check(rig, &play, model))
        fail_msg("%s: %s", model->name, mgb_message_get());
}

static const struct conformance_model *model_find(const char *name)
{
    for (int i = 0; i < conformance_model_count; i++)
        if (strcmp(conformance_models[i].name, name) == 0)
            return &conformance_models[i];
    fail_msg("no model %s", name);
    return NULL;
}

static struct mgb_graph *classify(struct mgb_graph *graph, int x)
{
    int label = model_label(graph, "label");
    model_classify(graph, model_dense(graph, "logits", model_flatten(graph, x), 3, MGB_LINEAR),
                   label);
    return graph;
}

static int embedding(struct mgb_graph *graph, int positions, int vocabulary, int units)
{
    int ids = -1, out = -1;
    assert_ok(mgb_graph_input(graph, &ids, "ids", SHAPE(1, positions), MGB_I32));
    int table = model_weight(graph, "embeddings", SHAPE(2, vocabulary, units));
    assert_ok(mgb_op_embedding(graph, &out, "words", ids, table));
    return out;
}

/* 2100 uses of few rows: a sort over several blocks, rows with many uses. */
static struct mgb_graph *many_words_make(void)
{
    struct mgb_graph *graph = model_make("many_words");
    return classify(graph, embedding(graph, 700, 61, 5));
}

/* 120 rows: the sums over them are of a chunk and a part of one, in columns that fill a block and a part of one. */
static struct mgb_graph *many_rows_make(void)
{
    struct mgb_graph *graph = model_make("many_rows");
    int x = model_input(graph, "x", SHAPE(2, 40, 3));
    x = model_layer_norm(graph, "norm", model_dense(graph, "in", x, 35, MGB_TANH));
    return classify(graph, x);
}

/* Most rows of the table are not used. */
static struct mgb_graph *few_words_make(void)
{
    struct mgb_graph *graph = model_make("few_words");
    return classify(graph, embedding(graph, 2, 3000, 4));
}

static const struct conformance_model own[] = {
    {"many_words", many_words_make}, {"many_rows", many_rows_make}, {"few_words", few_words_make}};

static void models_match_the_reference_in_any_order_of_threads(void **state)
{
    (void)state;
    static const char *const names[] = {
        "attention_small", "matrices", "tied",       "words",     "lstm",
        "lstm_short",      "gru",      "gru_before", "layer_norm"};
    setenv("FAKE_CUDA_ORDER", "random", 1);
    struct rig rig = machine_open(machine_cuda());
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        model_check(&rig, model_find(names[i]));
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        model_check(&rig, &own[i]);
    unsetenv("FAKE_CUDA_ORDER");
    machine_close(&rig);
}

static int64_t limit; /* bytes of attention's chunks */

static enum mgb_status launch_small(struct mgb_queue *queue, struct mgb_kernel *kernel,
                                    const struct mgb_launch *launch)
{
    enum mgb_op_kind kind = kernel->use.kind;
    if (kind != MGB_OP_ATTENTION && kind != MGB_OP_ATTENTION_GRAD)
        return machine_cuda()->launch(queue, kernel, launch);
    MGB_TRY(mgb_cuda_begin(queue, kernel->name));
    MGB_TRY(mgb_cuda_arithmetic_set(queue, kernel, launch->workspace));
    return mgb_cuda_attention_run(queue, &kernel->use, launch, limit);
}

static int attention(struct mgb_graph *graph, int q, int k, int v, int mask,
                     struct mgb_attention options)
{
    int out = -1;
    assert_ok(mgb_op_attention(graph, &out, "attention", q, k, v, mask, &options));
    return out;
}

/* 9 queries of 6 keys behind a mask in 3 heads, then 9 of 9, causal and with dropout, in 2; of 3 rows. */
static struct mgb_graph *heads_make(void)
{
    struct mgb_graph *graph = model_make("heads");
    int x = model_input(graph, "x", SHAPE(2, 9, 5)), m = model_input(graph, "m", SHAPE(2, 6, 4));
    int mask = -1, k = -1;
    assert_ok(mgb_graph_input(graph, &mask, "mask", SHAPE(1, 6), MGB_I32));
    /* without a bias, whose gradient would be rounding alone */
    assert_ok(mgb_op_dense(graph, &k, "keys", m, model_weight(graph, "keys", SHAPE(2, 4, 12)), -1,
                           MGB_LINEAR));
    x = model_dense(graph, "queries", x, 12, MGB_LINEAR);
    x = attention(graph, x, k, model_dense(graph, "values", m, 9, MGB_LINEAR), mask,
                  (struct mgb_attention){.heads = 3});
    x = model_dense(graph, "all", x, 8, MGB_LINEAR);
    x = attention(graph, x, x, x, -1,
                  (struct mgb_attention){.heads = 2, .causal = true, .dropout = 0.25f});
    return classify(graph, x);
}

/* From a query of a head of a row at once to all there is. */
static void attention_in_chunks_matches_the_reference(void **state)
{
    (void)state;
    static const int64_t limits[] = {1, 170, 500, 900, 1300, 100000};
    const struct conformance_model heads = {"heads", heads_make};
    struct mgb_backend small = *machine_cuda();
    small.launch = launch_small;
    setenv("FAKE_CUDA_ORDER", "random", 1);
    struct rig rig = machine_open(&small);
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        limit = limits[i];
        model_check(&rig, &heads);
    }
    unsetenv("FAKE_CUDA_ORDER");
    machine_close(&rig);
}

/* Rows of more than 1024 numbers: keys, softmax both ways, layer norm. */
static struct mgb_graph *wide_make(void)
{
    struct mgb_graph *graph = model_make("wide");
    int q = model_input(graph, "q", SHAPE(2, 2, 4)), m = model_input(graph, "m", SHAPE(2, 1040, 4));
    int mask = -1, x = -1;
    assert_ok(mgb_graph_input(graph, &mask, "mask", SHAPE(1, 1040), MGB_I32));
    q = model_dense(graph, "query", q, 4, MGB_LINEAR);
    m = model_dense(graph, "memory", m, 4, MGB_TANH);
    x = attention(graph, q, m, m, mask, (struct mgb_attention){.heads = 2, .dropout = 0.25f});
    x = model_dense(graph, "wide", x, 1100, MGB_LINEAR);
    x = model_layer_norm(graph, "norm", x);
    assert_ok(mgb_op_softmax(graph, &x, "soft", x, false));
    assert_ok(mgb_op_softmax(graph, &x, "log", x, true));
    return classify(graph, x);
}

static void values_compare(const struct mgb_graph *graph, const struct rig_values *host,
                           const struct rig_values *cuda, const int64_t *counts)
{
    for (int t = 0; t < graph->tensor_count; t++) {
        if (!host->value[t] || !cuda->value[t])
            continue;
        double *wanted = calloc((size_t)counts[t], sizeof *wanted);
        for (int64_t i = 0; i < counts[t]; i++)
            wanted[i] = (double)host->value[t][i];
        conformance_close(graph->nodes[graph->tensors[t].node].name, cuda->value[t], wanted,
                          counts[t], 1e-4);
        free(wanted);
    }
}

/* Frees the graph. */
static void host_match(struct mgb_graph *graph, int64_t rows)
{
    struct reference reference = reference_make(graph, rows);
    struct rig_values host, cuda;
    const struct rig_play near = {.device = 0, .threads = 1, .plain = true};
    const struct rig_play far = {.device = 1, .threads = 1, .plain = true};
    struct rig rig = machine_open(machine_cuda());
    reference.first_row = 5;
    reference.step = 2;
    reference_fill(&reference, 7);
    assert_ok(rig_run(&host, &rig, &reference, &near));
    assert_ok(rig_run(&cuda, &rig, &reference, &far));
    values_compare(graph, &host, &cuda, reference.counts);
    rig_values_free(&host);
    rig_values_free(&cuda);
    reference_free(&reference);
    mgb_graph_free(graph);
    machine_close(&rig);
}

static void rows_of_a_block_each_match_the_host(void **state)
{
    (void)state;
    host_match(wide_make(), 3);
}

static void causal_queries_come_in_four_blocks_where_those_are_large(void **state)
{
    (void)state;
    for (int64_t queries = 1; queries < 5000; queries += 37) {
        int64_t block = mgb_cuda_attention_block(queries, true);
        assert_int_equal(mgb_cuda_attention_block(queries, false), queries);
        assert_true(block <= queries && (block == queries || block >= 256));
        assert_true(block <= 256 || (block - 1) * 4 < queries);
        assert_true(block * 4 >= queries);
    }
}

/* Two blocks, the second smaller, with their gradients. */
static void causal_queries_in_blocks_match_the_host(void **state)
{
    (void)state;
    struct mgb_graph *graph = model_make("long");
    int x = model_input(graph, "x", SHAPE(2, 300, 3));
    x = model_dense(graph, "in", x, 4, MGB_TANH);
    x = attention(graph, x, x, x, -1,
                  (struct mgb_attention){.heads = 2, .causal = true, .dropout = 0.25f});
    host_match(classify(graph, x), 2);
}

static int made_by(const struct mgb_graph *graph, enum mgb_op_kind kind)
{
    for (int i = 0; i < graph->node_count; i++)
        if (graph->nodes[i].kind == kind)
            return graph->nodes[i].outputs[0];
    fail_msg("no %s", mgb_op_name(kind));
    return -1;
}

static void gradient_by_rows_has_the_bits_of_the_whole_table(void **state)
{
    (void)state;
    struct mgb_graph *graph = many_words_make();
    struct reference reference = reference_make(graph, 3);
    struct rig_values values;
    const struct rig_play play = {.device = 1, .threads = 1, .plain = true};
    struct rig rig = machine_open(machine_cuda());
    reference_fill(&reference, 8);
    assert_ok(rig_run(&values, &rig, &reference, &play));
    int whole = made_by(graph, MGB_OP_EMBEDDING_GRAD),
        rows = made_by(graph, MGB_OP_EMBEDDING_UNPACK);
    assert_memory_equal(values.value[rows], values.value[whole],
                        sizeof(float) * (size_t)reference.counts[whole]);
    rig_values_free(&values);
    reference_free(&reference);
    mgb_graph_free(graph);
    machine_close(&rig);
}

static struct mgb_graph *tagged_make(void)
{
    struct mgb_graph *graph = model_make("tagged");
    return classify(graph, embedding(graph, 3, 7, 6));
}

/* Rows 10 to 19 are the second step of two. */
static void number_outside_of_its_table_leaves_the_weights(void **state)
{
    (void)state;
    static int32_t ids[20 * 3], labels[20];
    const void *arrays[2] = {ids, labels};
    struct mgb_graph *graph = tagged_make();
    struct mgb_source source;
    for (int i = 0; i < 60; i++)
        ids[i] = i % 7;
    machine_set("2", NULL);
    assert_ok(mgb_source_memory(&source, graph, arrays, 20, false));
    struct training training = {.graph = graph,
                                .source = &source,
                                .options = "gpus=2 global_batch=10 strategy=gradients",
                                .optimizer = training_sgd(0.1f, 0.9f),
                                .play_on = machine_cuda()};
    struct mgb_run *run = training_open(&training);
    ids[15 * 3 + 2] = -4; /* the source was looked through before */
    training_step(run, 1, NULL);
    uint64_t before = training_digest(run);
    struct mgb_step_request request = {.steps = 1};
    int64_t done;
    assert_status(mgb_run_step(run, &done, &request, NULL), MGB_INVALID);
    assert_message(
        "'words': number -4 of row 5, position 2, is not in its vocabulary of 7, 0 to 6");
    assert_int_equal(training_digest(run), before);
    mgb_run_close(run);
    mgb_source_close(&source);
    mgb_graph_free(graph);
    machine_check_empty();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(models_match_the_reference_in_any_order_of_threads),
        cmocka_unit_test(attention_in_chunks_matches_the_reference),
        cmocka_unit_test(rows_of_a_block_each_match_the_host),
        cmocka_unit_test(causal_queries_come_in_four_blocks_where_those_are_large),
        cmocka_unit_test(causal_queries_in_blocks_match_the_host),
        cmocka_unit_test(gradient_by_rows_has_the_bits_of_the_whole_table),
        cmocka_unit_test(number_outside_of_its_table_leaves_the_weights),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
