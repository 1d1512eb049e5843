/* Links measured by copies: what is asked is answered, in order, and leaves the run as it was. */
#include "tests/support/check.h"
#include "tests/support/model.h"
#include "tests/support/training.h"

#include <string.h>

#define LONG_NS 60000000000

static struct mgb_run *run_on(const struct mgb_graph *graph, const char *options)
{
    struct training training = {
        .graph = graph, .options = options, .optimizer = training_sgd(0.1f, 0.9f)};
    return training_open(&training);
}

static void every_link_has_a_bandwidth_and_a_latency(void **state)
{
    (void)state;
    struct mgb_graph *graph = model_mlp();
    struct mgb_run *run = run_on(graph, "gpus=2 batch=4");
    struct mgb_link links[] = {{.from = 0, .to = 1}, {.from = 1, .to = 0}, {.from = 1, .to = 2}};
    int measured = 0;
    uint64_t before = training_digest(run);
    int64_t held = training_held(run);
    assert_ok(mgb_run_measure_links(run, links, 3, LONG_NS, &measured));
    assert_int_equal(measured, 3);
    for (int i = 0; i < 3; i++) {
        assert_true(links[i].gbps > 0.01 && links[i].gbps < 10000);
        assert_true(links[i].latency_us > 0);
    }
    assert_true(training_digest(run) == before);
    assert_true(training_held(run) == held);
    training_step(run, 2, NULL);
    mgb_run_close(run);
    mgb_graph_free(graph);
}

static void no_time_measures_one_and_stops(void **state)
{
    (void)state;
    struct mgb_graph *graph = model_mlp();
    struct mgb_run *run = run_on(graph, "gpus=2 batch=4");
    struct mgb_link links[] = {{.from = 0, .to = 1}, {.from = 1, .to = 0}};
    int measured = 0;
    assert_ok(mgb_run_measure_links(run, links, 2, 0, &measured));
    assert_int_equal(measured, 1);
    assert_true(links[1].gbps == 0);
    mgb_run_close(run);
    mgb_graph_free(graph);
}

static void a_device_without_room_is_left_unmeasured(void **state)
{
    (void)state;
    struct mgb_graph *graph = model_mlp();
    struct mgb_run *run = run_on(graph, "gpus=2 batch=4 gpu_memory=8MiB");
    struct mgb_link links[] = {{.from = 0, .to = 1}, {.from = 2, .to = 1}};
    int measured = 0;
    assert_ok(mgb_run_measure_links(run, links, 2, LONG_NS, &measured));
    assert_int_equal(measured, 2);
    assert_true(links[0].gbps == 0 && links[1].gbps == 0);
    training_step(run, 2, NULL);
    mgb_run_close(run);
    mgb_graph_free(graph);
}

static void links_to_nowhere_are_refused(void **state)
{
    (void)state;
    struct mgb_graph *graph = model_mlp();
    struct mgb_run *run = run_on(graph, "gpus=1 batch=4");
    static const struct mgb_link wrong[] = {
        {.from = 0, .to = 99}, {.from = -1, .to = 0}, {.from = 1, .to = 1}};
    for (int i = 0; i < 3; i++) {
        struct mgb_link link = wrong[i];
        int measured = 7;
        assert_status(mgb_run_measure_links(run, &link, 1, LONG_NS, &measured), MGB_INVALID);
        assert_int_equal(measured, 0);
    }
    mgb_run_close(run);
    mgb_graph_free(graph);
}

static void a_backend_tells_its_versions(void **state)
{
    (void)state;
    char text[256];
    assert_ok(mgb_backend_versions(text, sizeof text, "host"));
    assert_non_null(strstr(text, "\"oneDNN\":\""));
    assert_non_null(strstr(text, "\"compiler\":\""));
    assert_status(mgb_backend_versions(text, sizeof text, "abacus"), MGB_MISSING);
    assert_string_equal(text, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_link_has_a_bandwidth_and_a_latency),
        cmocka_unit_test(no_time_measures_one_and_stops),
        cmocka_unit_test(a_device_without_room_is_left_unmeasured),
        cmocka_unit_test(links_to_nowhere_are_refused),
        cmocka_unit_test(a_backend_tells_its_versions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
