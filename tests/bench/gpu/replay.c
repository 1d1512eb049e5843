/* What replaying a step gains: mnist_cnn on one GPU, steps enqueued call by call and replayed as a graph in turns.
 *     bench_gpu_replay [BATCH] [STEPS] [ROUNDS]
 * Batches of BATCH rows (16: small, where calls weigh most), ROUNDS (10) stretches of STEPS (100) steps each way. A line:
 * medians of a step in microseconds each way, and their ratio, above 1 where replay is faster. */
#include "tests/support/check.h"
#include "tests/support/model.h"
#include "tests/support/training.h"

#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>

enum { SKIPPED = 77, WARM_UP = 5, MOST = 100000 };

struct figures {
    int64_t *ns;
    int count, skip;
};

static bool step_keep(void *context, const struct mgb_step_result *result)
{
    struct figures *figures = context;
    if (figures->skip > 0)
        figures->skip--;
    else
        figures->ns[figures->count++] = result->wall_ns;
    return true;
}

static int compare(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static double median_us(struct figures *figures)
{
    qsort(figures->ns, (size_t)figures->count, sizeof *figures->ns, compare);
    return (double)figures->ns[figures->count / 2] / 1e3;
}

/* The first steps after a change are enqueued in either case. */
static void stretch_play(struct mgb_run *run, const char *options, struct figures *figures,
                         int steps)
{
    struct mgb_step_sink sink = {figures, step_keep};
    struct mgb_step_request request = {.steps = WARM_UP + steps};
    int64_t done;
    training_set(run, options);
    figures->skip = WARM_UP;
    assert_ok(mgb_run_step(run, &done, &request, &sink));
}

static int number_of(int argc, char **argv, int at, int usual)
{
    return argc > at ? atoi(argv[at]) : usual;
}

int main(int argc, char **argv)
{
    int batch = number_of(argc, argv, 1, 16), steps = number_of(argc, argv, 2, 100);
    int rounds = number_of(argc, argv, 3, 10), gpus = 0;
    if (batch < 1 || steps < 1 || rounds < 1 || (int64_t)steps * rounds > MOST) {
        fprintf(stderr, "usage: bench_gpu_replay [BATCH] [STEPS] [ROUNDS]\n");
        return 2;
    }
    if (cudaGetDeviceCount(&gpus) != cudaSuccess || gpus == 0) {
        fprintf(stderr, "bench_gpu_replay: no GPU\n");
        return SKIPPED;
    }
    char options[64];
    snprintf(options, sizeof options, "gpus=1 batch=%d graph=false", batch);
    struct mgb_graph *graph = model_mnist_cnn();
    struct training_data data = training_data_make(graph, batch, false, 1);
    struct figures ways[2] = {{.ns = calloc(MOST, sizeof(int64_t))},
                              {.ns = calloc(MOST, sizeof(int64_t))}};
    struct training training = {.graph = graph,
                                .source = &data.source,
                                .optimizer = training_sgd(0.01f, 0.9f),
                                .options = options,
                                .backend = "cuda"};
    assert_true(ways[0].ns && ways[1].ns);
    struct mgb_run *run = training_open(&training);
    for (int round = 0; round < rounds; round++)
        for (int way = 0; way < 2; way++)
            stretch_play(run, way ? "graph=true" : "graph=false", &ways[way], steps);
    double enqueued = median_us(&ways[0]), replayed = median_us(&ways[1]);
    printf("replay batch=%d steps=%d enqueued_us=%.2f replayed_us=%.2f gain=%.3f\n", batch,
           ways[0].count, enqueued, replayed, enqueued / replayed);
    mgb_run_close(run);
    training_data_done(&data);
    mgb_graph_free(graph);
    free(ways[0].ns);
    free(ways[1].ns);
    return 0;
}
