/* A results file's state of health; see doctor.h. */
#include "db/doctor.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "db/identity.h"
#include "db/keep_private.h"
#include "db/liveness.h"
#include "db/lock.h"
#include "db/source.h"
#include "db/store_private.h"

#define MIB (1024.0 * 1024.0)
#define LOG_BYTES_LARGE (64 << 20)
#define FREE_BYTES_LITTLE ((int64_t)1 << 30)
#define FREE_BYTES_NONE ((int64_t)16 << 20)
#define FAULTS_TOLD 5
#define WATCH_INSTRUCTIONS 20000
#define WAL_RESET_MENDED 3051003 /* version of SQLite */

void mgb_symptom_say(const struct mgb_symptom_sink *sink, enum mgb_symptom_level level,
                     const char *what, const char *mend, const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    struct mgb_symptom symptom = {level, what, text, mend};
    sink->take(sink->context, &symptom);
}

/* Sizes in words, the same in any locale. */
static const char *size_text(char out[32], int64_t bytes)
{
    int64_t tenths = (int64_t)((double)bytes / MIB * 10 + 0.5);
    if (bytes < 100000)
        snprintf(out, 32, "%lld bytes", (long long)bytes);
    else if (tenths >= 100000)
        snprintf(out, 32, "%lld GiB", (long long)(bytes >> 30));
    else
        snprintf(out, 32, "%lld.%lld MiB", (long long)(tenths / 10), (long long)(tenths % 10));
    return out;
}

/* "pid 12 (sqlite3)". */
static const char *process_text(char out[80], int64_t pid)
{
    if (pid < 0)
        return "a process that cannot be told (another container?)";
    mgb_process_describe(out, 80, pid);
    return out;
}

static void disk_say(const struct mgb_symptom_sink *sink, const char *path, int64_t free_bytes)
{
    struct statfs info;
    char size[32];
    const char *network =
        statfs(path, &info) == 0 ? mgb_store_network_name((long)info.f_type) : NULL;
    if (network)
        mgb_symptom_say(sink, MGB_SYMPTOM_WARN, "file system", "name a file on a local disk: --db",
                        "the file lies on %s: readers wait while steps are saved", network);
    else
        mgb_symptom_say(sink, MGB_SYMPTOM_OK, "file system", NULL, "local");
    int64_t bytes = free_bytes ? free_bytes : mgb_keep_free(path);
    if (bytes < 0)
        return;
    enum mgb_symptom_level level = bytes < FREE_BYTES_NONE     ? MGB_SYMPTOM_FAIL
                                   : bytes < FREE_BYTES_LITTLE ? MGB_SYMPTOM_WARN
                                                               : MGB_SYMPTOM_OK;
    mgb_symptom_say(sink, level, "free disk",
                    level == MGB_SYMPTOM_OK ? NULL : "make room, or mgbench rm and mgbench vacuum",
                    "%s", size_text(size, bytes));
}

static void permission_say(const struct mgb_symptom_sink *sink, const char *path)
{
    char *folder = mgb_keep_folder(path);
    if (access(path, W_OK) != 0)
        mgb_symptom_say(sink, MGB_SYMPTOM_WARN, "permission",
                        "chmod u+w, or name another file with --db, to record runs",
                        "the file may only be read: %s", strerror(errno));
    else if (folder && access(folder, W_OK) != 0)
        mgb_symptom_say(sink, MGB_SYMPTOM_WARN, "permission",
                        "give write permission on the folder, or name another file with --db",
                        "the folder may not be written, where the log and the lock would lie: %s",
                        strerror(errno));
    free(folder);
}

static void users_say(const struct mgb_symptom_sink *sink, const char *path,
                      const struct mgb_wal_use *use)
{
    char process[80], size[32];
    struct mgb_lock_holder holder = mgb_lock_find_holder(path);
    if (holder.held && holder.run > 0)
        mgb_symptom_say(sink, MGB_SYMPTOM_OK, "writer", NULL,
                        "run %lld is being written by pid %lld", (long long)holder.run,
                        (long long)holder.pid);
    else if (use->writer_pid != 0 && !holder.held)
        mgb_symptom_say(
            sink, MGB_SYMPTOM_WARN, "writer", "end its transaction: a run's steps wait for it",
            "%s, not mgbench, is writing to the file", process_text(process, use->writer_pid));
    else
        mgb_symptom_say(sink, MGB_SYMPTOM_OK, "writer", NULL, "nobody");
    if (use->reader_pid != 0)
        mgb_symptom_say(sink, use->log_bytes > LOG_BYTES_LARGE ? MGB_SYMPTOM_WARN : MGB_SYMPTOM_OK,
                        "oldest reader",
                        use->log_bytes > LOG_BYTES_LARGE
                            ? "end it: while it looks on, the log cannot be emptied"
                            : NULL,
                        "%s looks at the state %lld pages ago",
                        process_text(process, use->reader_pid), (long long)use->reader_frames);
    if (use->log_bytes > LOG_BYTES_LARGE && use->reader_pid == 0)
        mgb_symptom_say(sink, MGB_SYMPTOM_WARN, "log", "mgbench vacuum empties it",
                        "the write-ahead log has %s", size_text(size, use->log_bytes));
    else if (use->log_bytes > 0 && !use->open && !holder.held)
        mgb_symptom_say(sink, MGB_SYMPTOM_WARN, "last close",
                        "nothing is lost: the next run moves the log into the file",
                        "the last writer did not close the file (killed?): %s lie in the log",
                        size_text(size, use->log_bytes));
    else
        mgb_symptom_say(sink, MGB_SYMPTOM_OK, "log", NULL, "%s", size_text(size, use->log_bytes));
}

static void faults_say(const struct mgb_symptom_sink *sink, struct mgb_sql *sql, const char *text,
                       const char *what, const char *good)
{
    sqlite3_stmt *check;
    int told = 0, code = sqlite3_prepare_v2(sql->handle, text, -1, &check, NULL);
    static const char mend[] = "keep a copy; sqlite3 FILE .recover writes out what can be read";
    while (code == SQLITE_OK && (code = sqlite3_step(check)) == SQLITE_ROW) {
        const char *fault = (const char *)sqlite3_column_text(check, 0);
        code = SQLITE_OK;
        if (fault && strcmp(fault, "ok") == 0)
            continue;
        if (told++ == FAULTS_TOLD)
            break;
        mgb_symptom_say(sink, MGB_SYMPTOM_FAIL, what, mend, "%.400s", fault ? fault : "?");
    }
    if (code == SQLITE_INTERRUPT)
        mgb_symptom_say(sink, MGB_SYMPTOM_WARN, what, NULL, "stopped before all was looked at");
    else if (code != SQLITE_OK && code != SQLITE_DONE)
        mgb_symptom_say(sink, MGB_SYMPTOM_FAIL, what, mend, "%s", sqlite3_errmsg(sql->handle));
    else if (told == 0)
        mgb_symptom_say(sink, MGB_SYMPTOM_OK, what, NULL, "%s", good);
    sqlite3_finalize(check);
}

static void content_check(const struct mgb_symptom_sink *sink, struct mgb_sql *sql, bool thorough)
{
    if (!thorough) {
        faults_say(sink, sql, "PRAGMA quick_check(6)", "content", "quick_check finds no fault");
        return;
    }
    faults_say(sink, sql, "PRAGMA integrity_check(6)", "content", "integrity_check finds no fault");
    faults_say(sink, sql,
               "SELECT 'a row of ' || \"table\" || ' names one of ' || parent || ' that is not "
               "there (' || count(*) || ' of them)' FROM pragma_foreign_key_check GROUP BY "
               "\"table\", parent",
               "references", "every row belongs to another that is there");
}

/* Runs of processes that are gone, which the next writer marks as crashed. */
static int64_t dead_count(struct mgb_sql *sql)
{
    struct mgb_statement find;
    int64_t count = 0;
    bool row = false;
    if (mgb_sql_prepare(&find, sql,
                        "SELECT " MGB_LIVENESS_COLUMNS
                        " FROM run WHERE outcome = 'running'") != MGB_OK)
        return 0;
    while (mgb_statement_step(&row, &find) == MGB_OK && row) {
        struct mgb_identity identity;
        mgb_liveness_read(&identity, &find, 0);
        count += mgb_identity_liveness(&identity) == MGB_DEAD;
    }
    return count;
}

static void runs_say(const struct mgb_symptom_sink *sink, struct mgb_sql *sql)
{
    int64_t runs = 0, gaps = 0, dead = dead_count(sql);
    if (mgb_sql_int(&runs, sql, "SELECT count(*) FROM run") != MGB_OK ||
        mgb_sql_int(&gaps, sql, "SELECT count(*) FROM run WHERE log_complete = 0") != MGB_OK)
        return;
    if (dead)
        mgb_symptom_say(sink, MGB_SYMPTOM_WARN, "runs",
                        "nothing to do: the next run or note marks them as crashed",
                        "%lld of %lld runs were ended from outside and are not marked yet",
                        (long long)dead, (long long)runs);
    else
        mgb_symptom_say(sink, MGB_SYMPTOM_OK, "runs", NULL,
                        "%lld runs, %lld of them with a log that is not complete", (long long)runs,
                        (long long)gaps);
}

static void library_say(const struct mgb_symptom_sink *sink)
{
    if (sqlite3_libversion_number() >= WAL_RESET_MENDED)
        mgb_symptom_say(sink, MGB_SYMPTOM_OK, "sqlite", NULL, "%s", sqlite3_libversion());
    else
        mgb_symptom_say(sink, MGB_SYMPTOM_OK, "sqlite",
                        "let no other program write to the file while a run is going",
                        "%s; before 3.51.3 two writers that empty the log at once can lose rows, "
                        "which mgbench's own lock prevents between its processes",
                        sqlite3_libversion());
}

static int stop_ask(void *context)
{
    const struct mgb_doctor_options *options = context;
    return options->stop(NULL);
}

static bool schema_say(const struct mgb_symptom_sink *sink, enum mgb_schema_state state)
{
    int version = mgb_schema_get()->version;
    if (state == MGB_SCHEMA_EMPTY)
        mgb_symptom_say(sink, MGB_SYMPTOM_OK, "schema", NULL,
                        "none: nothing has been recorded yet");
    else if (state == MGB_SCHEMA_OLDER)
        mgb_symptom_say(sink, MGB_SYMPTOM_WARN, "schema",
                        "any run or note that writes to it brings it forward; keep a copy if older "
                        "programs read it",
                        "older than %d", version);
    else
        mgb_symptom_say(sink, MGB_SYMPTOM_OK, "schema", NULL, "%d", version);
    return state == MGB_SCHEMA_CURRENT;
}

static void content_say(const struct mgb_symptom_sink *sink, const char *path,
                        const struct mgb_doctor_options *options)
{
    struct mgb_sql sql;
    enum mgb_schema_state state;
    enum mgb_status status = mgb_source_open(&sql, &state, path);
    if (status != MGB_OK) {
        mgb_symptom_say(sink, MGB_SYMPTOM_FAIL, "content",
                        status == MGB_CORRUPT
                            ? "name another file with --db; of a damaged one sqlite3 FILE .recover "
                              "writes out what can be read"
                            : NULL,
                        "%s", mgb_message_get());
        return;
    }
    struct mgb_doctor_options copy = *options;
    if (options->stop)
        sqlite3_progress_handler(sql.handle, WATCH_INSTRUCTIONS, stop_ask, &copy);
    bool current = schema_say(sink, state);
    content_check(sink, &sql, options->thorough);
    if (current)
        runs_say(sink, &sql);
    mgb_sql_close(&sql);
}

bool mgb_doctor_database(const struct mgb_symptom_sink *sink, const char *path,
                         const struct mgb_doctor_options *options)
{
    char size[32];
    struct mgb_wal_use use;
    struct stat info;
    library_say(sink);
    if (stat(path, &info) != 0) {
        bool missing = errno == ENOENT;
        mgb_symptom_say(sink, missing ? MGB_SYMPTOM_OK : MGB_SYMPTOM_FAIL, "database", NULL,
                        "%s: %s", path,
                        missing ? "nothing has been recorded yet" : strerror(errno));
        return false;
    }
    if (!S_ISREG(info.st_mode)) {
        content_say(sink, path, options); /* opening tells what it is */
        return false;
    }
    mgb_symptom_say(sink, MGB_SYMPTOM_OK, "database", NULL, "%s: %s", path,
                    size_text(size, (int64_t)info.st_size));
    permission_say(sink, path);
    disk_say(sink, path, options->free_bytes);
    mgb_doctor_wal_look(
        &use, path); /* before a connection: closing its index would drop SQLite's locks */
    users_say(sink, path, &use);
    content_say(sink, path, options);
    return true;
}
