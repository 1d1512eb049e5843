/* Gradients of tables that travel as the rows they touch: when, over which links, with how many bytes. */
#include "engine/graph/facts.h"
#include "tests/support/check.h"
#include "tests/support/plan.h"
#include "tests/support/words.h"

#define RESULT 4 /* the loss */

static const struct words large = {.positions = 3, .vocabulary = 100, .units = 8};

static int tasks_of(const struct mgb_plan *plan, enum mgb_op_kind kind)
{
    int count = 0;
    for (int i = 0; i < plan->task_count; i++)
        if (plan->tasks[i].kind == MGB_TASK_COMPUTE &&
            plan->graph->nodes[plan->tasks[i].node].kind == kind)
            count += plan->tasks[i].class == MGB_ROOT
                         ? 1
                         : plan->classes[plan->tasks[i].class].tower_count;
    return count;
}

struct world {
    struct mgb_graph *graph;
    struct plan_world world;
    struct mgb_plan *plan;
};

static struct world world_make(struct words words, const struct plan_setup *setup,
                               enum mgb_wire_type wire)
{
    struct world w = {.graph = words_make(words)};
    plan_world_make(&w.world, w.graph, setup);
    w.world.placement->wire_type = wire;
    assert_ok(mgb_plan_make(&w.plan, &w.world.request));
    assert_ok(mgb_plan_verify(w.plan));
    return w;
}

static void world_done(struct world *w)
{
    mgb_plan_free(w->plan);
    plan_world_done(&w->world);
    mgb_graph_free(w->graph);
}

/* That many towers of the plan send rows, and every other one with examples makes the whole table. */
static void packers_check(struct words words, const struct plan_setup *setup,
                          enum mgb_wire_type wire, int packers)
{
    struct world w = world_make(words, setup, wire);
    int towers = 0;
    for (int t = 0; t < w.plan->tower_count; t++)
        towers += w.plan->towers[t].rows > 0;
    assert_int_equal(tasks_of(w.plan, MGB_OP_EMBEDDING_ROWS), packers);
    assert_int_equal(tasks_of(w.plan, MGB_OP_EMBEDDING_UNPACK), packers);
    assert_int_equal(tasks_of(w.plan, MGB_OP_EMBEDDING_GRAD), towers - packers);
    world_done(&w);
}

static void rows_travel_where_the_sum_is_elsewhere(void **state)
{
    (void)state;
    const struct plan_setup host = {.strategy = MGB_GRADIENTS, .gpus = 3, .batch = 7},
                            gpu = {.strategy = MGB_OUTPUTS,
                                   .gpus = 3,
                                   .batch = 7,
                                   .home = 2,
                                   .original = 2,
                                   .sum = 2,
                                   .update = 1},
                            lone = {.strategy = MGB_OUTPUTS, .gpus = 1, .batch = 7},
                            here = {.strategy = MGB_OUTPUTS, .gpus = 0, .batch = 7},
                            short_of_rows = {.strategy = MGB_GRADIENTS, .gpus = 3, .batch = 2};
    packers_check(large, &host, MGB_WIRE_F32, 3);
    packers_check(large, &gpu, MGB_WIRE_F32, 2);
    packers_check(large, &lone, MGB_WIRE_F32, 1);
    packers_check(large, &here, MGB_WIRE_F32, 0);
    packers_check(large, &short_of_rows, MGB_WIRE_F32, 2);
}

static void mirrors_exchange_whole_tables(void **state)
{
    (void)state;
    const struct plan_setup allreduce = {.strategy = MGB_ALLREDUCE, .gpus = 3, .batch = 7},
                            independent = {.strategy = MGB_INDEPENDENT, .gpus = 3, .batch = 7};
    packers_check(large, &allreduce, MGB_WIRE_F32, 0);
    packers_check(large, &independent, MGB_WIRE_F32, 0);
}

static void a_gradient_that_is_a_sum_travels_whole(void **state)
{
    (void)state;
    const struct plan_setup setup = {.strategy = MGB_GRADIENTS, .gpus = 3, .batch = 7};
    struct words twice = large;
    twice.uses = 2;
    struct world w = world_make(twice, &setup, MGB_WIRE_F32);
    assert_int_equal(tasks_of(w.plan, MGB_OP_EMBEDDING_ROWS), 0);
    assert_int_equal(tasks_of(w.plan, MGB_OP_EMBEDDING_GRAD), 2 * 3);
    world_done(&w);
}

static void tables_of_one_tower_each_are_sent_as_any(void **state)
{
    (void)state;
    const struct plan_setup host = {.strategy = MGB_GRADIENTS, .gpus = 3, .batch = 7},
                            gpu = {.strategy = MGB_OUTPUTS,
                                   .gpus = 3,
                                   .batch = 7,
                                   .home = 2,
                                   .original = 2,
                                   .sum = 2,
                                   .update = 2};
    struct words words = large;
    words.towers = 3;
    packers_check(words, &host, MGB_WIRE_F32, 3);
    packers_check(words, &gpu, MGB_WIRE_F16, 2);
}

static void a_frozen_table_has_no_gradient_of_either_form(void **state)
{
    (void)state;
    const struct plan_setup setup = {.strategy = MGB_GRADIENTS, .gpus = 2, .batch = 6};
    struct plan_world world;
    struct mgb_plan *plan;
    struct mgb_graph *graph = words_make(large);
    assert_ok(mgb_graph_freeze(graph, 0, true));
    plan_world_make(&world, graph, &setup);
    assert_ok(mgb_plan_make(&plan, &world.request));
    assert_ok(mgb_plan_verify(plan));
    assert_int_equal(tasks_of(plan, MGB_OP_EMBEDDING_ROWS), 0);
    assert_int_equal(tasks_of(plan, MGB_OP_EMBEDDING_GRAD), 0);
    mgb_plan_free(plan);
    plan_world_done(&world);
    mgb_graph_free(graph);
}

/* Of 3 rows of 2 positions and 5 units: 144 bytes. */
static void the_fewer_bytes_decide(void **state)
{
    (void)state;
    const struct plan_setup setup = {.strategy = MGB_GRADIENTS, .gpus = 2, .batch = 6};
    struct words words = {.positions = 2, .vocabulary = 8, .units = 5};
    assert_int_equal(words_packed(words, 3), 144);
    assert_int_equal(words_whole(words), 160);
    packers_check(words, &setup, MGB_WIRE_F32, 2);
    packers_check(words, &setup, MGB_WIRE_F16, 0); /* 80 bytes of f16 */
    words.vocabulary = 7;                          /* 140 bytes */
    packers_check(words, &setup, MGB_WIRE_F32, 0);
    words.vocabulary = 15; /* 300 bytes, 150 of bf16 */
    packers_check(words, &setup, MGB_WIRE_BF16, 2);
    words = (struct words){.positions = 5, .vocabulary = 6, .units = 5}; /* 30 numbers both */
    const struct plan_setup one = {.strategy = MGB_GRADIENTS, .gpus = 1, .batch = 1};
    assert_int_equal(words_packed(words, 1), words_whole(words));
    packers_check(words, &one, MGB_WIRE_F32, 0);
}

/* Towers of 2 rows (120 bytes) and of 1 row (60) beside a table of 96. */
static void every_class_of_towers_decides_for_itself(void **state)
{
    (void)state;
    const struct words words = {.positions = 3, .vocabulary = 6, .units = 4};
    const struct plan_setup setup = {.strategy = MGB_GRADIENTS, .gpus = 4, .batch = 6};
    assert_true(words_packed(words, 2) > words_whole(words));
    packers_check(words, &setup, MGB_WIRE_F32, 2);
}

static void links_carry_the_rows(void **state)
{
    (void)state;
    const struct plan_setup setup = {.strategy = MGB_GRADIENTS, .gpus = 3, .batch = 7, .sum = 1};
    struct world w = world_make(large, &setup, MGB_WIRE_F32);
    int64_t example = 3 * 4 + 3 * 8 * 4, whole = words_whole(large), rows = words_packed(large, 2);
    const int64_t links[][3] = {{0, 1, 3 * example + whole},
                                {0, 2, 2 * example + whole},
                                {0, 3, 2 * example + whole},
                                {1, 0, whole + RESULT},
                                {2, 0, RESULT},
                                {3, 0, RESULT},
                                {2, 1, rows},
                                {3, 1, rows}};
    for (int i = 0; i < 8; i++)
        assert_int_equal(plan_traffic(w.plan, (int)links[i][0], (int)links[i][1]), links[i][2]);
    assert_int_equal(w.plan->traffic_count, 8);
    world_done(&w);
}

static void a_tower_that_sends_rows_has_no_room_for_the_table(void **state)
{
    (void)state;
    const struct plan_setup setup = {.strategy = MGB_GRADIENTS, .gpus = 3, .batch = 7, .sum = 1};
    struct world w = world_make(large, &setup, MGB_WIRE_F32);
    assert_int_equal(plan_use(w.plan, 2)->peak[MGB_MEMORY_GRADIENTS],
                     (words_packed(large, 2) + 63) / 64 * 64);
    assert_true(plan_use(w.plan, 1)->peak[MGB_MEMORY_GRADIENTS] >= words_whole(large));
    world_done(&w);
}

struct lack {
    int device;
    enum mgb_op_kind kind;
};

static enum mgb_status lack_describe(void *context, int device, const struct mgb_node_use *use,
                                     struct mgb_operator_facts *out)
{
    const struct lack *lack = context;
    struct mgb_fact_source plain = mgb_plain_facts();
    if (device == lack->device && use->graph->nodes[use->node].kind == lack->kind)
        return mgb_fail(MGB_UNSUPPORTED, "device %d lacks it", device);
    return plain.describe(plain.context, device, use, out);
}

static void a_device_that_cannot_pack_or_unpack_deals_in_whole_tables(void **state)
{
    (void)state;
    struct lack packs = {3, MGB_OP_EMBEDDING_ROWS}, unpacks = {1, MGB_OP_EMBEDDING_UNPACK};
    const struct mgb_fact_source sources[] = {{&packs, lack_describe}, {&unpacks, lack_describe}};
    struct plan_setup setup = {
        .strategy = MGB_GRADIENTS, .gpus = 3, .batch = 6, .order = (int[]){0, 1, 2}, .sum = 1};
    setup.facts = &sources[1];
    packers_check(large, &setup, MGB_WIRE_F32, 0);
    setup.home = setup.original = 3; /* its tower is a class of its own */
    packers_check(large, &setup, MGB_WIRE_F32, 0);
    setup.facts = &sources[0];
    packers_check(large, &setup, MGB_WIRE_F32, 1);
}

/* The remainder of one row is sent as rows, the full batch is not; with gradients kept from step to step. */
static void plans_of_a_placement_agree_on_what_lasts(void **state)
{
    (void)state;
    const struct words words = {.positions = 3, .vocabulary = 6, .units = 4};
    const struct plan_setup setup = {.strategy = MGB_GRADIENTS, .gpus = 3, .batch = 6};
    struct mgb_graph *graph = words_make(words);
    struct plan_world world;
    struct mgb_plan *full, *rest;
    plan_world_make(&world, graph, &setup);
    world.placement->stale = true;
    assert_ok(mgb_plan_make(&full, &world.request));
    for (int rows = 1; rows <= 6; rows++)
        for (int evaluate = 0; evaluate < 2; evaluate++) {
            world.request.rows = rows;
            world.request.kind = evaluate ? MGB_PLAN_EVALUATE : MGB_PLAN_TRAIN;
            assert_ok(mgb_plan_make(&rest, &world.request));
            assert_ok(mgb_plan_verify(rest));
            assert_true(mgb_plan_same_lasting(full, rest));
            mgb_plan_free(rest);
        }
    mgb_plan_free(full);
    plan_world_done(&world);
    mgb_graph_free(graph);
}

static const struct plan_setup sending = {.strategy = MGB_GRADIENTS, .gpus = 3, .batch = 7};

/* The verifier turns the broken plan down. */
static void reject(struct world *w, const char *words)
{
    assert_status(mgb_plan_verify(w->plan), MGB_CORRUPT);
    assert_message(words);
    world_done(w);
}

/* The n-th task that runs an operator of the kind. */
static struct mgb_task *operator_find(const struct world *w, enum mgb_op_kind kind, int n)
{
    for (int i = 0; i < w->plan->task_count; i++)
        if (w->plan->tasks[i].kind == MGB_TASK_COMPUTE &&
            w->graph->nodes[w->plan->tasks[i].node].kind == kind && n-- == 0)
            return &w->plan->tasks[i];
    fail_msg("no such operator");
    return NULL;
}

static void rows_that_are_taken_for_something_else(void **state)
{
    (void)state;
    struct world w = world_make(large, &sending, MGB_WIRE_F32);
    operator_find(&w, MGB_OP_EMBEDDING_UNPACK, 0)->node =
        operator_find(&w, MGB_OP_MSE_GRAD, 0)->node;
    reject(&w, "made for something else");
}

static void rows_that_are_unpacked_for_another_number_of_examples(void **state)
{
    (void)state;
    struct world w = world_make(large, &sending, MGB_WIRE_F32);
    operator_find(&w, MGB_OP_EMBEDDING_UNPACK, 0)->rows++;
    reject(&w, "made for something else");
}

static void rows_that_are_unpacked_in_part(void **state)
{
    (void)state;
    struct world w = world_make(large, &sending, MGB_WIRE_F32);
    const struct mgb_task *unpack = operator_find(&w, MGB_OP_EMBEDDING_UNPACK, 0);
    w.plan->operands[unpack->operand_begin].bytes -= 64;
    reject(&w, "made for something else");
}

static void rows_that_nothing_unpacks(void **state)
{
    (void)state;
    struct world w = world_make(large, &sending, MGB_WIRE_F32);
    struct mgb_task *unpack = operator_find(&w, MGB_OP_EMBEDDING_UNPACK, 0);
    unpack->kind = MGB_TASK_FILL; /* of what it would have made */
    unpack->operand_begin++;
    unpack->operand_count = 1;
    reject(&w, "is used by nothing");
}

static void a_table_whose_gradient_a_tower_makes_in_both_forms(void **state)
{
    (void)state;
    struct world w = world_make(large, &sending, MGB_WIRE_F32);
    struct mgb_task *grad = operator_find(&w, MGB_OP_MSE_GRAD, 0);
    grad->node = w.graph->tensors[w.graph->variables[0].gradient].node;
    reject(&w, "makes the gradient of 'embeddings' 2 times");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_travel_where_the_sum_is_elsewhere),
        cmocka_unit_test(mirrors_exchange_whole_tables),
        cmocka_unit_test(a_gradient_that_is_a_sum_travels_whole),
        cmocka_unit_test(tables_of_one_tower_each_are_sent_as_any),
        cmocka_unit_test(a_frozen_table_has_no_gradient_of_either_form),
        cmocka_unit_test(the_fewer_bytes_decide),
        cmocka_unit_test(every_class_of_towers_decides_for_itself),
        cmocka_unit_test(links_carry_the_rows),
        cmocka_unit_test(a_tower_that_sends_rows_has_no_room_for_the_table),
        cmocka_unit_test(a_device_that_cannot_pack_or_unpack_deals_in_whole_tables),
        cmocka_unit_test(plans_of_a_placement_agree_on_what_lasts),
        cmocka_unit_test(rows_that_are_taken_for_something_else),
        cmocka_unit_test(rows_that_are_unpacked_for_another_number_of_examples),
        cmocka_unit_test(rows_that_are_unpacked_in_part),
        cmocka_unit_test(rows_that_nothing_unpacks),
        cmocka_unit_test(a_table_whose_gradient_a_tower_makes_in_both_forms),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
