/* What the kinds of words share that name runs; see select.h. Private to db/select*.c. */
#ifndef MGB_DB_SELECT_PRIVATE_H
#define MGB_DB_SELECT_PRIVATE_H

#include "db/select.h"

/* The segment that stands for run `r`: the last with figures, else the last. */
#define MGB_SELECT_CHOSEN                                                                          \
    "(SELECT s.id FROM segment AS s LEFT JOIN segment_stat AS t ON t.segment_id = s.id"            \
    " WHERE s.run_id = r.id ORDER BY t.timed_steps > 0 DESC, s.id DESC LIMIT 1)"

struct mgb_chooser {
    struct mgb_reader *reader;
    struct mgb_selection *out;
    size_t capacity;
    const char *word; /* being read */
    size_t found;     /* by the question in hand, what was already there included */
};

/* The runs that a question answers with: columns run, segment, point, repeat. */
enum mgb_status mgb_select_rows(struct mgb_chooser *c, const char *sql,
                                const struct mgb_value *values, int count);
/* A question with one number for an answer. */
enum mgb_status mgb_select_ask_integer(int64_t *out, struct mgb_chooser *c, const char *sql,
                                       const struct mgb_value *values, int count);
/* "no run has the tag 'x'; there are: a, b". */
enum mgb_status mgb_select_fail_missing(struct mgb_chooser *c, const char *what, const char *name,
                                        const char *names_sql);
/* Digits at `*at`, at least one; moves behind them. */
bool mgb_select_read_number(int64_t *out, const char **at);

/* "sweep:" and what stands behind it: "NAME", "NAME@7", "NAME/3" or "NAME@7/3". */
enum mgb_status mgb_select_sweep(struct mgb_chooser *c, const char *text);

#endif
