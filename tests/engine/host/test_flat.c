/* Element-wise operators on inputs of any layouts: the bits of plain ones, and no more memory than the copies need. */
#include "tests/support/check.h"

#include "engine/backend/backend.h"
#include "engine/base/random.h"
#include "engine/host/kernel.h"
#include "tests/support/model.h"
#include <mgb/op.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 2, PIXELS = 15, CHANNELS = 12, PLAIN = ROWS * PIXELS * CHANNELS };
enum {
    MOST = ROWS * PIXELS * 16,
    ALIGNED = MOST + 16
}; /* channels filled up to 16; workspaces are aligned to 64 bytes */

static const struct mgb_image image = {ROWS, PIXELS, CHANNELS};

/* Every element-wise operator and its gradient, on images of 3 x 5 x 12. */
static struct mgb_graph *flat_model_make(void)
{
    struct mgb_graph *graph = model_make("flat");
    int x = model_input(graph, "x", SHAPE(3, 3, 5, CHANNELS)), label = model_label(graph, "label");
    struct mgb_window window = model_window(1, 1, MGB_VALID);
    x = model_conv2d(graph, "conv", x, CHANNELS, &window,
                     MGB_LINEAR); /* so that all have gradients */
    int first = x, y;
    for (int i = MGB_RELU; i <= MGB_RELU6; i++)
        assert_ok(mgb_op_activation(graph, &x, "act", x, (enum mgb_activation)i));
    assert_ok(mgb_op_gelu(graph, &x, "gelu", x, false));
    assert_ok(mgb_op_affine(graph, &x, "affine", x, 0.5f, 0.25f));
    assert_ok(mgb_op_affine(graph, &x, "scale", x, 0.5f, 0));
    assert_ok(mgb_op_abs(graph, &x, "abs", x));
    assert_ok(mgb_op_dropout(graph, &x, "drop", x, 0.5f));
    assert_ok(mgb_op_add(graph, &y, "add", x, first));
    assert_ok(mgb_op_mul(graph, &x, "mul", y, x));
    assert_ok(mgb_op_sub(graph, &x, "sub", y, x));
    assert_ok(mgb_op_div(graph, &x, "div", x, y));
    model_classify(graph, model_dense(graph, "logits", model_flatten(graph, x), 3, MGB_LINEAR),
                   label);
    return graph;
}

/* The input that may be overwritten, -1 for what is not element-wise. */
static int overwritten(enum mgb_op_kind kind)
{
    switch ((int)kind) {
    case MGB_OP_ACTIVATION:
    case MGB_OP_GELU:
    case MGB_OP_AFFINE:
    case MGB_OP_ABS:
    case MGB_OP_DROPOUT:
    case MGB_OP_ADD:
    case MGB_OP_SUB:
    case MGB_OP_MUL:
    case MGB_OP_DIV:
        return 0;
    case MGB_OP_ACTIVATION_GRAD:
    case MGB_OP_GELU_GRAD:
    case MGB_OP_ABS_GRAD:
        return 1;
    default:
        return -1;
    }
}

/* Runs a node on inputs of these layouts; `out` gets its output in plain layout. */
static void node_play(float *out, const struct mgb_graph *graph, int node, const int *layouts)
{
    static float plain[2][MOST], given[2][MOST], result[MOST], workspace[2 * ALIGNED];
    struct mgb_step_values values = {.step = 3, .seed = 7};
    struct mgb_node_use use = {
        .graph = graph, .node = node, .rows = ROWS, .threads = 1, .training = true};
    struct mgb_kernel *kernel;
    void *inputs[2] = {given[0], given[1]}, *outputs[MGB_MAX_OUTPUTS] = {result};
    int count = graph->nodes[node].input_count, over = overwritten(graph->nodes[node].kind);
    for (int i = 0; i < count; i++) {
        use.in_layout[i] = layouts[i];
        for (int k = 0; k < PLAIN; k++)
            plain[i][k] = 2 * mgb_random_unit(mgb_random_at(4, (uint64_t)k, (uint64_t)i).v[0]) - 1;
        mgb_layout_convert(given[i], layouts[i], plain[i], MGB_LAYOUT_PLAIN, image);
    }
    assert_ok(mgb_host_kernel_make(&kernel, &use, 1));
    int64_t copies = 0;
    for (int i = 0; i < count; i++)
        copies += i != over && layouts[i] != kernel->facts.out_layout[0];
    assert_true(kernel->facts.workspace_bytes <= copies * ALIGNED * 4);
    assert_true(copies > 0 || kernel->facts.workspace_bytes == 0);
    if (kernel->facts.in_place >= 0)
        assert_int_equal(layouts[kernel->facts.in_place], kernel->facts.out_layout[0]);
    struct mgb_launch launch = {.inputs = inputs,
                                .outputs = outputs,
                                .workspace = workspace,
                                .scale = 1,
                                .values = &values};
    assert_ok(mgb_host_kernel_run(kernel, &launch));
    mgb_layout_convert(out, MGB_LAYOUT_PLAIN, result, kernel->facts.out_layout[0], image);
    mgb_host_kernel_free(kernel);
}

static void layouts_change_no_bits_and_take_no_copy_too_many(void **state)
{
    (void)state;
    static float wanted[PLAIN], got[PLAIN];
    struct mgb_graph *graph = flat_model_make();
    int played = 0;
    for (int n = 0; n < graph->node_count; n++) {
        const struct mgb_node *node = &graph->nodes[n];
        if (overwritten(node->kind) < 0 || graph->tensors[node->outputs[0]].shape.rank != 3)
            continue;
        node_play(wanted, graph, n, (const int[]){MGB_LAYOUT_PLAIN, MGB_LAYOUT_PLAIN});
        for (int pair = 1; pair < MGB_LAYOUT_COUNT * MGB_LAYOUT_COUNT; pair++) {
            const int layouts[] = {pair % MGB_LAYOUT_COUNT, pair / MGB_LAYOUT_COUNT};
            node_play(got, graph, n, layouts);
            if (memcmp(got, wanted, sizeof got) != 0)
                fail_msg("%s '%s': other bits with layouts %d and %d", mgb_op_name(node->kind),
                         node->name, layouts[0], layouts[1]);
        }
        played++;
    }
    assert_true(played >= 18);
    mgb_graph_free(graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layouts_change_no_bits_and_take_no_copy_too_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
