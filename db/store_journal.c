/* The journal of the store: WAL where it can be had, the old one elsewhere; checkpoints, and who keeps the log from
 * shrinking; see store.h. */
#include "db/store.h"

#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "db/store_private.h"

#define SYNC_EVERY_MS 1000
#define CHECKPOINT_FRAMES 1000 /* SQLite's own default: 4 MiB */
#define HELD_FRAMES 4000 /* that a checkpoint had to leave: people should know who is in its way */

/* The ones linux/magic.h lacks are from statfs(2). */
const char *mgb_store_network_name(long magic)
{
    static const struct {
        unsigned long magic;
        const char *name;
    } known[] = {{NFS_SUPER_MAGIC, "NFS"},  {SMB_SUPER_MAGIC, "SMB"},     {0xff534d42, "CIFS"},
                 {0xfe534d42, "SMB2"},      {AFS_SUPER_MAGIC, "AFS"},     {0x00c36400, "Ceph"},
                 {V9FS_MAGIC, "9P"},        {CODA_SUPER_MAGIC, "Coda"},   {0x0bd00bd0, "Lustre"},
                 {0x47504653, "GPFS"},      {0x19830326, "BeeGFS"},       {0x013111a8, "IBRIX"},
                 {0x01161970, "GFS2"},      {OCFS2_SUPER_MAGIC, "OCFS2"}, {0xaad7aaea, "PanFS"},
                 {FUSE_SUPER_MAGIC, "FUSE"}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if ((unsigned long)magic == known[i].magic)
            return known[i].name;
    return NULL;
}

static const char *network_find(const struct mgb_store *store)
{
    struct statfs info;
    if (store->options.as_network)
        return "network";
    if (statfs(store->sql.path, &info) != 0)
        return NULL;
    return mgb_store_network_name((long)info.f_type);
}

bool mgb_store_wal_refused(const struct mgb_store *store)
{
    int code = store->sql.failed;
    switch (code) {
    case SQLITE_IOERR_SHMOPEN:
    case SQLITE_IOERR_SHMSIZE:
    case SQLITE_IOERR_SHMLOCK:
    case SQLITE_IOERR_SHMMAP:
        return true;
    default:
        /* Without any shared memory SQLite says that the file cannot be opened. */
        return (code & 0xff) == SQLITE_PROTOCOL || code == SQLITE_CANTOPEN;
    }
}

/* A connection that tried to open the log stays with shared memory: a new one is needed. */
static enum mgb_status connection_renew(struct mgb_store *store)
{
    struct mgb_sql renewed;
    const char *path = store->sql.path;
    MGB_TRY(mgb_sql_open(&renewed, path, path, SQLITE_OPEN_READWRITE));
    mgb_sql_close(&store->sql);
    store->sql = renewed;
    mgb_store_busy_handle(store);
    return MGB_OK;
}

/* A connection that has the file for itself needs no shared memory to read a WAL and put it away. */
enum mgb_status mgb_store_journal_alone(struct mgb_store *store, const struct mgb_schema *schema)
{
    enum mgb_schema_state state;
    char mode[16];
    MGB_TRY(connection_renew(store));
    MGB_TRY(mgb_sql_run(&store->sql, "PRAGMA locking_mode = EXCLUSIVE"));
    MGB_TRY(mgb_schema_look(&state, &store->sql, schema));
    MGB_TRY(mgb_sql_text(mode, sizeof mode, &store->sql, "PRAGMA journal_mode = DELETE"));
    MGB_TRY(mgb_sql_run(&store->sql, "PRAGMA locking_mode = NORMAL"));
    /* The lock goes with the next reading. */
    return mgb_schema_look(&state, &store->sql, schema);
}

static enum mgb_status journal_old(struct mgb_store *store, const char *network)
{
    char mode[16] = "";
    MGB_TRY(mgb_sql_text(mode, sizeof mode, &store->sql, "PRAGMA journal_mode = DELETE"));
    snprintf(store->warning, sizeof store->warning,
             "%s lies on a file system (%s) without safe shared memory: readers wait while steps "
             "are saved; a local file (--db) is better",
             store->sql.path, network ? network : "WAL refused");
    return mgb_sql_run(&store->sql, "PRAGMA synchronous = EXTRA");
}

static int64_t monotonic_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* WAL lets readers look on while we write. It needs shared memory: where that is not to be had, the old journal does. */
enum mgb_status mgb_store_journal_choose(struct mgb_store *store, const struct mgb_schema *schema)
{
    char mode[16] = "";
    int64_t objects;
    const char *network = network_find(store);
    if (network || store->wal_refused)
        return journal_old(store, network);
    enum mgb_status status =
        mgb_sql_text(mode, sizeof mode, &store->sql, "PRAGMA journal_mode = WAL");
    /* The file is marked for WAL before the log is opened for the first time: try that. */
    if (status == MGB_OK && strcmp(mode, "wal") == 0)
        status = mgb_sql_int(&objects, &store->sql, "SELECT count(*) FROM sqlite_schema");
    if (status != MGB_OK) {
        if (!mgb_store_wal_refused(store))
            return status;
        MGB_TRY(mgb_store_journal_alone(store, schema));
        return journal_old(store, NULL);
    }
    if (strcmp(mode, "wal") != 0)
        return journal_old(store, NULL);
    store->wal = true;
    store->synced_ms = monotonic_ms();
    store->sync_every_ms = SYNC_EVERY_MS;
    return mgb_sql_run(&store->sql, "PRAGMA synchronous = NORMAL");
}

/* Runs of a moment follow each other faster than a disk can be waited for. A failure leaves the setting as it was. */
void mgb_store_sync_begin(struct mgb_store *store)
{
    int64_t now_ms = monotonic_ms();
    if (!store->wal || now_ms - store->synced_ms < store->sync_every_ms)
        return;
    store->synced_ms = now_ms;
    sqlite3_exec(store->sql.handle, "PRAGMA synchronous = FULL", NULL, NULL, NULL);
}

void mgb_store_sync_end(struct mgb_store *store)
{
    if (store->wal)
        sqlite3_exec(store->sql.handle, "PRAGMA synchronous = NORMAL", NULL, NULL, NULL);
}

/* ---- checkpoints ---- */

/* SQLite's os_unix.c and wal.c: lock bytes in the -shm file, five of them for readers. */
#define READ_LOCK_FIRST 123
#define READ_LOCK_LAST 127

/* Does a line of /proc/locks (proc(5)) say that a process reads? Its pid; 0: no. The -shm file itself must not be opened
 * to ask: closing it again would drop SQLite's locks. */
static long line_reader(const char *line, const struct stat *shm)
{
    long pid;
    unsigned major_number, minor_number;
    unsigned long long inode, first, last;
    char kind[16], mode[16];
    if (sscanf(line, "%*d: %15s %*15s %15s %ld %x:%x:%llu %llu %llu", kind, mode, &pid,
               &major_number, &minor_number, &inode, &first, &last) != 8 ||
        strcmp(kind, "POSIX") != 0 || strcmp(mode, "READ") != 0)
        return 0;
    bool same = inode == shm->st_ino && major_number == major(shm->st_dev) &&
                minor_number == minor(shm->st_dev);
    return same && first >= READ_LOCK_FIRST && last <= READ_LOCK_LAST ? pid : 0;
}

/* "pid 12 (sqlite3)"; "a program" where /proc does not tell. */
static void reader_describe(char *out, size_t size, const char *path)
{
    char name[512], line[256];
    long pid = 0;
    struct stat shm;
    snprintf(out, size, "a program");
    snprintf(name, sizeof name, "%s-shm", path);
    FILE *locks = stat(name, &shm) == 0 ? fopen("/proc/locks", "re") : NULL;
    while (locks && (pid == 0 || pid == getpid()) && fgets(line, sizeof line, locks)) {
        long found = line_reader(line, &shm);
        pid = found > 0 ? found : pid;
    }
    if (locks)
        fclose(locks);
    if (pid == getpid())
        snprintf(out, size, "this program");
    if (pid <= 0 || pid == getpid())
        return;
    mgb_process_describe(out, size, pid);
}

/* Moves what readers allow from the log into the file: never waits for them. */
void mgb_store_checkpoint(struct mgb_store *store)
{
    int frames, moved;
    char who[80];
    if (sqlite3_wal_checkpoint_v2(store->sql.handle, NULL, SQLITE_CHECKPOINT_PASSIVE, &frames,
                                  &moved) != SQLITE_OK)
        return; /* the next commit tells, or the next checkpoint makes up for it */
    bool held = frames - moved >= HELD_FRAMES;
    if (held == store->held)
        return;
    store->held = held;
    store->warning[0] = 0;
    if (!held)
        return;
    reader_describe(who, sizeof who, store->sql.path);
    snprintf(store->warning, sizeof store->warning,
             "%s-wal grows: %s has had a transaction open for long, and the log cannot shrink "
             "before that ends",
             store->sql.path, who);
}

static int committed(void *context, sqlite3 *handle, const char *database, int frames)
{
    (void)handle, (void)database;
    ((struct mgb_store *)context)->log_frames = frames;
    return SQLITE_OK;
}

void mgb_store_checkpoint_watch(struct mgb_store *store)
{
    sqlite3_wal_hook(store->sql.handle, committed, store);
}

void mgb_store_checkpoint_if_due(struct mgb_store *store)
{
    if (store->log_frames < CHECKPOINT_FRAMES)
        return;
    store->log_frames = 0;
    mgb_store_checkpoint(store);
}
