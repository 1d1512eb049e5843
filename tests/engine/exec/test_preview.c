/* Previews: what they say is what a run then does. */
#include "tests/support/check.h"
#include "tests/support/model.h"
#include <limits.h>
#include <mgb/preview.h>
#include <stdio.h>
#include <stdlib.h>

static struct mgb_run_options options_of(const struct mgb_graph *graph, const char *const *words)
{
    struct mgb_run_options options = {
        .graph = graph, .backend = "host", .optimizer = mgb_optimizer_default(MGB_SGD), .seed = 1};
    mgb_placement_init(&options.placement);
    for (; *words; words += 2)
        assert_ok(mgb_placement_set(&options.placement, words[0], words[1]));
    return options;
}

static void a_preview_has_the_plan_of_the_run(void **state)
{
    (void)state;
    static const char *const placements[][9] = {
        {"gpus", "1", NULL},
        {"gpus", "3", "global_batch", "10", "cpu_relocation", "true", NULL},
        {"gpus", "2,0", "batch", "4", "cpu_merge", "false", NULL},
        {"gpus", "2", "batch", "4", "strategy", "allreduce", NULL},
    };
    struct mgb_graph *graph = model_mlp();
    for (size_t i = 0; i < sizeof placements / sizeof *placements; i++) {
        struct mgb_run_options options = options_of(graph, placements[i]);
        struct mgb_preview *preview;
        struct mgb_run *run;
        char *looked, *ran;
        assert_ok(mgb_preview_make(&preview, &options));
        assert_ok(mgb_run_open(&run, &options));
        assert_ok(mgb_plan_text(&looked, mgb_preview_plan(preview)));
        assert_ok(mgb_plan_text(&ran, mgb_run_plan(run)));
        assert_string_equal(looked, ran);
        assert_string_equal(mgb_preview_backend(preview), mgb_run_backend(run));
        mgb_text_free(looked);
        mgb_text_free(ran);
        mgb_run_close(run);
        mgb_preview_free(preview);
    }
    mgb_graph_free(graph);
}

static void what_a_run_refuses_a_preview_refuses(void **state)
{
    (void)state;
    struct mgb_graph *graph = model_mlp();
    struct mgb_preview *preview;
    struct mgb_run_options options = options_of(graph, (const char *const[]){"gpus", "17", NULL});
    assert_status(mgb_preview_make(&preview, &options), MGB_MISSING);
    options.backend = "none";
    assert_status(mgb_preview_make(&preview, &options), MGB_MISSING);
    mgb_graph_free(graph);
}

static void a_plan_that_does_not_fit_is_shown_all_the_same(void **state)
{
    (void)state;
    struct mgb_graph *graph = model_mlp();
    struct mgb_run_options options =
        options_of(graph, (const char *const[]){"gpus", "2", "gpu_memory", "64", NULL});
    struct mgb_preview *preview;
    struct mgb_run *run;
    assert_ok(mgb_preview_make(&preview, &options));
    assert_status(mgb_plan_admit(mgb_preview_plan(preview), NULL, 64), MGB_OOM);
    assert_status(mgb_run_open(&run, &options), MGB_OOM);
    mgb_preview_free(preview);
    mgb_graph_free(graph);
}

static void the_largest_batch_is_the_last_one_that_opens(void **state)
{
    (void)state;
    struct mgb_graph *graph = model_mlp();
    struct mgb_run_options options =
        options_of(graph, (const char *const[]){"gpus", "2", "gpu_memory", "16384", NULL});
    struct mgb_preview *preview;
    struct mgb_run *run;
    int64_t largest;
    assert_ok(mgb_preview_make(&preview, &options));
    assert_ok(mgb_preview_largest_batch(preview, &largest));
    assert_true(largest > 1);
    for (int more = 0; more < 2; more++) {
        char text[24];
        snprintf(text, sizeof text, "%lld", (long long)largest + more);
        assert_ok(mgb_placement_set(&options.placement, "batch", text));
        enum mgb_status status = mgb_run_open(&run, &options);
        assert_int_equal(status, more ? MGB_OOM : MGB_OK);
        if (status == MGB_OK)
            mgb_run_close(run);
    }
    mgb_preview_free(preview);
    mgb_graph_free(graph);
}

/* No more than the placement takes, and no less where memory is no hindrance. */
static void the_largest_batch_that_can_be_asked_for_is_found(void **state)
{
    (void)state;
    struct mgb_graph *graph = model_mlp();
    struct mgb_run_options options =
        options_of(graph, (const char *const[]){"gpus", "3", "gpu_memory", "1000TiB", NULL});
    struct mgb_preview *preview;
    int64_t largest;
    assert_ok(mgb_preview_make(&preview, &options));
    assert_ok(mgb_preview_largest_batch(preview, &largest));
    assert_int_equal(largest, INT_MAX / 3);
    mgb_preview_free(preview);
    mgb_graph_free(graph);
}

static void without_a_limit_there_is_no_largest_batch(void **state)
{
    (void)state;
    struct mgb_graph *graph = model_mlp();
    struct mgb_run_options options = options_of(graph, (const char *const[]){"gpus", "2", NULL});
    struct mgb_preview *preview;
    int64_t largest;
    assert_ok(mgb_preview_make(&preview, &options));
    assert_status(mgb_preview_largest_batch(preview, &largest), MGB_UNSUPPORTED);
    mgb_preview_free(preview);
    mgb_graph_free(graph);
}

static void devices_come_with_the_backend_that_has_them(void **state)
{
    (void)state;
    struct mgb_topology topology;
    const char *backend;
    char remark[256];
    setenv("MGBENCH_CPU_DEVICES", "3", 1);
    assert_ok(mgb_preview_devices(&topology, &backend, remark, sizeof remark, "host"));
    unsetenv("MGBENCH_CPU_DEVICES");
    assert_string_equal(backend, "host");
    assert_string_equal(remark, "");
    assert_int_equal(topology.device_count, 4);
    mgb_topology_done(&topology);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_preview_has_the_plan_of_the_run),
        cmocka_unit_test(what_a_run_refuses_a_preview_refuses),
        cmocka_unit_test(a_plan_that_does_not_fit_is_shown_all_the_same),
        cmocka_unit_test(the_largest_batch_is_the_last_one_that_opens),
        cmocka_unit_test(the_largest_batch_that_can_be_asked_for_is_found),
        cmocka_unit_test(without_a_limit_there_is_no_largest_batch),
        cmocka_unit_test(devices_come_with_the_backend_that_has_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
