/* Is B faster than A? Two sides of interleaved repetitions in, a verdict with its evidence out. Knows no database: the
 * caller brings the steady steps of every repetition. */
#ifndef MGB_DB_COMPARE_H
#define MGB_DB_COMPARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <mgb/status.h>

#define MGB_COMPARE_FLOOR 0.01     /* noise floor where no A/A check measured a larger one */
#define MGB_COMPARE_FLOOR_MOST 0.1 /* a floor above it hides what people look for */
enum {
    MGB_COMPARE_FLOOR_LEAST = 10, /* comparisons that a floor which counts is of */
    MGB_COMPARE_REPETITIONS =
        5,                  /* asked for where nothing is known of the spread between repetitions */
    MGB_COMPARE_MOST = 1000 /* repetitions a side; what needs more is not worth settling */
};

/* One repetition: its steady steps in their order, borrowed. */
struct mgb_series {
    const int64_t *wall_ns;
    size_t count;
    bool steady; /* what mgb_steady_find said of the segment */
};

struct mgb_side {
    const struct mgb_series *repetitions;
    size_t count;
};

struct mgb_compare_options {
    double floor;       /* noise floor as a fraction, 0.01: differences up to 1 % count as none */
    size_t resamples;   /* 0: 2000 */
    uint64_t seed;      /* 0: the default; stored in the result */
    bool single_enough; /* one repetition tells all, since repetitions are equal: simulated runs */
};

enum mgb_verdict {
    MGB_VERDICT_UNDECIDED,
    MGB_VERDICT_FASTER, /* B than A: the whole interval of the ratio lies below 1 / (1 + floor) */
    MGB_VERDICT_SLOWER, /* it lies above 1 + floor */
    MGB_VERDICT_SAME,   /* it lies between the two */
    MGB_VERDICT_REFUSED /* no verdict may be given: see reason */
};

enum mgb_reason {
    MGB_REASON_NONE,
    MGB_REASON_WIDE, /* undecided: the interval reaches across the noise floor */
    MGB_REASON_EDGE, /* undecided, and more repetitions will not help: the ratio sits on the floor's edge */
    MGB_REASON_SINGLE, /* undecided: one repetition says nothing of the spread between repetitions */
    MGB_REASON_FEW_STEPS,  /* undecided: one repetition, and too few steps in it for an interval */
    MGB_REASON_MANY_CELLS, /* undecided: it would be decided alone, not as one of many (Holm) */
    MGB_REASON_NOT_STEADY, /* refused: a repetition never became steady */
    MGB_REASON_NO_STEPS    /* refused: a side or a repetition is empty, or a step took no time */
};

/* The location of a side: the mean over its repetitions of their median step. */
struct mgb_location {
    size_t repetitions, steps; /* steps: of the shortest repetition */
    double ns, low_ns, high_ns;
};

struct mgb_comparison {
    enum mgb_verdict verdict;
    enum mgb_reason reason;
    struct mgb_location a, b;
    double ratio, low, high; /* b.ns / a.ns and its 95 % interval */
    double floor;
    double freedom; /* degrees of freedom of the interval (Welch) */
    double
        p; /* of what the ratio suggests, beyond the floor or within it; NaN where nothing was tested */
    double p_adjusted; /* among the cells of mgb_compare_correct; p until then */
    double rank_p;     /* Mann-Whitney on the repetitions' medians, exact: the second opinion */
    double rank_p_smallest; /* above 0.05: "with these repetitions a p below 0.05 is impossible" */
    size_t
        more_repetitions; /* a side, that would settle it, extrapolated; 0: settled, or nothing would */
    size_t resamples;
    uint64_t seed;
};

/* Compares B with A. Hierarchical bootstrap (Davison and Hinkley 1997, 3.8; Kalibera and Jones 2013): repetitions first,
 * then blocks of steps within each. Fails on lack of memory only; what cannot be judged is a verdict with a reason. */
enum mgb_status mgb_compare(struct mgb_comparison *out, const struct mgb_side *a,
                            const struct mgb_side *b, const struct mgb_compare_options *options);

/* Holm over the cells of a sweep: sets p_adjusted, and takes back verdicts that do not stand it. */
enum mgb_status mgb_compare_correct(struct mgb_comparison *cells, size_t count);

/* The noise floor that A/A comparisons on this machine support: the distance from 1 that 95 % of their ratios keep
 * (either way round), and never below MGB_COMPARE_FLOOR. */
enum mgb_status mgb_compare_measure_floor(double *out, const double *ratios, size_t count);

/* "faster", "same", ...; and the reason as a sentence's end, "" for none. */
const char *mgb_verdict_name(enum mgb_verdict verdict);
const char *mgb_reason_text(enum mgb_reason reason);

#endif
