/* recompute = block changes what is held and never what is trained: the same losses and weights to the last bit, on every
 * strategy and number of towers, and across a toggle in mid-run; and where activations are most of it, less is held. */
#include "engine/graph/graph.h"
#include "tests/support/check.h"
#include "tests/support/draws.h"
#include "tests/support/model.h"
#include "tests/support/training.h"

#include <stdio.h>
#include <string.h>

#define STEPS 4
#define ROWS 13 /* batches of 10 and 3 */

static const char *const strategies[] = {"outputs", "gradients", "allreduce", "independent"};

static int second_runs(const struct mgb_plan *plan)
{
    int count = 0;
    for (int i = 0; i < plan->task_count; i++) {
        const struct mgb_task *task = &plan->tasks[i];
        count += task->kind == MGB_TASK_COMPUTE && task->phase == MGB_PHASE_BACKWARD &&
                 plan->graph->nodes[task->node].section == MGB_SECTION_FORWARD;
    }
    return count;
}

/* Steps with and without, and with it from the middle on; returns the second runs of a step. */
static int runs_compare(struct training training, const char *base)
{
    double wanted[STEPS], got[STEPS];
    char options[256];
    snprintf(options, sizeof options, "%s recompute=block", base);
    training.options = base;
    struct mgb_run *without = training_open(&training), *toggled = training_open(&training);
    training.options = options;
    struct mgb_run *with = training_open(&training);
    assert_ok(mgb_plan_verify(mgb_run_plan(with)));
    assert_int_equal(second_runs(mgb_run_plan(without)), 0);
    training_step(without, STEPS, wanted);
    training_step(with, STEPS, got);
    if (memcmp(wanted, got, sizeof wanted) != 0)
        fail_msg("%s: the last losses are %.17g and %.17g", options, wanted[STEPS - 1],
                 got[STEPS - 1]);
    training_step(toggled, STEPS / 2, got);
    int count = second_runs(mgb_run_plan(with));
    assert_int_equal(training_set(toggled, "recompute=block").moved_bytes, 0);
    training_step(toggled, STEPS - STEPS / 2, got + STEPS / 2);
    assert_memory_equal(wanted, got, sizeof wanted);
    assert_true(training_digest(with) == training_digest(without));
    assert_true(training_digest(with) == training_digest(toggled));
    mgb_run_close(without);
    mgb_run_close(toggled);
    mgb_run_close(with);
    return count;
}

static int model_compare(struct mgb_graph *graph, int gpus, const char *more, bool guarded)
{
    struct training_data data = training_data_make(graph, ROWS, true, 3);
    struct training training = {.graph = graph,
                                .source = &data.source,
                                .optimizer = training_sgd(0.1f, 0.9f),
                                .seed = 5,
                                .guarded = guarded};
    char base[200];
    int count = 0;
    for (int s = 0; s < (*more ? 3 : 4);
         s++) { /* `more` means nothing where all are by themselves */
        snprintf(base, sizeof base, "gpus=%d global_batch=10 threads=1 strategy=%s%s", gpus,
                 strategies[s], more);
        count += runs_compare(training, base);
    }
    training_data_done(&data);
    return count;
}

static void random_models_train_the_same_to_the_last_bit(void **state)
{
    (void)state;
    int last = draw_count(24, 200), count = 0;
    for (int number = 0; number <= last; number++) {
        struct mgb_graph *graph = draw_model(number);
        count += model_compare(graph, 1 + number % 3, "", false);
        mgb_graph_free(graph);
    }
    assert_true(count > 0);
}

/* Statistics that towers exchange are exchanged once a step. */
static void and_where_towers_share_the_statistics_of_a_batch(void **state)
{
    (void)state;
    int count = 0;
    for (int number = 3, models = 0; models < 4; number++) {
        struct mgb_graph *graph = draw_model(number);
        if (draw_sees_towers(graph)) {
            count += model_compare(graph, 2 + models % 2, " bn=sync", false);
            models++;
        }
        mgb_graph_free(graph);
    }
    assert_true(count > 0);
}

static void and_task_by_task_with_other_arenas_closed(void **state)
{
    (void)state;
    for (int number = 1; number <= 4; number++) {
        struct mgb_graph *graph = draw_model(number);
        (void)model_compare(graph, 2, "", true);
        mgb_graph_free(graph);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_models_train_the_same_to_the_last_bit),
        cmocka_unit_test(and_where_towers_share_the_statistics_of_a_batch),
        cmocka_unit_test(and_task_by_task_with_other_arenas_closed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
