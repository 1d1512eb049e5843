/* The model, data and machines of the CUDA tests. */
#include "tests/engine/cuda/player.h"

#include "tests/fake_cuda/fake_cuda.h"
#include "tests/support/check.h"
#include <stdlib.h>

extern const struct mgb_backend *
mgb_cuda_entry_get(const struct mgb_cpu_kernels *cpu) __asm__(MGB_CUDA_ENTRY);

const struct mgb_backend *cuda_backend_get(void)
{
    return mgb_cuda_entry_get(&mgb_host_cpu_kernels);
}

void gpus_set(const char *devices, const char *fail)
{
    static const char *const others[] = {"FAKE_CUDA_FAIL", "FAKE_CUDA_INIT", "FAKE_CUDA_PEER",
                                         "CUDA_VISIBLE_DEVICES"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        unsetenv(others[i]);
    setenv("FAKE_CUDA_DEVICES", devices, 1);
    setenv("FAKE_CUDA_MEMORY", "64M", 1);
    if (fail)
        setenv("FAKE_CUDA_FAIL", fail, 1);
    fake_cuda_reset();
}

static void layer_add(struct mgb_graph *graph, int *x, const char *name, int64_t in, int64_t out,
                      enum mgb_activation activation)
{
    int w, b, read_w, read_b;
    struct mgb_shape matrix = {.rank = 2, .dim = {in, out}}, vector = {.rank = 1, .dim = {out}};
    struct mgb_init glorot = {.kind = MGB_GLOROT_UNIFORM, .fan_in = in, .fan_out = out};
    struct mgb_init zeros = {.kind = MGB_ZEROS};
    assert_ok(mgb_graph_begin_scope(graph, name));
    assert_ok(mgb_graph_variable(graph, &w, "kernel", &matrix, &glorot));
    assert_ok(mgb_graph_variable(graph, &b, "bias", &vector, &zeros));
    assert_ok(mgb_graph_read(graph, &read_w, w));
    assert_ok(mgb_graph_read(graph, &read_b, b));
    mgb_graph_end_scope(graph);
    assert_ok(mgb_op_dense(graph, x, name, *x, read_w, read_b, activation));
}

struct mgb_graph *mlp_make(void)
{
    struct mgb_graph *graph;
    struct mgb_shape image = {.rank = 1, .dim = {16}}, scalar = {.rank = 0};
    int x, label, loss, accuracy;
    assert_ok(mgb_graph_make(&graph, "mlp"));
    assert_ok(mgb_graph_input(graph, &x, "x", &image, MGB_F32));
    assert_ok(mgb_graph_input(graph, &label, "label", &scalar, MGB_I32));
    layer_add(graph, &x, "first", 16, 24, MGB_RELU);
    layer_add(graph, &x, "second", 24, 12, MGB_TANH);
    layer_add(graph, &x, "third", 12, 5, MGB_LINEAR);
    assert_ok(mgb_op_softmax_cross_entropy(graph, &loss, "loss", x, label));
    assert_ok(mgb_op_accuracy(graph, &accuracy, "accuracy", x, label));
    assert_ok(mgb_graph_loss(graph, loss, 1.0f));
    assert_ok(mgb_graph_metric(graph, "accuracy", accuracy));
    assert_ok(mgb_graph_finish(graph));
    return graph;
}

void mlp_data(float *x, int32_t *labels, int rows, unsigned seed)
{
    unsigned state = seed * 2654435761u + 1;
    for (int r = 0; r < rows; r++) {
        labels[r] = r % 5;
        for (int i = 0; i < 16; i++) {
            state = state * 1664525u + 1013904223u;
            float noise = (float)(state >> 8) / 16777216.0f - 0.5f;
            x[r * 16 + i] = noise + (i % 5 == labels[r] ? 1.0f : 0.0f);
        }
    }
}
