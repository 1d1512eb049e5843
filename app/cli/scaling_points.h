/* The measured placements that scaling is about, and which of them belong together. */
#ifndef MGB_APP_CLI_SCALING_POINTS_H
#define MGB_APP_CLI_SCALING_POINTS_H

#include "db/scaling.h"
#include "db/select.h"
#include <stdbool.h>

/* What tells groups apart besides model, machine and backend. */
enum mgb_scaled_kind {
    MGB_SCALED_OPTIONS,
    MGB_SCALED_DATA,
    MGB_SCALED_OPTIMIZER,
    MGB_SCALED_PRECISION,
    MGB_SCALED_RECOMPUTE,
    MGB_SCALED_KINDS
};

struct mgb_scaled {
    struct mgb_scaling_point
        point; /* step_ns: mean over repetitions of their medians; 0: out of memory */
    char group
        [300]; /* only points of one group are compared: model, data, machine, backend, precision, optimizer */
    char variation[300]; /* all else but GPUs and batch */
    char label[48];      /* of the variation, in brief */
    char strategy[16], backend[16], model[64], machine[64];
    bool simulated, independent, not_steady, oversubscribed, oom;
    int64_t run, repetitions;
    int64_t wrong;          /* see mgb_cli_wrong_text */
    int64_t threads;        /* CPU threads a CPU device; 0: not known, or of no account */
    double low_ns, high_ns; /* 95 % interval of the step; 0: not known */
    double examples_per_s;  /* of a step, by its time */
    char kind[MGB_SCALED_KINDS][120];
    char segments[600];     /* their numbers, with commas between */
    int64_t epoch_examples; /* 0: not known */
};

struct mgb_scaled_list {
    struct mgb_scaled *at; /* by group, variation, GPUs, batch */
    int count;
};

/* Of every configuration of `model` the newest run and its repetitions in a sweep, or all of `segments` (NULL: by model), repetitions as one. */
enum mgb_status mgb_scaled_load(struct mgb_scaled_list *out, struct mgb_reader *reader,
                                const char *model, const struct mgb_selection *segments);
void mgb_scaled_free(struct mgb_scaled_list *list);

/* The point of the group of `of` with so many GPUs and examples, with
 * as many threads and of its variation if there is one; NULL: not measured. */
const struct mgb_scaled *mgb_scaled_find(const struct mgb_scaled_list *list,
                                         const struct mgb_scaled *of, int64_t gpus,
                                         int64_t global_batch);
/* The one that exchanges nothing with the GPUs and batch of `of`; NULL: not measured, or `of` exchanges nothing itself. */
const struct mgb_scaled *mgb_scaled_find_independent(const struct mgb_scaled_list *list,
                                                     const struct mgb_scaled *of);

#endif
