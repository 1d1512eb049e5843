/* What mgbench selftest found, and how it is shown. */
#ifndef MGB_APP_CLI_SELFTEST_H
#define MGB_APP_CLI_SELFTEST_H

#include "app/cli/busy.h"
#include "app/cli/cli.h"

struct mgb_selftest {
    const struct mgb_invocation *in;
    const char *model;
    int comparisons, repetitions, steps; /* repetitions: a side */
    int64_t *segments;                   /* in the order of running */
    int segment_count;
    int64_t run; /* the last one */
    char backend[16], machine[64];
    double *ratios;
    int ratio_count, false_verdicts, refused; /* refused: a run never became steady */
    double floor;
    struct mgb_busy begin;
    int busy_percent; /* at its worst */
    bool quick;
    bool keep;       /* store what it comes to, whatever that is worth */
    char doubt[200]; /* why it is not stored; "" */
};

/* Whether what it came to counts from now on. */
bool mgb_selftest_is_stored(const struct mgb_selftest *t);
void mgb_selftest_print_text(const struct mgb_selftest *t, const char *database);
/* One row, for --csv and --json. */
enum mgb_status mgb_selftest_print_row(const struct mgb_selftest *t);

#endif
