/* The variable check: duplicates of builds that run once a tower, leftovers of clones, and towers that only look alike. */
#include "engine/graph/graph.h"
#include "tests/support/check.h"
#include "tests/support/model.h"
#include "tests/support/plan.h"
#include <mgb/check.h>
#include <mgb/op.h>
#include <string.h>

/* Built once a tower: dense 12 -> 8 shared or not, logits 8 -> 3 shared. */
static struct mgb_graph *siamese(int towers, bool shared)
{
    struct mgb_graph *graph = model_make("siamese");
    struct model_layer encoder = model_dense_layer(graph, "encoder", 12, 8);
    struct model_layer logits = model_dense_layer(graph, "logits", 8, 3);
    for (int t = 0; t < towers; t++) {
        int loss = -1;
        assert_ok(mgb_graph_begin_tower(graph, t));
        int image = model_input(graph, "image", SHAPE(1, 12)), label = model_label(graph, "label");
        struct model_layer own = shared ? encoder : model_dense_layer(graph, "tower", 12, 8);
        int x = model_dense_use(graph, "dense", image, own, MGB_RELU);
        x = model_dense_use(graph, "classes", x, logits, MGB_LINEAR);
        assert_ok(mgb_graph_output(graph, "classes", x));
        assert_ok(mgb_op_softmax_cross_entropy(graph, &loss, "loss", x, label));
        assert_ok(mgb_graph_loss(graph, loss, 1));
        assert_ok(mgb_graph_end_tower(graph));
    }
    assert_ok(mgb_graph_finish(graph));
    return graph;
}

struct checked {
    struct mgb_graph *graph;
    struct plan_world world;
    struct mgb_plan *plan;
    struct mgb_check check;
};

static struct checked checked_make(struct mgb_graph *graph, const struct plan_setup *setup)
{
    struct checked c = {.graph = graph};
    c.plan = plan_make(&c.world, graph, setup);
    assert_ok(mgb_plan_verify(c.plan));
    assert_ok(mgb_check_make(&c.check, c.plan));
    return c;
}

static void checked_done(struct checked *c)
{
    mgb_check_done(&c->check);
    mgb_plan_free(c->plan);
    plan_world_done(&c->world);
    mgb_graph_free(c->graph);
}

static void shared_towers_have_no_findings_under_any_strategy(void **state)
{
    (void)state;
    for (int strategy = MGB_OUTPUTS; strategy <= MGB_INDEPENDENT; strategy++) {
        const struct plan_setup setup = {.strategy = (enum mgb_strategy)strategy,
                                         .gpus = 4,
                                         .batch = 10,
                                         .optimizer = mgb_optimizer_default(MGB_ADAM)};
        struct checked c = checked_make(siamese(4, true), &setup);
        assert_int_equal(c.check.finding_count, 0);
        assert_int_equal(c.check.variables, c.check.expected_variables);
        assert_int_equal(c.check.master_bytes, c.check.expected_bytes);
        assert_int_equal(c.check.replicas_per_variable, strategy >= MGB_ALLREDUCE ? 4 : 1);
        checked_done(&c);
    }
}

static void every_unshared_copy_is_named_with_bytes_and_device(void **state)
{
    (void)state;
    struct plan_setup setup = {.strategy = MGB_GRADIENTS, .gpus = 4, .batch = 10};
    setup.optimizer = mgb_optimizer_default(MGB_ADAM);
    struct checked c = checked_make(siamese(4, false), &setup);
    /* kernel and bias, three further towers; master and two slots each on /cpu:0 */
    assert_int_equal(c.check.duplicate_count, 6);
    assert_int_equal(c.check.duplicate_bytes, 3 * 3 * (12 * 8 + 8) * 4);
    assert_int_equal(c.check.variables, c.check.expected_variables + 6);
    for (int i = 0; i < c.check.finding_count; i++) {
        const struct mgb_finding *finding = &c.check.findings[i];
        assert_int_equal(finding->device, PLAN_CPU);
        assert_int_equal(c.graph->variables[finding->variable].info.twin, finding->twin);
        assert_non_null(strstr(finding->why, "/cpu:0"));
    }
    checked_done(&c);
}

static void unshared_mirrors_lie_on_their_towers(void **state)
{
    (void)state;
    const struct plan_setup setup = {.strategy = MGB_ALLREDUCE, .gpus = 3, .batch = 9};
    struct checked c = checked_make(siamese(3, false), &setup);
    assert_int_equal(c.check.duplicate_count, 4);
    int at[4] = {0};
    for (int i = 0; i < c.check.finding_count; i++)
        at[c.check.findings[i].device]++;
    assert_int_equal(at[PLAN_GPU(1)], 2);
    assert_int_equal(at[PLAN_GPU(2)], 2);
    checked_done(&c);
}

static void tower_1_does_not_stand_for_tower_10(void **state)
{
    (void)state;
    const struct plan_setup setup = {.strategy = MGB_GRADIENTS, .gpus = 12, .batch = 24};
    struct checked c = checked_make(siamese(12, false), &setup);
    bool seen[12] = {false};
    assert_int_equal(c.check.duplicate_count, 2 * 11);
    for (int i = 0; i < c.check.finding_count; i++)
        seen[c.graph->variables[c.check.findings[i].variable].info.tower] = true;
    for (int t = 1; t < 12; t++)
        assert_true(seen[t]);
    checked_done(&c);
}

static void a_clone_is_a_leftover_of_every_variable(void **state)
{
    (void)state;
    const struct plan_setup setup = {
        .strategy = MGB_OUTPUTS, .gpus = 2, .batch = 8, .home = 0, .original = 1, .clone = true};
    struct checked c = checked_make(model_mlp(), &setup);
    assert_int_equal(c.check.leftover_count, 4);
    assert_int_equal(c.check.leftover_bytes, mgb_graph_parameters(c.graph) * 4);
    assert_int_equal(c.check.duplicate_count, 0);
    for (int i = 0; i < c.check.finding_count; i++)
        assert_true(c.check.findings[i].leftover && c.check.findings[i].device == PLAN_GPU(0));
    checked_done(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shared_towers_have_no_findings_under_any_strategy),
        cmocka_unit_test(every_unshared_copy_is_named_with_bytes_and_device),
        cmocka_unit_test(unshared_mirrors_lie_on_their_towers),
        cmocka_unit_test(tower_1_does_not_stand_for_tower_10),
        cmocka_unit_test(a_clone_is_a_leftover_of_every_variable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
