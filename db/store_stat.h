/* What the files that boil a segment down share: its steps as read, and why single steps took long. Internal to db/. */
#ifndef MGB_DB_STORE_STAT_H
#define MGB_DB_STORE_STAT_H

#include "db/sql.h"
#include "db/stats.h"

/* The steps of a segment; number[i] is the index in the run of the i-th. */
struct mgb_segment_steps {
    struct mgb_stats stats;
    int64_t *number;
    size_t capacity; /* of `number` */
};

enum { MGB_CAUSE_SIZE = 160, MGB_CAUSE_SAMPLES = 1000, MGB_OUTLIERS_KEPT = 1000 };

struct mgb_cause_device; /* a device's exposed times by phase */

/* Typical steps of a segment, for telling what was unusual about another. */
struct mgb_causes {
    struct mgb_sql *sql;
    int64_t segment, run, median_ns;
    struct mgb_maybe_int ring_waits;
    struct mgb_cause_device *devices;
    size_t device_count;
};

/* Medians of the exposed times over the timed steps `number[0 .. count)`, of MGB_CAUSE_SAMPLES of them evenly spaced where
 * there are more. `out` has sql, segment, run, median_ns and ring_waits filled in. */
enum mgb_status mgb_causes_read(struct mgb_causes *out, const int64_t *number, size_t count);
void mgb_causes_done(struct mgb_causes *causes);

/* Why step `number` took other than the median, into `out` of MGB_CAUSE_SIZE: the phase and device whose exposed time grew
 * (or shrank) most, if by a quarter of the difference, "sum on /cpu:0 +12.3 ms"; before it a throttle reason sampled
 * within a second, "throttle: thermal on /gpu:0; ..."; else, if the recorder's ring was ever full, that. "": not known. */
enum mgb_status mgb_causes_find(char *out, const struct mgb_causes *causes, int64_t number,
                                int64_t start_ns, int64_t wall_ns);

/* Inside a transaction. The segment's rows of `outlier` anew, the MGB_OUTLIERS_KEPT farthest, and the first step's time and
 * cause into its segment_stat, which is there already. */
enum mgb_status mgb_store_put_outliers(struct mgb_sql *sql,
                                       const struct mgb_record_segment_stat *stat,
                                       const struct mgb_segment_steps *steps,
                                       struct mgb_maybe_int ring_waits);

#endif
