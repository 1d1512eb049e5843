/* What a display shows of the workbench, at one moment: made by the workbench's thread, immutable, shared by reference. A
 * screen draws from it alone and asks neither engine nor database. Unknown numbers are NaN, unknown counts -1. */
#ifndef APP_SESSION_WORKBENCH_SNAPSHOT_H
#define APP_SESSION_WORKBENCH_SNAPSHOT_H

#include "app/session/workbench/bench.h"
#include "app/session/workbench/pressed.h"

enum mgb_bench_state {
    MGB_BENCH_EMPTY,   /* no model yet */
    MGB_BENCH_READY,   /* planned, nothing opened: no device is touched before it runs */
    MGB_BENCH_OPENING, /* devices are being taken, or a placement is moving */
    MGB_BENCH_RUNNING,
    MGB_BENCH_PAUSED, /* open, holding memory, no step in progress */
    MGB_BENCH_BUSY,   /* a verification, an expression or another long command; see `doing` */
    MGB_BENCH_SWEEPING,
    MGB_BENCH_FAILED /* the session ended by a fault; `message` says which, space opens a new one */
};

struct mgb_snapshot {
    struct mgb_shared shared;
    uint64_t version; /* grows */
    enum mgb_bench_state state;
    char doing[160];   /* while OPENING, BUSY or SWEEPING; "" */
    char message[600]; /* the last refusal or fault, until something succeeds; "" */
    struct {
        uint64_t serial; /* grows with each; 0: nothing yet */
        char text[400];
    } said;                            /* the newest answer, or what was written; one line */
    char devices[64];                  /* "4 CPU devices", "4 x P100" */
    int64_t step;                      /* steps done in this run */
    bool recorded;                     /* this run is in the database */
    char log_message[256];             /* recording stopped, or its file has a problem; "" */
    int64_t undo_count;                /* how often u has something to undo */
    const struct mgb_facts *facts;     /* in force, or that would be; NULL: no model */
    const struct mgb_pressed *pressed; /* NULL: not yet */
    struct mgb_bench_segment now, before;
    struct mgb_bench_answer answer;
    struct mgb_bench_phases phases;
    const struct mgb_bench_history *history; /* NULL: no step yet */
    const struct mgb_bench_traced *traced;   /* NULL: none */
    struct mgb_bench_verified verified;
    double observer_share; /* of one core, that watching cost while it ran last; NaN */
    const struct mgb_bench_sweep *sweep; /* NULL: none was asked for */
};

/* Zeroed, with unknowns as such; one holder. Dropping it drops its parts. NULL: no memory. */
struct mgb_snapshot *mgb_snapshot_make(void);
/* A copy of `from` that holds the same parts, to be changed before it is published; NULL: no memory. */
struct mgb_snapshot *mgb_snapshot_copy(const struct mgb_snapshot *from);

/* Takes a verdict back that rests on a segment in force whose steps have not settled: who judges reads what is stored, and
 * that is stored when the segment ends. Of three repetitions or more one may be so. */
void mgb_answer_doubt(struct mgb_bench_answer *answer, const struct mgb_bench_segment *now);
/* What is said before the reason of a verdict that settles nothing, on a machine with more to do than this program gives it:
 * "machine busy: load 18.98 on 2 CPUs". `load`: tasks that run or want to, over the last minute; `own`: how many of them this
 * program may have. False: the machine is not busy; "" then. */
bool mgb_answer_busy(char *out, size_t size, double load, int own, int cpus);
/* Puts it there, where it is not "", and takes a difference back that rests on one segment a side. */
void mgb_answer_blame(struct mgb_bench_answer *answer, const char *busy);

#endif
