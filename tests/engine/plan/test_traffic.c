/* Bytes over each link against closed forms, for the MLP (12 -> 8 -> 3) on 7 rows. */
#include "engine/graph/graph.h"
#include "tests/support/check.h"
#include "tests/support/model.h"
#include "tests/support/plan.h"

#define IMAGE 48 /* bytes a row */
#define LABEL 4
#define LOGITS 12
#define RESULTS (64 + 4) /* loss and accuracy, 64 bytes apart */

static int64_t align(int64_t bytes)
{
    return (bytes + 63) / 64 * 64;
}

/* Kernels and biases in order of definition, each at a multiple of 64; the last needs no padding. */
static int64_t weights(void)
{
    return align(12 * 8 * 4) + align(8 * 4) + align(8 * 3 * 4) + 3 * 4;
}

/* The same in order of readiness: the last layer's first. */
static int64_t gradients(void)
{
    return align(8 * 3 * 4) + align(3 * 4) + align(12 * 8 * 4) + 8 * 4;
}

static void links_check(const struct plan_setup *setup, int count, const int64_t links[][3])
{
    struct mgb_graph *graph = model_mlp();
    struct plan_world world;
    struct mgb_plan *plan = plan_make(&world, graph, setup);
    assert_ok(mgb_plan_verify(plan));
    for (int i = 0; i < count; i++)
        assert_int_equal(plan_traffic(plan, (int)links[i][0], (int)links[i][1]), links[i][2]);
    assert_int_equal(plan->traffic_count, count);
    mgb_plan_free(plan);
    plan_world_done(&world);
    mgb_graph_free(graph);
}

static void outputs_with_everything_on_the_first_gpu(void **state)
{
    (void)state;
    const struct plan_setup setup = {.strategy = MGB_OUTPUTS,
                                     .gpus = 2,
                                     .batch = 7,
                                     .home = 1,
                                     .original = 1,
                                     .join = 1,
                                     .loss = 1,
                                     .sum = 1,
                                     .update = 1};
    const int64_t links[][3] = {{0, 1, 4 * IMAGE + 7 * LABEL},
                                {0, 2, 3 * IMAGE},
                                {1, 2, weights() + 3 * LOGITS},
                                {2, 1, 3 * LOGITS + gradients()},
                                {1, 0, RESULTS}};
    links_check(&setup, 5, links);
}

static void outputs_that_meet_on_the_host(void **state)
{
    (void)state;
    const struct plan_setup setup = {
        .strategy = MGB_OUTPUTS, .gpus = 2, .batch = 7, .home = 1, .original = 1, .update = 1};
    const int64_t links[][3] = {{0, 1, 4 * IMAGE + 4 * LOGITS + gradients()},
                                {0, 2, 3 * IMAGE + 3 * LOGITS},
                                {1, 2, weights()},
                                {1, 0, 4 * LOGITS + gradients()},
                                {2, 0, 3 * LOGITS + gradients()}};
    links_check(&setup, 5, links);
}

static void outputs_as_keras_with_relocation_does(void **state)
{
    (void)
        state; /* weights on the host, joined there, loss and last sum and slots on the first GPU */
    const struct plan_setup setup = {.strategy = MGB_OUTPUTS,
                                     .gpus = 2,
                                     .batch = 7,
                                     .home = 0,
                                     .join = 0,
                                     .loss = 1,
                                     .sum = 1,
                                     .update = 1};
    const int64_t links[][3] = {{0, 1, 4 * IMAGE + 7 * LABEL + 7 * LOGITS + 2 * weights()},
                                {0, 2, 3 * IMAGE + weights()},
                                {1, 2, 3 * LOGITS},
                                {1, 0, 4 * LOGITS + weights() + RESULTS},
                                {2, 0, 3 * LOGITS},
                                {2, 1, gradients()}};
    links_check(&setup, 6, links);
}

static void gradients_with_everything_on_the_host(void **state)
{
    (void)state;
    const struct plan_setup setup = {.strategy = MGB_GRADIENTS, .gpus = 3, .batch = 7};
    const int64_t links[][3] = {
        {0, 1, 3 * (IMAGE + LABEL) + weights()}, {0, 2, 2 * (IMAGE + LABEL) + weights()},
        {0, 3, 2 * (IMAGE + LABEL) + weights()}, {1, 0, gradients() + RESULTS},
        {2, 0, gradients() + RESULTS},           {3, 0, gradients() + RESULTS}};
    links_check(&setup, 6, links);
}

static void gradients_with_three_different_places(void **state)
{
    (void)state; /* home /gpu:0, sum /gpu:1, update /gpu:2 */
    const struct plan_setup setup = {.strategy = MGB_GRADIENTS,
                                     .gpus = 3,
                                     .batch = 7,
                                     .home = 1,
                                     .original = 1,
                                     .sum = 2,
                                     .update = 3};
    const int64_t links[][3] = {{0, 1, 3 * (IMAGE + LABEL)},
                                {0, 2, 2 * (IMAGE + LABEL)},
                                {0, 3, 2 * (IMAGE + LABEL)},
                                {1, 0, RESULTS},
                                {2, 0, RESULTS},
                                {3, 0, RESULTS},
                                {1, 2, weights() + gradients()},
                                {1, 3, 2 * weights()},
                                {3, 2, gradients()},
                                {2, 3, gradients()},
                                {3, 1, weights()}};
    links_check(&setup, 11, links);
}

/* A tower sends all its parts but one while summing and all but one while spreading. */
static int64_t ring(int64_t bytes, int towers, int t)
{
    int64_t count = bytes / 4, parts[8];
    for (int k = 0; k < towers; k++)
        parts[k] = count / towers + (k < count % towers);
    return 4 * (2 * count - parts[(t + 1) % towers] - parts[(t + 2) % towers]);
}

static void allreduce_goes_round_the_ring(void **state)
{
    (void)state;
    const struct plan_setup setup = {.strategy = MGB_ALLREDUCE, .gpus = 3, .batch = 7};
    const int64_t links[][3] = {{0, 1, 3 * (IMAGE + LABEL)},
                                {0, 2, 2 * (IMAGE + LABEL)},
                                {0, 3, 2 * (IMAGE + LABEL)},
                                {1, 0, RESULTS},
                                {2, 0, RESULTS},
                                {3, 0, RESULTS},
                                {1, 2, ring(gradients(), 3, 0)},
                                {2, 3, ring(gradients(), 3, 1)},
                                {3, 1, ring(gradients(), 3, 2)}};
    links_check(&setup, 9, links);
}

static void allreduce_goes_up_and_down_the_tree(void **state)
{
    (void)state;
    const struct plan_setup setup = {
        .strategy = MGB_ALLREDUCE, .gpus = 4, .batch = 8, .allreduce = MGB_ALLREDUCE_TREE};
    int64_t input = 2 * (IMAGE + LABEL), g = gradients();
    const int64_t links[][3] = {{0, 1, input},   {0, 2, input},   {0, 3, input},   {0, 4, input},
                                {1, 0, RESULTS}, {2, 0, RESULTS}, {3, 0, RESULTS}, {4, 0, RESULTS},
                                {1, 2, g},       {2, 1, g},       {1, 3, g},       {3, 1, g},
                                {2, 4, g},       {4, 2, g}};
    links_check(&setup, 14, links);
}

static void independent_towers_exchange_nothing(void **state)
{
    (void)state;
    const struct plan_setup setup = {.strategy = MGB_INDEPENDENT, .gpus = 2, .batch = 7};
    const int64_t links[][3] = {
        {0, 1, 4 * (IMAGE + LABEL)}, {0, 2, 3 * (IMAGE + LABEL)}, {1, 0, RESULTS}, {2, 0, RESULTS}};
    links_check(&setup, 4, links);
}

static void one_tower_on_the_host_moves_nothing(void **state)
{
    (void)state;
    const struct plan_setup setup = {.strategy = MGB_OUTPUTS, .gpus = 0, .batch = 7};
    links_check(&setup, 0, NULL);
}

static void evaluation_brings_no_gradients(void **state)
{
    (void)state;
    const struct plan_setup setup = {.strategy = MGB_OUTPUTS,
                                     .gpus = 2,
                                     .batch = 7,
                                     .home = 1,
                                     .original = 1,
                                     .join = 1,
                                     .loss = 1,
                                     .sum = 1,
                                     .update = 1,
                                     .evaluate = true};
    const int64_t links[][3] = {{0, 1, 4 * IMAGE + 7 * LABEL},
                                {0, 2, 3 * IMAGE},
                                {1, 2, weights()},
                                {2, 1, 3 * LOGITS},
                                {1, 0, RESULTS}};
    links_check(&setup, 5, links);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(outputs_with_everything_on_the_first_gpu),
        cmocka_unit_test(outputs_that_meet_on_the_host),
        cmocka_unit_test(outputs_as_keras_with_relocation_does),
        cmocka_unit_test(gradients_with_everything_on_the_host),
        cmocka_unit_test(gradients_with_three_different_places),
        cmocka_unit_test(allreduce_goes_round_the_ring),
        cmocka_unit_test(allreduce_goes_up_and_down_the_tree),
        cmocka_unit_test(independent_towers_exchange_nothing),
        cmocka_unit_test(one_tower_on_the_host_moves_nothing),
        cmocka_unit_test(evaluation_brings_no_gradients),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
