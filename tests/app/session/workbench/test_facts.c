/* Facts of a placement say what its plan says: bytes by device and category, traffic by link, every storage of every
 * variable, every task; and they outlive graph and plan. */
#include "tests/app/session/workbench/placed.h"

#include "tests/support/draws.h"
#include "tests/support/model.h"
#include <mgb/op.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static const struct mgb_device_use *use_find(const struct mgb_plan *plan, int device)
{
    for (int u = 0; u < plan->use_count; u++)
        if (plan->uses[u].device == device)
            return &plan->uses[u];
    return NULL;
}

static void devices_check(const struct placed *placed)
{
    const struct mgb_facts *facts = placed->facts;
    int rows = 0;
    assert_int_equal(facts->device_count, placed->topology.device_count);
    for (int d = 0; d < facts->device_count; d++) {
        const struct mgb_device_use *use = use_find(placed->plan, d);
        assert_int_equal(facts->devices[d].used, use != NULL);
        assert_int_equal(facts->devices[d].planned_bytes, use ? use->peak_bytes : 0);
        for (int c = 0; c < MGB_MEMORY_CATEGORY_COUNT; c++)
            assert_int_equal(facts->devices[d].planned[c], use ? use->peak[c] : 0);
        assert_int_equal(mgb_facts_find_device(facts, facts->devices[d].name), d);
        rows += facts->devices[d].tower_rows;
    }
    assert_int_equal(rows, facts->global_batch);
    assert_int_equal(mgb_facts_find_device(facts, "/gpu:99"), -1);
}

static void links_check(const struct placed *placed)
{
    const struct mgb_facts *facts = placed->facts;
    int64_t sum = 0;
    for (int i = 0; i < facts->link_count; i++) {
        const struct mgb_facts_link *link = &facts->links[i];
        assert_int_equal(link->bytes, plan_traffic(placed->plan, link->from, link->to));
        if (i > 0)
            assert_true(link[-1].from < link->from ||
                        (link[-1].from == link->from && link[-1].to < link->to));
        sum += link->bytes;
    }
    int64_t planned = 0;
    for (int i = 0; i < placed->plan->traffic_count; i++)
        planned += placed->plan->traffic[i].bytes;
    assert_int_equal(sum, planned);
    assert_int_equal(facts->traffic_bytes, planned);
}

/* Lasting bytes a device, of which the rows tell how they come about. */
static void variables_check(const struct placed *placed)
{
    const struct mgb_facts *facts = placed->facts;
    struct mgb_check check;
    int64_t masters = 0, marked = 0;
    int distinct = 0;
    assert_ok(mgb_check_make(&check, placed->plan));
    for (int i = 0; i < facts->variable_count; i++) {
        const struct mgb_facts_variable *v = &facts->variables[i];
        bool master = strcmp(v->role, "master") == 0 || strcmp(v->role, "duplicate") == 0;
        bool leftover = strcmp(v->role, "leftover") == 0;
        masters += master ? v->bytes : 0;
        distinct += master;
        marked += v->why ? v->bytes : 0;
        if (leftover || strcmp(v->role, "duplicate") == 0)
            assert_non_null(v->why);
        if (strcmp(v->role, "master") == 0)
            assert_null(v->why);
        assert_in_range(v->device, 0, facts->device_count - 1);
    }
    assert_int_equal(masters, check.master_bytes);
    assert_int_equal(distinct, check.variables);
    assert_int_equal(marked, check.duplicate_bytes + check.leftover_bytes);
    assert_int_equal(facts->variable_bytes, check.master_bytes);
    assert_int_equal(facts->distinct_variables, check.variables);
    assert_int_equal(facts->duplicate_bytes, check.duplicate_bytes);
    assert_int_equal(facts->leftover_count, check.leftover_count);
    mgb_check_done(&check);
}

static void tasks_check(const struct placed *placed)
{
    const struct mgb_facts *facts = placed->facts;
    struct mgb_flat flat;
    double flops = 0;
    assert_ok(mgb_plan_expand(&flat, placed->plan));
    assert_int_equal(facts->all_tasks, flat.count);
    assert_int_equal(facts->task_count, flat.count);
    for (int i = 0; i < flat.count; i++) {
        const struct mgb_task *task = &placed->plan->tasks[flat.tasks[i].task];
        assert_string_equal(facts->tasks[i].name, task->name);
        assert_int_equal(facts->tasks[i].device, flat.tasks[i].device);
        assert_int_equal(facts->tasks[i].from, flat.tasks[i].from);
        assert_int_equal(facts->tasks[i].tower, flat.tasks[i].tower);
        assert_int_equal(facts->tasks[i].phase, task->phase);
        if (task->wait_count > 0 && task->kind != MGB_TASK_ALLREDUCE)
            assert_true(facts->tasks[i].wait_count > 0);
        flops += task->flops;
    }
    assert_true(facts->flops == flops);
    mgb_flat_done(&flat);
}

static void placed_check(const struct placed *placed)
{
    devices_check(placed);
    links_check(placed);
    variables_check(placed);
    tasks_check(placed);
}

static void facts_are_the_plans_under_every_strategy_and_one_to_eight_towers(void **state)
{
    static const char *const strategies[] = {"outputs", "gradients", "allreduce", "independent"};
    (void)state;
    struct mgb_graph *graph = draw_model(2);
    for (int strategy = 0; strategy < 4; strategy++)
        for (int gpus = 1; gpus <= 8; gpus++) {
            struct placed placed;
            char options[160];
            snprintf(options, sizeof options, "gpus=%d global_batch=%d strategy=%s", gpus,
                     3 * gpus + 1, strategies[strategy]);
            placed_make(&placed, graph, 8, options, training_sgd(0.1f, 0.9f));
            placed_check(&placed);
            assert_int_equal(placed.facts->gpus, gpus);
            assert_string_equal(placed.facts->options[MGB_OPTION_STRATEGY].effective,
                                strategies[strategy]);
            placed_done(&placed);
        }
    mgb_graph_free(graph);
}

static void facts_are_the_plans_for_drawn_models_and_placements(void **state)
{
    (void)state;
    for (int number = 0; number < draw_count(60, 600); number++) {
        struct mgb_graph *graph = draw_model(number % 12);
        const char *strategy = number % 2 ? "gradients" : "outputs";
        int gpus = 1 + number % 4;
        struct placed placed;
        char places[256], options[400];
        draw_places(places, sizeof places, strategy, gpus, number);
        snprintf(options, sizeof options, "gpus=%d batch=%d strategy=%s%s", gpus, 1 + number % 5,
                 strategy, places);
        placed_make(&placed, graph, 4, options,
                    number % 3 ? training_sgd(0.1f, 0.9f) : mgb_optimizer_default(MGB_ADAM));
        placed_check(&placed);
        placed_done(&placed);
        mgb_graph_free(graph);
    }
}

static void a_builder_that_runs_once_a_tower_leaves_duplicates_with_reasons(void **state)
{
    (void)state;
    struct mgb_graph *graph = model_make("twice");
    for (int t = 0; t < 2; t++) {
        int loss = -1;
        assert_ok(mgb_graph_begin_tower(graph, t));
        int image = model_input(graph, "image", SHAPE(1, 4)), label = model_label(graph, "label");
        int x = model_dense(graph, "dense", image, 3, MGB_LINEAR);
        assert_ok(mgb_graph_output(graph, "classes", x));
        assert_ok(mgb_op_softmax_cross_entropy(graph, &loss, "loss", x, label));
        assert_ok(mgb_graph_loss(graph, loss, 1));
        assert_ok(mgb_graph_end_tower(graph));
    }
    assert_ok(mgb_graph_finish(graph));
    struct placed placed;
    placed_make(&placed, graph, 2, "gpus=2 batch=4", training_sgd(0.1f, 0.9f));
    placed_check(&placed);
    assert_true(placed.facts->duplicate_count > 0);
    assert_true(placed.facts->duplicate_bytes >= (4 * 3 + 3) * 4 * 2); /* with momentum */
    placed_done(&placed);
    mgb_graph_free(graph);
}

static void a_clone_leaves_a_marked_original(void **state)
{
    (void)state;
    struct mgb_graph *graph = model_mlp();
    struct placed placed;
    placed_make(&placed, graph, 2, "gpus=2 batch=4 cpu_relocation=true relocation=clone",
                training_sgd(0.1f, 0));
    placed_check(&placed);
    assert_int_equal(placed.facts->leftover_count, placed.facts->distinct_variables);
    const struct mgb_facts_variable *last =
        &placed.facts->variables[placed.facts->variable_count - 1];
    assert_string_equal(last->role, "leftover");
    assert_non_null(strstr(last->why, "left the original on /gpu:0"));
    assert_non_null(strstr(placed.facts->title, "cloned"));
    placed_done(&placed);
    mgb_graph_free(graph);
}

static void title_check(const struct mgb_graph *graph, const char *options, const char *title)
{
    struct placed placed;
    placed_make(&placed, graph, 4, options, training_sgd(0.1f, 0));
    assert_string_equal(placed.facts->title, title);
    placed_done(&placed);
}

static void titles_say_where_and_with_how_many(void **state)
{
    (void)state;
    struct mgb_graph *graph = model_mlp();
    title_check(graph, "gpus=2 batch=32 cpu_relocation=true cpu_merge=false",
                "outputs, weights cpu:0, towers meet gpu:0, 2 GPUs x 32");
    title_check(graph, "gpus=2 global_batch=7 strategy=gradients weights_at=spread sum_at=/gpu:1",
                "gradients, weights spread, towers meet gpu:1, 2 GPUs, 7 together");
    title_check(graph, "gpus=3 batch=2 strategy=allreduce allreduce=tree stale=true",
                "allreduce, tree, stale, 3 GPUs x 2");
    title_check(graph, "gpus=1 batch=2 strategy=independent", "independent, 1 GPU x 2");
    title_check(graph, "gpus=0 batch=5", "outputs, weights cpu:0, towers meet cpu:0, cpu:0 x 5");
    mgb_graph_free(graph);
}

static void what_is_parked_is_kept_as_asked_and_has_no_effect(void **state)
{
    (void)state;
    struct mgb_graph *graph = model_mlp();
    struct placed placed;
    placed_make(&placed, graph, 2,
                "gpus=2 batch=4 weights_at=/cpu:0 strategy=allreduce gpu_memory=1GiB",
                training_sgd(0.1f, 0));
    const struct mgb_facts_option *weights = &placed.facts->options[MGB_OPTION_WEIGHTS_AT];
    assert_string_equal(weights->asked, "/cpu:0");
    assert_string_equal(weights->effective, "");
    assert_int_equal(placed.facts->devices[PLAN_GPU(0)].capacity_bytes, 1 << 30);
    assert_int_equal(placed.facts->devices[PLAN_CPU].capacity_bytes, 0);
    placed_done(&placed);
    mgb_graph_free(graph);
}

static void *drop_run(void *facts)
{
    const struct mgb_facts *held = facts;
    size_t length = 0;
    for (int i = 0; i < held->variable_count; i++)
        length += strlen(held->variables[i].name) + strlen(held->variables[i].shape);
    for (int i = 0; i < held->task_count; i++)
        length += strlen(held->tasks[i].name);
    mgb_shared_drop(facts);
    return length > 0 ? facts : NULL;
}

static void facts_outlive_graph_and_plan_and_are_freed_by_the_last_of_many_threads(void **state)
{
    enum { THREADS = 4 };
    (void)state;
    struct mgb_graph *graph = draw_model(1);
    struct placed placed;
    pthread_t threads[THREADS];
    placed_make(&placed, graph, 2, "gpus=2 batch=4", training_sgd(0.1f, 0));
    for (int i = 0; i < THREADS; i++)
        mgb_shared_hold(placed.facts);
    struct mgb_facts *facts = placed.facts;
    placed.facts = NULL;
    placed_done(&placed);
    mgb_graph_free(graph);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, drop_run, facts), 0);
    mgb_shared_drop(facts);
    for (int i = 0; i < THREADS; i++) {
        void *read;
        assert_int_equal(pthread_join(threads[i], &read), 0);
        assert_non_null(read);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(facts_are_the_plans_under_every_strategy_and_one_to_eight_towers),
        cmocka_unit_test(facts_are_the_plans_for_drawn_models_and_placements),
        cmocka_unit_test(a_builder_that_runs_once_a_tower_leaves_duplicates_with_reasons),
        cmocka_unit_test(a_clone_leaves_a_marked_original),
        cmocka_unit_test(titles_say_where_and_with_how_many),
        cmocka_unit_test(what_is_parked_is_kept_as_asked_and_has_no_effect),
        cmocka_unit_test(facts_outlive_graph_and_plan_and_are_freed_by_the_last_of_many_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
