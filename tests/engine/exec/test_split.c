/* Splits: every tower count and batch, the mean over the global batch whatever the split (ancestors 0.6, 5.1). */
#include "tests/support/check.h"
#include "tests/support/draws.h"
#include "tests/support/model.h"
#include "tests/support/training.h"
#include <mgb/op.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

/* loss = mean over rows of (w x - 0)^2 with x one number a row: the gradient of a row at w = 1 is 2 x^2. */
static struct mgb_graph *scalar_model(void)
{
    struct mgb_graph *graph = model_make("scalar");
    int x = model_input(graph, "x", SHAPE(1, 1)),
        target = model_input(graph, "target", SHAPE(1, 1));
    int y, loss, w = model_weight(graph, "w", SHAPE(2, 1, 1));
    assert_ok(mgb_op_dense(graph, &y, "dense", x, w, -1, MGB_LINEAR));
    assert_ok(mgb_graph_output(graph, "y", y));
    assert_ok(mgb_op_mean_squared_error(graph, &loss, "loss", y, target));
    assert_ok(mgb_graph_loss(graph, loss, 1));
    assert_ok(mgb_graph_finish(graph));
    return graph;
}

static void per_sample_gradients_1_to_5_on_two_towers_give_3(void **state)
{
    (void)state;
    static const char *const strategies[] = {"outputs", "gradients", "allreduce"};
    struct mgb_graph *graph = scalar_model();
    float x[5], target[5] = {0};
    for (int i = 0; i < 5; i++)
        x[i] = sqrtf((float)(i + 1) / 2.0f);
    const void *arrays[] = {x, target};
    struct mgb_source source;
    assert_ok(mgb_source_memory(&source, graph, arrays, 5, false));
    for (int s = 0; s < 3; s++) {
        char options[96];
        snprintf(options, sizeof options, "gpus=2 global_batch=5 strategy=%s", strategies[s]);
        struct training training = {.graph = graph,
                                    .source = &source,
                                    .options = options,
                                    .optimizer = training_sgd(0.1f, 0),
                                    .guarded = true};
        struct mgb_run *run = training_open(&training);
        const float one = 1.0f;
        float gradient, weight;
        double loss;
        assert_ok(mgb_run_write(run, &one, 0, -1));
        training_step(run, 1, &loss);
        assert_ok(mgb_run_read_gradient(run, &gradient, 0));
        assert_true(fabsf(gradient - 3.0f) < 1e-5f); /* the mean of tower means would be 2.75 */
        assert_true(fabs(loss - 1.5) < 1e-6);        /* mean of x^2 */
        assert_ok(mgb_run_read(run, &weight, 0, -1));
        assert_true(fabsf(weight - 0.7f) < 1e-6f);
        mgb_run_close(run);
    }
    mgb_source_close(&source);
    mgb_graph_free(graph);
}

static void split_check(const struct mgb_plan *plan, int rows, int towers)
{
    int least = rows, most = 0, at = 0;
    assert_int_equal(plan->tower_count, towers);
    for (int t = 0; t < towers; t++) {
        const struct mgb_tower *tower = &plan->towers[t];
        assert_int_equal(tower->first_row, at);
        at += tower->rows;
        least = tower->rows < least ? tower->rows : least;
        most = tower->rows > most ? tower->rows : most;
    }
    assert_int_equal(at, rows);
    assert_true(most - least <= 1);
    for (int i = 0; i < plan->task_count; i++)
        if (plan->tasks[i].kind == MGB_TASK_COMPUTE)
            assert_true(plan->tasks[i].rows > 0);
}

/* The batches and tower counts of ancestors.md 0.5 and 5.1, fewer rows than towers among them. */
static void any_batch_runs_on_any_number_of_towers(void **state)
{
    (void)state;
    static const struct {
        int rows, towers;
    } cases[] = {{13, 4}, {10, 4}, {9, 4}, {36, 7}, {60, 8}, {3, 8},
                 {1, 2},  {1, 8},  {2, 3}, {9, 8},  {33, 2}, {5, 16}};
    static const char *const strategies[] = {"outputs", "gradients", "allreduce", "independent"};
    struct mgb_graph *graph = draw_model(1);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        double one = 0;
        for (int s = 0; s < 4; s++) {
            char options[96];
            double loss[2];
            snprintf(options, sizeof options, "gpus=%d global_batch=%d strategy=%s",
                     cases[i].towers, cases[i].rows, strategies[s]);
            struct training training = {
                .graph = graph, .options = options, .optimizer = training_sgd(0.1f, 0.9f)};
            struct mgb_run *run = training_open(&training);
            split_check(mgb_run_plan(run), cases[i].rows, cases[i].towers);
            training_step(run, 2, loss);
            if (s == 0)
                one = loss[1];
            if (!(fabs(loss[1] - one) <= (s < 3 ? 1e-5 : 1) * fabs(one)))
                fail_msg("%s: loss %.9g, not %.9g", options, loss[1], one);
            mgb_run_close(run);
        }
    }
    mgb_graph_free(graph);
}

/* ancestors 5.1, row 1: 1000 rows, batch 333, 4 towers: the last step has one row. */
static void a_last_batch_of_one_row_leaves_other_towers_idle(void **state)
{
    (void)state;
    static const char *const strategies[] = {"outputs", "gradients", "allreduce"};
    struct mgb_graph *graph = model_mlp();
    struct training_data data = training_data_make(graph, 1000, true, 3);
    double wanted[8];
    for (int s = 0; s < 3; s++) {
        char options[96];
        snprintf(options, sizeof options, "gpus=4 global_batch=333 strategy=%s", strategies[s]);
        struct training training = {.graph = graph,
                                    .source = &data.source,
                                    .options = options,
                                    .optimizer = training_sgd(0.1f, 0)};
        struct mgb_run *run = training_open(&training);
        double losses[8];
        training_step(run, 8, losses);
        assert_int_equal(mgb_run_epoch(run), 2);
        for (int i = 0; i < 8 && s > 0; i++)
            assert_true(fabs(losses[i] - wanted[i]) <= 1e-4 * fabs(wanted[i]));
        memcpy(wanted, s ? wanted : losses, sizeof wanted);
        mgb_run_close(run);
    }
    training_data_done(&data);
    mgb_graph_free(graph);
}

static void fewer_rows_than_a_batch_are_an_epoch(void **state)
{
    (void)state;
    struct mgb_graph *graph = model_mlp();
    struct training_data data = training_data_make(graph, 5, true, 3);
    struct training training = {.graph = graph,
                                .source = &data.source,
                                .options = "gpus=3 global_batch=16",
                                .optimizer = training_sgd(0.1f, 0)};
    struct mgb_run *run = training_open(&training);
    struct mgb_evaluation evaluation;
    training_step(run, 4, NULL);
    assert_int_equal(mgb_run_epoch(run), 4);
    assert_ok(mgb_run_evaluate(run, &evaluation, &data.source));
    assert_int_equal(evaluation.rows, 5);
    mgb_run_close(run);
    training_data_done(&data);
    mgb_graph_free(graph);
}

/* Dropout masks belong to rows, not to towers: one tower and three drop the same values. */
static void dropout_does_not_depend_on_the_split(void **state)
{
    (void)state;
    struct mgb_graph *graph = draw_model(1);
    double wanted[3], got[3];
    struct training training = {
        .graph = graph, .options = "gpus=1 global_batch=11", .optimizer = training_sgd(0.05f, 0)};
    struct mgb_run *run = training_open(&training);
    training_step(run, 3, wanted);
    mgb_run_close(run);
    for (int gpus = 2; gpus <= 4; gpus++) {
        char options[64];
        snprintf(options, sizeof options, "gpus=%d global_batch=11 strategy=gradients", gpus);
        training.options = options;
        run = training_open(&training);
        training_step(run, 3, got);
        for (int i = 0; i < 3; i++)
            assert_true(fabs(got[i] - wanted[i]) <= 1e-5 * fabs(wanted[i]));
        mgb_run_close(run);
    }
    mgb_graph_free(graph);
}

/* Every row is a number of its own and the rate is 0, so that a step's loss tells which rows it was given. */
static void a_step_is_given_the_rows_of_its_batch(void **state)
{
    (void)state;
    struct mgb_graph *graph = scalar_model();
    enum { ROWS = 11, BATCH = 4, STEPS = 9 };
    float x[ROWS], target[ROWS] = {0};
    for (int i = 0; i < ROWS; i++)
        x[i] = (float)(1 << i);
    const void *arrays[] = {x, target};
    struct mgb_source source;
    assert_ok(mgb_source_memory(&source, graph, arrays, ROWS, false));
    for (int guarded = 0; guarded < 2; guarded++) {
        struct training training = {.graph = graph,
                                    .source = &source,
                                    .options = "gpus=2 global_batch=4",
                                    .optimizer = training_sgd(0, 0),
                                    .guarded = guarded};
        struct mgb_run *run = training_open(&training);
        const float one = 1.0f;
        double losses[STEPS];
        assert_ok(mgb_run_write(run, &one, 0, -1));
        for (int i = 0; i < STEPS; i++)
            training_step(run, 1, losses + i);
        for (int i = 0, first = 0; i < STEPS; i++) {
            int rows = first + BATCH > ROWS ? ROWS - first : BATCH;
            double wanted = 0;
            for (int k = first; k < first + rows; k++)
                wanted += (double)x[k] * (double)x[k] / rows;
            assert_true(losses[i] == wanted);
            first = first + rows == ROWS ? 0 : first + rows;
        }
        mgb_run_close(run);
    }
    mgb_source_close(&source);
    mgb_graph_free(graph);
}

static void order_and_gaps_in_the_list_of_gpus_do_not_matter(void **state)
{
    (void)state;
    struct mgb_graph *graph = model_mlp();
    static const char *const lists[] = {"gpus=0,1,2 global_batch=10", "gpus=2,0,1 global_batch=10",
                                        "gpus=7,3,11 global_batch=10"};
    double wanted[4], got[4];
    for (int i = 0; i < 3; i++) {
        struct training training = {
            .graph = graph, .options = lists[i], .optimizer = training_sgd(0.1f, 0)};
        struct mgb_run *run = training_open(&training);
        training_step(run, 4, i ? got : wanted);
        if (i)
            assert_memory_equal(got, wanted, sizeof got);
        mgb_run_close(run);
    }
    mgb_graph_free(graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(per_sample_gradients_1_to_5_on_two_towers_give_3),
        cmocka_unit_test(any_batch_runs_on_any_number_of_towers),
        cmocka_unit_test(a_last_batch_of_one_row_leaves_other_towers_idle),
        cmocka_unit_test(fewer_rows_than_a_batch_are_an_epoch),
        cmocka_unit_test(dropout_does_not_depend_on_the_split),
        cmocka_unit_test(a_step_is_given_the_rows_of_its_batch),
        cmocka_unit_test(order_and_gaps_in_the_list_of_gpus_do_not_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
