/* Where a training step of mnist_cnn spends its time, task by task, from traces of every step:
 *     bench_tasks [batch] [threads] [steps] [options]
 * Prints of each task the least and the median of its times over the steps, then how long no task at all was running:
 * from the step's start to its end, the wait for the batch and the reading of the results included. That is what the
 * engine takes besides the operators (and a trace makes a little longer), and it is short, so a busy machine seldom falls
 * into it: its tenth percentile can be trusted where times of whole steps can not. */
#include "tests/bench/figures.h"

#include "tests/support/check.h"
#include <mgb/plan.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct tracing {
    struct bench *bench;
    const struct mgb_plan *plan;
    const struct mgb_topology *topology;
    int step, tasks;
    struct mgb_task_time *first; /* what each column of `ns` is */
    int64_t *ns;                 /* step * tasks + task: how long it took */
    int64_t *bare_ns;            /* of a step: no task was running */
};

static int by_start(const void *a, const void *b)
{
    const struct mgb_task_time *x = a, *y = b;
    return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static int64_t bare_get(const struct mgb_step_result *result)
{
    size_t bytes = (size_t)result->task_count * sizeof *result->tasks;
    struct mgb_task_time *tasks = malloc(bytes);
    assert_non_null(tasks);
    memcpy(tasks, result->tasks, bytes);
    qsort(tasks, (size_t)result->task_count, sizeof *tasks, by_start);
    int64_t bare = 0, end = 0;
    for (int i = 0; i < result->task_count; i++) {
        if (tasks[i].start_ns > end)
            bare += tasks[i].start_ns - end;
        if (tasks[i].start_ns + tasks[i].duration_ns > end)
            end = tasks[i].start_ns + tasks[i].duration_ns;
    }
    free(tasks);
    return bare + (result->wall_ns > end ? result->wall_ns - end : 0);
}

static bool step_trace(void *context, const struct mgb_step_result *result)
{
    struct tracing *tracing = context;
    int step = tracing->step++ - tracing->bench->warm_up;
    if (step < 0)
        return true;
    if (!tracing->ns) {
        tracing->tasks = result->task_count;
        tracing->ns =
            calloc((size_t)result->task_count * (size_t)tracing->bench->steps, sizeof *tracing->ns);
        tracing->first = calloc((size_t)result->task_count, sizeof *tracing->first);
        assert_true(tracing->ns && tracing->first);
        memcpy(tracing->first, result->tasks, (size_t)result->task_count * sizeof *tracing->first);
    }
    for (int i = 0; i < tracing->tasks; i++)
        tracing->ns[i * tracing->bench->steps + step] = result->tasks[i].duration_ns;
    tracing->bare_ns[step] = bare_get(result);
    return true;
}

static void result_print(struct tracing *tracing)
{
    int steps = tracing->bench->steps;
    double least = 0, median = 0;
    for (int i = 0; i < tracing->tasks; i++) {
        int64_t *ns = tracing->ns + i * steps;
        char device[MGB_DEVICE_NAME_MAX];
        qsort(ns, (size_t)steps, sizeof *ns, by_value);
        mgb_device_format(device, tracing->topology->devices[tracing->first[i].device].name);
        printf("%-32s %-8s %9.3f %9.3f ms\n", tracing->plan->tasks[tracing->first[i].task].name,
               device, (double)ns[0] * 1e-6, (double)ns[steps / 2] * 1e-6);
        least += (double)ns[0] * 1e-6;
        median += (double)ns[steps / 2] * 1e-6;
    }
    qsort(tracing->bare_ns, (size_t)steps, sizeof *tracing->bare_ns, by_value);
    printf("tasks=%d least_ms=%.3f tasks_ms=%.3f besides_tenth_ms=%.4f besides_ms=%.4f steps=%d\n",
           tracing->tasks, least, median, (double)tracing->bare_ns[steps / 10] * 1e-6,
           (double)tracing->bare_ns[steps / 2] * 1e-6, steps);
}

int main(int argc, char **argv)
{
    struct bench bench = bench_make(argc, argv, NULL);
    struct mgb_run *run = bench_open(&bench, argc > 4 ? argv[4] : "gpus=1");
    struct tracing tracing = {.bench = &bench,
                              .plan = mgb_run_plan(run),
                              .topology = mgb_run_topology(run),
                              .bare_ns = calloc((size_t)bench.steps, sizeof(int64_t))};
    assert_non_null(tracing.bare_ns);
    struct mgb_step_sink sink = {&tracing, step_trace};
    struct mgb_step_request request = {.steps = bench_steps(&bench), .trace_every = 1};
    int64_t done;
    assert_ok(mgb_run_step(run, &done, &request, &sink));
    result_print(&tracing);
    mgb_run_close(run);
    free(tracing.first);
    free(tracing.ns);
    free(tracing.bare_ns);
    bench_free(&bench);
    return 0;
}
