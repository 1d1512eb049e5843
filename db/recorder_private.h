/* What the files of the recorder share. Internal to db/. */
#ifndef MGB_DB_RECORDER_PRIVATE_H
#define MGB_DB_RECORDER_PRIVATE_H

#include "db/recorder.h"
#include "db/ring.h"
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

/* The arguments of a storing function; each uses what it needs. */
struct mgb_request {
    int64_t *id_out;
    struct mgb_record_segment_stat *stat_out;
    int64_t id;
    int64_t step;
    const void *rows;
    size_t count;
    const char *text;
    enum mgb_outcome outcome;
};

typedef enum mgb_status mgb_request_do(struct mgb_store *store, const struct mgb_request *request);

/* When a request is carried out although recording has stopped. */
enum mgb_request_when {
    MGB_REQUEST_RECORDING, /* never */
    MGB_REQUEST_RESUMES,   /* always; success resumes recording, of what begins from here on */
    MGB_REQUEST_ALWAYS,    /* once; failure is as if it had not been asked */
};

struct mgb_recorder_call {
    mgb_request_do *what; /* NULL: a flush */
    const struct mgb_request *request;
    enum mgb_request_when when;
    uint64_t until; /* everything pushed before this position is stored first */
    enum mgb_status status;
    char message[512];
    bool done;
    struct mgb_recorder_call *next;
};

struct mgb_recorder {
    struct mgb_recorder_options options;
    char *path;
    struct mgb_ring ring;
    struct mgb_store *store; /* the thread's alone, but for its atomics */
    pthread_t thread;
    pthread_mutex_t mutex; /* guards what follows, up to the atomics */
    pthread_cond_t wanted; /* to the thread: a call, a ring half full, closing */
    pthread_cond_t served; /* from the thread: some call is done */
    struct mgb_recorder_call *first, *last;
    bool half_full, closing;
    bool seal_asked, sealed;
    char message[512]; /* why it stopped, the last time */
    char warning[256]; /* the store's, as of its last work */
    atomic_bool stopped, incomplete;
    atomic_int_fast64_t last_lost; /* segments up to this one are of runs that have gaps */
    atomic_uint_fast64_t waits, lost;
    int64_t settled_ms; /* the thread's; monotonic */
};

/* Nothing of the segment is stored: it never was recorded, or is of a run that has gaps. */
bool mgb_recorder_is_lost(const struct mgb_recorder *recorder, int64_t segment);

/* Runs `what` on the recorder's thread after storing what was pushed before; returns its status, message included. */
enum mgb_status mgb_recorder_call(struct mgb_recorder *recorder, mgb_request_do *what,
                                  const struct mgb_request *request, enum mgb_request_when when);

/* The thread's function; `context` is the recorder, whose first call is the opening. */
void *mgb_recorder_main(void *context);

/* When so many milliseconds have passed, for waits on the recorder's conditions. */
struct timespec mgb_recorder_time_after(int64_t ms);

#endif
