/* The results database for a screen: lists of runs, on a thread of its own with a connection of its own, so that neither
 * keys nor steps wait for a disk. Edits are commands of mgbench. */
#ifndef APP_SESSION_WORKBENCH_ARCHIVE_H
#define APP_SESSION_WORKBENCH_ARCHIVE_H

#include "app/session/workbench/shared.h"

#include <mgb/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mgb_archive;

enum mgb_list_column { /* what can be sorted by, and shown */
                       MGB_LIST_RUN,
                       MGB_LIST_STARTED,
                       MGB_LIST_MODEL,
                       MGB_LIST_BACKEND,
                       MGB_LIST_OUTCOME,
                       MGB_LIST_STEP_MS,
                       MGB_LIST_RATE,   /* examples a second */
                       MGB_LIST_MEMORY, /* measured peak of the fullest GPU */
                       MGB_LIST_GPUS,
                       MGB_LIST_BATCH,
                       MGB_LIST_COLUMN_COUNT
};

struct mgb_list_request {
    const char *
        filter; /* words that all must occur (model, placement, tags, notes, outcome), or name=value, name<value, name>value
                           over columns of run_summary (!=, <=, >= too; run, batch, step_ms, rate, placement,
                           tag and note are short names; at most 127 bytes); NULL, "": everything but runs of selftest and of
                           verifications, which a word for them, a tag or a run's number asks for */
    enum mgb_list_column sort;
    bool ascending;
    int64_t first; /* rows left out */
    int most;
};

struct mgb_list_row { /* a segment, or (0) a run that has none; texts are owned by the list */
    int64_t run, segment;
    int number; /* of the run */
    const char *started, *model, *backend, *outcome, *placement, *tags, *notes,
        *baseline; /* "" : none */
    const char *recipe,
        *settings; /* as MGB_WISH_MODEL and MGB_WISH_SET take them: what USE asks for; NULL: not known */
    /* started: local time, "2026-11-30 16:20:00"; placement: as mgbench runs has it, "gpu0>cpu0"; baseline: what the segment
       is pinned as; settings: "gpus=2 batch=32" */
    bool simulated;
    int64_t gpus, batch_per_gpu, steps, peak_bytes; /* -1: not known */
    double step_ms, low_ms, high_ms,
        rate;     /* NaN: not known; of a segment that runs: so far, without an interval */
    double ratio; /* to the pinned baseline of its model: time an example; NaN: there is none */
};

struct mgb_list {
    struct mgb_shared shared;
    uint64_t version;
    int64_t first, total; /* total: that pass the filter */
    int count;
    struct mgb_list_row *rows;
    char filter[128];
    enum mgb_list_column sort;
    bool ascending;
    char message[400]; /* why there is no list; "" */
    void *memory;
};

/* Opens nothing yet: the file is looked for, and looked for anew where it went or was replaced, at every request. `changed`
 * is called from the archive's thread and must not block. Nothing is written here. */
enum mgb_status mgb_archive_open(struct mgb_archive **out, const char *path,
                                 void (*changed)(void *context), void *context);
void mgb_archive_close(struct mgb_archive *archive); /* NULL is allowed; ends a query in progress */

/* A newer request replaces one that waits or runs. Never waits. */
void mgb_archive_ask(struct mgb_archive *archive, const struct mgb_list_request *request);
/* The same request once more: something was written. */
void mgb_archive_refresh(struct mgb_archive *archive);
/* The newest list, dropped with mgb_shared_drop; NULL: none yet. */
const struct mgb_list *mgb_archive_look(struct mgb_archive *archive);

#endif
