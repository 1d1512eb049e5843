/* What the timed programs share: a model with one batch of rows, and figures printed as name=value, which pairs.c reads.
 * Every step sees the same rows, so that two programs that do the same arithmetic print the same loss. */
#ifndef MGB_TESTS_BENCH_FIGURES_H
#define MGB_TESTS_BENCH_FIGURES_H

#include "tests/support/training.h"

struct bench {
    int batch, threads, steps;
    const struct mgb_graph *graph;
    struct mgb_graph *own; /* NULL: the caller's */
    struct mgb_optimizer optimizer;
    uint64_t seed;
    struct training_data data;
    int warm_up, kept; /* steps not counted; steps kept so far */
    int64_t *ns;       /* of each step */
    int64_t cpu_ns;    /* of the process over the counted steps */
};

/* Arguments: [batch] [threads] [steps]. `graph` is borrowed; NULL: mnist_cnn. */
struct bench bench_make(int argc, char **argv, const struct mgb_graph *graph);
/* A run under these placement options ("gpus=2"); batch and threads are a device's. The
 * bench's data becomes rows for all devices. */
struct mgb_run *bench_open(struct bench *bench, const char *options);
void bench_free(struct bench *bench);
/* After every step, in order. */
void bench_keep(struct bench *bench, int64_t ns);
/* One line: batch, threads, median, least and tenth percentile of a step in ms, its mean CPU time
 * (which other programs disturb less), the last loss. */
void bench_print(const char *name, struct bench *bench, double loss);

int bench_steps(const struct bench *bench); /* warm-up included */

#endif
