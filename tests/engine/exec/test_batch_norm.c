/* Batch normalisation in runs: moving statistics are moved by the rows of the towers, wherever they live, and by nothing
 * once their layer is frozen; one row a tower stays finite; places and toggles change no bit. */
#include "tests/support/check.h"

#include "tests/support/draws.h"
#include "tests/support/model.h"
#include "tests/support/training.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    CHANNELS = 3,
    MEAN = 2,
    VARIANCE = 3
}; /* variables: gamma, beta, moving mean and variance */

/* x -> batch_norm -> dense: the statistics are those of the input itself. */
static struct mgb_graph *input_model(void)
{
    struct mgb_graph *graph = model_make("norm");
    int x = model_input(graph, "x", SHAPE(1, CHANNELS)), label = model_label(graph, "label");
    x = model_batch_norm(graph, "batch_norm", x, MGB_LINEAR);
    model_classify(graph, model_dense(graph, "logits", x, 2, MGB_LINEAR), label);
    return graph;
}

static float value_at(int row, int channel)
{
    return (float)((row * 7 + channel * 5) % 11) / 4.0f + 10.0f * (float)channel;
}

static struct mgb_run *open_rows(const struct mgb_graph *graph, struct mgb_source *source, int rows,
                                 const char *options)
{
    static float x[16 * CHANNELS]; /* borrowed by the source */
    static int32_t label[16];
    for (int row = 0; row < rows; row++) {
        label[row] = row % 2;
        for (int c = 0; c < CHANNELS; c++)
            x[row * CHANNELS + c] = value_at(row, c);
    }
    assert_ok(mgb_source_memory(source, graph, (const void *[]){x, label}, rows, false));
    struct training training = {
        .graph = graph, .source = source, .optimizer = training_sgd(.1f, .9f), .options = options};
    training.optimizer.clip_norm = 0.1f; /* of no concern to statistics */
    return training_open(&training);
}

/* Mean and variance of rows [first, first + rows) of a channel. */
static void statistics(int first, int rows, int channel, double *mean, double *variance)
{
    *mean = *variance = 0;
    for (int row = first; row < first + rows; row++)
        *mean += (double)value_at(row, channel) / rows;
    for (int row = first; row < first + rows; row++)
        *variance += pow((double)value_at(row, channel) - *mean, 2) / rows;
}

static void moving_check(struct mgb_run *run, int rows, int towers, const char *options)
{
    float mean[CHANNELS], variance[CHANNELS];
    assert_ok(mgb_run_read(run, mean, MEAN, -1));
    assert_ok(mgb_run_read(run, variance, VARIANCE, -1));
    for (int c = 0; c < CHANNELS; c++) {
        double wanted[2] = {0, 0}, one, two;
        for (int t = 0, first = 0; t < towers; t++) {
            int own = rows / towers + (t < rows % towers);
            statistics(first, own, c, &one, &two);
            wanted[0] += one * own / rows;
            wanted[1] += two * own / rows;
            first += own;
        }
        wanted[0] = 0.01 * wanted[0];
        wanted[1] = 0.99 + 0.01 * wanted[1];
        if (fabs((double)mean[c] - wanted[0]) > 1e-6 ||
            fabs((double)variance[c] - wanted[1]) > 1e-6)
            fail_msg("%s: channel %d moved to %.9g and %.9g, not %.9g and %.9g", options, c,
                     (double)mean[c], (double)variance[c], wanted[0], wanted[1]);
    }
}

static void statistics_move_by_the_rows_of_the_towers(void **state)
{
    (void)state;
    static const char *const strategies[] = {"outputs", "gradients", "allreduce",
                                             "allreduce wire_type=bf16", "gradients wire_type=f16"};
    for (int gpus = 1; gpus <= 4; gpus++)
        for (int s = 0; s < 5; s++) {
            struct mgb_graph *graph = input_model();
            struct mgb_source source;
            char options[96];
            snprintf(options, sizeof options, "gpus=%d global_batch=10 strategy=%s", gpus,
                     strategies[s]);
            struct mgb_run *run = open_rows(graph, &source, 10, options);
            training_step(run, 1, NULL);
            moving_check(run, 10, gpus, options);
            mgb_run_close(run);
            mgb_source_close(&source);
            mgb_graph_free(graph);
        }
}

/* Row 9 of reference/ancestors.md: 9 rows on 8 GPUs, nothing to normalise over on seven of them. */
static void one_row_a_tower_stays_finite(void **state)
{
    (void)state;
    struct mgb_graph *graph = input_model();
    struct mgb_source source;
    double losses[5];
    struct mgb_run *run = open_rows(graph, &source, 9, "gpus=8 global_batch=9 strategy=gradients");
    training_step(run, 5, losses);
    for (int i = 0; i < 5; i++)
        assert_true(isfinite(losses[i]));
    int64_t count;
    float *weights = training_weights(run, &count);
    for (int64_t i = 0; i < count; i++)
        assert_true(isfinite(weights[i]));
    free(weights);
    mgb_run_close(run);
    mgb_source_close(&source);
    mgb_graph_free(graph);
}

static void state_read(struct mgb_run *run, float out[4][CHANNELS])
{
    for (int v = 0; v < 4; v++)
        assert_ok(mgb_run_read(run, out[v], v, -1));
}

/* Frozen in mid-run on two GPUs (row 29): nothing of the layer moves any more, and training normalises as evaluation does. */
static void a_frozen_layer_normalises_with_what_it_has(void **state)
{
    (void)state;
    struct mgb_graph *graph = input_model();
    struct mgb_source source;
    float before[4][CHANNELS], after[4][CHANNELS];
    double losses[3];
    struct mgb_evaluation evaluation;
    struct mgb_run *run =
        open_rows(graph, &source, 10, "gpus=2 global_batch=10 strategy=gradients");
    training_step(run, 2, NULL);
    for (int v = 0; v < 4; v++)
        assert_ok(mgb_graph_freeze(graph, v, true));
    training_set(run, "bucket_mib=1");
    state_read(run, before);
    assert_ok(mgb_run_evaluate(run, &evaluation, &source));
    training_step(run, 3, losses);
    state_read(run, after);
    assert_memory_equal(before, after, sizeof before);
    assert_true(fabs(losses[0] - evaluation.loss) < 1e-6);
    for (int v = 0; v < 4; v++)
        assert_ok(mgb_graph_freeze(graph, v, false));
    training_set(run, "bucket_mib=2");
    training_step(run, 1, NULL);
    state_read(run, after);
    for (int v = 0; v < 4; v++)
        assert_memory_not_equal(before[v], after[v], sizeof before[v]);
    mgb_run_close(run);
    mgb_source_close(&source);
    mgb_graph_free(graph);
}

#define STEPS 5

static uint64_t digest_after(struct training training, const char *options, const char *then,
                             double *losses)
{
    training.options = options;
    struct mgb_run *run = training_open(&training);
    training_step(run, 2, losses);
    if (then)
        training_set(run, then);
    training_step(run, STEPS - 2, losses + 2);
    uint64_t digest = training_digest(run);
    mgb_run_close(run);
    return digest;
}

/* Models with batch norm, everything by the same towers: the same bits, also when places change in mid-run. */
static void places_and_toggles_change_no_bit(void **state)
{
    (void)state;
    for (int number = 5; number <= 21; number += 8) {
        struct mgb_graph *graph = draw_model(number);
        assert_true(draw_sees_towers(graph));
        struct training_data data = training_data_make(graph, 23, true, 3);
        struct training training = {.graph = graph,
                                    .source = &data.source,
                                    .optimizer = training_sgd(0.1f, 0.9f),
                                    .seed = 5};
        for (int gpus = 1; gpus <= 3; gpus++) {
            char base[96], options[400], places[256];
            double wanted[STEPS], got[STEPS];
            snprintf(base, sizeof base, "gpus=%d global_batch=10 strategy=gradients", gpus);
            uint64_t digest = digest_after(training, base, NULL, wanted);
            for (int i = 1; i <= 4; i++) {
                draw_places(places, sizeof places, "gradients", gpus, 100 * number + i);
                snprintf(options, sizeof options, "%s%s", base, places);
                assert_true(digest_after(training, options, NULL, got) == digest);
                assert_memory_equal(got, wanted, sizeof got);
                assert_true(digest_after(training, base, places[0] ? places + 1 : NULL, got) ==
                            digest);
                assert_memory_equal(got, wanted, sizeof got);
            }
        }
        training_data_done(&data);
        mgb_graph_free(graph);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(statistics_move_by_the_rows_of_the_towers),
        cmocka_unit_test(one_row_a_tower_stays_finite),
        cmocka_unit_test(a_frozen_layer_normalises_with_what_it_has),
        cmocka_unit_test(places_and_toggles_change_no_bit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
