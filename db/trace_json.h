/* Traced steps as a trace document for chrome://tracing and ui.perfetto.dev (Trace Event Format, JSON object form), written
 * step by step: memory does not grow with them, and what was written can be ended at any time.
 *
 * A process is a device, a thread one of its tracks. On each track slices nest: step, phase, task; on compute tracks slices
 * named "wait" fill the rest, so that tasks and waits together are the step's wall time to the nanosecond. Flows lead from
 * copies to the device they arrive at; counters tell what a device held by category. Times are microseconds since the
 * run began, with three decimals. */
#ifndef MGB_DB_TRACE_JSON_H
#define MGB_DB_TRACE_JSON_H

#include <stdio.h>

#include "db/trace.h"

struct mgb_trace_json {
    /* Of the caller. */
    FILE *out;
    const char *name;            /* of `out`, for messages; NULL: standard output */
    const char *program;         /* what wrote it */
    bool (*stop)(void *context); /* asked between tracks; may be NULL */
    void *context;
    /* Of the writer; zeroed at first. */
    bool begun, followed; /* followed: an event was written */
    char label[64];       /* of all processes: what played them */
    int64_t flows;
    struct mgb_trace_thread {
        char *device, *to;
        enum mgb_track_kind kind;
        int process, thread;
    } * threads; /* met so far; a device without tracks has one too */
    int thread_count, process_count;
};

/* The head of the document: what was run, from the tables. */
enum mgb_status mgb_trace_json_begin(struct mgb_trace_json *writer, struct mgb_reader *reader,
                                     int64_t segment);
/* One step. MGB_INTERRUPTED when `stop` says so, MGB_IO when `out` takes no more; the document can be ended after both. */
enum mgb_status mgb_trace_json_step(struct mgb_trace_json *writer, struct mgb_reader *reader,
                                    int64_t segment, const struct mgb_trace_step *step);
/* Ends the document if it was begun and frees what the writer holds. MGB_IO: it could not be written. */
enum mgb_status mgb_trace_json_end(struct mgb_trace_json *writer);

#endif
