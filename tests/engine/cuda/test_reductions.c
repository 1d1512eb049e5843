/* Sums long enough to be split among blocks, many rows, operands in odd places: right, and the same bits in whatever order
 * the threads of a block run. */
#include "tests/engine/cuda/machine.h"

#include "tests/support/check.h"
#include "tests/support/conformance.h"
#include "tests/support/model.h"
#include <mgb/op.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum mgb_status two_function(struct mgb_graph *graph, int *out, const char *name, int a,
                                     int b);
typedef enum mgb_status axis_function(struct mgb_graph *graph, int *out, const char *name, int x,
                                      int axis, bool keep);

static int two(struct mgb_graph *graph, two_function *f, int a, int b)
{
    int out = -1;
    assert_ok(f(graph, &out, "two", a, b));
    return out;
}

static int over(struct mgb_graph *graph, axis_function *f, int x, int axis)
{
    int out = -1;
    assert_ok(f(graph, &out, "over", x, axis, false));
    return out;
}

static int flat(struct mgb_graph *graph, int x, int64_t count)
{
    int out = -1;
    assert_ok(mgb_op_reshape(graph, &out, "flat", x, SHAPE(1, count)));
    return out;
}

static void loss(struct mgb_graph *graph, two_function *f, int x, int target)
{
    int out = -1;
    assert_ok(f(graph, &out, "loss", x, target));
    assert_ok(mgb_graph_loss(graph, out, 1));
}

#define LONG 2100

/* Sums over 2100 places with 3 numbers behind, over all 6300, and over the rows with them: along lines and along columns. */
static struct mgb_graph *long_make(void)
{
    static axis_function *const functions[3] = {mgb_op_sum, mgb_op_mean, mgb_op_max};
    struct mgb_graph *graph = model_make("long");
    int x = model_input(graph, "x", SHAPE(2, LONG, 3));
    int target = model_input(graph, "target", SHAPE(2, LONG, 3)), parts[6], all = -1, penalty;
    int weights[2] = {model_weight(graph, "every", SHAPE(2, LONG, 3)),
                      model_weight(graph, "last", SHAPE(1, 3))};
    x = two(graph, mgb_op_mul, x, weights[0]);
    x = two(graph, mgb_op_add, x, weights[1]);
    x = two(graph, mgb_op_mul, x, model_weight(graph, "one", SHAPE(1, 1)));
    for (int f = 0; f < 3; f++) {
        parts[f] = over(graph, functions[f], x, 1);
        parts[3 + f] = flat(graph, over(graph, functions[f], flat(graph, x, 3 * LONG), 1), 1);
    }
    assert_ok(mgb_op_concat(graph, &all, "all", parts, 6, 1));
    loss(graph, mgb_op_mean_squared_error, x, target);
    loss(graph, mgb_op_binary_cross_entropy, all, model_input(graph, "bits", SHAPE(1, 12)));
    assert_ok(mgb_op_l2(graph, &penalty, "l2", weights, 2, 0.01f));
    assert_ok(mgb_graph_loss(graph, penalty, 1));
    assert_ok(mgb_graph_output(graph, "y", all));
    assert_ok(mgb_graph_finish(graph));
    return graph;
}

/* Losses of one and of two numbers a row; a bias, a variable added to every row. */
static struct mgb_graph *rows_make(void)
{
    struct mgb_graph *graph = model_make("rows");
    int x = model_input(graph, "x", SHAPE(1, 5));
    x = model_dense(graph, "a", x, 6, MGB_TANH);
    x = two(graph, mgb_op_add, x, model_weight(graph, "shift", SHAPE(1, 6)));
    int y = model_dense(graph, "b", x, 2, MGB_LINEAR), z = model_dense(graph, "c", x, 1, MGB_RELU);
    loss(graph, mgb_op_mean_squared_error, y, model_input(graph, "two", SHAPE(1, 2)));
    loss(graph, mgb_op_binary_cross_entropy, z, model_input(graph, "one", SHAPE(1, 1)));
    model_classify(graph, model_dense(graph, "logits", x, 7, MGB_LINEAR),
                   model_label(graph, "label"));
    return graph;
}

static struct rig_values values_play(const struct reference *reference, const char *order)
{
    const struct rig_play play = {.device = 1, .threads = 1};
    struct rig_values values = {0};
    if (order)
        setenv("FAKE_CUDA_ORDER", order, 1);
    machine_set("1", NULL);
    struct rig rig = rig_open(machine_cuda(), 0);
    assert_ok(rig_run(&values, &rig, reference, &play));
    rig_close(&rig);
    machine_check_empty();
    unsetenv("FAKE_CUDA_ORDER");
    return values;
}

/* Against the reference, and bit for bit with threads in another order. */
static void model_check(struct mgb_graph *graph, int64_t rows)
{
    struct reference reference = reference_make(graph, rows);
    reference.scale = 1.0f / (float)rows;
    reference_fill(&reference, 7);
    reference_play(&reference, graph->node_count);
    struct rig_values values = values_play(&reference, NULL);
    struct rig_values again = values_play(&reference, "random");
    int compared = 0;
    for (int t = 0; t < graph->tensor_count; t++) {
        const struct mgb_node *node = &graph->nodes[graph->tensors[t].node];
        char what[256];
        if (!values.value[t] || !again.value[t])
            continue;
        snprintf(what, sizeof what, "%s '%s'", mgb_op_name(node->kind), node->name);
        conformance_close(what, values.value[t], reference.value[t], reference.counts[t], 1e-5);
        if (memcmp(values.value[t], again.value[t], sizeof(float) * (size_t)reference.counts[t]))
            fail_msg("%s: other bits with threads in another order", what);
        compared++;
    }
    assert_true(compared > graph->node_count / 2);
    rig_values_free(&values);
    rig_values_free(&again);
    reference_free(&reference);
    mgb_graph_free(graph);
}

static void long_sums_are_split_and_come_out_the_same(void **state)
{
    (void)state;
    model_check(long_make(), 2);
}

static void sums_over_more_rows_than_a_chunk_come_out_the_same(void **state)
{
    (void)state;
    model_check(rows_make(), 1100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(long_sums_are_split_and_come_out_the_same),
        cmocka_unit_test(sums_over_more_rows_than_a_chunk_come_out_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
