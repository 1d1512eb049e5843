/* What commands that look into the results database share. */
#ifndef MGB_APP_CLI_ASKING_H
#define MGB_APP_CLI_ASKING_H

#include "app/cli/cli.h"
#include "db/query.h"
#include "db/store.h"

/* Opens the results database of the invocation for reading, calls `ask`, complains about what it fails with and returns the
 * exit code: *code (0 at first), unless the status says otherwise. */
int mgb_cli_ask(const struct mgb_invocation *in,
                enum mgb_status (*ask)(const struct mgb_invocation *in, struct mgb_reader *reader,
                                       int *code));

/* The same for writing something short. The file must be there. */
int mgb_cli_write(const struct mgb_invocation *in,
                  enum mgb_status (*put)(const struct mgb_invocation *in, struct mgb_reader *reader,
                                         struct mgb_store *store));

/* "1%" or "0.01" as a fraction of more than 0 and less than 1; MGB_INVALID otherwise. `what`: the flag. */
enum mgb_status mgb_cli_fraction_read(double *out, const char *what, const char *text);
/* A count from 1; "all" is 0. */
enum mgb_status mgb_cli_count_read(long long *out, const char *what, const char *text);

/* Prints the answer to a question as a table. */
enum mgb_status mgb_cli_table_ask(const struct mgb_invocation *in, struct mgb_reader *reader,
                                  const char *sql, const struct mgb_value *values, int count);
/* The same into a table of the caller's, with the question's columns. */
enum mgb_status mgb_cli_table_make(struct mgb_table **out, struct mgb_reader *reader,
                                   const char *sql, const struct mgb_value *values, int count);
void mgb_cli_value_add(struct mgb_table *table, const struct mgb_value *value);

/* A question's column names, kept for its rows: those that mgb_query_run lends go with its call. */
struct mgb_cli_names {
    int count;
    const char *at[64];
    char texts[64][40];
};
enum mgb_status mgb_cli_names_keep(struct mgb_cli_names *out, const char *const *names, int count);

/* What makes a segment's figures no figures of the training that was asked for, as a bit each: 1 variables stored twice,
 * 2 replicas that differ. SQL, of segment s and its segment_stat t. */
#define MGB_CLI_WRONG_SQL                                                                          \
    "(EXISTS (SELECT 1 FROM duplicate WHERE segment_id = s.id AND variable <> twin)"               \
    " + 2 * (coalesce(t.replicas_agree, 1) = 0))"
/* In words; NULL for 0. */
const char *mgb_cli_wrong_text(int64_t wrong);

/* "gpu0>cpu0": where the weights live, and where the towers meet; "grad gpu0>cpu0" where gradients do, the strategy's name
 * where weights are mirrored. Texts may be "". */
void mgb_cli_place_write(char *out, size_t size, const char *strategy, const char *weights_at,
                         const char *join_at, const char *sum_at);

/* The value of a setting: "yes" or "no" where it is one and a file has 1 or 0. */
const char *mgb_cli_switch_word(const char *name, const char *value);

#endif
