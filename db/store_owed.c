/* Runs whose rows could not be stored, and ends that are owed to their rows until the disk takes them; see
 * store_private.h. */
#include "db/store_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void mgb_store_owe(struct mgb_store *store, const struct mgb_run_end *end)
{
    if (store->owed_count == MGB_ACTIVE_RUNS) { /* a later opening finds the oldest one dead */
        free(store->owed[0].message);
        memmove(store->owed, store->owed + 1, (size_t)--store->owed_count * sizeof *store->owed);
    }
    struct mgb_owed_end *owed = &store->owed[store->owed_count++];
    *owed = (struct mgb_owed_end){.end = *end};
    owed->message = end->message ? strdup(end->message) : NULL;
    owed->end.message = owed->message;
}

enum mgb_status mgb_store_put_owed(struct mgb_store *store)
{
    for (int i = 0; i < store->owed_count; i++)
        MGB_TRY(mgb_store_put_end(store, &store->owed[i].end));
    return MGB_OK;
}

void mgb_store_forget_owed(struct mgb_store *store)
{
    while (store->owed_count > 0)
        free(store->owed[--store->owed_count].message);
}

void mgb_store_settle(struct mgb_store *store)
{
    char message[512]; /* of what failed before and is still to be told */
    if (store->owed_count == 0)
        return;
    snprintf(message, sizeof message, "%s", mgb_message_get());
    store->hasty = true;
    enum mgb_status status = mgb_store_begin(store, __func__);
    if (status == MGB_OK)
        status = mgb_store_end(store, mgb_store_put_owed(store));
    store->hasty = false;
    if (status == MGB_OK)
        mgb_store_forget_owed(store);
    (void)mgb_fail(MGB_OK, "%s", message);
}

enum mgb_status mgb_store_probe(struct mgb_store *store)
{
    int64_t version;
    char same[48]; /* stored although it changes nothing, which rows that stay the same are not */
    MGB_TRY(mgb_sql_int(&version, &store->sql, "PRAGMA user_version"));
    snprintf(same, sizeof same, "PRAGMA user_version = %lld", (long long)version);
    MGB_TRY(mgb_store_begin(store, __func__));
    enum mgb_status status = mgb_store_put_owed(store);
    if (status == MGB_OK)
        status = mgb_sql_run(&store->sql, same);
    MGB_TRY(mgb_store_end(store, status));
    mgb_store_forget_owed(store);
    return MGB_OK;
}

void mgb_store_break(struct mgb_store *store, const char *why)
{
    snprintf(store->incomplete, sizeof store->incomplete, "the log is incomplete: %s", why);
    for (int i = 0; i < store->active_runs; i++)
        store->runs[i].has_gaps = true;
}

bool mgb_store_is_broken(const struct mgb_store *store, int64_t run)
{
    for (int i = 0; i < store->active_runs; i++)
        if (store->runs[i].id == run)
            return store->runs[i].has_gaps;
    return false;
}
