/* The results database as a place to write to: opens or makes the file, brings an older one forward, and stores rows.
 * One thread at a time. Programs write through db/recorder.h, which owns a store on its own thread; short work outside a
 * run (notes, tags, deleting) may use a store directly.
 *
 * Every storing function is one transaction of its own: stored whole or not at all. MGB_BUSY: another process runs on the
 * file, the message says which. MGB_IO: the disk. MGB_INVALID: a row that the schema refuses.
 *
 * What holds. A function that returned MGB_OK has committed: killing this process loses none of it. When the power fails,
 * a run that took a second or more and whose finishing returned MGB_OK is whole; the last commits of what followed may be
 * missing, from the end backwards (only closing, and the end of a run once a second, wait for the disk). What is left is as
 * it was at some moment, and never torn. */
#ifndef MGB_DB_STORE_H
#define MGB_DB_STORE_H

#include <stddef.h>

#include <mgb/record.h>
#include <mgb/status.h>

struct mgb_store;

/* What a store may be told; zeroed: the defaults. */
struct mgb_store_options {
    int64_t lock_wait_ms; /* for short holders of the writer lock; 0: 5000 */
    int64_t busy_wait_ms; /* for another program's open write transaction; 0: 60000 */
    bool as_network;      /* treat the file as lying on a network file system */
    /* On the store's thread: another program's transaction is waited for, longer than people notice; it is over. Must not
     * block. NULL: nobody wants to know. */
    void (*blocked)(void *context, bool blocked);
    void *context; /* of it */
};

/* Opens for writing; makes the file, not its folder. Refuses, untouched: a file that is not ours (MGB_CORRUPT), a newer
 * schema (MGB_UNSUPPORTED). Runs of dead processes are marked crashed, unless somebody is running. */
enum mgb_status mgb_store_open(struct mgb_store **out, const char *path,
                               const struct mgb_store_options *options);
/* Ends what is still running as interrupted; NULL is allowed. */
void mgb_store_close(struct mgb_store *store);

/* What the user should know about the file at present ("lies on a network file system: ...", "its log grows: pid 12
 * ..."); NULL: nothing. */
const char *mgb_store_warning(const struct mgb_store *store);
/* MGB_CORRUPT with SQLite's first findings. `thorough` also checks indexes and foreign keys. */
enum mgb_status mgb_store_check(struct mgb_store *store, bool thorough);

/* Several runs of this store may be active; the writer lock is held while one is. */
enum mgb_status mgb_store_begin_run(int64_t *run, struct mgb_store *store,
                                    const struct mgb_record_run *record);
enum mgb_status mgb_store_finish_run(struct mgb_store *store, int64_t run, enum mgb_outcome outcome,
                                     const char *message);
enum mgb_status mgb_store_begin_segment(int64_t *segment, struct mgb_store *store,
                                        const struct mgb_record_segment *record);
/* Computes the figures from the step rows and stores them; `stat` may be NULL. */
enum mgb_status mgb_store_finish_segment(struct mgb_record_segment_stat *stat,
                                         struct mgb_store *store, int64_t segment,
                                         const struct mgb_record_segment_end *end);

/* `records` in order, all or none. */
enum mgb_status mgb_store_put_steps(struct mgb_store *store, const struct mgb_record *records,
                                    size_t count);

/* These replace what the segment had of the kind. */
enum mgb_status mgb_store_put_memory(struct mgb_store *store, int64_t segment,
                                     const struct mgb_record_memory *rows, size_t count);
enum mgb_status mgb_store_put_memory_totals(struct mgb_store *store, int64_t segment,
                                            const struct mgb_record_memory_total *rows,
                                            size_t count);
/* Replaces what the segment had of this step. */
enum mgb_status mgb_store_put_task_memory(struct mgb_store *store, int64_t segment, int64_t step,
                                          const struct mgb_record_task_memory *rows, size_t count);
enum mgb_status mgb_store_put_traffic(struct mgb_store *store, int64_t segment,
                                      const struct mgb_record_traffic *rows, size_t count);
enum mgb_status mgb_store_put_variables(struct mgb_store *store, int64_t segment,
                                        const struct mgb_record_variable *rows, size_t count);
enum mgb_status mgb_store_put_duplicates(struct mgb_store *store, int64_t segment,
                                         const struct mgb_record_duplicate *rows, size_t count);

enum mgb_status mgb_store_begin_sweep(int64_t *sweep, struct mgb_store *store,
                                      const struct mgb_record_sweep *record);
enum mgb_status mgb_store_finish_sweep(struct mgb_store *store, int64_t sweep);
enum mgb_status mgb_store_put_sweep_point(struct mgb_store *store,
                                          const struct mgb_record_sweep_point *record);

enum mgb_status mgb_store_put_note(struct mgb_store *store, int64_t run, const char *text);
enum mgb_status mgb_store_put_tag(struct mgb_store *store, int64_t run, const char *name);
/* What comparing a configuration with itself showed, on the machine and backend of `run`; MGB_MISSING: no such run. */
struct mgb_record_noise_floor {
    int64_t run;
    double floor; /* a fraction: 0.01 is 1 % */
    int64_t comparisons, false_verdicts;
    const char *settings; /* JSON object: what was run */
};
enum mgb_status mgb_store_put_noise_floor(struct mgb_store *store,
                                          const struct mgb_record_noise_floor *record);
/* Given a name again, the baseline moves. */
enum mgb_status mgb_store_set_baseline(struct mgb_store *store, const char *name, int64_t segment);
/* The same of `count` repetitions, at least one. */
enum mgb_status mgb_store_set_baselines(struct mgb_store *store, const char *name,
                                        const int64_t *segments, size_t count);
/* MGB_MISSING: there was none. */
enum mgb_status mgb_store_delete_tag(struct mgb_store *store, int64_t run, const char *name);
enum mgb_status mgb_store_delete_baseline(struct mgb_store *store, const char *name);
/* Deletes a run with all that belongs to it; refuses one that is active. */
enum mgb_status mgb_store_delete_run(struct mgb_store *store, int64_t run);

/* Marks the running runs of dead processes, and their segments, as crashed and computes the segments' figures. `marked`
 * (may be NULL): how many. Opening does this too. */
enum mgb_status mgb_db_mark_crashed(int64_t *marked, struct mgb_store *store);

#endif
