/* Batch norm over the global batch (bn = sync): several towers compute what one does, moving statistics too, however the rows
 * fall and whatever towers exchange; places change no bit; the option can be changed in mid-run like any other. */
#include "tests/support/check.h"

#include "tests/support/draws.h"
#include "tests/support/model.h"
#include "tests/support/training.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHANNELS = 3, ROWS = 9, MOST = 16 };

static const char *const strategies[] = {"outputs", "gradients", "allreduce"};

/* Two batch norms, so that the second's statistics and both directions hang on the first's; relu in one. */
static struct mgb_graph *norm_model(void)
{
    struct mgb_graph *graph = model_make("norm");
    int x = model_input(graph, "x", SHAPE(1, CHANNELS)), label = model_label(graph, "label");
    x = model_dense(graph, "first", x, 5, MGB_LINEAR);
    x = model_batch_norm(graph, "batch_norm_1", x, MGB_RELU);
    x = model_dense(graph, "second", x, 4, MGB_TANH);
    x = model_batch_norm(graph, "batch_norm_2", x, MGB_LINEAR);
    model_classify(graph, model_dense(graph, "logits", x, 2, MGB_LINEAR), label);
    return graph;
}

static struct mgb_run *open_rows(const struct mgb_graph *graph, struct mgb_source *source,
                                 const char *options)
{
    static float x[ROWS * CHANNELS]; /* borrowed by the source */
    static int32_t label[ROWS];
    for (int row = 0; row < ROWS; row++) {
        label[row] = row * row % 2;
        for (int c = 0; c < CHANNELS; c++)
            x[row * CHANNELS + c] = (float)((row * 7 + c * 5) % 11) / 4.0f + 4.0f * (float)c;
    }
    assert_ok(mgb_source_memory(source, graph, (const void *[]){x, label}, ROWS, false));
    struct training training = {
        .graph = graph, .source = source, .optimizer = training_sgd(.05f, 0), .guarded = true};
    training.options = options;
    struct mgb_run *run = training_open(&training);
    assert_ok(mgb_plan_verify(mgb_run_plan(run)));
    return run;
}

/* What a step leaves behind: the loss, and of every variable its gradient or, where it moves, its value. */
struct outcome {
    double loss;
    float *values[MOST];
};

static void outcome_take(struct outcome *out, const struct mgb_graph *graph, const char *options)
{
    struct mgb_source source;
    struct mgb_run *run = open_rows(graph, &source, options);
    *out = (struct outcome){0};
    training_step(run, 1, &out->loss);
    for (int v = 0; v < mgb_graph_variable_count(graph); v++) {
        struct mgb_variable_info info = mgb_graph_variable_at(graph, v);
        out->values[v] = calloc((size_t)info.count, sizeof(float));
        assert_non_null(out->values[v]);
        if (info.trainable)
            assert_ok(mgb_run_read_gradient(run, out->values[v], v));
        else
            assert_ok(mgb_run_read(run, out->values[v], v, -1));
    }
    mgb_run_close(run);
    mgb_source_close(&source);
}

static void outcome_done(struct outcome *out)
{
    for (int v = 0; v < MOST; v++)
        free(out->values[v]);
    *out = (struct outcome){0};
}

/* Gradients against the largest one of the model: that of a bias before a batch norm is rounding and nothing else. */
static double scale_of(const struct mgb_graph *graph, const struct outcome *wanted, int variable)
{
    double most = 1e-12;
    bool trainable = mgb_graph_variable_at(graph, variable).trainable;
    for (int v = 0; v < mgb_graph_variable_count(graph); v++)
        for (int64_t i = 0; i < mgb_graph_variable_at(graph, v).count; i++)
            if (v == variable || (trainable && mgb_graph_variable_at(graph, v).trainable))
                most = fmax(most, fabs((double)wanted->values[v][i]));
    return most;
}

static double largest_difference(const struct mgb_graph *graph, const struct outcome *wanted,
                                 const struct outcome *got)
{
    double most = fabs(got->loss - wanted->loss) / fabs(wanted->loss);
    for (int v = 0; v < mgb_graph_variable_count(graph); v++) {
        double scale = scale_of(graph, wanted, v);
        for (int64_t i = 0; i < mgb_graph_variable_at(graph, v).count; i++)
            most =
                fmax(most, fabs((double)got->values[v][i] - (double)wanted->values[v][i]) / scale);
    }
    return most;
}

static void towers_agree_with_one_however_the_rows_fall(void **state)
{
    (void)state;
    struct mgb_graph *graph = norm_model();
    struct outcome wanted, got;
    char options[128];
    outcome_take(&wanted, graph, "gpus=1 global_batch=9 strategy=gradients");
    for (int gpus = 1; gpus <= 12; gpus++)
        for (int s = 0; s < 3; s++) {
            snprintf(options, sizeof options, "gpus=%d global_batch=%d strategy=%s bn=sync", gpus,
                     ROWS, strategies[s]);
            outcome_take(&got, graph, options);
            double difference = largest_difference(graph, &wanted, &got);
            if (!(difference <= 1e-5))
                fail_msg("%s: differs from one tower by %g", options, difference);
            outcome_done(&got);
        }
    outcome_take(&got, graph, "gpus=2 global_batch=9 strategy=gradients");
    assert_true(largest_difference(graph, &wanted, &got) >
                1e-3); /* by their own rows they do not */
    outcome_done(&got);
    outcome_done(&wanted);
    mgb_graph_free(graph);
}

/* Row 9 of reference/ancestors.md: 9 rows on 8 GPUs; each normalises by all nine. */
static void nine_rows_on_8_gpus_train(void **state)
{
    (void)state;
    struct mgb_graph *graph = norm_model();
    struct mgb_source one_source, eight_source;
    double one[20], eight[20];
    struct mgb_run *run =
        open_rows(graph, &one_source, "gpus=1 global_batch=9 strategy=gradients bn=sync");
    training_step(run, 20, one);
    mgb_run_close(run);
    run = open_rows(graph, &eight_source, "gpus=8 global_batch=9 strategy=gradients bn=sync");
    training_step(run, 20, eight);
    mgb_run_close(run);
    for (int i = 0; i < 20; i++)
        assert_true(isfinite(eight[i]) && fabs(eight[i] - one[i]) <= 1e-5 * fabs(one[i]));
    assert_true(one[19] < one[0]);
    mgb_source_close(&one_source);
    mgb_source_close(&eight_source);
    mgb_graph_free(graph);
}

static struct mgb_run *draw_open(const struct mgb_graph *graph, struct training_data *data,
                                 const char *options)
{
    struct training training = {
        .graph = graph, .source = &data->source, .optimizer = training_sgd(0.1f, 0.9f), .seed = 5};
    training.options = options;
    return training_open(&training);
}

#define STEPS 4

/* The same towers: the same bits wherever they meet, whatever lies where and is computed again, from the start or from
 * mid-run on. */
static void places_change_no_bit(void **state)
{
    (void)state;
    for (int number = 5; number <= 21; number += 8) {
        struct mgb_graph *graph = draw_model(number);
        assert_true(draw_sees_towers(graph));
        struct training_data data = training_data_make(graph, 23, true, 3);
        for (int gpus = 2; gpus <= 3; gpus++)
            for (int s = 0; s < 2; s++) {
                char base[96], places[256], options[400];
                double wanted[STEPS], got[STEPS];
                snprintf(base, sizeof base, "gpus=%d global_batch=10 strategy=%s bn=sync", gpus,
                         strategies[s]);
                struct mgb_run *run = draw_open(graph, &data, base);
                training_step(run, STEPS, wanted);
                uint64_t digest = training_digest(run);
                mgb_run_close(run);
                for (int i = 1; i <= 4; i++) {
                    draw_places(places, sizeof places, strategies[s], gpus, 100 * number + i);
                    snprintf(options, sizeof options, "%s%s%s", base, i % 2 ? places : "",
                             i > 2 ? " recompute=block" : "");
                    run = draw_open(graph, &data, options);
                    training_step(run, 1, got);
                    if (i % 2 == 0 && places[0])
                        training_set(run, places + 1);
                    training_step(run, STEPS - 1, got + 1);
                    assert_memory_equal(got, wanted, sizeof got);
                    assert_true(training_digest(run) == digest);
                    mgb_run_close(run);
                }
            }
        training_data_done(&data);
        mgb_graph_free(graph);
    }
}

/* Between tower and sync: weights, slots and statistics stay, and the next step is that of the other meaning. */
static void the_option_changes_in_mid_run(void **state)
{
    (void)state;
    struct mgb_graph *graph = draw_model(5);
    struct training_data data = training_data_make(graph, 23, true, 3);
    for (int s = 0; s < 3; s++) {
        char options[96];
        double moved[3], still[3], tower[3];
        snprintf(options, sizeof options, "gpus=3 global_batch=10 strategy=%s", strategies[s]);
        struct mgb_run *run = draw_open(graph, &data, options), *other;
        uint64_t digest = training_digest(run);
        training_set(run, "bn=sync");
        assert_true(training_digest(run) == digest);
        training_step(run, 3, moved);
        digest = training_digest(run);
        training_set(run, "bn=tower");
        assert_true(training_digest(run) == digest);
        mgb_run_close(run);
        other = draw_open(graph, &data, options);
        training_step(other, 3, tower);
        mgb_run_close(other);
        strcat(options, " bn=sync");
        other = draw_open(graph, &data, options);
        training_step(other, 3, still);
        assert_memory_equal(moved, still, sizeof moved);
        assert_true(training_digest(other) == digest);
        assert_memory_not_equal(moved, tower, sizeof moved);
        mgb_run_close(other);
    }
    training_data_done(&data);
    mgb_graph_free(graph);
}

/* Nothing is exchanged there: refused in one call, kept for later in two. */
static void independent_towers_keep_their_own(void **state)
{
    (void)state;
    struct mgb_graph *graph = draw_model(5);
    struct training_data data = training_data_make(graph, 23, true, 3);
    double own[3], parked[3];
    struct mgb_run *run = draw_open(graph, &data, "gpus=2 global_batch=10 strategy=independent");
    training_step(run, 3, own);
    mgb_run_close(run);
    run = draw_open(graph, &data, "gpus=2 global_batch=10 strategy=gradients bn=sync");
    training_set(run, "strategy=independent");
    training_step(run, 3, parked);
    assert_memory_equal(own, parked, sizeof own);
    mgb_run_close(run);
    training_data_done(&data);
    mgb_graph_free(graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(towers_agree_with_one_however_the_rows_fall),
        cmocka_unit_test(nine_rows_on_8_gpus_train),
        cmocka_unit_test(places_change_no_bit),
        cmocka_unit_test(the_option_changes_in_mid_run),
        cmocka_unit_test(independent_towers_keep_their_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
