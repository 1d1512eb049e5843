/* Is B faster than A, asked of recorded runs: steps are loaded, what forbids a verdict is looked for, the noise floor of the
 * machine is found, and db/compare.h judges. What people and scripts read of it is worded here once. */
#ifndef APP_SESSION_JUDGE_H
#define APP_SESSION_JUDGE_H

#include "db/compare.h"
#include "db/select.h"

struct mgb_judge_options {
    double floor;         /* a fraction, 0.01 is 1 %; 0: what the machine showed, at least 1 % */
    bool across_backends; /* allow it */
    bool per_example;     /* time an example even where the global batches are the same */
    int64_t
        run; /* what is told of this run's segments calls them "seg 2" and not "run 1"; 0: of none */
    bool
        single_enough; /* a verdict on one repetition a side too: it then says nothing of other sessions, and who shows
                             it must say so */
};

/* A repetition whose median is unlike the others': see mgb_repetitions_odd. */
struct mgb_judged_odd {
    size_t number;              /* from 1; 0: there is none */
    size_t more, like;          /* others that are odd, and that are not */
    double ns, low_ns, high_ns; /* its median, and the range of the like ones' */
    int64_t run;                /* 0: not known */
};

struct mgb_judged_side {
    char model[64], backend[16], machine[64]; /* of its first run; "" without one */
    bool simulated;
    int64_t global_batch;  /* of all its runs; -1: they differ; 0: not known */
    int64_t threads, gpus; /* of its first run; threads: CPU threads a CPU device, 0 elsewhere */
    size_t repetitions;
    int64_t least_steps, most_steps; /* of its repetitions */
    struct mgb_judged_odd odd;
};

struct mgb_judgement {
    struct mgb_comparison comparison; /* its times: ns a step, or with per_example ns an example */
    struct mgb_judged_side a, b;
    bool per_example; /* the global batches differ */
    bool unsteady;    /* a repetition never became steady */
    char floor_source
        [80]; /* "given", "measured on this machine by selftest on 2026-11-30", "default" */
    char refusal[400];  /* why no verdict may be given though the figures would; "": nothing */
    char remarks[1000]; /* what to know beside the figures, a line each, no newline at the end */
};

/* Repetitions of two sides. What forbids a verdict makes it MGB_VERDICT_REFUSED, with the figures still there. Fails on the
 * database and lack of memory only. */
enum mgb_status mgb_judge(struct mgb_judgement *out, struct mgb_reader *reader,
                          const struct mgb_selection *a, const struct mgb_selection *b,
                          const struct mgb_judge_options *options);

/* Each `b[i]` against `a[i]`, all in time a step or all in time an example, corrected for their number (Holm). `out` has
 * `count`. */
enum mgb_status mgb_judge_cells(struct mgb_judgement *out, struct mgb_reader *reader,
                                const struct mgb_selection *a, const struct mgb_selection *b,
                                size_t count, const struct mgb_judge_options *options);

/* "A 247.1 ms [246.8, 247.6] n=5x200   B 338.4 ms [...] n=5x200   B/A 1.369 [1.366, 1.373]  slower" */
void mgb_judge_line(char *out, size_t size, const struct mgb_judgement *judgement);

/* Why it is undecided or refused, and what would settle it; "" where the verdict needs no more. */
void mgb_judge_reason(char *out, size_t size, const struct mgb_judgement *judgement);

/* "repetition 2 of B (run 7) took 52.91 ms, the others 0.993 to 1.127: something else was going on; repeat it"; "" where
 * `side`, one of the judgement's two, has none. `name`: "B"; NULL for a cell of a sweep, of which it says the time of a
 * whole step. */
void mgb_judge_odd(char *out, size_t size, const struct mgb_judgement *judgement,
                   const struct mgb_judged_side *side, const char *name);

/* Looks for it in what was loaded of a side's segments, in ps an example or in ns a step. */
enum mgb_status mgb_judge_odd_find(struct mgb_judged_odd *out, struct mgb_reader *reader,
                                   const struct mgb_selection *selected,
                                   const struct mgb_side *loaded, bool per_example);

/* "time a step; noise floor 1 % (default); p 0.0012, Mann-Whitney p 0.0079" */
void mgb_judge_evidence(char *out, size_t size, const struct mgb_judgement *judgement);

#endif
