/* Training steps of mnist_cnn by the engine: planner, executor, queues, events, prefetch and results.
 *     bench_step [batch] [threads] [steps] [options]
 * `batch` and `threads` are a device's; options are a placement's, "gpus=2" say. The time of a step is from its start to
 * the start of the next one, so that what happens between steps counts. */
#include "tests/bench/figures.h"

#include "tests/support/check.h"
#include <stdio.h>
#include <stdlib.h>

struct keeping {
    struct bench *bench;
    int at;
    int64_t start_ns;
    double loss;
    bool phases;
};

static void device_print(const struct mgb_device_times *times)
{
    printf("device %d:", times->device);
    for (int p = 0; p < MGB_PHASE_COUNT; p++)
        printf(" %s %.3f", mgb_phase_name((enum mgb_phase)p), (double)times->exposed[p] * 1e-6);
    printf(" ms\n");
}

static bool step_keep(void *context, const struct mgb_step_result *result)
{
    struct keeping *keeping = context;
    if (keeping->at > 0)
        bench_keep(keeping->bench, result->start_ns - keeping->start_ns);
    keeping->start_ns = result->start_ns;
    if (keeping->at++ < bench_steps(keeping->bench))
        keeping->loss = result->loss;
    for (int i = 0; keeping->phases && keeping->at == 10 && i < result->device_count; i++)
        device_print(&result->devices[i]);
    return true;
}

int main(int argc, char **argv)
{
    struct bench bench = bench_make(argc, argv, NULL);
    const char *options = argc > 4 ? argv[4] : "gpus=1";
    struct mgb_run *run = bench_open(&bench, options);
    struct keeping keeping = {.bench = &bench, .phases = getenv("MGB_BENCH_PHASES") != NULL};
    struct mgb_step_sink sink = {&keeping, step_keep};
    int64_t done;
    assert_ok(mgb_run_step(run, &done, &(struct mgb_step_request){.steps = bench_steps(&bench) + 1},
                           &sink));
    bench_print(options, &bench, keeping.loss);
    mgb_run_close(run);
    bench_free(&bench);
    return 0;
}
