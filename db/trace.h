/* Traced steps as they were stored: which ones there are, and one of them whole, its tasks sorted onto tracks. What a
 * program asks who draws a timeline or looks for what bounds a step; works for files of other processes and older
 * versions. */
#ifndef MGB_DB_TRACE_H
#define MGB_DB_TRACE_H

#include <stdbool.h>

#include "db/critical.h"
#include "db/query.h"

struct mgb_trace_listed {
    int64_t step; /* index in the run */
    int64_t
        timed; /* from the segment's first timed step: that one is 0, warm-up steps are negative */
};
struct mgb_trace_list {
    struct mgb_trace_listed *steps; /* in order */
    size_t count;                   /* 0: none was traced */
    int64_t timed_steps;            /* of the segment, traced or not */
};
enum mgb_status mgb_trace_list(struct mgb_trace_list *out, struct mgb_reader *reader,
                               int64_t segment);
void mgb_trace_list_done(struct mgb_trace_list *list);

enum mgb_track_kind {
    MGB_TRACK_COMPUTE,   /* a device's own work */
    MGB_TRACK_LINK,      /* copies from one device to another */
    MGB_TRACK_COLLECTIVE /* a device's part in all-reduces */
};
struct mgb_trace_track {
    enum mgb_track_kind kind;
    const char *device; /* whose: of a link the one where bytes leave */
    const char *to;     /* MGB_TRACK_LINK: where they arrive; else NULL */
};

struct mgb_trace_task {
    int64_t number; /* as stored */
    int track;      /* into tracks */
    const char *kind, *phase, *name;
    const char *device; /* where it ran; of a copy, where it arrived */
    int64_t start_ns, duration_ns, bytes;
    int wait_begin, wait_count; /* into waits: indices of tasks that had to end first */
};

struct mgb_trace_step {
    struct mgb_trace_listed at;
    int64_t epoch, start_ns, wall_ns, examples; /* start: since the run began */
    bool has_loss;
    double loss;
    int track_count, task_count, wait_count;
    struct mgb_trace_track *tracks; /* by device, its compute track first */
    struct mgb_trace_task *tasks;   /* as enqueued: those of one track ran in this order */
    int *waits;
    bool waits_known; /* false: stored by a version that did not keep them */
    void *memory;     /* owns the texts */
};
/* MGB_MISSING: no such traced step. */
enum mgb_status mgb_trace_load(struct mgb_trace_step *out, struct mgb_reader *reader,
                               int64_t segment, struct mgb_trace_listed at);
void mgb_trace_step_done(struct mgb_trace_step *step);

/* mgb_critical_find over its tasks; `parts` is to be freed. Without known waits the order of queues alone counts. */
enum mgb_status mgb_trace_critical(struct mgb_critical_part **parts, int *count,
                                   const struct mgb_trace_step *step);

#endif
