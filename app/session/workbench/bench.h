/* The parts of a snapshot: figures of a segment, phases, the newest steps, a traced step, the verdict, a sweep. Plain data;
 * unknown numbers are NaN, unknown counts -1. */
#ifndef APP_SESSION_WORKBENCH_BENCH_H
#define APP_SESSION_WORKBENCH_BENCH_H

#include "app/script/services_run.h"
#include "app/session/workbench/facts.h"

enum { MGB_BENCH_DEVICES = 65 };

struct mgb_bench_memory { /* bytes */
    char device[MGB_DEVICE_NAME_MAX];
    int64_t planned, held, peak; /* peak: measured; -1: no step yet */
    int64_t capacity;            /* 0: not limited */
    char sensed[160]; /* "1410 MHz, 250 W, 61 C, 97 % in use, held back by power"; "": not read */
};

struct mgb_bench_segment {
    int64_t run_id, segment_id; /* 0: nothing is recorded */
    int number;                 /* of this run, from 1; 0: there is none */
    struct script_figures figures;
    int gpus, batch_per_gpu, global_batch;
    int64_t
        traffic_bytes; /* a step, planned; measured bytes equal it (the engine's tests hold that) */
    int memory_count;
    struct mgb_bench_memory memory[MGB_BENCH_DEVICES];
    char title[160]; /* as in facts */
};

struct mgb_bench_device_times { /* of one device; mean over the newest timed steps, ns a step */
    char device[MGB_DEVICE_NAME_MAX];
    int64_t finish_ns, busy_ns[MGB_PHASE_COUNT], exposed_ns[MGB_PHASE_COUNT];
};
struct mgb_bench_phases {
    int64_t wall_ns, steps; /* mean of the steps they are of; 0: none yet */
    int count, slowest;     /* slowest: the device whose tower ends last; -1: not known */
    struct mgb_bench_device_times devices[MGB_BENCH_DEVICES];
    char bound[160]; /* "backward on gpu:3 (98%)": what most of the step's wall time went to; "" */
    bool warmup;     /* there is no timed step yet: they are of the newest one of the warm-up */
};

struct mgb_bench_step {
    int64_t step, wall_ns;
    int segment; /* number */
    bool warmup;
};
enum { MGB_BENCH_STEPS = 2048 };
struct mgb_bench_history { /* the newest steps of this run, oldest first */
    struct mgb_shared shared;
    int count;
    struct mgb_bench_step at[MGB_BENCH_STEPS];
};

struct mgb_bench_task { /* of the traced step; ns from its start */
    int device, from;   /* as in facts; from: -1 unless a copy between devices */
    enum mgb_phase phase;
    int64_t begin_ns, end_ns, bytes;
    bool critical; /* on the critical path */
    const char *name, *kind;
};
struct mgb_bench_traced { /* the newest traced step of the placement in force */
    struct mgb_shared shared;
    int64_t step, wall_ns;
    int count;
    struct mgb_bench_task *at;                             /* by device, then by begin */
    int64_t critical_ns[MGB_PHASE_COUNT], critical_gap_ns; /* the critical path by phase */
    bool warmup;     /* it was one of the warm-up, as far as was known then */
    char bound[160]; /* in words: "backward on gpu:3, 241 of 247 ms" */
    void *memory;
};

struct mgb_bench_answer { /* is the newest segment faster than the one before? */
    bool there;
    double ratio, low,
        high; /* time a step, or an example where global batches differ; now / before */
    bool per_example;
    char verdict[16]; /* "faster", "slower", "same", "undecided", "refused"; "" : not judged yet */
    char reason[240]; /* in words; "" */
    int now_count, before_count; /* segments of this run with either placement: repetitions */
    double speedup, efficiency;  /* against the stored one-GPU segment; NaN: none is known */
    char scaling[80];            /* "weak, against run 12", or why there is none */
    bool
        doubtful; /* that one has few steps, is not steady, or had other threads: `scaling` says so */
};

struct mgb_bench_verified {
    bool there, equal;
    int64_t steps;
    char text[240]; /* "20 steps under 2 and 3: losses and weights equal to the last bit" */
};

struct mgb_bench_sweep {
    struct mgb_shared shared;
    char name[64], cell[160]; /* cell: what runs now; "" between */
    int64_t position, total;  /* of cells, from 1 */
    double elapsed_s, left_s; /* NaN: not to be told yet */
    bool done;
    int64_t ran;    /* cells that were run now; the others had ended before */
    char best[200]; /* "Fastest so far: ...": the row that is marked, by time an example; "" */
    int column_count, row_count; /* columns: the settings that vary */
    char columns[8][24];
    struct mgb_bench_cell {
        char values[8][24], outcome[12], message[160];
        char verdict[16], reason[400]; /* against the base, which is "base"; why there is none */
        char placement[600];           /* "gpus=2 batch=32 ...": in effect, or as asked */
        int64_t number;                /* in grid order, from 1: rows are in it */
        int repetitions;               /* that ran to their end */
        double step_ms, low_ms, high_ms;
        double example_ms, ratio; /* time an example, also to that of the base */
        bool resumed, best;
    } * rows; /* owned */
};

/* sensed.c: a reading in words; what a device does not tell is left out. */
void mgb_bench_sensed_write(char *out, size_t size, const struct mgb_sensed *sensed);

#endif
