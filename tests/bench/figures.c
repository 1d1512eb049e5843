/* Arguments, the batch, order statistics. */
#include "tests/bench/figures.h"

#include "tests/support/check.h"
#include "tests/support/model.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct bench bench_make(int argc, char **argv, const struct mgb_graph *graph)
{
    struct bench bench = {.batch = argc > 1 ? atoi(argv[1]) : 128,
                          .threads = argc > 2 ? atoi(argv[2]) : 2,
                          .steps = argc > 3 ? atoi(argv[3]) : 20,
                          .own = graph ? NULL : model_mnist_cnn(),
                          .optimizer = training_sgd(0.01f, 0.9f),
                          .seed = 1,
                          .warm_up = 3};
    if (bench.batch < 1 || bench.threads < 1 || bench.steps < 1) {
        fprintf(stderr, "usage: %s [batch] [threads] [steps]\n", argv[0]);
        exit(2);
    }
    bench.graph = graph ? graph : bench.own;
    bench.data = training_data_make(bench.graph, bench.batch, false, bench.seed);
    bench.ns = calloc((size_t)bench_steps(&bench), sizeof *bench.ns);
    assert_non_null(bench.ns);
    return bench;
}

struct mgb_run *bench_open(struct bench *bench, const char *options)
{
    char all[256];
    const char *gpus = strstr(options, "gpus=");
    int devices = gpus && atoi(gpus + 5) > 0 ? atoi(gpus + 5) : 1;
    snprintf(all, sizeof all, "%s batch=%d threads=%d", options, bench->batch, bench->threads);
    training_data_done(&bench->data);
    bench->data =
        training_data_make(bench->graph, (int64_t)bench->batch * devices, false, bench->seed);
    struct training training = {.graph = bench->graph,
                                .source = &bench->data.source,
                                .optimizer = bench->optimizer,
                                .options = all,
                                .seed = bench->seed,
                                .cores = bench->threads * devices};
    return training_open(&training);
}

void bench_free(struct bench *bench)
{
    training_data_done(&bench->data);
    mgb_graph_free(bench->own);
    free(bench->ns);
}

int bench_steps(const struct bench *bench)
{
    return bench->warm_up + bench->steps;
}

static int64_t cpu_clock_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

void bench_keep(struct bench *bench, int64_t ns)
{
    bench->ns[bench->kept++] = ns;
    if (bench->kept == bench->warm_up)
        bench->cpu_ns = -cpu_clock_ns();
    if (bench->kept == bench_steps(bench))
        bench->cpu_ns += cpu_clock_ns();
}

static int compare(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

void bench_print(const char *name, struct bench *bench, double loss)
{
    int64_t *ns = bench->ns + bench->warm_up;
    int n = bench->steps;
    qsort(ns, (size_t)n, sizeof *ns, compare);
    double median = 0.5 * (double)(ns[(n - 1) / 2] + ns[n / 2]);
    printf("%s batch=%d threads=%d steps=%d median_ms=%.3f min_ms=%.3f tenth_ms=%.3f cpu_ms=%.3f "
           "loss=%.9g\n",
           name, bench->batch, bench->threads, n, median * 1e-6, (double)ns[0] * 1e-6,
           (double)ns[n / 10] * 1e-6, (double)bench->cpu_ns / n * 1e-6, loss);
}
