/* What the timed programs share: mnist_cnn with one batch of rows, and figures printed as name=value, which pairs.c reads.
 * Every step sees the same rows, so that two programs that do the same arithmetic print the same loss. */
#ifndef MGB_TESTS_BENCH_FIGURES_H
#define MGB_TESTS_BENCH_FIGURES_H

#include "tests/support/training.h"

struct bench {
    int batch, threads, steps;
    struct mgb_graph *graph;
    struct mgb_optimizer optimizer;
    uint64_t seed;
    struct training_data data;
    int64_t *ns; /* of each step, the first `warm_up` not counted */
    int warm_up;
};

/* Arguments: [batch] [threads] [steps]. */
struct bench bench_make(int argc, char **argv);
void bench_free(struct bench *bench);
/* One line: batch, threads, median, least and tenth percentile in ms, the last loss. */
void bench_print(const char *name, struct bench *bench, double loss);

int bench_steps(const struct bench *bench); /* warm-up included */

#endif
