/* A results file of one's own for a test, rows to put in it, and short questions to it. */
#ifndef TESTS_SUPPORT_DATABASE_H
#define TESTS_SUPPORT_DATABASE_H

#include <stddef.h>

#include <mgb/record.h>

/* cmocka setup and teardown: *state is the path of a results file in a fresh folder; the file is not there yet. */
int database_setup(void **state);
int database_teardown(void **state);

/* A complete run of a small model on a machine with one CPU and two devices; static. */
const struct mgb_record_run *database_run(void);
/* A segment of `run`: strategy outputs, two devices, batch 32 each, weights on /gpu:0, merged on /cpu:0. */
struct mgb_record_segment database_segment(int64_t run);
/* Step `index` of 10 ms and 64 examples. */
struct mgb_record database_step(int64_t segment, int64_t index);

/* First value of the first row; the test fails on any error, or if there is no row. NULL is -1 and "". */
int64_t database_int(const char *path, const char *query);
double database_real(const char *path, const char *query);
/* Into `out` of `size`; returns it. */
char *database_text(char *out, size_t size, const char *path, const char *query);

#endif
