/* Ends of runs, those among them that could not be stored when they came, and runs of which something is missing. Internal to
 * db/; what a store is, is in store_private.h, which includes this. */
#ifndef MGB_DB_STORE_OWED_H
#define MGB_DB_STORE_OWED_H

#include <mgb/status.h>
#include <stdbool.h>
#include <stdint.h>

struct mgb_store;
struct mgb_run_end;

/* Inside a transaction: a run's row as it ended. */
enum mgb_status mgb_store_put_end(struct mgb_store *store, const struct mgb_run_end *end);
/* Ends that could not be stored are kept, and stored when that can be done: before the next run begins, when
 * the store is closed, and whenever mgb_store_settle is called, which waits for nobody and may fail. */
void mgb_store_owe(struct mgb_store *store, const struct mgb_run_end *end);
enum mgb_status mgb_store_put_owed(struct mgb_store *store); /* inside a transaction */
void mgb_store_forget_owed(struct mgb_store *store);
void mgb_store_settle(struct mgb_store *store);
/* Whether something can be stored: what is owed, and a page as it is. */
enum mgb_status mgb_store_probe(struct mgb_store *store);
/* What the active runs had to store from here on is lost, because of `why`. */
void mgb_store_break(struct mgb_store *store, const char *why);
/* Whether it is active and something of it was not stored. */
bool mgb_store_is_broken(const struct mgb_store *store, int64_t run);

#endif
