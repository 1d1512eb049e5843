/* What CUDA devices tell of themselves: links measured by copies, versions. */
#include "tests/engine/cuda/machine.h"

#include "tests/support/check.h"
#include "tests/support/model.h"
#include "tests/support/training.h"
#include <string.h>

static void links_between_gpus_and_host_are_measured(void **state)
{
    (void)state;
    struct mgb_graph *graph = model_mlp();
    machine_set("2", NULL);
    struct training training = {.graph = graph,
                                .options = "gpus=2 batch=4",
                                .optimizer = training_sgd(0.2f, 0.9f),
                                .play_on = machine_cuda()};
    struct mgb_run *run = training_open(&training);
    struct mgb_link links[] = {{.from = 0, .to = 1}, {.from = 1, .to = 2}, {.from = 2, .to = 0}};
    int measured = 0;
    assert_ok(mgb_run_measure_links(run, links, 3, 60000000000, &measured));
    assert_int_equal(measured, 3);
    for (int i = 0; i < 3; i++) {
        assert_true(links[i].gbps > 0);
        assert_true(links[i].latency_us > 0);
    }
    training_step(run, 2, NULL);
    mgb_run_close(run);
    machine_check_empty();
    mgb_graph_free(graph);
}

static void versions_of_cuda_and_nccl_are_told(void **state)
{
    (void)state;
    char text[256];
    machine_set("2", NULL);
    machine_cuda()->versions(text, sizeof text);
    assert_non_null(strstr(text, "\"CUDA\":\""));
    assert_non_null(strstr(text, "\"NCCL\":\""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(links_between_gpus_and_host_are_measured),
        cmocka_unit_test(versions_of_cuda_and_nccl_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
