/* What must hold for every graph, shown on random ones. */
#include "tests/support/check.h"
#include "tests/support/model.h"
#include "tests/support/random_model.h"

#include "engine/graph/facts.h"
#include <string.h>

#define SEEDS 200

static void for_each(void (*check)(const struct mgb_graph *graph))
{
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct mgb_graph *graph;
        assert_ok(random_model_make(&graph, seed));
        check(graph);
        mgb_graph_free(graph);
    }
}

static void check_order(const struct mgb_graph *graph)
{
    enum mgb_section section = MGB_SECTION_FORWARD;
    for (int i = 0; i < graph->node_count; i++) {
        const struct mgb_node *node = &graph->nodes[i];
        assert_true(node->section >= section);
        section = node->section;
        for (int k = 0; k < node->input_count; k++) {
            const struct mgb_tensor *input = &graph->tensors[node->inputs[k]];
            assert_true(input->node < i);
            if (section == MGB_SECTION_FORWARD)
                assert_int_equal(graph->nodes[input->node].section, MGB_SECTION_FORWARD);
        }
        for (int k = 0; k < node->output_count; k++)
            if (node->outputs[k] >= 0) {
                assert_int_equal(graph->tensors[node->outputs[k]].node, i);
                assert_int_equal(graph->tensors[node->outputs[k]].slot, k);
            }
    }
}

static void nodes_are_in_order_and_tensors_know_their_node(void **state)
{
    (void)state;
    for_each(check_order);
}

static void check_gradients(const struct mgb_graph *graph)
{
    for (int i = 0; i < graph->variable_count; i++) {
        const struct mgb_variable *v = &graph->variables[i];
        if (!v->info.trainable && !v->info.state) {
            assert_int_equal(v->gradient, -1);
            continue;
        }
        assert_true(v->gradient >= 0);
        const struct mgb_tensor *g = &graph->tensors[v->gradient];
        assert_int_equal(g->shape.rank, v->info.shape.rank);
        assert_int_equal(mgb_shape_count(&g->shape), v->info.count);
        assert_false(g->batched);
        assert_int_equal(graph->nodes[g->node].section, MGB_SECTION_BACKWARD);
    }
}

static void every_trainable_variable_has_a_gradient_of_its_shape(void **state)
{
    (void)state;
    for_each(check_gradients);
}

/* Weight gradients of a layer whose weight is frozen come with its bias and are the one exception.
 */
static void check_nothing_idle(const struct mgb_graph *graph)
{
    for (int t = 0; t < graph->tensor_count; t++) {
        const struct mgb_node *maker = &graph->nodes[graph->tensors[t].node];
        bool used = maker->section != MGB_SECTION_BACKWARD || maker->kind == MGB_OP_DENSE_GRAD_W ||
                    maker->kind == MGB_OP_CONV2D_GRAD_W;
        for (int i = 0; !used && i < graph->node_count; i++)
            for (int k = 0; k < graph->nodes[i].input_count; k++)
                used = used || graph->nodes[i].inputs[k] == t;
        for (int i = 0; !used && i < graph->variable_count; i++)
            used = graph->variables[i].gradient == t || graph->variables[i].unpacked == t;
        assert_true(used);
    }
}

static void no_gradient_is_computed_for_nothing(void **state)
{
    (void)state;
    for_each(check_nothing_idle);
}

static void check_names(const struct mgb_graph *graph)
{
    for (int i = 0; i < graph->node_count; i++)
        for (int k = 0; k < i; k++)
            assert_string_not_equal(graph->nodes[i].name, graph->nodes[k].name);
    for (int i = 0; i < graph->variable_count; i++)
        for (int k = 0; k < i; k++)
            assert_string_not_equal(graph->variables[i].info.name, graph->variables[k].info.name);
}

static void names_are_unique(void **state)
{
    (void)state;
    for_each(check_names);
}

static void check_facts(const struct mgb_graph *graph)
{
    struct mgb_fact_source facts = mgb_plain_facts();
    for (int i = 0; i < graph->node_count; i++) {
        struct mgb_node_use use = {
            .graph = graph, .node = i, .rows = 3, .threads = 1, .training = true};
        struct mgb_operator_facts got;
        const struct mgb_node *node = &graph->nodes[i];
        assert_ok(facts.describe(facts.context, 0, &use, &got));
        assert_int_equal(got.workspace_bytes, 0);
        for (int k = 0; k < MGB_MAX_OUTPUTS; k++)
            if (node->outputs[k] >= 0)
                assert_int_equal(got.out_bytes[k], mgb_tensor_bytes(graph, node->outputs[k], 3));
        int shares[] = {got.alias, got.in_place};
        for (int k = 0; k < 2; k++)
            if (shares[k] >= 0)
                assert_int_equal(mgb_tensor_bytes(graph, node->inputs[shares[k]], 3),
                                 got.out_bytes[0]);
        assert_true(mgb_node_flops(graph, node, 6) >= mgb_node_flops(graph, node, 3));
    }
}

static void plain_facts_state_the_bytes_of_every_node(void **state)
{
    (void)state;
    for_each(check_facts);
}

static void the_same_seed_gives_the_same_model(void **state)
{
    (void)state;
    int different = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct mgb_graph *one, *two, *next;
        assert_ok(random_model_make(&one, seed));
        assert_ok(random_model_make(&two, seed));
        assert_ok(random_model_make(&next, seed + 1));
        assert_true(mgb_graph_digest(one) == mgb_graph_digest(two));
        different += mgb_graph_digest(one) != mgb_graph_digest(next);
        mgb_graph_free(one);
        mgb_graph_free(two);
        mgb_graph_free(next);
    }
    assert_true(different > SEEDS * 9 / 10);
}

static void the_first_seeds_hold_every_operator(void **state)
{
    (void)state;
    bool seen[MGB_OP_COUNT] = {false};
    for (uint64_t seed = 0; seed < 32; seed++) {
        struct mgb_graph *graph;
        assert_ok(random_model_make(&graph, seed));
        for (int i = 0; i < graph->node_count; i++)
            seen[graph->nodes[i].kind] = true;
        mgb_graph_free(graph);
    }
    for (int i = 0; i < MGB_OP_COUNT; i++)
        if (!seen[i])
            fail_msg("no %s among the first models", mgb_op_name((enum mgb_op_kind)i));
}

static void smooth_models_have_no_kinks(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct mgb_graph *graph;
        char *text;
        assert_ok(random_model_make_smooth(&graph, seed));
        assert_ok(mgb_graph_text(&text, graph));
        assert_null(strstr(text, "relu"));
        assert_null(strstr(text, "max_pool2d("));
        assert_null(strstr(text, "dropout("));
        mgb_text_free(text);
        mgb_graph_free(graph);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nodes_are_in_order_and_tensors_know_their_node),
        cmocka_unit_test(every_trainable_variable_has_a_gradient_of_its_shape),
        cmocka_unit_test(no_gradient_is_computed_for_nothing),
        cmocka_unit_test(names_are_unique),
        cmocka_unit_test(plain_facts_state_the_bytes_of_every_node),
        cmocka_unit_test(the_same_seed_gives_the_same_model),
        cmocka_unit_test(the_first_seeds_hold_every_operator),
        cmocka_unit_test(smooth_models_have_no_kinks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
