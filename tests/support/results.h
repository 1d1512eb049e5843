/* A small results file of whole and odd runs with figures that can be worked out in one's head, for what looks at results.
 *
 * Runs 1 to 12: sweep "placement" of model mlp on the host backend, 61 steady steps each, repetitions interleaved:
 *   point 0: 1 GPU, 32 a GPU, 100 ms        point 2: 2 GPUs, 2x32, 110 ms
 *   point 1: 1 GPU, 64 a GPU, 180 ms        point 3: the same, nothing exchanged, 95 ms
 * A repetition is 0.05 % faster, as said, 0.05 % slower; within it steps spread by 0.3 % and less, the median as said.
 * Runs 13 to 15, tag "after": as point 0, 37 % slower. Baseline "before": run 1; tag "paper": runs 1 and 2.
 * Run 16: as point 0, on the cuda backend.     Run 17: stores a variable twice.       Run 18: its log has gaps.
 * Run 19: refused for lack of memory.          Run 20: never became steady.           Run 21: two segments, 2 GPUs. */
#ifndef TESTS_SUPPORT_RESULTS_H
#define TESTS_SUPPORT_RESULTS_H

enum { RESULTS_RUNS = 21, RESULTS_STEPS = 61 };

/* Makes the file; the test fails if that fails. */
void results_fill(const char *path);

/* cmocka setup: database_setup with such a file. */
int results_setup(void **state);

#endif
