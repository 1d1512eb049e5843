/* Opening, closing and transactions of the store; see store.h. Rows are in store_run.c, store_segment.c, store_step.c. */
#include "db/store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "db/access.h"
#include "db/store_private.h"

#define LOCK_WAIT_MS 5000
#define BUSY_WAIT_MS 60000
#define BUSY_NOTICE_MS 500

int64_t mgb_store_now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void blocked_set(struct mgb_store *store, bool blocked)
{
    if (atomic_exchange(&store->blocked, blocked) != blocked && store->options.blocked)
        store->options.blocked(store->options.context, blocked);
}

/* SQLite's busy handler: waits for another program's write transaction. */
static int busy_wait(void *context, int calls)
{
    struct mgb_store *store = context;
    if (calls == 0)
        store->blocked_ms = 0;
    if (store->hasty || store->blocked_ms >= store->options.busy_wait_ms)
        return 0;
    int64_t pause_ms = calls < 10 ? 1 : 20;
    nanosleep(&(struct timespec){.tv_nsec = (long)pause_ms * 1000000L}, NULL);
    store->blocked_ms += pause_ms;
    if (store->blocked_ms >= BUSY_NOTICE_MS)
        blocked_set(store, true);
    return 1;
}

void mgb_store_busy_handle(struct mgb_store *store)
{
    sqlite3_busy_handler(store->sql.handle, busy_wait, store);
}

/* A file that was left in WAL mode where there is no shared memory is put away alone. */
static enum mgb_status store_look(enum mgb_schema_state *state, struct mgb_store *store,
                                  const struct mgb_schema *schema)
{
    enum mgb_status status = mgb_schema_look(state, &store->sql, schema);
    if (status == MGB_OK || !mgb_store_wal_refused(store))
        return status;
    store->wal_refused = true;
    MGB_TRY(mgb_store_journal_alone(store, schema));
    return mgb_schema_look(state, &store->sql, schema);
}

static enum mgb_status store_settle(struct mgb_store *store, const struct mgb_schema *schema)
{
    mgb_store_busy_handle(store);
    enum mgb_schema_state state;
    MGB_TRY(store_look(&state, store, schema));
    MGB_TRY(mgb_lock_open(&store->lock, store->sql.path));
    if (state != MGB_SCHEMA_CURRENT) {
        MGB_TRY(mgb_lock_take(&store->lock, store->sql.path, store->options.lock_wait_ms));
        enum mgb_status status = mgb_store_journal_choose(store, schema);
        if (status == MGB_OK)
            status = mgb_schema_bring(&store->sql, schema);
        mgb_lock_release(&store->lock);
        MGB_TRY(status);
    } else {
        MGB_TRY(mgb_store_journal_choose(store, schema));
    }
    mgb_store_checkpoint_watch(store);
    return mgb_sql_run(&store->sql, "PRAGMA foreign_keys = ON; PRAGMA temp_store = MEMORY; "
                                    "PRAGMA journal_size_limit = 67108864");
}

enum mgb_status mgb_store_open_schema(struct mgb_store **out, const char *path,
                                      const struct mgb_store_options *options,
                                      const struct mgb_schema *schema)
{
    *out = NULL;
    struct mgb_store *store = calloc(1, sizeof *store);
    if (!store)
        return mgb_fail(MGB_NO_MEMORY, "no memory to open %s", path);
    if (options)
        store->options = *options;
    if (store->options.lock_wait_ms == 0)
        store->options.lock_wait_ms = LOCK_WAIT_MS;
    if (store->options.busy_wait_ms == 0)
        store->options.busy_wait_ms = BUSY_WAIT_MS;
    store->lock.fd = -1;
    mgb_identity_get(&store->identity);
    enum mgb_status status = mgb_access_check(path);
    if (status == MGB_OK)
        status = mgb_sql_open(&store->sql, path, path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
    if (status == MGB_OK)
        status = store_settle(store, schema);
    if (status == MGB_OK)
        status = mgb_presence_check(&store->presence, path);
    if (status != MGB_OK) {
        mgb_lock_close(&store->lock);
        mgb_sql_close(&store->sql);
        free(store);
        return status;
    }
    *out = store;
    return MGB_OK;
}

enum mgb_status mgb_store_open(struct mgb_store **out, const char *path,
                               const struct mgb_store_options *options)
{
    MGB_TRY(mgb_store_open_schema(out, path, options, mgb_schema_get()));
    enum mgb_status status = mgb_db_mark_crashed(NULL, *out);
    if (status == MGB_OK || status == MGB_BUSY)
        return MGB_OK; /* somebody runs on the file: a later opening marks */
    mgb_store_close(*out);
    *out = NULL;
    return status;
}

/* Runs that nobody finished belong to this process, which is alive: they would look running until it ends. */
void mgb_store_interrupt(struct mgb_store *store)
{
    while (store->active_runs > 0)
        if (mgb_store_finish_run(store, store->runs[0].id, MGB_OUTCOME_INTERRUPTED,
                                 "the program ended before the run did") != MGB_OK)
            continue; /* finishing takes the run off the list whatever becomes of the row */
    mgb_store_settle(store);
    mgb_store_forget_owed(store);
}

void mgb_store_close(struct mgb_store *store)
{
    char message[512]; /* of what failed before and is told after closing */
    if (!store)
        return;
    snprintf(message, sizeof message, "%s", mgb_message_get());
    mgb_store_interrupt(store);
    /* SQLite before 3.51.3 can lose rows when two connections checkpoint at once: the last one out checkpoints only if
     * it can be sure that it is alone. */
    bool alone = mgb_lock_take(&store->lock, store->sql.path, 0) == MGB_OK;
    if (alone)
        mgb_sql_checkpoint_on_close(&store->sql);
    mgb_sql_close(&store->sql);
    if (alone)
        mgb_lock_release(&store->lock);
    mgb_lock_close(&store->lock);
    free(store);
    (void)mgb_fail(MGB_OK, "%s", message);
}

const char *mgb_store_warning(const struct mgb_store *store)
{
    return store->warning[0] ? store->warning : NULL;
}

/* Waiting in vain for another program is as good as a disk that cannot be written. */
static enum mgb_status busy_give_up(const struct mgb_store *store, enum mgb_status status)
{
    if (status != MGB_BUSY)
        return status;
    return mgb_fail(MGB_IO,
                    "%s: another program has kept a transaction open for %lld ms: end it, or name "
                    "another file with --db",
                    store->sql.path, (long long)store->options.busy_wait_ms);
}

enum mgb_status mgb_store_hold(struct mgb_store *store)
{
    MGB_TRY(mgb_presence_check(&store->presence, store->sql.path));
    if (store->active_runs == 0)
        MGB_TRY(mgb_lock_take(&store->lock, store->sql.path, store->options.lock_wait_ms));
    store->lock_is_kept = true;
    return MGB_OK;
}

void mgb_store_release(struct mgb_store *store)
{
    store->lock_is_kept = false;
    if (store->active_runs == 0)
        mgb_lock_release(&store->lock);
}

enum mgb_status mgb_store_begin(struct mgb_store *store, const char *by)
{
    MGB_TRY(mgb_presence_check(&store->presence, store->sql.path));
    if (store->active_runs == 0 && !store->lock_is_kept) {
        MGB_TRY(mgb_lock_take(&store->lock, store->sql.path,
                              store->hasty ? 0 : store->options.lock_wait_ms));
        store->lock_is_brief = true;
    }
    enum mgb_status status = mgb_sql_begin(&store->sql, by);
    blocked_set(store, false);
    if (status == MGB_OK)
        return MGB_OK;
    status = busy_give_up(store, status);
    if (store->lock_is_brief)
        mgb_lock_release(&store->lock);
    store->lock_is_brief = false;
    return status;
}

enum mgb_status mgb_store_end(struct mgb_store *store, enum mgb_status status)
{
    status = status == MGB_OK ? busy_give_up(store, mgb_sql_end(&store->sql, MGB_OK))
                              : mgb_sql_end(&store->sql, status);
    blocked_set(store, false);
    if (store->lock_is_brief && store->active_runs == 0)
        mgb_lock_release(&store->lock);
    store->lock_is_brief = false;
    MGB_TRY(status);
    mgb_store_checkpoint_if_due(store);
    return mgb_presence_check(&store->presence, store->sql.path);
}

enum mgb_status mgb_store_check(struct mgb_store *store, bool thorough)
{
    char found[512];
    MGB_TRY(mgb_sql_text(found, sizeof found, &store->sql,
                         thorough ? "PRAGMA integrity_check" : "PRAGMA quick_check"));
    if (strcmp(found, "ok") != 0)
        return mgb_fail(MGB_CORRUPT, "%s: %s; copy what is readable with sqlite3 '.recover'",
                        store->sql.path, found);
    if (!thorough)
        return MGB_OK;
    MGB_TRY(mgb_sql_text(found, sizeof found, &store->sql,
                         "SELECT \"table\" FROM pragma_foreign_key_check LIMIT 1"));
    if (found[0])
        return mgb_fail(MGB_CORRUPT, "%s: a row of %s belongs to nothing", store->sql.path, found);
    return MGB_OK;
}
