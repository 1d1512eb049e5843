/* What a placement may multiply in: GPUs of a capability, and no loss scale that a stale gradient outlives. */
#include "tests/support/check.h"
#include "tests/support/model.h"

#include <mgb/placement.h>
#include <stdio.h>
#include <string.h>

#define GPUS 3
static struct mgb_device devices[1 + GPUS];
static struct mgb_topology topology = {.device_count = 1 + GPUS, .devices = devices};
static struct mgb_graph *graph;

static void machine_make(enum mgb_device_class class)
{
    static const char *const capabilities[GPUS] = {"10.0", "7.5", "5.2"};
    devices[0] = (struct mgb_device){.name = {MGB_DEVICE_CPU, 0, 0}, .class = MGB_CLASS_CPU};
    for (int i = 0; i < GPUS; i++) {
        devices[1 + i] =
            (struct mgb_device){.name = {MGB_DEVICE_GPU, i, 0}, .class = class, .physical = i};
        strcpy(devices[1 + i].capability, class == MGB_CLASS_CUDA ? capabilities[i] : "");
    }
}

static enum mgb_status resolve(struct mgb_effective *out, const char *gpus, const char *precision,
                               const char *stale)
{
    struct mgb_placement p;
    mgb_placement_init(&p);
    assert_ok(mgb_placement_set(&p, "gpus", gpus));
    assert_ok(mgb_placement_set(&p, "precision", precision));
    assert_ok(mgb_placement_set(&p, "stale", stale));
    return mgb_placement_resolve(out, &p, 0, graph, &topology, 8);
}

static void refused(const char *gpus, const char *precision, const char *stale, const char *words)
{
    struct mgb_effective e;
    assert_status(resolve(&e, gpus, precision, stale), MGB_UNSUPPORTED);
    assert_message(words);
}

static void cpu_devices_multiply_in_f32(void **state)
{
    (void)state;
    struct mgb_effective e;
    machine_make(MGB_CLASS_CPU);
    refused("2", "bf16", "false", "precision = bf16 needs GPUs; use f32");
    refused("0", "tf32", "false", "precision = tf32 needs GPUs; use f32");
    assert_ok(resolve(&e, "2", "f32", "false"));
    mgb_effective_done(&e);
    machine_make(MGB_CLASS_CUDA);
    refused("0", "f16", "false", "precision = f16 needs GPUs; use f32");
}

static void every_tower_must_be_able_to(void **state)
{
    (void)state;
    struct mgb_effective e;
    machine_make(MGB_CLASS_CUDA);
    refused("2", "bf16", "false", "of compute capability 8.0; /gpu:1 has 7.5; use f32");
    refused("2", "tf32", "false", "8.0; /gpu:1 has 7.5");
    refused("3", "f16", "false", "5.3; /gpu:2 has 5.2");
    assert_ok(resolve(&e, "2", "f16", "false"));
    mgb_effective_done(&e);
}

static void what_is_in_effect_is_told_and_compared(void **state)
{
    (void)state;
    static const char *const names[] = {"f32", "tf32", "bf16", "f16"};
    struct mgb_effective plain;
    char text[32];
    machine_make(MGB_CLASS_CUDA);
    assert_ok(resolve(&plain, "1", "f32", "false"));
    for (int i = 0; i < 4; i++) {
        struct mgb_effective e;
        assert_ok(resolve(&e, "1", names[i], "false"));
        assert_int_equal(e.precision, i);
        assert_string_equal(
            mgb_effective_get_text(text, sizeof text, &e, &topology, MGB_OPTION_PRECISION),
            names[i]);
        assert_int_equal(mgb_effective_equal(&e, &plain), i == 0);
        mgb_effective_done(&e);
    }
    mgb_effective_done(&plain);
}

static void stale_gradients_have_no_loss_scale(void **state)
{
    (void)state;
    struct mgb_effective e;
    machine_make(MGB_CLASS_CUDA);
    refused("2", "f16", "true", "use bf16 or stale = false");
    assert_ok(resolve(&e, "1", "bf16", "true"));
    mgb_effective_done(&e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cpu_devices_multiply_in_f32),
        cmocka_unit_test(every_tower_must_be_able_to),
        cmocka_unit_test(what_is_in_effect_is_told_and_compared),
        cmocka_unit_test(stale_gradients_have_no_loss_scale),
    };
    graph = model_mlp();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    mgb_graph_free(graph);
    return failed;
}
