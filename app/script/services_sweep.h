/* What services.h says of sweeps and comparisons: cells, forecasts, judgements. */
#ifndef APP_SCRIPT_SERVICES_SWEEP_H
#define APP_SCRIPT_SERVICES_SWEEP_H

#include <mgb/status.h>
#include <mgb/topology.h>

struct script_point {                /* a cell of a sweep */
    const char *sweep;               /* its name */
    const char *sweep_settings;      /* JSON object: grid, repeats, what is common to all points */
    const char *settings;            /* JSON object of this point's values, keys sorted */
    const char *digest;              /* of everything that makes it the same point */
    const char *backend;             /* as asked, for finding it; NULL: any */
    int64_t point, repeat, position; /* in grid order; from 0; in the order of running */
    bool dry;           /* the database must stay as it is: one of an older version has no points */
    bool own;           /* only what this program ran itself, before a crash, counts as done */
    int64_t order_seed; /* of the random order of points; -1: grid order */
};

/* What becomes of the cells of sweeps. */
enum script_sweep_mode {
    SCRIPT_SWEEP_ASKED, /* as the script's `resume` says */
    SCRIPT_SWEEP_RESUME, /* finished cells are not run again, unless the script says resume = false */
    SCRIPT_SWEEP_FRESH, /* every cell is run, whatever the script says */
    SCRIPT_SWEEP_DRY    /* none is run: forecasts only */
};

/* A sweep, or one of its cells, begins or ends; texts are borrowed for the call. */
struct script_cell {
    enum { SCRIPT_SWEEP_BEGINS, SCRIPT_CELL_BEGINS, SCRIPT_CELL_ENDS, SCRIPT_SWEEP_ENDS } what;
    const char *sweep, *point; /* "placement", "gpus=2 batch=32"; point "" for a whole sweep */
    int64_t position, total;   /* cells of the sweep, from 1 */
    /* Of a cell that ends; message "" when there is nothing to say. */
    const char *outcome, *message;
    const char *phase;     /* where it did not go on: "opening", "step 12"; "" */
    bool resumed;          /* taken from the database, not run */
    double step_ms;        /* NaN: none */
    double example_ms;     /* the same of an example */
    int64_t number;        /* in grid order, from 1; 0: not told */
    const char *placement; /* "gpus=2 batch=32 ...": in effect, or as asked of what did not run */
    double elapsed_s, left_s; /* since the sweep began; NaN: not to be told yet */
};

/* What a cell would be, without running it. */
struct script_forecast {
    enum mgb_status status;        /* MGB_OK: it can be run; else why not, in message */
    const char *backend;           /* static */
    char gpu[MGB_DEVICE_NAME_MAX]; /* the fullest accelerator; "" without one */
    int64_t gpu_bytes, cpu_bytes;  /* planned peak of that and of /cpu:0; 0: not known */
    double seconds;                /* such a cell took before; NaN: not known */
    char message[512];
};

/* Repetitions of one cell against those of another. */
struct script_judged {
    double step_ms, low_ms,
        high_ms; /* of the cell: mean of the repetitions' medians, its interval */
    double ratio, ratio_low,
        ratio_high;           /* cell / base of the time an example; NaN without a base */
    const char *verdict;      /* "faster", ...; static; NULL without a base */
    char reason[400];         /* why it is undecided or refused; "" */
    int64_t more_repetitions; /* would settle it; 0: settled, or nothing would */
    double floor;             /* differences up to this fraction are noise */
    char floor_source[80];    /* where it is from */
    char odd[240];            /* of a repetition unlike the others; "": none */
};

struct
    script_judge_request { /* segments of the repetitions of a cell, and of what it is judged by */
    const int64_t *cell, *base;
    int cell_count, base_count; /* base_count 0: nothing to be judged by */
};

/* Which of several cells is the fastest. */
struct script_ranking {
    char text[1200];    /* as mgbench compare words it; "": less than two ran */
    char headline[160]; /* the same in a few words, what matters first */
    int fastest;        /* which cell; -1: none is called so */
};

/* Repetitions of one side of a comparison: those that words name, and segments. */
struct script_compare_side {
    const char *words; /* as mgbench compare takes them, or NULL */
    const int64_t *segments;
    int segment_count;
};
struct script_compare_request {
    struct script_compare_side a, b;
    double floor; /* a fraction; 0: what this machine showed, at least 1 % */
    bool across_backends;
};
struct script_comparison {
    const char *verdict;                                         /* "faster", ...; static */
    double ratio, low, high, p, p_rank, floor;                   /* of b / a; NaN: not known */
    double a_ms, a_low_ms, a_high_ms, b_ms, b_low_ms, b_high_ms; /* a step, or an example */
    bool per_example;                                            /* the global batches differ */
    int64_t more_repetitions;                   /* would settle it; 0: settled, or nothing would */
    char floor_source[80];                      /* where the floor is from */
    char text[600], reason[900], remarks[1000]; /* the report line; why no verdict; a line each */
};

#endif
