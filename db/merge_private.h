/* What the parts of merging share. Internal to db/. */
#ifndef MGB_DB_MERGE_PRIVATE_H
#define MGB_DB_MERGE_PRIVATE_H

#include "db/merge.h"
#include "db/sql.h"

/* Row numbers of the source and what they are in the target. */
struct mgb_merge_ids {
    int64_t *from, *to;
    size_t count, capacity;
};
enum mgb_status mgb_merge_ids_add(struct mgb_merge_ids *ids, int64_t from, int64_t to);
bool mgb_merge_ids_find(int64_t *to, const struct mgb_merge_ids *ids, int64_t from);
/* The numbers that a question about `value` gives, in its order, as `from`; none after a failure. */
enum mgb_status mgb_merge_ids_ask(struct mgb_merge_ids *out, struct mgb_sql *sql, const char *text,
                                  int64_t value);
void mgb_merge_ids_done(struct mgb_merge_ids *ids);

/* Columns that name a row of another table, by the table they name. */
enum mgb_merge_kind {
    MGB_MERGE_MACHINE,
    MGB_MERGE_MODEL,
    MGB_MERGE_RUN,
    MGB_MERGE_SEGMENT,
    MGB_MERGE_SWEEP,
    MGB_MERGE_KINDS
};

/* How the rows of a table are carried over. Columns are found in the file: new ones come along by themselves. */
struct mgb_merge_table {
    const char *name;
    const char *key;    /* rows are asked for by this column of the source */
    const char *own_id; /* given anew; NULL: none */
    const char
        *unique[4]; /* a row equal in these (of the target) is there already; none: all are new */
    const char
        *newer; /* where the primary key is there: the row with the larger one stays; NULL: no */
};

/* The tables of results, in the order of carrying. */
enum {
    MGB_MERGE_T_MACHINE,
    MGB_MERGE_T_DEVICE,
    MGB_MERGE_T_LINK,
    MGB_MERGE_T_NOISE_FLOOR,
    MGB_MERGE_T_MODEL,
    MGB_MERGE_T_RUN,
    MGB_MERGE_T_SAMPLE,
    MGB_MERGE_T_SWEEP,
    MGB_MERGE_T_SWEEP_POINT,
    MGB_MERGE_T_TAG,
    MGB_MERGE_T_NOTE,
    MGB_MERGE_T_SEGMENT,
    MGB_MERGE_T_FIRST_OF_SEGMENT, /* from here on rows of a segment */
    MGB_MERGE_T_STEP = MGB_MERGE_T_FIRST_OF_SEGMENT,
    MGB_MERGE_T_STEP_DEVICE,
    MGB_MERGE_T_SEGMENT_STAT,
    MGB_MERGE_T_OUTLIER,
    MGB_MERGE_T_METRIC,
    MGB_MERGE_T_TASK,
    MGB_MERGE_T_TASK_MEMORY,
    MGB_MERGE_T_MEMORY,
    MGB_MERGE_T_MEMORY_TOTAL,
    MGB_MERGE_T_TRAFFIC,
    MGB_MERGE_T_VARIABLE,
    MGB_MERGE_T_DUPLICATE,
    MGB_MERGE_TABLES
};
/* All but baseline and baseline_segment, which are settled by name. */
extern const struct mgb_merge_table mgb_merge_tables[MGB_MERGE_TABLES];

struct mgb_merge_copier {
    const struct mgb_merge_table *table;
    sqlite3_stmt *read, *write;
    int columns;
    signed char *kinds; /* of each column: enum mgb_merge_kind, or -1 */
};

struct mgb_merge_work {
    struct mgb_sql *source, *target;
    const struct mgb_merge_options *options;
    struct mgb_merge_ids ids[MGB_MERGE_KINDS];
};

enum mgb_status mgb_merge_copier_open(struct mgb_merge_copier *out, struct mgb_merge_work *work,
                                      const struct mgb_merge_table *table);
void mgb_merge_copier_close(struct mgb_merge_copier *copier);
/* All rows whose key column is `key`; *count (may be NULL): how many were put. */
enum mgb_status mgb_merge_copy(int64_t *count, struct mgb_merge_copier *copier,
                               struct mgb_merge_work *work, int64_t key);

/* A file to read from in this program's schema: itself, or a copy beside `beside` that is gone when it is closed. */
enum mgb_status mgb_merge_source_open(struct mgb_sql *out, const char *path, const char *beside);

/* A merge under way, file after file. */
struct mgb_merger {
    struct mgb_merge_work work;
    struct mgb_merge_counts *counts; /* of all files */
    struct mgb_merge_counts now;     /* of the open transaction */
    struct mgb_store *store;
    struct mgb_sql source;
    struct mgb_merge_copier copiers[MGB_MERGE_TABLES];
};

/* A line for whoever watches. */
void mgb_merge_say(const struct mgb_merger *m, const char *line);
/* Asks both files: the values of `source_text` for `from` are the parameters of `target_text`, whose first column is the
 * row number in the target; 0: no such row. */
enum mgb_status mgb_merge_find_twin(int64_t *to, struct mgb_merger *m, const char *source_text,
                                    const char *target_text, int64_t from);

/* The baselines of a run whose segments are carried over, and the repetitions of baselines that are there by now. */
enum mgb_status mgb_merge_baselines(struct mgb_merger *m, int64_t run);
enum mgb_status mgb_merge_repetitions(struct mgb_merger *m, int64_t run);

#endif
