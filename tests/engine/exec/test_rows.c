/* Gradients of tables that travel as the rows they touch: the sums of Sockeye's, Keras's and allennlp's sparse gradients, and
 * the same bits as whole tables give. Bytes that went over links are those of the plan. */
#include "tests/support/check.h"
#include "tests/support/counting_backend.h"
#include "tests/support/draws.h"
#include "tests/support/training.h"
#include "tests/support/words.h"

#include "engine/base/random.h"
#include "engine/graph/graph.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VOCABULARY 60
#define UNITS 4

static int packers(const struct mgb_plan *plan)
{
    int count = 0;
    for (int i = 0; i < plan->task_count; i++)
        if (plan->tasks[i].kind == MGB_TASK_COMPUTE)
            count += plan->graph->nodes[plan->tasks[i].node].kind == MGB_OP_EMBEDDING_ROWS;
    return count;
}

/* Reads the mean gradient after one step on these examples, of a table that is zero; the caller frees. `whole`: as tables,
 * else as rows. */
static float *gradient_of(struct words words, const int32_t *ids, const float *target, int rows,
                          const char *options, bool whole)
{
    struct mgb_graph *graph = words_make(words);
    struct mgb_source source;
    const void *arrays[] = {ids, target};
    size_t count = (size_t)words.vocabulary * (size_t)words.units;
    float *table = calloc(count, sizeof *table);
    assert_ok(mgb_source_memory(&source, graph, arrays, rows, false));
    struct training training = {.graph = graph,
                                .source = &source,
                                .options = options,
                                .optimizer = training_sgd(0.1f, 0),
                                .guarded = true,
                                .play_on = &counting_backend};
    counting_lack_rows(whole);
    struct mgb_run *run = training_open(&training);
    counting_lack_rows(false);
    assert_true((packers(mgb_run_plan(run)) == 0) == whole);
    assert_ok(mgb_run_write(run, table, 0, -1));
    training_step(run, 1, NULL);
    assert_ok(mgb_run_read_gradient(run, table, 0));
    mgb_run_close(run);
    mgb_source_close(&source);
    mgb_graph_free(graph);
    return table;
}

/* Scenario D7. Five examples on two towers, each with a row of its own; the loss is such that a use's gradient is minus its
 * target. */
static void a_sparse_average_of_unique_indices_leaves_the_values_unchanged(void **state)
{
    (void)state;
    const struct words words = {
        .positions = 1, .vocabulary = VOCABULARY, .units = UNITS, .weight = 5.0f * UNITS / 2};
    const int32_t ids[5] = {31, 7, 59, 0, 12};
    float target[5 * UNITS];
    for (int i = 0; i < 5 * UNITS; i++)
        target[i] = 0.75f - (float)i;
    float *got = gradient_of(words, ids, target, 5,
                             "gpus=2 global_batch=5 strategy=gradients sum_at=/cpu:0", false);
    for (int i = 0; i < 5; i++)
        for (int k = 0; k < UNITS; k++) {
            float *value = &got[ids[i] * UNITS + k];
            assert_true(*value == -target[i * UNITS + k]);
            *value = 0;
        }
    for (int i = 0; i < VOCABULARY * UNITS; i++)
        assert_true(got[i] == 0);
    free(got);
}

/* Scenario D8: rows 1, 1, 1, 2, 1, each use with gradient 1; three examples on one tower, two on the other. */
static void a_sparse_average_sums_duplicate_indices_first(void **state)
{
    (void)state;
    static const char *const ways[] = {"sum_at=/cpu:0", "sum_at=/gpu:0", "sum_at=/gpu:1",
                                       "sum_at=/cpu:0 overlap=false"};
    const struct words words = {
        .positions = 1, .vocabulary = VOCABULARY, .units = UNITS, .weight = 5.0f * UNITS / 2};
    const int32_t ids[5] = {1, 1, 1, 2, 1};
    float target[5 * UNITS];
    for (int i = 0; i < 5 * UNITS; i++)
        target[i] = -1;
    for (size_t w = 0; w < sizeof ways / sizeof ways[0]; w++) {
        char options[128];
        snprintf(options, sizeof options, "gpus=2 global_batch=5 strategy=gradients %s", ways[w]);
        float *got = gradient_of(words, ids, target, 5, options, false);
        for (int row = 0; row < VOCABULARY; row++)
            for (int k = 0; k < UNITS; k++)
                assert_true(got[row * UNITS + k] == (row == 1 ? 4 : row == 2 ? 1 : 0));
        free(got);
    }
}

/* Scenario D9: the sum is made on the first of three GPUs, whose own tower has its table whole. */
static void
an_average_of_dense_and_sparse_gradients_of_three_towers_equals_a_plain_sum(void **state)
{
    (void)state;
    enum { ROWS = 10, POSITIONS = 3, USES = ROWS * POSITIONS };
    const struct words words = {
        .positions = POSITIONS, .vocabulary = VOCABULARY, .units = UNITS, .weight = 1};
    const char *options = "gpus=3 global_batch=10 strategy=gradients sum_at=/gpu:0";
    int32_t ids[USES];
    float target[USES * UNITS];
    double wanted[VOCABULARY * UNITS] = {0};
    for (int i = 0; i < USES; i++)
        ids[i] = i * i % 23;
    for (int i = 0; i < USES * UNITS; i++) {
        target[i] = 1.0f / (float)(1 + i % 19) - 0.3f;
        wanted[ids[i / UNITS] * UNITS + i % UNITS] -=
            2 * (double)target[i] / (POSITIONS * UNITS) / ROWS;
    }
    float *got = gradient_of(words, ids, target, ROWS, options, false);
    for (int i = 0; i < VOCABULARY * UNITS; i++)
        assert_true(fabs((double)got[i] - wanted[i]) <= 1e-7);
    float *whole = gradient_of(words, ids, target, ROWS, options, true);
    assert_memory_equal(got, whole, sizeof(float) * VOCABULARY * UNITS);
    free(got);
    free(whole);
}

struct outcome {
    double losses[4];
    uint64_t digest;
    int packers;
    int64_t moved;
};

static struct outcome outcome_of(const struct training *training, bool whole)
{
    struct outcome o = {.moved = 0};
    struct mgb_check check;
    counting_lack_rows(whole);
    struct mgb_run *run = training_open(training);
    const struct mgb_plan *plan = mgb_run_plan(run);
    assert_ok(mgb_plan_verify(plan));
    training_step(run, 3, o.losses);
    assert_ok(mgb_run_check(run, &check));
    mgb_check_done(&check);
    counting_reset();
    training_step(run, 1, o.losses + 3);
    o.packers = packers(mgb_run_plan(run));
    for (int i = 0; i < plan->traffic_count; i++)
        o.moved += plan->traffic[i].bytes;
    if (o.moved != counting_all_copied())
        fail_msg("%s: %lld bytes planned, %lld copied", training->options, (long long)o.moved,
                 (long long)counting_all_copied());
    o.digest = training_digest(run);
    mgb_run_close(run);
    counting_lack_rows(false);
    return o;
}

/* Both forms on one placement: the same losses and weights. Returns the bytes that rows spare; *rows: towers that send them. */
static int64_t forms_compare(const struct training *training, int *rows)
{
    struct outcome packed = outcome_of(training, false), whole = outcome_of(training, true);
    assert_int_equal(whole.packers, 0);
    for (int i = 0; i < 4; i++)
        if (memcmp(&packed.losses[i], &whole.losses[i], sizeof whole.losses[i]) != 0)
            fail_msg("%s: loss of step %d is %.17g, with whole tables %.17g", training->options, i,
                     packed.losses[i], whole.losses[i]);
    if (packed.digest != whole.digest)
        fail_msg("%s: other weights than with whole tables", training->options);
    *rows += packed.packers;
    return whole.moved - packed.moved;
}

/* What a placement has besides places, in turn. */
static const char *const ways[] = {"",
                                   " wire_type=f16",
                                   " stale=true",
                                   " staged=true",
                                   " wire_type=bf16 stale=true staged=true",
                                   " recompute=block",
                                   " wire_type=f16 recompute=block"};
#define WAYS (int)(sizeof ways / sizeof ways[0])

static struct mgb_optimizer optimizer_draw(int number)
{
    struct mgb_optimizer optimizer = mgb_optimizer_default(number % 2 ? MGB_ADAM : MGB_SGD);
    optimizer.clip_norm = number % 3 == 0 ? 0.01f : 0;
    return optimizer;
}

/* Every tower elsewhere sends the table or what its rows can touch, whichever is less. */
static int64_t spared(struct words words, int gpus, int batch, int sum, bool narrow)
{
    int64_t whole = words_whole(words) / (narrow ? 2 : 1), bytes = 0;
    for (int t = 0; t < gpus; t++) {
        int rows = batch / gpus + (t < batch % gpus);
        if (t + 1 != sum && rows > 0 && words_packed(words, rows) < whole)
            bytes += whole - words_packed(words, rows);
    }
    return bytes;
}

static int number_draw(uint64_t draw, int from, int to)
{
    return from + (int)mgb_random_below(mgb_random_at(21, draw, 0).v[0], (uint32_t)(to - from + 1));
}

static void rows_spare_what_the_closed_form_says_and_change_no_bit(void **state)
{
    (void)state;
    int rows = 0, whole = 0;
    for (int i = 0; i < draw_count(40, 400); i++) {
        uint64_t at = 10 * (uint64_t)i;
        struct words words = {.positions = number_draw(at, 1, 4),
                              .vocabulary = number_draw(at + 1, 5, 60),
                              .units = number_draw(at + 2, 1, 6)};
        int gpus = number_draw(at + 3, 1, 4), batch = number_draw(at + 4, 3, 13),
            sum = number_draw(at + 5, 0, gpus), before = rows;
        const char *strategy = i % 2 ? "gradients" : "outputs", *way = ways[i % WAYS];
        char places[256], options[512], device[16];
        draw_places(places, sizeof places, strategy, gpus, i);
        snprintf(device, sizeof device, sum ? "/gpu:%d" : "/cpu:%d", sum ? sum - 1 : 0);
        snprintf(options, sizeof options, "gpus=%d global_batch=%d strategy=%s%s%s sum_at=%s", gpus,
                 batch, strategy, places, way, device);
        struct mgb_graph *graph = words_make(words);
        struct training_data data = training_data_make(graph, 2 * batch, true, 3);
        struct training training = {.graph = graph,
                                    .source = &data.source,
                                    .options = options,
                                    .optimizer = optimizer_draw(i),
                                    .seed = 5,
                                    .play_on = &counting_backend};
        bool narrow = strstr(way, "wire_type") != NULL;
        int64_t got = forms_compare(&training, &rows),
                wanted = spared(words, gpus, batch, sum, narrow);
        if (got != wanted)
            fail_msg("%s: %d positions, %d rows of %d: %lld bytes spared, not %lld", options,
                     words.positions, words.vocabulary, words.units, (long long)got,
                     (long long)wanted);
        whole += before == rows;
        training_data_done(&data);
        mgb_graph_free(graph);
    }
    assert_true(rows > 10 && whole > 5); /* both happened */
}

/* Models with an embedding among other layers, uneven towers and remainders. */
static void nor_in_random_models_on_random_places(void **state)
{
    (void)state;
    int rows = 0;
    for (int i = 0; i < draw_count(12, 120); i++) {
        const char *strategy = i % 2 ? "gradients" : "outputs";
        char places[256], options[512];
        int gpus = 1 + i % 4;
        draw_places(places, sizeof places, strategy, gpus, 300 + i);
        snprintf(options, sizeof options, "gpus=%d global_batch=10 strategy=%s%s%s", gpus, strategy,
                 places, ways[i % WAYS]);
        struct mgb_graph *graph = draw_model(5 + 4 * (i % 7));
        struct training_data data = training_data_make(graph, 23, true, 3);
        struct training training = {.graph = graph,
                                    .source = &data.source,
                                    .options = options,
                                    .optimizer = optimizer_draw(i),
                                    .seed = 5,
                                    .guarded = i % 5 == 0,
                                    .play_on = &counting_backend};
        assert_true(forms_compare(&training, &rows) >= 0);
        training_data_done(&data);
        mgb_graph_free(graph);
    }
    assert_true(rows > 1);
}

/* A sum that moves before every step, with rows sent to it or not, against one that stays. */
static void nor_when_the_sum_moves_in_mid_run(void **state)
{
    (void)state;
    static const char *const moves[] = {
        "sum_at=/cpu:0",   "sum_at=/gpu:1 update_at=/gpu:0", "weights_at=/cpu:0 sum_at=/gpu:2",
        "sum_at=spread",   "sum_at=/gpu:0 staged=true",      "update_at=/cpu:0",
        "recompute=block", "sum_at=/cpu:0 overlap=false"};
    const struct words words = {.positions = 3, .vocabulary = VOCABULARY, .units = UNITS};
    struct mgb_graph *graph = words_make(words);
    struct training_data data = training_data_make(graph, 23, true, 3);
    struct training training = {.graph = graph,
                                .source = &data.source,
                                .options = "gpus=3 global_batch=10 strategy=gradients",
                                .optimizer = training_sgd(0.1f, 0.9f),
                                .seed = 5};
    struct mgb_run *still = training_open(&training), *moving = training_open(&training);
    for (size_t i = 0; i < sizeof moves / sizeof moves[0]; i++) {
        double wanted, got;
        training_set(moving, moves[i]);
        training_step(still, 1, &wanted);
        training_step(moving, 1, &got);
        if (memcmp(&got, &wanted, sizeof got) != 0)
            fail_msg("after %s: loss %.17g, not %.17g", moves[i], got, wanted);
    }
    assert_true(training_digest(still) == training_digest(moving));
    mgb_run_close(still);
    mgb_run_close(moving);
    training_data_done(&data);
    mgb_graph_free(graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sparse_average_of_unique_indices_leaves_the_values_unchanged),
        cmocka_unit_test(a_sparse_average_sums_duplicate_indices_first),
        cmocka_unit_test(
            an_average_of_dense_and_sparse_gradients_of_three_towers_equals_a_plain_sum),
        cmocka_unit_test(rows_spare_what_the_closed_form_says_and_change_no_bit),
        cmocka_unit_test(nor_in_random_models_on_random_places),
        cmocka_unit_test(nor_when_the_sum_moves_in_mid_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
