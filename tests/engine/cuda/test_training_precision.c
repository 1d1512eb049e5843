/* Training in TF32, bf16 and f16 on fake GPUs: every place gives the same bits, loss and weights follow f32, and gradients of f16
 * that leave its range cost a step, not the weights. */
#include "tests/engine/cuda/machine.h"

#include "engine/exec/run_state.h"
#include "tests/support/check.h"
#include "tests/support/model.h"
#include "tests/support/training.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STEPS 4

static const char *const names[] = {"f32", "tf32", "bf16", "f16"};

/* mnist_cnn in small. */
static struct mgb_graph *images_make(void)
{
    struct mgb_graph *graph = model_make("images");
    struct mgb_window window = model_window(3, 1, MGB_SAME);
    int label = model_label(graph, "label"), x = model_input(graph, "image", SHAPE(3, 6, 6, 1));
    x = model_max_pool2d(graph, model_conv2d(graph, "conv", x, 6, &window, MGB_RELU), 2);
    x = model_dense(graph, "hidden", model_flatten(graph, x), 8, MGB_TANH);
    x = model_dropout(graph, x, 0.25f);
    model_classify(graph, model_dense(graph, "logits", x, 3, MGB_LINEAR), label);
    return graph;
}

static struct mgb_run *run_open(const struct mgb_graph *graph, struct training_data *data,
                                struct mgb_optimizer optimizer, const char *options, int precision)
{
    char all[256];
    snprintf(all, sizeof all, "global_batch=10 %s precision=%s", options, names[precision]);
    struct training training = {.graph = graph,
                                .source = &data->source,
                                .options = all,
                                .optimizer = optimizer,
                                .play_on = machine_cuda()};
    struct mgb_run *run = NULL;
    if (training_try_open(&run, &training) != MGB_OK)
        fail_msg("%s: %s", all, mgb_message_get());
    return run;
}

/* Losses and the digest of the weights after some steps. */
static uint64_t train(const struct mgb_graph *graph, struct training_data *data,
                      const char *options, int precision, double losses[STEPS])
{
    struct mgb_run *run = run_open(graph, data, training_sgd(0.2f, 0.9f), options, precision);
    training_step(run, STEPS, losses);
    uint64_t digest = training_digest(run);
    assert_ok(mgb_plan_verify(mgb_run_plan(run)));
    mgb_run_close(run);
    machine_check_empty();
    return digest;
}

static void losses_compare(const char *options, int precision, const double *losses,
                           const double *exact)
{
    static const double apart[] = {0, 2e-3, 3e-2, 5e-3};
    bool same = true;
    for (int i = 0; i < STEPS; i++) {
        if (!(fabs(losses[i] - exact[i]) <= apart[precision] * fabs(exact[i])))
            fail_msg("%s in %s: loss %d is %.9g, in f32 %.9g", options, names[precision], i,
                     losses[i], exact[i]);
        same = same && losses[i] == exact[i];
    }
    assert_false(same);
}

static void places_give_the_same_bits_and_losses_follow_f32(void **state)
{
    (void)state;
    static const char *const places[] = {
        "gpus=2 strategy=gradients merge_at=/gpu:0 weights_at=/gpu:0",
        "gpus=2 strategy=gradients merge_at=/gpu:1 weights_at=/gpu:0",
        "gpus=2 strategy=gradients sum_at=/gpu:1 update_at=/gpu:0 weights_at=/gpu:1",
    };
    struct mgb_graph *graph = images_make();
    struct training_data data = training_data_make(graph, 30, true, 3);
    double exact[STEPS], losses[STEPS];
    machine_set("2", NULL);
    train(graph, &data, places[0], 0, exact);
    for (int precision = 1; precision < 4; precision++) {
        uint64_t digest = train(graph, &data, places[0], precision, losses);
        losses_compare(places[0], precision, losses, exact);
        for (int i = 1; i < 3; i++)
            assert_true(train(graph, &data, places[i], precision, losses) == digest);
    }
    training_data_done(&data);
    mgb_graph_free(graph);
}

/* The head, sums and updates on the CPU, mirrors, towers alone; the CPU works in f32 beside them. */
static void every_strategy_trains_in_each_precision(void **state)
{
    (void)state;
    static const char *const options[] = {
        "gpus=2 strategy=outputs",
        "gpus=2 strategy=outputs cpu_merge=false bn=sync",
        "gpus=3 strategy=gradients cpu_relocation=true",
        "gpus=2 strategy=gradients sum_at=/gpu:0 update_at=/cpu:0",
        "gpus=3 strategy=allreduce",
        "gpus=2 strategy=allreduce wire_type=bf16",
        "gpus=2 strategy=independent recompute=block",
    };
    struct mgb_graph *graph = images_make();
    struct training_data data = training_data_make(graph, 30, true, 4);
    double exact[STEPS], losses[STEPS];
    machine_set("3", NULL);
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
        train(graph, &data, options[i], 0, exact);
        for (int precision = i % 2 ? 1 : 2; precision < 4; precision += i % 2 ? 2 : 1) {
            train(graph, &data, options[i], precision, losses);
            losses_compare(options[i], precision, losses, exact);
        }
    }
    training_data_done(&data);
    mgb_graph_free(graph);
}

struct seen { /* of one step */
    bool skipped;
    float scale;
};

static bool step_see(void *context, const struct mgb_step_result *result)
{
    *(struct seen *)context = (struct seen){result->skipped, result->loss_scale};
    return true;
}

static struct seen step_one(struct mgb_run *run)
{
    struct seen seen = {false, 0};
    int64_t done;
    struct mgb_step_request request = {.steps = 1};
    struct mgb_step_sink sink = {.context = &seen, .step = step_see};
    assert_ok(mgb_run_step(run, &done, &request, &sink));
    return seen;
}

/* What a checkpoint keeps of a run brings its factor back; one of a run without f16 lets it begin anew. */
static void scale_is_progress(struct mgb_run *run, float scale)
{
    struct mgb_progress progress = mgb_run_progress(run), anew = progress;
    int good = run->loss_scale.good;
    assert_true(progress.loss_scale == scale);
    anew.loss_scale = 0;
    assert_ok(mgb_run_set_progress(run, &anew));
    assert_true(run->loss_scale.scale == 65536.0f && mgb_run_progress(run).loss_scale == 0.0f);
    assert_ok(mgb_run_set_progress(run, &progress));
    assert_true(run->loss_scale.scale == scale);
    assert_int_equal(run->loss_scale.good, good);
}

/* A scale of 2^24 makes gradients of the logits infinite in f16: steps are left out until it fits. */
static void an_overflow_skips_the_update_and_halves_the_scale(void **state)
{
    (void)state;
    static const char *const options[] = {
        "gpus=2 strategy=gradients",   "gpus=2 strategy=gradients update_at=/cpu:0 sum_at=/gpu:0",
        "gpus=2 strategy=allreduce",   "gpus=2 strategy=outputs",
        "gpus=2 strategy=independent",
    };
    struct mgb_graph *graph = images_make();
    struct training_data data = training_data_make(graph, 30, true, 5);
    struct mgb_optimizer adam = training_sgd(0.01f, 0);
    adam.kind = MGB_ADAM;
    adam.beta1 = 0.9f;
    adam.beta2 = 0.999f;
    adam.epsilon = 1e-7f;
    machine_set("2", NULL);
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
        struct mgb_run *run = run_open(graph, &data, adam, options[i], MGB_PRECISION_F16);
        float scale = 0x1p24f;
        int skipped = 0;
        assert_true(run->loss_scale.scale == 65536.0f);
        run->loss_scale.scale = scale;
        for (int step = 0; step < 20; step++) {
            uint64_t before = training_digest(run);
            struct seen seen = step_one(run);
            assert_true(seen.scale == scale);
            assert_int_equal(training_digest(run) == before, seen.skipped);
            scale /= seen.skipped ? 2 : 1;
            skipped += seen.skipped;
            assert_true(run->loss_scale.scale == scale);
            assert_int_equal(run->updates, step + 1 - skipped);
        }
        assert_in_range(skipped, 1, 12);
        scale_is_progress(run, scale);
        mgb_run_close(run);
        machine_check_empty();
    }
    training_data_done(&data);
    mgb_graph_free(graph);
}

static void after_two_thousand_good_steps_the_scale_doubles(void **state)
{
    (void)state;
    struct mgb_loss_scale scale = {.scale = 8};
    for (int i = 0; i < 1999; i++)
        mgb_loss_scale_judge(&scale, false);
    assert_true(scale.scale == 8);
    mgb_loss_scale_judge(&scale, false);
    assert_true(scale.scale == 16);
    for (int i = 0; i < 1999; i++)
        mgb_loss_scale_judge(&scale, false);
    mgb_loss_scale_judge(&scale, true); /* it counts anew */
    mgb_loss_scale_judge(&scale, false);
    assert_true(scale.scale == 8 && scale.good == 1);
    for (int i = 0; i < 100; i++)
        mgb_loss_scale_judge(&scale, true);
    assert_true(scale.scale > 0);
}

/* A limit to the gradients' norm means the gradients without the scale. */
static void clipping_knows_the_scale(void **state)
{
    (void)state;
    struct mgb_graph *graph = images_make();
    struct training_data data = training_data_make(graph, 30, true, 6);
    struct mgb_optimizer optimizer = training_sgd(0.5f, 0);
    double exact[STEPS], losses[STEPS];
    machine_set("1", NULL);
    optimizer.clip_norm = 0.01f;
    struct mgb_run *full = run_open(graph, &data, optimizer, "gpus=1", 0);
    struct mgb_run *half = run_open(graph, &data, optimizer, "gpus=1", MGB_PRECISION_F16);
    training_step(full, STEPS, exact);
    training_step(half, STEPS, losses);
    int64_t count;
    float *a = training_weights(full, &count), *b = training_weights(half, NULL);
    losses_compare("clip_norm", MGB_PRECISION_F16, losses, exact);
    assert_true(training_difference(a, b, count) < 1e-3);
    free(a);
    free(b);
    mgb_run_close(full);
    mgb_run_close(half);
    machine_check_empty();
    training_data_done(&data);
    mgb_graph_free(graph);
}

static void precision_is_toggled_while_a_run_goes_on(void **state)
{
    (void)state;
    struct mgb_graph *graph = images_make();
    struct training_data data = training_data_make(graph, 30, true, 7);
    machine_set("2", NULL);
    struct mgb_run *run =
        run_open(graph, &data, training_sgd(0.2f, 0.9f), "gpus=2 strategy=gradients", 0);
    for (int i = 0; i < 5; i++) {
        char option[32], text[32];
        int precision = (i + 1) % 4;
        snprintf(option, sizeof option, "precision=%s", names[precision]);
        uint64_t digest = training_digest(run);
        assert_true(training_set(run, option).changed);
        assert_true(training_digest(run) == digest);
        assert_string_equal(mgb_effective_get_text(text, sizeof text, mgb_run_effective(run),
                                                   mgb_run_topology(run), MGB_OPTION_PRECISION),
                            names[precision]);
        struct seen seen = step_one(run);
        assert_true(seen.scale == (precision == MGB_PRECISION_F16 ? 65536.0f : 0));
        training_step(run, 2, NULL);
    }
    assert_status(training_try_set(run, "precision=f16 stale=true"), MGB_UNSUPPORTED);
    assert_message("another loss scale");
    mgb_run_close(run);
    machine_check_empty();
    training_data_done(&data);
    mgb_graph_free(graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(places_give_the_same_bits_and_losses_follow_f32),
        cmocka_unit_test(every_strategy_trains_in_each_precision),
        cmocka_unit_test(an_overflow_skips_the_update_and_halves_the_scale),
        cmocka_unit_test(after_two_thousand_good_steps_the_scale_doubles),
        cmocka_unit_test(clipping_knows_the_scale),
        cmocka_unit_test(precision_is_toggled_while_a_run_goes_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
