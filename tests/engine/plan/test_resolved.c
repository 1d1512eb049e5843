/* From options to a plan: every system that `like` names and every pair of flags, on 0 to 4 GPUs, gives a sound plan. */
#include "engine/graph/graph.h"
#include "tests/support/check.h"
#include "tests/support/model.h"
#include "tests/support/plan.h"
#include <stdio.h>

/* Options as "name=value" pairs, NULL at the end. */
static struct mgb_plan *plan_resolved(const struct mgb_graph *graph,
                                      const struct mgb_topology *topology,
                                      struct mgb_effective *effective,
                                      const char *const options[][2])
{
    struct mgb_placement placement;
    struct mgb_plan *plan = NULL;
    mgb_placement_init(&placement);
    for (int i = 0; options[i][0]; i++)
        assert_ok(mgb_placement_set(&placement, options[i][0], options[i][1]));
    assert_ok(mgb_placement_resolve(effective, &placement, 0, graph, topology, 2));
    struct mgb_plan_request request = {.kind = MGB_PLAN_TRAIN,
                                       .graph = graph,
                                       .topology = topology,
                                       .placement = effective,
                                       .optimizer = mgb_optimizer_default(MGB_ADAM),
                                       .rows = effective->global_batch};
    assert_ok(mgb_plan_make(&plan, &request));
    assert_ok(mgb_plan_verify(plan));
    return plan;
}

static void every_like_gives_a_sound_plan(void **state)
{
    (void)state;
    static const char *const likes[] = {"keras", "deep_qa", "tf_ps", "tf_replicated", "ddp"};
    struct mgb_graph *graph = model_mnist_cnn();
    for (int gpus = 0; gpus <= 4; gpus++)
        for (size_t i = 0; i < sizeof likes / sizeof *likes; i++) {
            struct mgb_topology topology;
            struct mgb_effective effective;
            char count[16];
            plan_machine_make(&topology, gpus);
            snprintf(count, sizeof count, "%d", gpus);
            const char *const options[][2] = {
                {"gpus", count}, {"global_batch", "13"}, {"like", likes[i]}, {NULL, NULL}};
            mgb_plan_free(plan_resolved(graph, &topology, &effective, options));
            mgb_effective_done(&effective);
            mgb_topology_done(&topology);
        }
    mgb_graph_free(graph);
}

static void the_four_pairs_of_flags_mean_what_keras_users_expect(void **state)
{
    (void)state;
    struct mgb_graph *graph = model_mnist_cnn();
    for (int flags = 0; flags < 4; flags++) {
        struct mgb_topology topology;
        struct mgb_effective effective;
        plan_machine_make(&topology, 2);
        const char *const options[][2] = {{"gpus", "2"},
                                          {"global_batch", "13"},
                                          {"cpu_relocation", flags & 1 ? "true" : "false"},
                                          {"cpu_merge", flags & 2 ? "true" : "false"},
                                          {NULL, NULL}};
        struct mgb_plan *plan = plan_resolved(graph, &topology, &effective, options);
        int update = plan_find_task(plan, MGB_TASK_UPDATE, MGB_PHASE_UPDATE, 0);
        int join = plan_find_task(plan, MGB_TASK_COPY, MGB_PHASE_JOIN, 0);
        assert_int_equal(plan->tasks[update].device, flags & 1 ? PLAN_CPU : PLAN_GPU(0));
        assert_int_equal(plan->tasks[join].device == PLAN_CPU, (flags & 2) != 0);
        mgb_plan_free(plan);
        mgb_effective_done(&effective);
        mgb_topology_done(&topology);
    }
    mgb_graph_free(graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_like_gives_a_sound_plan),
        cmocka_unit_test(the_four_pairs_of_flags_mean_what_keras_users_expect),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
