/* Live toggles: values stay, memory returns, what is refused changes nothing. */
#include "tests/support/check.h"
#include "tests/support/draws.h"
#include "tests/support/model.h"
#include "tests/support/training.h"

#include "engine/exec/run_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct mgb_run *mlp_open(const struct mgb_graph *graph, const char *options)
{
    struct training training = {
        .graph = graph, .options = options, .optimizer = training_sgd(0.1f, 0.9f), .seed = 2};
    return training_open(&training);
}

static void relocation_keeps_weights_and_slots(void **state)
{
    (void)state;
    struct mgb_graph *graph = draw_model(1);
    struct mgb_run *run = mlp_open(graph, "gpus=2 global_batch=9");
    training_step(run, 3, NULL);
    uint64_t digest = training_digest(run);
    static const char *const moves[] = {
        "cpu_relocation=true",
        "weights_at=nil cpu_relocation=false",
        "cpu_relocation=nil weights_at=/gpu:1",
        "weights_at=spread",
        "update_at=/cpu:0",
        "relocation=clone weights_at=/cpu:0",
        "strategy=allreduce",
        "gpus=4",
        "strategy=gradients",
        "gpus=1",
        "strategy=outputs gpus=3",
        "gpus=0",
    };
    for (size_t i = 0; i < sizeof moves / sizeof moves[0]; i++) {
        struct mgb_change change = training_set(run, moves[i]);
        assert_true(change.total_ns > 0);
        if (training_digest(run) != digest)
            fail_msg("after %s the weights are others", moves[i]);
    }
    mgb_run_close(run);
    mgb_graph_free(graph);
}

static void a_toggle_says_what_moved(void **state)
{
    (void)state;
    struct mgb_graph *graph = model_mlp();
    struct mgb_run *run = mlp_open(graph, "gpus=2 global_batch=8 weights_at=/gpu:0");
    int64_t weights = 0;
    for (int i = 0; i < mgb_graph_variable_count(graph); i++)
        weights += mgb_graph_variable_at(graph, i).bytes;
    struct mgb_change change = training_set(run, "cpu_merge=false");
    assert_true(change.changed);
    assert_int_equal(change.moved_bytes, 0); /* nothing that lasts has another place */
    change = training_set(run, "cpu_merge=false");
    assert_false(change.changed);
    change = training_set(run, "weights_at=/cpu:0");
    assert_true(change.changed);
    assert_in_range(change.moved_bytes, 2 * weights,
                    2 * weights + 4096); /* weights and momentum, padding */
    mgb_run_close(run);
    mgb_graph_free(graph);
}

static void a_refused_change_leaves_all_as_it_was(void **state)
{
    (void)state;
    struct mgb_graph *graph = draw_model(1);
    struct mgb_run *run = mlp_open(graph, "gpus=2 global_batch=9 gpu_memory=4MiB");
    struct mgb_run *twin = mlp_open(graph, "gpus=2 global_batch=9 gpu_memory=4MiB");
    static const struct {
        const char *options;
        enum mgb_status status;
    } refused[] = {
        {"gpus=-1", MGB_INVALID},
        {"gpus=0,0", MGB_INVALID},
        {"gpus=0,40", MGB_MISSING},
        {"gpus=17", MGB_MISSING},
        {"weights_at=/gpu:33", MGB_MISSING},
        {"strategy=allreduce weights_at=/cpu:0", MGB_INVALID},
        {"global_batch=200000", MGB_OOM},
        {"precision=bf16", MGB_UNSUPPORTED},
    };
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        double a, b;
        int64_t held = training_held(run);
        uint64_t digest = training_digest(run);
        assert_status(training_try_set(run, refused[i].options), refused[i].status);
        assert_int_equal(training_held(run), held);
        assert_true(training_digest(run) == digest);
        assert_int_equal(mgb_run_effective(run)->global_batch, 9);
        training_step(run, 1, &a);
        training_step(twin, 1, &b);
        assert_memory_equal(&a, &b, sizeof a);
    }
    assert_true(training_digest(run) == training_digest(twin));
    mgb_run_close(run);
    mgb_run_close(twin);
    mgb_graph_free(graph);
}

static void an_oom_names_the_device_and_its_bytes(void **state)
{
    (void)state;
    struct mgb_graph *graph = draw_model(1);
    struct mgb_run *run = mlp_open(graph, "gpus=2 global_batch=9 gpu_memory=4MiB");
    assert_status(training_try_set(run, "global_batch=200000"), MGB_OOM);
    struct mgb_oom oom = mgb_oom_get();
    assert_string_equal(oom.device, "/gpu:0");
    assert_true(oom.needed > oom.available);
    assert_int_equal(oom.available, 4 << 20);
    mgb_run_close(run);
    mgb_graph_free(graph);
}

static void another_memory_limit_keeps_the_values(void **state)
{
    (void)state;
    struct mgb_graph *graph = draw_model(1);
    struct mgb_run *run = mlp_open(graph, "gpus=2 global_batch=9"),
                   *twin = mlp_open(graph, "gpus=2 global_batch=9");
    double a[3], b[3];
    training_step(run, 2, NULL);
    training_step(twin, 2, NULL);
    training_set(run, "gpu_memory=8MiB");
    assert_true(training_digest(run) == training_digest(twin));
    assert_status(training_try_set(run, "gpu_memory=1KiB"), MGB_OOM);
    training_step(run, 3, a);
    training_step(twin, 3, b);
    assert_memory_equal(a, b, sizeof a);
    training_set(run, "gpu_memory=nil");
    assert_true(training_digest(run) == training_digest(twin));
    mgb_run_close(run);
    mgb_run_close(twin);
    mgb_graph_free(graph);
}

static void bytes_return_to_the_start_after_100_cycles(void **state)
{
    (void)state;
    static const char *const cycle[] = {
        "gpus=4",
        "cpu_merge=false",
        "cpu_relocation=true",
        "gpus=1",
        "strategy=gradients",
        "gpus=3",
        "strategy=allreduce",
        "strategy=outputs cpu_merge=true cpu_relocation=false",
        "gpus=2 global_batch=16",
        "gpus=1 global_batch=9",
    };
    struct mgb_graph *graph = draw_model(1);
    struct mgb_run *run = mlp_open(
        graph, "gpus=1 global_batch=9 cpu_merge=true cpu_relocation=false strategy=outputs");
    struct mgb_memory_use before[64], after[64];
    int devices, count;
    training_step(run, 1, NULL);
    assert_ok(mgb_run_memory(run, before, 64, &devices));
    for (int i = 0; i < 100; i++) {
        for (size_t k = 0; k < sizeof cycle / sizeof cycle[0]; k++)
            training_set(run, cycle[k]);
        training_step(run, 1, NULL);
        assert_ok(mgb_run_memory(run, after, 64, &count));
        assert_int_equal(count, devices);
        for (int d = 0; d < count; d++)
            assert_int_equal(after[d].held_bytes, before[d].held_bytes);
    }
    mgb_run_close(run);
    mgb_graph_free(graph);
}

static void the_optimizer_can_change_in_mid_run(void **state)
{
    (void)state;
    struct mgb_graph *graph = model_mlp();
    struct mgb_run *run = mlp_open(graph, "gpus=2 global_batch=8");
    int64_t count;
    training_step(run, 3, NULL);
    float *before = training_weights(run, &count);
    struct mgb_optimizer adam = mgb_optimizer_default(MGB_ADAM);
    assert_ok(mgb_run_set_optimizer(run, &adam));
    float *after = training_weights(run, &count);
    assert_memory_equal(before, after, (size_t)count * sizeof *before);
    float slot[8 * 12];
    for (int k = 0; k < 2; k++) {
        assert_ok(mgb_run_read(run, slot, 0, k));
        for (int i = 0; i < 8 * 12; i++)
            assert_true(slot[i] == 0.0f); /* no momentum left behind */
    }
    training_step(run, 3, NULL);
    assert_ok(mgb_run_read(run, slot, 0, 1));
    struct mgb_optimizer plain = training_sgd(0.1f, 0);
    assert_ok(mgb_run_set_optimizer(run, &plain));
    assert_status(mgb_run_read(run, slot, 0, 0), MGB_MISSING);
    training_step(run, 1, NULL);
    free(before);
    free(after);
    mgb_run_close(run);
    mgb_graph_free(graph);
}

static void a_frozen_layer_stays_and_thaws(void **state)
{
    (void)state;
    struct mgb_graph *graph = model_mlp();
    assert_ok(mgb_graph_freeze(graph, 0, true));
    struct mgb_run *run = mlp_open(graph, "gpus=2 global_batch=8");
    float before[96], after[96], other_before[8], other_after[8];
    assert_ok(mgb_run_read(run, before, 0, -1));
    assert_ok(mgb_run_read(run, other_before, 1, -1));
    training_step(run, 5, NULL);
    training_set(run, "cpu_relocation=true");
    training_step(run, 5, NULL);
    assert_ok(mgb_run_read(run, after, 0, -1));
    assert_ok(mgb_run_read(run, other_after, 1, -1));
    assert_memory_equal(before, after, sizeof before);
    assert_memory_not_equal(other_before, other_after, sizeof other_before);
    mgb_run_close(run);
    mgb_graph_free(graph);
}

static void a_clone_leaves_the_original_behind_and_a_move_does_not(void **state)
{
    (void)state;
    struct mgb_graph *graph = model_mlp();
    struct mgb_run *run = mlp_open(graph, "gpus=2 global_batch=8");
    int64_t weights = 0;
    for (int i = 0; i < mgb_graph_variable_count(graph); i++)
        weights += mgb_graph_variable_at(graph, i).bytes;
    struct mgb_check check;
    training_set(run, "cpu_relocation=true relocation=clone");
    training_step(run, 2, NULL);
    assert_ok(mgb_run_check(run, &check));
    assert_int_equal(check.leftover_bytes, weights);
    assert_int_equal(check.duplicate_count, 0);
    mgb_check_done(&check);
    training_set(run, "relocation=move");
    assert_ok(mgb_run_check(run, &check));
    assert_int_equal(check.leftover_bytes, 0);
    mgb_check_done(&check);
    mgb_run_close(run);
    mgb_graph_free(graph);
}

static void replicas_are_equal_in_value_and_a_difference_is_named(void **state)
{
    (void)state;
    struct mgb_graph *graph = draw_model(2);
    struct mgb_run *run = mlp_open(graph, "gpus=3 global_batch=10 strategy=allreduce");
    struct mgb_check check;
    training_step(run, 4, NULL);
    assert_ok(mgb_run_check(run, &check));
    assert_int_equal(check.replicas_per_variable, 3);
    assert_int_equal(check.duplicate_count, 0);
    mgb_check_done(&check);
    /* Independent towers go apart, and come together again when they are mirrored. */
    training_set(run, "strategy=independent");
    training_step(run, 2, NULL);
    assert_ok(mgb_run_check(run, &check));
    mgb_check_done(&check);
    training_set(run, "strategy=allreduce");
    assert_ok(mgb_run_check(run, &check));
    mgb_check_done(&check);
    struct mgb_held held;
    int index = 0, tower = 0;
    const float wrong = 77;
    while (mgb_held_next(run, &index, &tower, &held))
        if (held.storage->role == MGB_ROLE_REPLICA && held.storage->variable == 1 &&
            held.tower == 2)
            assert_ok(run->backend->write(run->site->context, held.place.device,
                                          (float *)held.address + 3, &wrong, 4));
    assert_status(mgb_run_check(run, &check), MGB_CORRUPT);
    assert_message(
        "replica of 'encoder/bias' on /gpu:2 differs from its master on /gpu:0 from element 3");
    mgb_run_close(run);
    mgb_graph_free(graph);
}

static void writing_and_reading_go_round(void **state)
{
    (void)state;
    struct mgb_graph *graph = model_mlp();
    static const char *const options[] = {"gpus=2 global_batch=8",
                                          "gpus=3 global_batch=8 strategy=allreduce",
                                          "gpus=2 global_batch=8 weights_at=spread"};
    for (size_t i = 0; i < 3; i++) {
        struct mgb_run *run = mlp_open(graph, options[i]);
        float values[96], got[96];
        for (int k = 0; k < 96; k++)
            values[k] = (float)k / 7;
        training_step(run, 1, NULL);
        for (int slot = -1; slot < 1; slot++) {
            assert_ok(mgb_run_write(run, values, 0, slot));
            assert_ok(mgb_run_read(run, got, 0, slot));
            assert_memory_equal(values, got, sizeof got);
        }
        struct mgb_check check;
        assert_ok(mgb_run_check(run, &check));
        mgb_check_done(&check);
        assert_status(mgb_run_read(run, got, 99, -1), MGB_INVALID);
        mgb_run_close(run);
    }
    mgb_graph_free(graph);
}

static void an_evaluation_sees_every_row_and_disturbs_nothing(void **state)
{
    (void)state;
    struct mgb_graph *graph = draw_model(1);
    struct training_data data = training_data_make(graph, 23, true, 3),
                         test = training_data_make(graph, 37, true, 8);
    struct training training = {.graph = graph,
                                .source = &data.source,
                                .options = "gpus=3 global_batch=10",
                                .optimizer = training_sgd(0.1f, 0.9f)};
    struct mgb_run *run = training_open(&training), *twin = training_open(&training);
    double a[4], b[4];
    training_step(run, 2, NULL);
    training_step(twin, 2, NULL);
    struct mgb_evaluation first, second, own;
    assert_ok(mgb_run_evaluate(run, &first, &test.source));
    assert_int_equal(first.rows, 37);
    assert_int_equal(first.metric_count, 1);
    assert_ok(mgb_run_evaluate(run, &own, &data.source));
    training_step(run, 4, a);
    training_step(twin, 4, b);
    assert_memory_equal(a, b, sizeof a);
    assert_true(training_digest(run) == training_digest(twin));
    /* Another split and another batch: the same rows, the same sums to rounding. */
    assert_ok(mgb_run_evaluate(run, &first, &test.source));
    training_set(run, "gpus=2 global_batch=7");
    assert_ok(mgb_run_evaluate(run, &second, &test.source));
    assert_true(first.metrics[0] == second.metrics[0]);
    assert_true(first.loss - second.loss < 1e-5 * first.loss &&
                second.loss - first.loss < 1e-5 * first.loss);
    mgb_run_close(run);
    mgb_run_close(twin);
    training_data_done(&data);
    training_data_done(&test);
    mgb_graph_free(graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(relocation_keeps_weights_and_slots),
        cmocka_unit_test(a_toggle_says_what_moved),
        cmocka_unit_test(a_refused_change_leaves_all_as_it_was),
        cmocka_unit_test(an_oom_names_the_device_and_its_bytes),
        cmocka_unit_test(another_memory_limit_keeps_the_values),
        cmocka_unit_test(bytes_return_to_the_start_after_100_cycles),
        cmocka_unit_test(the_optimizer_can_change_in_mid_run),
        cmocka_unit_test(a_frozen_layer_stays_and_thaws),
        cmocka_unit_test(a_clone_leaves_the_original_behind_and_a_move_does_not),
        cmocka_unit_test(replicas_are_equal_in_value_and_a_difference_is_named),
        cmocka_unit_test(writing_and_reading_go_round),
        cmocka_unit_test(an_evaluation_sees_every_row_and_disturbs_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
