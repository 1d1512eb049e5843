/* Inside of the trace document's writer: how events are written, and which processes and threads there are. */
#ifndef MGB_DB_TRACE_JSON_PRIVATE_H
#define MGB_DB_TRACE_JSON_PRIVATE_H

#include "db/trace_json.h"

/* "key": with a comma before it; texts and keys are escaped as JSON wants. */
void mgb_trace_json_text(FILE *out, const char *key, const char *text);
/* Opens an event on a thread: {"ph":"X","name":"...","pid":1,"tid":2,"ts":12.345; the caller closes it with '}'. */
void mgb_trace_json_event(struct mgb_trace_json *writer, char phase, const char *name,
                          const struct mgb_trace_thread *thread, int64_t ns);
/* Nanoseconds as microseconds with three decimals. */
void mgb_trace_json_time(FILE *out, int64_t ns);

/* The thread of a track, made known with its name when it is new; NULL: memory is exhausted. It moves when others come. */
const struct mgb_trace_thread *mgb_trace_json_thread(struct mgb_trace_json *writer,
                                                     enum mgb_track_kind kind, const char *device,
                                                     const char *to);

/* trace_json_slices.c: the slices of one track. `on_path`: by task, how much of it is on the critical path. */
enum mgb_status mgb_trace_json_track(struct mgb_trace_json *writer,
                                     const struct mgb_trace_step *step, int track,
                                     const struct mgb_trace_thread *thread, const int64_t *on_path);
/* Flows of all copies of the step. */
enum mgb_status mgb_trace_json_flows(struct mgb_trace_json *writer,
                                     const struct mgb_trace_step *step);

/* trace_json_memory.c: what devices held over the step. */
enum mgb_status mgb_trace_json_memory(struct mgb_trace_json *writer, struct mgb_reader *reader,
                                      int64_t segment, const struct mgb_trace_step *step);

#endif
