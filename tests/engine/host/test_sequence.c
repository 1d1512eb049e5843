/* Embeddings on CPU devices: numbers outside of the vocabulary, and gradients that do not depend on the team. */
#include "tests/support/check.h"

#include "tests/support/model.h"
#include "tests/support/rig.h"
#include <mgb/op.h>
#include <stdio.h>
#include <string.h>

enum { ROWS = 40, POSITIONS = 9, VOCABULARY = 700, UNITS = 37, LOOKUPS = ROWS * POSITIONS };

static const struct mgb_backend *const host = &mgb_host_backend;

static struct mgb_graph *words_make(void)
{
    struct mgb_graph *graph = model_make("words");
    int ids = -1, x = -1, label = model_label(graph, "label");
    assert_ok(mgb_graph_input(graph, &ids, "ids", SHAPE(1, POSITIONS), MGB_I32));
    int table = model_weight(graph, "embeddings", SHAPE(2, VOCABULARY, UNITS));
    assert_ok(mgb_op_embedding(graph, &x, "words", ids, table));
    model_classify(graph, model_dense(graph, "logits", model_flatten(graph, x), 3, MGB_LINEAR),
                   label);
    return graph;
}

struct lookup { /* one operator of the model on a device */
    struct rig rig;
    struct mgb_queue *queue;
    struct mgb_kernel *kernel;
    void *workspace;
    int64_t workspace_bytes;
};

static struct lookup lookup_open(const struct mgb_graph *graph, enum mgb_op_kind kind, int threads)
{
    struct lookup l = {.rig = rig_open(host, 0)};
    struct mgb_kernel_request request = {.device = 1,
                                         .use = {.graph = graph, .rows = ROWS, .threads = threads}};
    while (graph->nodes[request.use.node].kind != kind)
        request.use.node++;
    assert_ok(host->describe(l.rig.context, 1, &request.use, &request.facts));
    l.workspace_bytes = request.facts.workspace_bytes;
    l.workspace = l.workspace_bytes > 0 ? rig_arena(&l.rig, 1, l.workspace_bytes) : NULL;
    assert_ok(host->kernel(l.rig.context, &l.kernel, &request));
    l.queue = rig_compute(&l.rig, 1, threads);
    return l;
}

static enum mgb_status lookup_run(struct lookup *l, const int32_t *ids, const float *from,
                                  float *out)
{
    void *inputs[] = {(void *)ids, (void *)from}, *outputs[MGB_MAX_OUTPUTS] = {out};
    struct mgb_launch launch = {.inputs = inputs,
                                .outputs = outputs,
                                .first_row = 100,
                                .scale = 1,
                                .name = "words",
                                .workspace = l->workspace};
    assert_ok(host->launch(l->queue, l->kernel, &launch));
    return host->drain(l->rig.context, 0);
}

static void lookup_close(struct lookup *l)
{
    if (l->workspace)
        host->arena_free(l->rig.context, 1, l->workspace, l->workspace_bytes);
    host->queue_free(l->queue);
    rig_close(&l->rig);
}

static void a_number_outside_of_the_vocabulary_is_named(void **state)
{
    (void)state;
    static const enum mgb_op_kind kinds[] = {MGB_OP_EMBEDDING, MGB_OP_EMBEDDING_GRAD,
                                             MGB_OP_EMBEDDING_ROWS};
    static const int32_t wrong[] = {-1, VOCABULARY, INT32_MAX, INT32_MIN};
    static float in[VOCABULARY * UNITS], out[VOCABULARY * UNITS];
    int32_t ids[LOOKUPS] = {0};
    struct mgb_graph *graph = words_make();
    for (int k = 0; k < 3; k++) {
        struct lookup l = lookup_open(graph, kinds[k], 1);
        for (int i = 0; i < 4; i++) {
            char message[80];
            ids[3 * POSITIONS + 2] = wrong[i];
            assert_status(lookup_run(&l, ids, in, out), MGB_INVALID);
            snprintf(message, sizeof message, "'words': number %d of row 103, position 2",
                     wrong[i]);
            assert_message(message);
            assert_message("its vocabulary of 700, 0 to 699");
        }
        ids[3 * POSITIONS + 2] = VOCABULARY - 1;
        assert_ok(lookup_run(&l, ids, in, out));
        lookup_close(&l);
    }
    mgb_graph_free(graph);
}

static void gradients_of_a_table_do_not_depend_on_threads(void **state)
{
    (void)state;
    static float dy[LOOKUPS * UNITS], first[VOCABULARY * UNITS], more[VOCABULARY * UNITS];
    int32_t ids[LOOKUPS];
    struct mgb_graph *graph = words_make();
    for (int i = 0; i < LOOKUPS; i++)
        ids[i] = i % 3 == 0 ? 5 : i * 7919 % VOCABULARY; /* one row with many uses */
    for (int i = 0; i < LOOKUPS * UNITS; i++)
        dy[i] = 1.0f / (float)(1 + i % 1013) - 0.01f;
    for (int threads = 1; threads < 5; threads++) {
        struct lookup l = lookup_open(graph, MGB_OP_EMBEDDING_GRAD, threads);
        float *out = threads == 1 ? first : more;
        memset(out, 0xff, sizeof first); /* what is not written shows */
        assert_ok(lookup_run(&l, ids, dy, out));
        if (threads > 1)
            assert_memory_equal(first, more, sizeof first);
        lookup_close(&l);
    }
    mgb_graph_free(graph);
}

/* A row of ten uses, rows of one, and a minus zero, which as the first use of a row comes out as zero. */
static void lookups_draw(int32_t *ids, float *dy, int seed)
{
    for (int i = 0; i < LOOKUPS; i++)
        ids[i] = i % 3 == seed % 2 ? 5 + seed : (i + seed) * 7919 % VOCABULARY;
    for (int i = 0; i < LOOKUPS * UNITS; i++)
        dy[i] = i % 17 == 0 ? -0.0f : 1.0f / (float)(1 + (i + seed) % 1013) - 0.01f;
}

static void the_rows_that_a_gradient_touches_unpack_to_its_very_bits(void **state)
{
    (void)state;
    enum { PACKED = LOOKUPS * (1 + UNITS) };
    static float dy[LOOKUPS * UNITS], whole[VOCABULARY * UNITS], unpacked[VOCABULARY * UNITS],
        packed[PACKED];
    int32_t ids[LOOKUPS], numbers[LOOKUPS];
    struct mgb_graph *graph = words_make();
    for (int draw = 0; draw < 6; draw++) {
        int threads = 1 + draw % 3, used = 0;
        struct lookup grad = lookup_open(graph, MGB_OP_EMBEDDING_GRAD, threads),
                      rows = lookup_open(graph, MGB_OP_EMBEDDING_ROWS, threads),
                      unpack = lookup_open(graph, MGB_OP_EMBEDDING_UNPACK, 3 - draw % 3);
        lookups_draw(ids, dy, draw);
        memset(packed, 0xff, sizeof packed);
        memset(unpacked, 0xff, sizeof unpacked);
        assert_ok(lookup_run(&grad, ids, dy, whole));
        assert_ok(lookup_run(&rows, ids, dy, packed));
        assert_ok(lookup_run(&unpack, (const int32_t *)(const void *)packed, NULL, unpacked));
        assert_memory_equal(whole, unpacked, sizeof whole);
        memcpy(numbers, packed, sizeof numbers);
        while (used < LOOKUPS && numbers[used] >= 0)
            used++;
        assert_in_range(used, 2, LOOKUPS - 1);
        for (int i = 1; i < LOOKUPS; i++)
            assert_true(i < used ? numbers[i - 1] < numbers[i] : numbers[i] == -1);
        lookup_close(&grad);
        lookup_close(&rows);
        lookup_close(&unpack);
    }
    mgb_graph_free(graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_number_outside_of_the_vocabulary_is_named),
        cmocka_unit_test(gradients_of_a_table_do_not_depend_on_threads),
        cmocka_unit_test(the_rows_that_a_gradient_touches_unpack_to_its_very_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
