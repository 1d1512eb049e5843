/* Reads golden files (tests/golden): one tensor a line, "label : dims : values". */
#ifndef TESTS_SUPPORT_GOLDEN_H
#define TESTS_SUPPORT_GOLDEN_H

#include <stdint.h>

struct golden {
    char *text; /* the whole file, owned */
};

/* `path` below tests/golden. Fails the test when the file is not there. */
struct golden golden_open(const char *path);
void golden_close(struct golden *golden);

/* The values of `label` into `out`; fails the test unless there are exactly `count`. */
void golden_read(const struct golden *golden, const char *label, float *out, int64_t count);

/* Multiplicative hash to [-1, 1) times scale: the same numbers as formula() in tests/golden/make_training.py. */
void golden_formula(float *out, int64_t count, int salt, float scale);

/* Largest |got - want| / max(|want| over the tensor, 1e-6). */
double golden_difference(const float *got, const float *want, int64_t count);

#endif
