/* Rows of the size that real ones have, for benches of the database. */
#ifndef TESTS_BENCH_ROWS_H
#define TESTS_BENCH_ROWS_H

#include <stddef.h>

#include <mgb/record.h>

/* Static. */
const struct mgb_record_run *bench_run(void);
struct mgb_record_segment bench_segment(int64_t run, int devices);
/* Three devices; static. */
const struct mgb_record_memory_total *bench_totals(void);

/* A step's record and one a device, up to 8: 1 + devices records; returns how many. */
size_t bench_step(struct mgb_record *out, int64_t segment, int64_t step, int devices);

#endif
