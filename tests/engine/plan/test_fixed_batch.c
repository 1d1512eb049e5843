/* Models written for one size of batch: planned where every tower gets that many rows, refused with the sizes named else. */
#include "engine/base/random.h"
#include "tests/support/check.h"
#include "tests/support/model.h"
#include "tests/support/plan.h"

#include <stdlib.h>
#include <string.h>

static struct mgb_graph *fixed_make(int rows)
{
    struct mgb_graph *graph = model_make("m");
    int x = model_input(graph, "x", SHAPE(1, 4)), label = model_label(graph, "label");
    if (rows > 0)
        assert_ok(mgb_graph_fix_batch(graph, "x", rows));
    model_classify(graph, model_dense(graph, "logits", x, 3, MGB_LINEAR), label);
    return graph;
}

static enum mgb_status plan_try(const struct mgb_graph *graph, const struct plan_setup *setup)
{
    struct plan_world world;
    struct mgb_plan *plan = NULL;
    plan_world_make(&world, graph, setup);
    enum mgb_status status = mgb_plan_make(&plan, &world.request);
    mgb_plan_free(plan);
    plan_world_done(&world);
    return status;
}

static void a_plan_is_made_exactly_where_every_tower_gets_the_declared_rows(void **state)
{
    (void)state;
    for (uint64_t draw = 0; draw < 200; draw++) {
        struct mgb_random4 r = mgb_random_at(11, draw, 0);
        int fixed = 1 + (int)mgb_random_below(r.v[0], 5),
            gpus = 1 + (int)mgb_random_below(r.v[1], 4);
        struct plan_setup setup = {.strategy = (enum mgb_strategy)(draw % 4),
                                   .gpus = gpus,
                                   .batch = 1 + (int)mgb_random_below(r.v[2], 20),
                                   .evaluate = draw / 4 % 2};
        if (draw % 3 == 0)
            setup.batch = fixed * gpus;
        struct mgb_graph *graph = fixed_make(fixed);
        assert_status(plan_try(graph, &setup), setup.batch == fixed * gpus ? MGB_OK : MGB_INVALID);
        mgb_graph_free(graph);
    }
}

static void a_refusal_names_the_sizes(void **state)
{
    (void)state;
    struct mgb_graph *graph = fixed_make(512);
    struct plan_setup halves = {.gpus = 2, .batch = 512}, uneven = {.gpus = 3, .batch = 512},
                      alone = {.gpus = 1, .batch = 8}, rest = {.gpus = 2, .batch = 1024, .rows = 5};
    assert_status(plan_try(graph, &halves), MGB_INVALID);
    assert_message("model 'm': input 'x' is declared for a batch of 512 on every GPU, but 512 rows "
                   "on 2 GPUs are 256 each; give batch = 512, or declare it for 256");
    assert_status(plan_try(graph, &uneven), MGB_INVALID);
    assert_message("but 512 rows on 3 GPUs are 171 and 170; give batch = 512");
    assert_status(plan_try(graph, &alone), MGB_INVALID);
    assert_message("but 8 rows on 1 GPU are another size; give batch = 512, or declare it for 8");
    assert_status(plan_try(graph, &rest), MGB_INVALID);
    assert_message("but 5 rows on 2 GPUs are 3 and 2; it is the last batch of the data: give data "
                   "of a multiple of 1024 rows");
    mgb_graph_free(graph);
}

static void the_declared_size_is_the_default_batch(void **state)
{
    (void)state;
    struct mgb_topology machine;
    struct mgb_placement asked;
    struct mgb_effective effective;
    struct mgb_graph *graph = fixed_make(7);
    mgb_placement_init(&asked);
    plan_machine_make(&machine, 2);
    assert_ok(mgb_placement_set(&asked, "gpus", "2"));
    assert_ok(mgb_placement_resolve(&effective, &asked, 0, graph, &machine, 4));
    assert_int_equal(effective.batch_per_gpu, 7);
    assert_int_equal(effective.global_batch, 14);
    mgb_effective_done(&effective);
    assert_ok(mgb_placement_set(&asked, "batch", "3"));
    assert_ok(mgb_placement_resolve(&effective, &asked, 0, graph, &machine, 4));
    assert_int_equal(effective.batch_per_gpu, 3);
    mgb_effective_done(&effective);
    mgb_topology_done(&machine);
    mgb_graph_free(graph);
}

static void the_text_of_a_model_has_its_batch(void **state)
{
    (void)state;
    struct mgb_graph *fixed = fixed_make(7), *open = fixed_make(0);
    char *text;
    const char *input;
    assert_ok(mgb_graph_text(&text, fixed));
    assert_non_null(strstr(text, "\nbatch 7\n"));
    mgb_text_free(text);
    assert_int_equal(mgb_graph_fixed_batch(fixed, &input), 7);
    assert_string_equal(input, "x");
    assert_int_equal(mgb_graph_fixed_batch(open, NULL), 0);
    assert_true(mgb_graph_digest(fixed) != mgb_graph_digest(open));
    mgb_graph_free(fixed);
    mgb_graph_free(open);
}

static void inputs_that_declare_a_batch_agree(void **state)
{
    (void)state;
    struct mgb_graph *graph = model_make("m");
    model_input(graph, "x", SHAPE(1, 4));
    assert_ok(mgb_graph_fix_batch(graph, "x", 8));
    assert_ok(mgb_graph_fix_batch(graph, "y", 8));
    assert_status(mgb_graph_fix_batch(graph, "z", 9), MGB_INVALID);
    assert_message("input 'z': a batch of 9 rows, but input 'x' of model 'm' has 8");
    assert_status(mgb_graph_fix_batch(graph, "z", 0), MGB_INVALID);
    mgb_graph_free(graph);
}

/* Builds tower after tower; the second declares another batch. */
static void a_tower_that_declares_another_batch_is_refused(void **state)
{
    (void)state;
    for (int first = 0; first <= 8; first += 8) {
        struct mgb_graph *graph = model_make("m");
        assert_ok(mgb_graph_begin_tower(graph, 0));
        if (first > 0)
            assert_ok(mgb_graph_fix_batch(graph, "x", first));
        model_input(graph, "x", SHAPE(1, 4));
        assert_ok(mgb_graph_end_tower(graph));
        assert_ok(mgb_graph_begin_tower(graph, 1));
        assert_status(mgb_graph_fix_batch(graph, "x", 9), MGB_INVALID);
        if (first > 0)
            assert_ok(mgb_graph_fix_batch(graph, "x", first));
        mgb_graph_free(graph);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_plan_is_made_exactly_where_every_tower_gets_the_declared_rows),
        cmocka_unit_test(a_refusal_names_the_sizes),
        cmocka_unit_test(the_declared_size_is_the_default_batch),
        cmocka_unit_test(the_text_of_a_model_has_its_batch),
        cmocka_unit_test(inputs_that_declare_a_batch_agree),
        cmocka_unit_test(a_tower_that_declares_another_batch_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
