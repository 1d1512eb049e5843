/* The archive's parts: the words of a filter as SQL, and a list made of an answer. On the archive's thread. */
#ifndef APP_SESSION_WORKBENCH_ARCHIVE_PRIVATE_H
#define APP_SESSION_WORKBENCH_ARCHIVE_PRIVATE_H

#include "app/session/workbench/archive.h"
#include "db/query.h"

enum {
    ARCHIVE_FILTER = 128,  /* bytes of a filter, its end included */
    ARCHIVE_WORDS = 24,    /* of one */
    ARCHIVE_FIXED = 3,     /* parameters before those of the filter */
    ARCHIVE_MOST = 1000,   /* rows of a list */
    ARCHIVE_LIVE = 100000, /* steps that a list reads for segments without stored figures */
};

/* SQL of segment s, run r, its model m and machine h, figures t; ?1: a JSON array of crashed runs that say they run. */
#define ARCHIVE_OUTCOME                                                                            \
    "CASE WHEN coalesce(s.outcome, r.outcome) = 'running' AND r.id IN (SELECT value FROM "         \
    "json_each(?1)) THEN 'crashed' ELSE coalesce(s.outcome, r.outcome) END"
/* As mgbench runs words it: "gpu0>cpu0", where the weights live and where the towers meet. */
#define ARCHIVE_PLACE                                                                              \
    "CASE WHEN s.strategy IN ('outputs', 'gradients') AND s.weights_at <> ''"                      \
    " THEN CASE s.strategy WHEN 'gradients' THEN 'grad ' ELSE '' END"                              \
    " || replace(ltrim(s.weights_at, '/'), ':', '') || '>'"                                        \
    " || replace(ltrim(coalesce(CASE s.strategy WHEN 'outputs' THEN s.join_at ELSE s.sum_at END, " \
    "''), '/'), ':', '') ELSE coalesce(s.strategy, '') END"
#define ARCHIVE_STARTED                                                                            \
    "datetime(coalesce(s.started_ms, r.started_ms) / 1000, 'unixepoch', 'localtime')"
#define ARCHIVE_PEAK(kind)                                                                         \
    "(SELECT max(CASE r.simulated WHEN 1 THEN planned_bytes ELSE peak_bytes END) FROM "            \
    "memory_total WHERE segment_id = s.id AND device LIKE '%/" kind ":%')"
/* As mgbench runs works it out: of the median step, which no stall changes. */
#define ARCHIVE_RATE "s.global_batch * 1e9 / nullif(t.median_ns, 0)"

/* Runs that measure nothing anybody compares are listed when they are asked for. */
#define ARCHIVE_CHECKS "(SELECT run_id FROM tag WHERE name IN ('selftest', 'verify'))"
#define ARCHIVE_PLAIN "1 AND r.id NOT IN " ARCHIVE_CHECKS

struct mgb_archive_filter {
    char *where; /* SQL, ARCHIVE_PLAIN without words; to be freed */
    int count;
    struct mgb_value values[ARCHIVE_WORDS]; /* from ?ARCHIVE_FIXED + 1 on; texts are in `texts` */
    char texts[3 * ARCHIVE_FILTER];
};

/* MGB_INVALID: a name that is no column (the message has the nearest), or no number where one is expected. */
enum mgb_status mgb_archive_filter_make(struct mgb_archive_filter *out, const char *text);
void mgb_archive_filter_done(struct mgb_archive_filter *filter);

/* Into a list of the request, which is told in it; the caller sets version and times. */
enum mgb_status mgb_archive_list_fill(struct mgb_list *out, struct mgb_reader *reader,
                                      const struct mgb_list_request *request);
/* Figures of rows whose segments have none stored; as far as there are not too many steps. */
enum mgb_status mgb_archive_live_fill(struct mgb_list *list, struct mgb_reader *reader);
/* Empty, one holder; NULL: no memory. */
struct mgb_list *mgb_archive_list_make(const struct mgb_list_request *request);

#endif
