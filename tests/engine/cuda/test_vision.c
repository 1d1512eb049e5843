/* What the conformance models are too small or too few for: convolution in chunks, drawn windows, sums in several chunks,
 * threads in other orders, maxima of what is no number, statistics of many towers. */
#include "tests/engine/cuda/machine.h"
#include "tests/engine/cuda/models.h"

#include "engine/base/random.h"
#include "engine/cuda/ops/conv2d_host.h"
#include "tests/support/check.h"
#include "tests/support/conformance.h"
#include "tests/support/draws.h"
#include "tests/support/model.h"
#include <math.h>
#include <mgb/op.h>
#include <stdlib.h>
#include <string.h>

#define DRAIN_NS 60000000000

static struct rig machine_open(void)
{
    machine_set("1", NULL);
    return rig_open(machine_cuda(), 0);
}

static void machine_close(struct rig *rig)
{
    rig_close(rig);
    machine_check_empty();
}

static void model_check(const struct rig *rig, const char *name, struct mgb_graph *(*make)(void))
{
    const struct conformance_model model = {name, make};
    const struct rig_play play = {.device = 1, .threads = 1};
    assert_true(conformance_model_check(rig, &play, &model));
}

static void drawn_convolutions_match_the_reference(void **state)
{
    (void)state;
    struct rig rig = machine_open();
    for (machine_drawn = 0; machine_drawn < draw_count(40, 400); machine_drawn++)
        model_check(&rig, "drawn", machine_drawn_convolution);
    machine_close(&rig);
}

#define ROWS 5
#define ROOM 4096 /* numbers of an operand */

struct conv_area { /* on the GPU; `in` and `out` as large as any operand here */
    float in[3][ROOM], out[2][ROOM];
    float workspace[64 * ROOM];
};

/* y, dx, dw or db, whichever `kind` makes, with windows of so many bytes laid out at once. */
static void conv_run(const struct rig *rig, struct conv_area *area, struct mgb_cuda_use *use,
                     int64_t limit, float out[2][ROOM])
{
    struct mgb_cuda_conv plan = mgb_cuda_conv_make(use, limit);
    struct mgb_queue *queue = rig_compute(rig, 1, 1);
    void *inputs[] = {area->in[0], area->in[1], area->in[2]};
    void *outputs[] = {area->out[0], use->out[1].wanted ? area->out[1] : NULL};
    struct mgb_launch launch = {
        .inputs = inputs, .outputs = outputs, .workspace = area->workspace, .scale = 1};
    assert_true(plan.workspace <= (int64_t)sizeof area->workspace);
    assert_true(limit > 1 || plan.chunk == 1);
    assert_ok(rig->backend->fill(queue, area->out, sizeof area->out));
    assert_ok(mgb_cuda_conv_start(queue, use, &plan, &launch));
    assert_ok(rig->backend->drain(rig->context, DRAIN_NS));
    assert_ok(rig->backend->read(rig->context, 1, out, area->out, sizeof area->out));
    rig->backend->queue_free(queue);
}

static void chunks_compare(const struct rig *rig, struct conv_area *area, struct mgb_cuda_use *use)
{
    static const int64_t limits[] = {1, 2 * 4 * 36 * 36, 3 * 4 * 36 * 36 + 5};
    static float whole[2][ROOM], parts[2][ROOM], again[2][ROOM];
    double wanted[2 * ROOM];
    bool any = false;
    conv_run(rig, area, use, MGB_CUDA_CONV_LIMIT, whole);
    for (int i = 0; i < 2 * ROOM; i++) {
        wanted[i] = (double)whole[i / ROOM][i % ROOM];
        any = any || wanted[i] != 0;
    }
    assert_true(any);
    for (int k = 0; k < 3; k++) {
        conv_run(rig, area, use, limits[k], parts);
        conformance_close("chunks", parts[0], wanted, (int64_t)2 * ROOM, 1e-5);
        conv_run(rig, area, use, limits[k], again);
        assert_memory_equal(parts, again, sizeof parts);
    }
}

/* 6x6 images of 8 channels in 2 groups, a kernel of 3x3, 4 filters; an example has 36 windows of 36 numbers a group. */
static void convolution_in_chunks_is_that_of_all_examples(void **state)
{
    (void)state;
    static const enum mgb_op_kind kinds[] = {MGB_OP_CONV2D, MGB_OP_CONV2D_GRAD_X,
                                             MGB_OP_CONV2D_GRAD_W};
    struct rig rig = machine_open();
    struct conv_area *area = rig_arena(&rig, 1, sizeof *area);
    float in[3][ROOM];
    for (int i = 0; i < 3 * ROOM; i++)
        in[i / ROOM][i % ROOM] = mgb_random_unit(mgb_random_at(3, (uint64_t)i, 0).v[0]) - 0.5f;
    assert_ok(rig.backend->write(rig.context, 1, area->in, in, sizeof in));
    for (int k = 0; k < 3; k++) {
        struct mgb_cuda_use use = {.kind = kinds[k], .rows = ROWS, .input_count = k == 0 ? 3 : 2};
        use.a.conv2d = (struct mgb_conv2d_attributes){
            .window = {.size = {3, 3}, .stride = {1, 1}, .dilation = {1, 1}, .groups = 2},
            .pad_before = {1, 1},
            .pad_after = {1, 1},
            .activation = k == 0 ? MGB_TANH : MGB_LINEAR,
            .x = {3, {6, 6, 8}},
            .y = {3, {6, 6, 4}}};
        use.out[0].count = (int64_t)ROWS * 36 * (k == 0 ? 4 : 8);
        use.out[0].last = k == 0 ? 4 : 8;
        use.out[1].wanted = k == 2;
        chunks_compare(&rig, area, &use);
    }
    rig.backend->arena_free(rig.context, 1, area, sizeof *area);
    machine_close(&rig);
}

/* 3 x 40 x 41 positions make several chunks of every sum; 37 channels two tiles, the second one not full. */
static struct mgb_graph *long_make(void)
{
    struct mgb_graph *graph = model_make("long");
    struct mgb_window apart = model_window(3, 1, MGB_SAME), small = model_window(1, 1, MGB_SAME);
    int label = model_label(graph, "label"), x = model_input(graph, "x", SHAPE(3, 40, 41, 3));
    apart.groups = 3;
    x = model_batch_norm(graph, "pixels", x, MGB_LINEAR);
    x = model_conv2d(graph, "apart", x, 6, &apart, MGB_LINEAR);
    x = model_batch_norm(graph, "few", x, MGB_RELU);
    x = model_conv2d(graph, "wide", x, 37, &small, MGB_RELU);
    x = model_batch_norm(graph, "many", model_max_pool2d(graph, x, 4), MGB_RELU);
    x = model_dense(graph, "logits", model_flatten(graph, x), 3, MGB_LINEAR);
    model_classify(graph, x, label);
    return graph;
}

static void sums_of_several_chunks_match_the_reference(void **state)
{
    (void)state;
    struct rig rig = machine_open();
    model_check(&rig, "long", long_make);
    machine_close(&rig);
}

static struct rig_values values_in_order(const struct reference *reference, const char *seed)
{
    struct rig_values values = {0};
    const struct rig_play play = {.device = 1, .threads = 1, .plain = true};
    if (seed) {
        setenv("FAKE_CUDA_ORDER", "random", 1);
        setenv("FAKE_CUDA_SEED", seed, 1);
    }
    struct rig rig = machine_open();
    assert_ok(rig_run(&values, &rig, reference, &play));
    machine_close(&rig);
    unsetenv("FAKE_CUDA_ORDER");
    unsetenv("FAKE_CUDA_SEED");
    return values;
}

static void the_order_of_threads_changes_no_bit(void **state)
{
    (void)state;
    static const char *const seeds[] = {"1", "2", "3"};
    struct mgb_graph *graph = long_make();
    struct reference reference = reference_make(graph, 2);
    reference_fill(&reference, 11);
    struct rig_values wanted = values_in_order(&reference, NULL);
    for (int s = 0; s < 3; s++) {
        struct rig_values got = values_in_order(&reference, seeds[s]);
        for (int t = 0; t < graph->tensor_count; t++)
            if (wanted.value[t])
                assert_memory_equal(got.value[t], wanted.value[t],
                                    sizeof(float) * (size_t)reference.counts[t]);
        rig_values_free(&got);
    }
    rig_values_free(&wanted);
    reference_free(&reference);
    mgb_graph_free(graph);
}

static struct mgb_graph *maxima_make(void)
{
    struct mgb_graph *graph = model_make("maxima");
    struct mgb_window window = model_window(3, 2, MGB_SAME);
    int label = model_label(graph, "label"), x = model_input(graph, "x", SHAPE(3, 7, 7, 5));
    struct mgb_window whole = model_window(1, 1, MGB_SAME);
    x = model_conv2d(graph, "in", x, 4, &whole, MGB_LINEAR);
    assert_ok(mgb_op_max_pool2d(graph, &x, "max", x, &window));
    x = model_dense(graph, "logits", model_flatten(graph, x), 3, MGB_LINEAR);
    model_classify(graph, x, label);
    return graph;
}

/* Equal ones give the first, and what is no number wins: as on the host, index and all. */
static void maxima_of_equals_and_of_no_numbers_are_the_hosts(void **state)
{
    (void)state;
    struct mgb_graph *graph = maxima_make();
    struct reference reference = reference_make(graph, 3);
    const struct rig_play play = {.device = 1, .threads = 1, .plain = true};
    struct rig_values wanted = {0}, got = {0};
    reference_fill(&reference, 4);
    for (int t = 0; t < graph->tensor_count; t++)
        if (graph->nodes[graph->tensors[t].node].kind == MGB_OP_INPUT &&
            graph->tensors[t].type == MGB_F32)
            for (int64_t i = 0; i < reference.counts[t]; i++)
                reference.value[t][i] = i % 173 == 0 ? NAN : (double)(i / 5 % 3);
    struct rig host = rig_open(&mgb_host_backend, 0), cuda = machine_open();
    assert_ok(rig_run(&wanted, &host, &reference, &play));
    assert_ok(rig_run(&got, &cuda, &reference, &play));
    int seen = 0;
    for (int t = 0; t < graph->tensor_count; t++)
        if (graph->tensors[t].node >= 0 &&
            graph->nodes[graph->tensors[t].node].kind == MGB_OP_MAX_POOL2D)
            for (int64_t i = 0; i < reference.counts[t]; i++) {
                float a = wanted.value[t][i], b = got.value[t][i];
                bool number = graph->tensors[t].type != MGB_F32 || !isnan(a);
                assert_true(number ? !isnan(b) && fabsf(a - b) <= 1e-6f : isnan(b));
                seen += !number;
            }
    assert_true(seen > 0);
    rig_close(&host);
    machine_close(&cuda);
    rig_values_free(&wanted);
    rig_values_free(&got);
    reference_free(&reference);
    mgb_graph_free(graph);
}

#define TOWERS 64
#define CHANNELS 37

struct merge_area {
    float mean[CHANNELS], variance[CHANNELS], source[2 * TOWERS + 2][CHANNELS];
};

static void merge_run(const struct rig *rig, int device, struct merge_area *host, int towers,
                      enum mgb_status expected)
{
    struct merge_area *area = rig_arena(rig, device, sizeof *area);
    struct mgb_queue *queue = rig_compute(rig, device, 1);
    const float *sources[2 * TOWERS + 2];
    int64_t rows[TOWERS + 1];
    for (int k = 0; k < 2 * towers; k++)
        sources[k] = area->source[k];
    for (int k = 0; k < towers; k++)
        rows[k] = 1 + k % 5;
    assert_ok(rig->backend->write(rig->context, device, area, host, sizeof *area));
    assert_int_equal(
        rig->backend->merge(queue, area->mean, area->variance, sources, rows, towers, CHANNELS),
        expected);
    assert_ok(rig->backend->drain(rig->context, DRAIN_NS));
    assert_ok(rig->backend->read(rig->context, device, host, area, sizeof *area));
    rig->backend->queue_free(queue);
    rig->backend->arena_free(rig->context, device, area, sizeof *area);
}

static void statistics_of_towers_merge_to_the_same_bits_on_gpu_and_cpu(void **state)
{
    (void)state;
    static const int towers[] = {1, 2, 7, TOWERS};
    struct merge_area cpu = {{0}, {0}, {{0}}}, gpu;
    struct rig rig = machine_open();
    for (int i = 0; i < (2 * TOWERS + 2) * CHANNELS; i++)
        cpu.source[i / CHANNELS][i % CHANNELS] =
            mgb_random_unit(mgb_random_at(8, (uint64_t)i, 0).v[0]);
    gpu = cpu;
    for (int k = 0; k < 4; k++) {
        merge_run(&rig, 0, &cpu, towers[k], MGB_OK);
        merge_run(&rig, 1, &gpu, towers[k], MGB_OK);
        assert_memory_equal(&cpu, &gpu, sizeof cpu);
        assert_true(towers[k] > 1 || cpu.mean[3] == cpu.source[0][3]);
        assert_true(towers[k] == 1 || cpu.mean[3] != cpu.source[0][3]);
    }
    merge_run(&rig, 1, &gpu, TOWERS + 1, MGB_UNSUPPORTED);
    machine_close(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(drawn_convolutions_match_the_reference),
        cmocka_unit_test(convolution_in_chunks_is_that_of_all_examples),
        cmocka_unit_test(sums_of_several_chunks_match_the_reference),
        cmocka_unit_test(the_order_of_threads_changes_no_bit),
        cmocka_unit_test(maxima_of_equals_and_of_no_numbers_are_the_hosts),
        cmocka_unit_test(statistics_of_towers_merge_to_the_same_bits_on_gpu_and_cpu),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
