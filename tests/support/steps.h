/* Simulated step times with a known median: autocorrelated, heavy-tailed, with differences between repetitions. */
#ifndef TESTS_SUPPORT_STEPS_H
#define TESTS_SUPPORT_STEPS_H

#include <stddef.h>
#include <stdint.h>

struct steps_process {
    double median_ns;   /* the truth, over steps and repetitions */
    double correlation; /* of neighbours, before the tails: AR(1) */
    double spread;      /* relative; about the standard deviation of a step without tails */
    double
        tail; /* 0: normal steps; else tails as a cubed normal has them, twice as long to the right */
    double between; /* relative standard deviation from repetition to repetition */
};

/* Step times of one repetition. The same `trial` and `stream` give the same steps. */
void steps_simulate(int64_t *wall_ns, size_t count, const struct steps_process *process,
                    uint64_t trial, uint64_t stream);

#endif
