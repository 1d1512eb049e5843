/* What attention on CPU devices promises beside its values: zeros where no key is seen, no overflow, the same bits for any team, and no
 * dropout on evaluation. */
#include "tests/support/check.h"

#include "tests/support/conformance_attention.h"
#include "tests/support/model.h"
#include "tests/support/rig.h"
#include <math.h>
#include <mgb/op.h>
#include <string.h>

struct scene {
    struct mgb_graph *graph;
    int x, mask, y; /* tensors */
};

static struct scene scene_make(struct mgb_attention options)
{
    struct scene s = {.graph = model_make("scene"), .mask = -1, .y = -1};
    s.x = model_input(s.graph, "x", SHAPE(2, 5, 4));
    assert_ok(mgb_graph_input(s.graph, &s.mask, "mask", SHAPE(1, 5), MGB_I32));
    int label = model_label(s.graph, "label");
    int all = model_dense(s.graph, "project", s.x, 4, MGB_LINEAR);
    assert_ok(mgb_op_attention(s.graph, &s.y, "attention", all, all, all, s.mask, &options));
    model_classify(
        s.graph, model_dense(s.graph, "logits", model_flatten(s.graph, s.y), 3, MGB_LINEAR), label);
    return s;
}

static struct rig_values run(const struct rig *rig, const struct reference *reference, int threads)
{
    struct rig_values values;
    struct rig_play play = {.device = 1, .threads = threads, .plain = true};
    assert_ok(rig_run(&values, rig, reference, &play));
    return values;
}

static void finite_check(const struct reference *reference, const struct rig_values *values)
{
    for (int t = 0; t < values->count; t++)
        for (int64_t i = 0; i < reference->counts[t]; i++)
            if (reference->graph->tensors[t].type == MGB_F32 && !isfinite(values->value[t][i]))
                fail_msg("tensor %d, element %d is not finite", t, (int)i);
}

static void a_row_that_sees_no_key_gives_zeros(void **state)
{
    (void)state;
    for (int causal = 0; causal < 2; causal++) {
        struct scene s = scene_make((struct mgb_attention){.heads = 2, .causal = causal});
        struct reference reference = reference_make(s.graph, 2);
        struct rig rig = rig_open(&mgb_host_backend, 0);
        reference_fill(&reference, 5);
        for (int j = 0; j < 10; j++) /* the first example sees nothing, the second its last two */
            reference.value[s.mask][j] = j >= 8;
        struct rig_values values = run(&rig, &reference, 1);
        finite_check(&reference, &values);
        for (int i = 0; i < 40; i++) {
            bool blind = i < 20 || (causal && i < 32);
            assert_true((values.value[s.y][i] == 0) == blind);
        }
        rig_values_free(&values);
        rig_close(&rig);
        reference_free(&reference);
        mgb_graph_free(s.graph);
    }
}

static void large_scores_do_not_overflow(void **state)
{
    (void)state;
    struct scene s = scene_make((struct mgb_attention){.heads = 1, .scale = 1e4f});
    struct reference reference = reference_make(s.graph, 2);
    struct rig rig = rig_open(&mgb_host_backend, 0);
    reference_fill(&reference, 5);
    for (int i = 0; i < 40; i++)
        reference.value[s.x][i] *= 30;
    for (int j = 0; j < 10; j++)
        reference.value[s.mask][j] = 1;
    struct rig_values values = run(&rig, &reference, 1);
    finite_check(&reference, &values);
    rig_values_free(&values);
    rig_close(&rig);
    reference_free(&reference);
    mgb_graph_free(s.graph);
}

#ifndef __SANITIZE_THREAD__ /* oneDNN's own team is invisible to ThreadSanitizer */
/* Dense layers may differ, oneDNN splits their sums by the team: so node by node, on the same inputs. */
static void compare(const struct reference *reference, const struct rig_values *one,
                    const struct rig_values *other)
{
    int compared = 0;
    for (int t = 0; t < one->count; t++) {
        const struct mgb_node *node = &reference->graph->nodes[reference->graph->tensors[t].node];
        if (node->kind != MGB_OP_ATTENTION && node->kind != MGB_OP_MATMUL)
            continue;
        compared++;
        if (memcmp(one->value[t], other->value[t], sizeof(float) * (size_t)reference->counts[t]))
            fail_msg("%s '%s' has other bits on another team", mgb_op_name(node->kind), node->name);
    }
    assert_true(compared > 1);
}

static struct mgb_graph *bare_make(void)
{
    struct mgb_graph *graph = model_make("bare");
    int q = model_input(graph, "q", SHAPE(2, 150, 12)),
        k = model_input(graph, "k", SHAPE(2, 150, 12));
    int y = -1, label = model_label(graph, "label");
    struct mgb_attention options = {.heads = 3, .causal = true, .dropout = 0.5f};
    assert_ok(mgb_op_attention(graph, &y, "attention", q, k, k, -1, &options));
    assert_ok(mgb_op_matmul(graph, &y, "matmul", y, q, false, true));
    model_classify(graph, model_dense(graph, "logits", model_flatten(graph, y), 3, MGB_LINEAR),
                   label);
    return graph;
}

static void every_team_gives_the_same_bits(void **state)
{
    (void)state;
    for (int rows = 1; rows < 4; rows += 2) {
        struct mgb_graph *graph = bare_make();
        struct reference reference = reference_make(graph, rows);
        struct rig rig = rig_open(&mgb_host_backend, 0);
        reference_fill(&reference, 5);
        struct rig_values one = run(&rig, &reference, 1);
        for (int threads = 2; threads < 4; threads++) {
            struct rig_values other = run(&rig, &reference, threads);
            compare(&reference, &one, &other);
            rig_values_free(&other);
        }
        rig_values_free(&one);
        rig_close(&rig);
        reference_free(&reference);
        mgb_graph_free(graph);
    }
}
#endif

static void evaluation_drops_nothing(void **state)
{
    (void)state;
    struct scene with = scene_make((struct mgb_attention){.heads = 2, .dropout = 0.5f});
    struct scene without = scene_make((struct mgb_attention){.heads = 2});
    struct rig rig = rig_open(&mgb_host_backend, 0);
    struct rig_values values[3];
    for (int i = 0; i < 3; i++) {
        struct reference reference = reference_make(i < 2 ? with.graph : without.graph, 2);
        reference.training = i != 1;
        reference_fill(&reference, 5);
        values[i] = run(&rig, &reference, 1);
        reference_free(&reference);
    }
    assert_memory_equal(values[1].value[with.y], values[2].value[without.y], 40 * sizeof(float));
    assert_memory_not_equal(values[0].value[with.y], values[2].value[without.y],
                            40 * sizeof(float));
    for (int i = 0; i < 3; i++)
        rig_values_free(&values[i]);
    rig_close(&rig);
    mgb_graph_free(with.graph);
    mgb_graph_free(without.graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_row_that_sees_no_key_gives_zeros),
        cmocka_unit_test(large_scores_do_not_overflow),
#ifndef __SANITIZE_THREAD__
        cmocka_unit_test(every_team_gives_the_same_bits),
#endif
        cmocka_unit_test(evaluation_drops_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
