/* What the files of the recorder share. Internal to db/. */
#ifndef MGB_DB_RECORDER_PRIVATE_H
#define MGB_DB_RECORDER_PRIVATE_H

#include "db/recorder.h"

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

/* Nothing of the segment is stored: it never was recorded, or is of a run that has gaps. */
bool mgb_recorder_is_lost(const struct mgb_recorder *recorder, int64_t segment);

/* Runs `what` on the recorder's thread after storing what was pushed before; returns its status, message included. */
enum mgb_status mgb_recorder_call(struct mgb_recorder *recorder, mgb_request_do *what,
                                  const struct mgb_request *request, enum mgb_request_when when);

#endif
