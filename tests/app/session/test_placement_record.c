/* Placements as rows: what was asked keeps what was parked, what is in effect leaves out what means nothing. */
#include "tests/support/check.h"

#include "app/session/rows.h"
#include "tests/support/model.h"
#include "tests/support/plan.h"
#include <string.h>

static struct {
    struct mgb_graph *graph;
    struct mgb_topology topology;
    struct mgb_placement placement;
    struct session_placement_texts texts[2];
    struct mgb_record_placement asked, effective;
} at;

/* Options as "name", "value" pairs, NULL at the end. */
static void records_make(const char *const *options)
{
    struct mgb_effective effective;
    mgb_placement_init(&at.placement);
    for (; options[0]; options += 2)
        assert_ok(mgb_placement_set(&at.placement, options[0], options[1]));
    assert_ok(mgb_placement_resolve(&effective, &at.placement, 0, at.graph, &at.topology, 2));
    mgb_session_placement_asked(&at.asked, &at.texts[0], &at.placement);
    mgb_session_placement_effective(&at.effective, &at.texts[1], &effective, &at.topology);
    mgb_effective_done(&effective);
}

static int machine_setup(void **state)
{
    (void)state;
    at.graph = model_mlp();
    plan_machine_make(&at.topology, 4);
    return 0;
}

static int machine_teardown(void **state)
{
    (void)state;
    mgb_graph_free(at.graph);
    mgb_topology_done(&at.topology);
    return 0;
}

static void what_was_not_asked_is_null_and_in_effect_it_is_there(void **state)
{
    (void)state;
    records_make((const char *const[]){"gpus", "2", "batch", "8", NULL});
    assert_null(at.asked.strategy);
    assert_null(at.asked.weights_at);
    assert_false(at.asked.cpu_merge.known);
    assert_false(at.asked.global_batch.known);
    assert_null(at.asked.gpu_list);
    assert_int_equal(at.asked.gpus.value, 2);
    assert_string_equal(at.asked.batch_mode, "weak");
    assert_int_equal(at.asked.batch_per_gpu.value, 8);
    assert_string_equal(at.effective.strategy, "outputs");
    assert_string_equal(at.effective.weights_at, "/gpu:0");
    assert_string_equal(at.effective.join_at, "/cpu:0");
    assert_true(at.effective.cpu_merge.known && at.effective.cpu_merge.value == 1);
    assert_string_equal(at.effective.gpu_list, "[\"/gpu:0\",\"/gpu:1\"]");
    assert_int_equal(at.effective.global_batch.value, 16);
}

static void options_without_meaning_are_parked(void **state)
{
    (void)state;
    records_make((const char *const[]){"gpus", "3", "global_batch", "10", "strategy", "allreduce",
                                       "weights_at", "/cpu:0", "cpu_merge", "false", "bucket_mib",
                                       "2.5", NULL});
    assert_string_equal(at.asked.weights_at, "/cpu:0");
    assert_true(at.asked.cpu_merge.known && at.asked.cpu_merge.value == 0);
    assert_null(at.effective.weights_at);
    assert_null(at.effective.join_at);
    assert_null(at.effective.sum_at);
    assert_false(at.effective.cpu_merge.known);
    assert_false(at.effective.cpu_relocation.known);
    assert_true(at.effective.bucket_mib.known && at.effective.bucket_mib.value == 2.5);
    assert_non_null(at.effective.allreduce);
    assert_string_equal(at.effective.batch_mode, "strong");
    assert_int_equal(at.effective.global_batch.value, 10);
    assert_int_equal(at.effective.batch_per_gpu.value, 4);
}

static void meaning_of_strategy_outputs_has_no_allreduce(void **state)
{
    (void)state;
    records_make((const char *const[]){"gpus", "2", "batch", "4", "allreduce", "ring", "merge_at",
                                       "/gpu:1", "like", "keras", NULL});
    assert_string_equal(at.asked.allreduce, "ring");
    assert_string_equal(at.asked.merge_at, "/gpu:1");
    assert_string_equal(at.asked.like, "keras");
    assert_null(at.effective.allreduce);
    assert_null(at.effective.merge_at); /* short for the three it became */
    assert_null(at.effective.like);
    assert_string_equal(at.effective.join_at, "/gpu:1");
    assert_string_equal(at.effective.loss_at, "/gpu:1");
}

static void listed_devices_keep_their_order_and_limits_are_bytes(void **state)
{
    (void)state;
    records_make((const char *const[]){"gpus", "2,0,3", "batch", "4", "gpu_memory", "1GiB",
                                       "threads", "1", NULL});
    static const char list[] = "[\"/gpu:2\",\"/gpu:0\",\"/gpu:3\"]";
    assert_string_equal(at.asked.gpu_list, list);
    assert_string_equal(at.effective.gpu_list, list);
    assert_int_equal(at.asked.gpus.value, 3);
    assert_int_equal(at.asked.gpu_memory_bytes.value, 1 << 30);
    assert_int_equal(at.effective.gpu_memory_bytes.value, 1 << 30);
    assert_int_equal(at.effective.threads.value, 1);
}

static void one_tower_on_the_cpu_is_zero_gpus(void **state)
{
    (void)state;
    records_make((const char *const[]){"gpus", "0", "batch", "4", NULL});
    assert_true(at.asked.gpus.known);
    assert_int_equal(at.effective.gpus.value, 0);
    assert_string_equal(at.effective.gpu_list, "[\"/cpu:0\"]");
    assert_false(at.effective.gpu_memory_bytes.known);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_not_asked_is_null_and_in_effect_it_is_there),
        cmocka_unit_test(options_without_meaning_are_parked),
        cmocka_unit_test(meaning_of_strategy_outputs_has_no_allreduce),
        cmocka_unit_test(listed_devices_keep_their_order_and_limits_are_bytes),
        cmocka_unit_test(one_tower_on_the_cpu_is_zero_gpus),
    };
    return cmocka_run_group_tests(tests, machine_setup, machine_teardown);
}
