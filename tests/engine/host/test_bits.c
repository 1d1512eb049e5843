/* Where bits must not change: other devices, other thread counts, repeated runs, the CPU table of foreign backends. */
#include "tests/support/check.h"

#include "engine/base/random.h"
#include "engine/host/layout.h"
#include "tests/support/conformance.h"
#include "tests/support/model.h"
#include <mgb/op.h>
#include <stdlib.h>
#include <string.h>

static const struct mgb_backend *const host = &mgb_host_backend;

static struct rig_values values_on(const struct rig *rig, const struct reference *reference,
                                   int device, int threads)
{
    struct rig_values values;
    struct rig_play play = {.device = device, .threads = threads, .plain = true};
    assert_ok(rig_run(&values, rig, reference, &play));
    return values;
}

static void values_compare(const struct reference *reference, const struct rig_values *a,
                           const struct rig_values *b)
{
    for (int t = 0; t < a->count; t++) {
        const struct mgb_node *node = &reference->graph->nodes[reference->graph->tensors[t].node];
        if (memcmp(a->value[t], b->value[t], sizeof(float) * (size_t)reference->counts[t]) != 0)
            fail_msg("%s '%s' has other bits", mgb_op_name(node->kind), node->name);
    }
}

static struct reference filled(struct mgb_graph *graph, int64_t rows)
{
    struct reference reference = reference_make(graph, rows);
    reference.scale = 0.125f;
    reference_fill(&reference, 8);
    return reference;
}

static void every_device_gives_the_same_bits(int threads)
{
    for (int m = 0; m < conformance_model_count; m++) {
        struct mgb_graph *graph = conformance_models[m].make();
        struct reference reference = filled(graph, 4);
        struct rig rig = rig_open(host, 0);
        struct rig_values first = values_on(&rig, &reference, 1, threads);
        for (int device = 1; device < 5; device += 3) {
            struct rig_values other = values_on(&rig, &reference, device, threads);
            values_compare(&reference, &first, &other);
            rig_values_free(&other);
        }
        rig_values_free(&first);
        rig_close(&rig);
        reference_free(&reference);
        mgb_graph_free(graph);
    }
}

static void every_device_gives_the_same_bits_with_one_thread(void **state)
{
    (void)state;
    every_device_gives_the_same_bits(1);
}

#ifndef __SANITIZE_THREAD__ /* oneDNN's own team is invisible to ThreadSanitizer */
static void every_device_gives_the_same_bits_with_two_threads(void **state)
{
    (void)state;
    every_device_gives_the_same_bits(2);
}
#endif

/* Everything but matrix products and convolutions, which always run with the threads of a tower. */
static struct mgb_graph *own_operators_make(void)
{
    struct mgb_graph *graph = model_make("own");
    struct mgb_window window = model_window(3, 2, MGB_SAME);
    int label = model_label(graph, "label"), x = model_input(graph, "x", SHAPE(3, 21, 17, 5)), y,
        loss, right;
    int bias = model_weight(graph, "bias", SHAPE(1, 5));
    (void)bias;
    assert_ok(mgb_op_activation(graph, &x, "sigmoid", x, MGB_SIGMOID));
    assert_ok(mgb_op_activation(graph, &y, "tanh", x, MGB_TANH));
    assert_ok(mgb_op_add(graph, &x, "add", x, y));
    assert_ok(mgb_op_max_pool2d(graph, &x, "max", x, &window));
    window.stride[0] = window.stride[1] = 1;
    assert_ok(mgb_op_avg_pool2d(graph, &x, "avg", x, &window));
    assert_ok(mgb_op_dropout(graph, &x, "drop", x, 0.3f));
    x = model_flatten(graph, x);
    assert_ok(mgb_op_softmax_cross_entropy(graph, &loss, "loss", x, label));
    assert_ok(mgb_graph_loss(graph, loss, 1));
    assert_ok(mgb_op_accuracy(graph, &right, "accuracy", x, label));
    assert_ok(mgb_graph_metric(graph, "accuracy", right));
    assert_ok(mgb_graph_output(graph, "y", x));
    assert_ok(mgb_graph_finish(graph));
    return graph;
}

static void own_operators_do_not_depend_on_threads(void **state)
{
    (void)state;
    struct mgb_graph *graph = own_operators_make();
    struct reference reference = filled(graph, 150); /* several chunks of rows */
    struct rig rig = rig_open(host, 0);
    struct rig_values one = values_on(&rig, &reference, 1, 1);
    for (int threads = 2; threads < 5; threads++) {
        struct rig_values more = values_on(&rig, &reference, 0, threads);
        values_compare(&reference, &one, &more);
        rig_values_free(&more);
    }
    rig_values_free(&one);
    rig_close(&rig);
    reference_free(&reference);
    mgb_graph_free(graph);
}

/* A mask on rows [4, 10) is the mask on [0, 10) from row 4 on, in every layout. */
static void a_mask_does_not_depend_on_the_split(void **state)
{
    (void)state;
    struct mgb_graph *graph = model_make("mask");
    int x = model_input(graph, "x", SHAPE(3, 3, 5, 16)), y = model_dropout(graph, x, 0.5f);
    struct mgb_graph flat = *graph; /* read as a graph of one operator */
    struct rig rig = rig_open(host, 0);
    enum { ROW = 3 * 5 * 16, ROWS = 10, FIRST = 4 };
    float *ones = malloc(4 * ROWS * ROW), *whole = malloc(4 * ROWS * ROW),
          *part = malloc(4 * ROWS * ROW);
    float *arranged = malloc(4 * ROWS * ROW);
    for (int i = 0; i < ROWS * ROW; i++)
        ones[i] = 1;
    struct mgb_queue *queue = rig_compute(&rig, 1, 1);
    struct mgb_step_values values = {.step = 2, .seed = 99};
    for (int layout = 0; layout < 4; layout++) {
        struct mgb_kernel *kernels[2];
        for (int k = 0; k < 2; k++) {
            struct mgb_kernel_request request = {.device = 1,
                                                 .use = {.graph = &flat,
                                                         .node = graph->tensors[y].node,
                                                         .threads = 1,
                                                         .training = true}};
            request.use.rows = k == 0 ? ROWS : ROWS - FIRST;
            request.use.in_layout[0] = k == 0 ? 0 : layout;
            assert_ok(host->kernel(rig.context, &kernels[k], &request));
        }
        void *inputs[1] = {ones}, *to_whole[2] = {whole, NULL}, *to_part[2] = {part, NULL};
        struct mgb_launch all = {
            .inputs = inputs, .outputs = to_whole, .scale = 1, .values = &values};
        struct mgb_launch some = {.inputs = inputs,
                                  .outputs = to_part,
                                  .first_row = FIRST,
                                  .scale = 1,
                                  .values = &values};
        assert_ok(host->launch(queue, kernels[0], &all));
        assert_ok(host->launch(queue, kernels[1], &some));
        assert_ok(host->drain(rig.context, 0));
        mgb_layout_convert(arranged, 0, part, layout, (struct mgb_image){ROWS - FIRST, 15, 16});
        assert_memory_equal(arranged, whole + FIRST * ROW, 4 * (ROWS - FIRST) * ROW);
    }
    int kept = 0;
    for (int i = 0; i < ROWS * ROW; i++) {
        assert_true(whole[i] == 0 || whole[i] == 2);
        kept += whole[i] != 0;
    }
    assert_in_range(kept, ROWS * ROW * 45 / 100, ROWS * ROW * 55 / 100);
    host->queue_free(queue);
    rig_close(&rig);
    free(ones);
    free(whole);
    free(part);
    free(arranged);
    mgb_graph_free(graph);
}

/* A foreign backend's /cpu:0 runs the table in its own thread: same kernels, same bits. */
static void the_table_of_cpu_kernels_gives_the_bits_of_the_devices(void **state)
{
    (void)state;
    struct mgb_graph *graph = model_mlp();
    struct mgb_kernel *kernel;
    struct mgb_operator_facts facts;
    struct mgb_kernel_request request = {.use = {.graph = graph, .rows = 70, .threads = 2}};
    for (request.use.node = 0; graph->nodes[request.use.node].kind != MGB_OP_SOFTMAX_XENT;)
        request.use.node++;
    assert_ok(mgb_host_cpu_kernels.describe(&request.use, &facts));
    request.facts = facts;
    assert_ok(mgb_host_cpu_kernels.kernel(&kernel, &request));
    float logits[210], loss = 0, wanted = 0;
    int32_t labels[70];
    for (int i = 0; i < 210; i++)
        logits[i] = mgb_random_unit(mgb_random_at(1, (uint64_t)i, 0).v[0]);
    for (int i = 0; i < 70; i++)
        labels[i] = i % 3;
    void *inputs[2] = {logits, labels}, *outputs[2] = {&loss, NULL};
    struct mgb_launch launch = {.inputs = inputs, .outputs = outputs, .scale = 1};
    assert_ok(mgb_host_cpu_kernels.run(kernel, &launch));
    struct rig rig = rig_open(host, 0);
    struct mgb_queue *queue = rig_compute(&rig, 3, 1);
    struct mgb_kernel *own;
    request.device = 3;
    request.use.threads = 1;
    outputs[0] = &wanted;
    assert_ok(host->kernel(rig.context, &own, &request));
    assert_ok(host->launch(queue, own, &launch));
    assert_ok(host->drain(rig.context, 0));
    assert_memory_equal(&loss, &wanted, sizeof loss);
    mgb_host_cpu_kernels.kernel_free(kernel);
    host->queue_free(queue);
    rig_close(&rig);
    mgb_graph_free(graph);
}

static void the_same_request_gives_the_same_kernel(void **state)
{
    (void)state;
    struct mgb_graph *graph = model_mlp(), *twin = model_mlp();
    struct rig rig = rig_open(host, 0);
    struct mgb_kernel *first, *again, *other;
    struct mgb_kernel_request request = {.device = 1,
                                         .use = {.graph = graph, .rows = 4, .threads = 1}};
    for (request.use.node = 0; graph->nodes[request.use.node].kind != MGB_OP_DENSE;)
        request.use.node++;
    assert_ok(host->kernel(rig.context, &first, &request));
    request.use.graph = twin; /* another graph with the same operator */
    assert_ok(host->kernel(rig.context, &again, &request));
    assert_ptr_equal(first, again);
    request.use.rows = 5;
    assert_ok(host->kernel(rig.context, &other, &request));
    assert_ptr_not_equal(first, other);
    rig_close(&rig);
    mgb_graph_free(graph);
    mgb_graph_free(twin);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_device_gives_the_same_bits_with_one_thread),
#ifndef __SANITIZE_THREAD__
        cmocka_unit_test(every_device_gives_the_same_bits_with_two_threads),
#endif
        cmocka_unit_test(own_operators_do_not_depend_on_threads),
        cmocka_unit_test(a_mask_does_not_depend_on_the_split),
        cmocka_unit_test(the_table_of_cpu_kernels_gives_the_bits_of_the_devices),
        cmocka_unit_test(the_same_request_gives_the_same_kernel),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
