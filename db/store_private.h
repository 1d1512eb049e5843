/* What the files of the store share. Internal to db/. */
#ifndef MGB_DB_STORE_PRIVATE_H
#define MGB_DB_STORE_PRIVATE_H

#include <stdatomic.h>

#include "db/identity.h"
#include "db/lock.h"
#include "db/presence.h"
#include "db/schema.h"
#include "db/sql.h"
#include "db/store.h"
#include "db/store_owed.h"

#define MGB_ACTIVE_RUNS 64

struct mgb_active_run {
    int64_t id;
    bool has_gaps; /* something of it was not stored: `incomplete` says why */
};

struct mgb_run_end {
    int64_t run, finished_ms;
    enum mgb_outcome outcome;
    bool has_gaps;
    const char *message; /* NULL: none */
};

/* One that could not be stored when it came. */
struct mgb_owed_end {
    struct mgb_run_end end;
    char *message; /* owned */
};

struct mgb_store {
    struct mgb_sql sql;
    struct mgb_lock lock;
    struct mgb_presence presence;
    struct mgb_identity identity;
    struct mgb_store_options options;
    /* Active ones of this store; the lock is held while there are any. */
    struct mgb_active_run runs[MGB_ACTIVE_RUNS];
    int active_runs;
    struct mgb_owed_end owed[MGB_ACTIVE_RUNS]; /* oldest first */
    int owed_count;
    int64_t last_segment; /* begun by this store; 0: none */
    bool hasty;           /* nobody is waited for */
    bool lock_is_brief;   /* held for the open transaction only */
    bool lock_is_kept;    /* by mgb_store_hold, over several transactions */
    int64_t blocked_ms;   /* how long the present wait for another program's transaction lasts */
    atomic_bool blocked;  /* such a wait lasts longer than people notice; read by other threads */
    bool wal;             /* the journal in use; else the old one */
    bool wal_refused;     /* by the file system, found when opening */
    bool held;            /* a reader keeps the log from shrinking */
    int64_t synced_ms, sync_every_ms; /* monotonic; when a commit last waited for the disk */
    int log_frames; /* in the log after the last commit, since the last checkpoint */
    char warning[256];
    char incomplete[256]; /* why active runs have gaps; "": none has */
};

/* As mgb_store_open, with a schema of one's own. */
enum mgb_status mgb_store_open_schema(struct mgb_store **out, const char *path,
                                      const struct mgb_store_options *options,
                                      const struct mgb_schema *schema);

/* A transaction under the writer lock: taken for it if no run holds it. */
enum mgb_status mgb_store_begin(struct mgb_store *store, const char *by);
enum mgb_status mgb_store_end(struct mgb_store *store, enum mgb_status status);

/* A new connection of the store waits for other programs' transactions. */
void mgb_store_busy_handle(struct mgb_store *store);

/* Did the last call fail because there is no shared memory, or none that works? */
bool mgb_store_wal_refused(const struct mgb_store *store);
/* Leaves WAL behind without shared memory, alone on the file; refuses, untouched, what is not ours. */
enum mgb_status mgb_store_journal_alone(struct mgb_store *store, const struct mgb_schema *schema);
enum mgb_status mgb_store_journal_choose(struct mgb_store *store, const struct mgb_schema *schema);

/* Around a transaction whose commit waits until the disk has it, and with it all commits before; at most one a second
 * does. The old journal always waits. */
void mgb_store_sync_begin(struct mgb_store *store);
void mgb_store_sync_end(struct mgb_store *store);

/* From now on a full log is moved into the file by mgb_store_checkpoint_if_due, outside transactions. */
void mgb_store_checkpoint_watch(struct mgb_store *store);
void mgb_store_checkpoint_if_due(struct mgb_store *store);
void mgb_store_checkpoint(struct mgb_store *store);

/* Ends what is still running as interrupted. */
void mgb_store_interrupt(struct mgb_store *store);
/* Takes the writer lock for work of several transactions outside a run (merging, deleting, compacting): refuses at once
 * (MGB_BUSY) while a run is being written, by whom is told. */
enum mgb_status mgb_store_hold(struct mgb_store *store);
void mgb_store_release(struct mgb_store *store);

/* Inside a transaction. Figures of a segment from its step rows, stored and returned, with its outliers; of an automatic
 * warm-up, the flags of its steps. Of `end`: steady, ring_waits, auto_warmup; zeroed where nobody knows. */
enum mgb_status mgb_store_boil(struct mgb_record_segment_stat *out, struct mgb_store *store,
                               int64_t segment, const struct mgb_record_segment_end *end);
/* Inside a transaction. Ends what is still running of a run. */
enum mgb_status mgb_store_end_segments(struct mgb_store *store, int64_t run,
                                       enum mgb_outcome outcome, struct mgb_maybe_int finished_ms);

/* Rows of run, machine and model, inside a transaction. */
enum mgb_status mgb_store_put_run(int64_t *run, struct mgb_store *store,
                                  const struct mgb_record_run *record);

int64_t mgb_store_now_ms(void); /* UTC, milliseconds since 1970 */

/* The name of a file system, by its statfs magic, on which memory shared between processes cannot be relied on; NULL: a local one. */
const char *mgb_store_network_name(long magic);

#endif
