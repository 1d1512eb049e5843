/* The recorder: a thread that owns the store, so that measuring never waits for a disk. What comes every step goes through
 * a ring and is stored in one transaction every 100 ms, or at once on a flush or any other call; the rest is stored before
 * the call returns, in order with the ring. Every function may be called from any thread.
 *
 * When the store cannot write (disk full, read-only, I/O error, another program's transaction that never ends), recording
 * stops and the run goes on: pushes are discarded, storing functions return MGB_OK with ids of 0 and do nothing, flush
 * returns MGB_IO, and mgb_recorder_get_state says why. Ids of 0 are accepted everywhere and mean "not recorded". The next
 * run or sweep tries again; of the runs that were active when it stopped only the end is still stored, at the latest when
 * that can be done. What a storing function returns otherwise (MGB_BUSY: another process runs on the file; MGB_INVALID,
 * MGB_STATE: a fault of the record) is about that call only. */
#ifndef MGB_DB_RECORDER_H
#define MGB_DB_RECORDER_H

#include "db/store.h"

struct mgb_recorder;

struct mgb_recorder_options {
    struct mgb_store_options store;
    int64_t commit_ms;    /* how long a pushed record may wait; 0: 100 */
    size_t ring_capacity; /* records; 0: 16384 */
};

/* Opens the store on a thread of its own; fails as mgb_store_open. `options` may be NULL. */
enum mgb_status mgb_recorder_open(struct mgb_recorder **out, const char *path,
                                  const struct mgb_recorder_options *options);
/* Stores what was pushed, ends runs that are still active as interrupted, closes. NULL is allowed. */
void mgb_recorder_close(struct mgb_recorder *recorder);

/* For a process that ends while threads of it are still at work: stores what was pushed and ends runs that are still active
 * as interrupted. Nothing is taken after it: whoever asks waits for the end of the process. MGB_TIMEOUT: not within
 * `limit_ms`; what was stored by then is kept. Not beside mgb_recorder_close. */
enum mgb_status mgb_recorder_seal(struct mgb_recorder *recorder, int64_t limit_ms);

/* Copies the record into the ring, in well under a microsecond; texts are borrowed (see <mgb/record.h>). Never drops: if
 * the ring is full, waits and counts that. */
void mgb_recorder_push(struct mgb_recorder *recorder, const struct mgb_record *record);

/* Returns when everything pushed before is committed, and the file is still the one that was opened. MGB_IO: recording has
 * stopped, or stops because it is not. */
enum mgb_status mgb_recorder_flush(struct mgb_recorder *recorder);

struct mgb_recorder_state {
    bool stopped;      /* nothing is recorded at present */
    bool incomplete;   /* something was not recorded since opening: exit code 1 */
    bool blocked;      /* waiting for another program's write transaction; nothing is lost yet */
    char message[512]; /* why it stopped; "" */
    char reason[512];  /* why it had stopped the last time, also where it has resumed; "" */
    char warning[256]; /* about the file at present, see mgb_store_warning; "" */
    uint64_t pushed;   /* records taken into the ring */
    uint64_t stored;   /* of these, how many are committed */
    uint64_t waits;    /* pushes that found the ring full and waited */
    uint64_t lost;     /* pushes discarded since recording stopped */
};
void mgb_recorder_get_state(struct mgb_recorder_state *out, struct mgb_recorder *recorder);

/* As the functions of db/store.h with the same names. */
enum mgb_status mgb_recorder_begin_run(int64_t *run, struct mgb_recorder *recorder,
                                       const struct mgb_record_run *record);
enum mgb_status mgb_recorder_finish_run(struct mgb_recorder *recorder, int64_t run,
                                        enum mgb_outcome outcome, const char *message);
enum mgb_status mgb_recorder_begin_segment(int64_t *segment, struct mgb_recorder *recorder,
                                           const struct mgb_record_segment *record);
/* `stat` may be NULL; zeroed if nothing was recorded (db/stats.h works without a database). */
enum mgb_status mgb_recorder_finish_segment(struct mgb_record_segment_stat *stat,
                                            struct mgb_recorder *recorder, int64_t segment,
                                            const struct mgb_record_segment_end *end);
enum mgb_status mgb_recorder_put_memory(struct mgb_recorder *recorder, int64_t segment,
                                        const struct mgb_record_memory *rows, size_t count);
enum mgb_status mgb_recorder_put_memory_totals(struct mgb_recorder *recorder, int64_t segment,
                                               const struct mgb_record_memory_total *rows,
                                               size_t count);
enum mgb_status mgb_recorder_put_task_memory(struct mgb_recorder *recorder, int64_t segment,
                                             int64_t step,
                                             const struct mgb_record_task_memory *rows,
                                             size_t count);
enum mgb_status mgb_recorder_put_traffic(struct mgb_recorder *recorder, int64_t segment,
                                         const struct mgb_record_traffic *rows, size_t count);
enum mgb_status mgb_recorder_put_variables(struct mgb_recorder *recorder, int64_t segment,
                                           const struct mgb_record_variable *rows, size_t count);
enum mgb_status mgb_recorder_put_duplicates(struct mgb_recorder *recorder, int64_t segment,
                                            const struct mgb_record_duplicate *rows, size_t count);
/* Between hold and release no other program writes to the file, also while no run is active. */
enum mgb_status mgb_recorder_hold(struct mgb_recorder *recorder);
void mgb_recorder_release(struct mgb_recorder *recorder);
enum mgb_status mgb_recorder_begin_sweep(int64_t *sweep, struct mgb_recorder *recorder,
                                         const struct mgb_record_sweep *record);
enum mgb_status mgb_recorder_finish_sweep(struct mgb_recorder *recorder, int64_t sweep);
enum mgb_status mgb_recorder_put_sweep_point(struct mgb_recorder *recorder,
                                             const struct mgb_record_sweep_point *record);
enum mgb_status mgb_recorder_put_note(struct mgb_recorder *recorder, int64_t run, const char *text);
enum mgb_status mgb_recorder_put_tag(struct mgb_recorder *recorder, int64_t run, const char *name);

#endif
