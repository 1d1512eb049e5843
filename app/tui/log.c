/* See log.h. The lock is held only for as long as memory is touched; a thread of its own writes what waits for the file,
 * in the order in which lines are counted, so that nobody waits for a disk. */
#include "app/tui/log.h"
#include "app/script/paths.h"
#include <mgb/text.h>
#include <mgb/thread.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    LINE_BYTES = 4096, /* longer ones are cut up */
    STAMP_BYTES = 64,
    RESCUE_MS = 500
};
#define FILE_ROTATE_BYTES (4LL << 20) /* at the start: the old file is kept beside it */
#define FILE_MOST_BYTES (64LL << 20)  /* of one session: a library that floods fills no disk */

struct bytes {
    char *at;
    size_t used, capacity;
};

struct tui_log {
    int file; /* -1: none */
    pthread_t writer;
    void (*changed)(void *context);
    void *context;
    pthread_mutex_t lock; /* of all that follows */
    pthread_cond_t wake, written;
    struct bytes waiting; /* for the file */
    bool writing, quit;
    bool file_failed; /* nothing more waits for it */
    long long file_bytes;
    struct tui_log_line lines[TUI_LOG_LINES];
    int64_t count;
};

static struct tui_log *_Atomic newest; /* for the process that ends at once */

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return now.tv_sec * INT64_C(1000) + now.tv_nsec / 1000000;
}

static const char *kind_name(enum mgb_line_kind kind)
{
    switch (kind) {
    case MGB_LINE_NOTE:
        return "note";
    case MGB_LINE_WARNING:
        return "warning";
    case MGB_LINE_FAULT:
        return "fault";
    case MGB_LINE_OUTPUT:
        return "output";
    }
    return "";
}

/* With the lock held; takes `text`, NULL: no memory, and the file alone gets it. Returns what gave way, to be freed. */
static char *line_keep(struct tui_log *log, int64_t at_ms, enum mgb_line_kind kind, char *text)
{
    if (!text)
        return NULL;
    struct tui_log_line *line = &log->lines[log->count % TUI_LOG_LINES];
    char *old = line->text;
    *line = (struct tui_log_line){.at_ms = at_ms, .kind = kind, .text = text};
    log->count++;
    return old;
}

static size_t stamp_write(char *out, size_t size, int64_t at_ms, enum mgb_line_kind kind)
{
    time_t seconds = (time_t)(at_ms / 1000);
    struct tm utc;
    gmtime_r(&seconds, &utc);
    size_t used = strftime(out, size, "%Y-%m-%dT%H:%M:%S", &utc);
    return used + (size_t)snprintf(out + used, size - used, ".%03dZ %-7s ", (int)(at_ms % 1000),
                                   kind_name(kind));
}

/* Controls are written as \x1b and such: people look at log files in terminals. */
static size_t line_format(char *out, int64_t at_ms, enum mgb_line_kind kind, const char *text,
                          size_t length)
{
    size_t size = stamp_write(out, STAMP_BYTES, at_ms, kind);
    for (size_t used; length > 0; text += used, length -= used)
        size += mgb_character_show(out + size, &used, text, length);
    out[size++] = '\n';
    return size;
}

static bool bytes_add(struct bytes *bytes, const char *more, size_t size)
{
    if (bytes->capacity - bytes->used < size) {
        size_t capacity = 2 * (bytes->used + size);
        char *grown = realloc(bytes->at, capacity);
        if (!grown)
            return false;
        bytes->at = grown;
        bytes->capacity = capacity;
    }
    memcpy(bytes->at + bytes->used, more, size);
    bytes->used += size;
    return true;
}

static bool bytes_write(const struct bytes *bytes, int file)
{
    for (size_t done = 0; done < bytes->used;) {
        ssize_t wrote = write(file, bytes->at + done, bytes->used - done);
        if (wrote < 0 && errno != EINTR)
            return false;
        done += wrote > 0 ? (size_t)wrote : 0;
    }
    return true;
}

/* With the lock held. */
static void file_end(struct tui_log *log, const char *why)
{
    char *text;
    if (asprintf(&text, "the log file gets no more lines: %s", why) < 0)
        text = NULL;
    log->file_failed = true;
    free(line_keep(log, now_ms(), MGB_LINE_WARNING, text));
}

static void line_add(struct tui_log *log, enum mgb_line_kind kind, const char *text, size_t length)
{
    char line[STAMP_BYTES + LINE_BYTES * 4 + MGB_CHARACTER_SHOWN], *copy = strndup(text, length);
    pthread_mutex_lock(&log->lock);
    int64_t at_ms = now_ms();
    char *old = line_keep(log, at_ms, kind, copy);
    if (log->file >= 0 && !log->file_failed) {
        size_t size = line_format(line, at_ms, kind, text, length);
        log->file_bytes += (long long)size;
        if (!bytes_add(&log->waiting, line, size))
            file_end(log, "memory is exhausted");
        else if (log->file_bytes > FILE_MOST_BYTES)
            file_end(log, "it has 64 MiB of this session");
        pthread_cond_signal(&log->wake);
    }
    pthread_mutex_unlock(&log->lock);
    free(old);
}

/* All that waits, at once. With the lock held, but for the time that the disk takes. */
static void waiting_write(struct tui_log *log)
{
    struct bytes taken = log->waiting;
    log->waiting = (struct bytes){0};
    log->writing = true;
    pthread_mutex_unlock(&log->lock);
    bool good = bytes_write(&taken, log->file);
    int why = errno;
    free(taken.at);
    pthread_mutex_lock(&log->lock);
    log->writing = false;
    if (!good && !log->file_failed)
        file_end(log, strerror(why));
    if (!good)
        log->waiting.used = 0;
    pthread_cond_broadcast(&log->written);
    pthread_mutex_unlock(&log->lock);
    if (!good && log->changed)
        log->changed(log->context);
    pthread_mutex_lock(&log->lock);
}

static void *file_keep(void *context)
{
    struct tui_log *log = context;
    pthread_mutex_lock(&log->lock);
    while (!log->quit || log->waiting.used > 0) {
        if (log->waiting.used > 0)
            waiting_write(log);
        else
            pthread_cond_wait(&log->wake, &log->lock);
    }
    pthread_mutex_unlock(&log->lock);
    return NULL;
}

bool tui_log_settle(struct tui_log *log, int64_t limit_ms)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    int64_t ns = until.tv_nsec + limit_ms % 1000 * 1000000;
    until.tv_sec += limit_ms / 1000 + ns / 1000000000;
    until.tv_nsec = ns % 1000000000;
    pthread_mutex_lock(&log->lock);
    int failed = 0;
    while ((log->writing || log->waiting.used > 0) && failed != ETIMEDOUT)
        failed = pthread_cond_timedwait(&log->written, &log->lock, &until);
    bool settled = !log->writing && log->waiting.used == 0;
    pthread_mutex_unlock(&log->lock);
    return settled;
}

void tui_log_rescue(void)
{
    struct tui_log *log = atomic_load(&newest);
    if (log)
        (void)tui_log_settle(log, RESCUE_MS);
}

/* How much of `length` bytes makes a line: never a part of a character. */
static size_t piece_length(const char *text, size_t length)
{
    if (length <= LINE_BYTES)
        return length;
    size_t end = LINE_BYTES;
    while (end > LINE_BYTES - 4 && ((unsigned char)text[end] & 0xc0) == 0x80)
        end--;
    return end;
}

void tui_log_add(struct tui_log *log, enum mgb_line_kind kind, const char *text)
{
    do {
        const char *end = strchrnul(text, '\n');
        size_t left = (size_t)(end - text);
        do {
            size_t length = piece_length(text, left);
            line_add(log, kind, text, length);
            text += length;
            left -= length;
        } while (left > 0);
        text = *end ? end + 1 : end;
    } while (*text);
    if (log->changed)
        log->changed(log->context);
}

int64_t tui_log_count(struct tui_log *log)
{
    pthread_mutex_lock(&log->lock);
    int64_t count = log->count;
    pthread_mutex_unlock(&log->lock);
    return count;
}

int tui_log_read(struct tui_log *log, struct tui_log_line *out, int most, int64_t *first)
{
    int got = 0;
    pthread_mutex_lock(&log->lock);
    int64_t oldest = log->count > TUI_LOG_LINES ? log->count - TUI_LOG_LINES : 0;
    *first = *first > oldest ? *first : oldest;
    for (int64_t at = *first; at < log->count && got < most; at++, got++) {
        out[got] = log->lines[at % TUI_LOG_LINES];
        out[got].text = strdup(out[got].text);
        if (!out[got].text)
            break;
    }
    pthread_mutex_unlock(&log->lock);
    return got;
}

bool tui_log_newest(struct tui_log *log, char *out, size_t size, int64_t since_ms,
                    enum mgb_line_kind *kind)
{
    bool found = false;
    pthread_mutex_lock(&log->lock);
    int64_t oldest = log->count > TUI_LOG_LINES ? log->count - TUI_LOG_LINES : 0;
    for (int64_t at = log->count - 1; at >= oldest && !found; at--) {
        const struct tui_log_line *line = &log->lines[at % TUI_LOG_LINES];
        if (line->at_ms < since_ms)
            break;
        found = line->kind == MGB_LINE_WARNING || line->kind == MGB_LINE_FAULT;
        if (found)
            snprintf(out, size, "%s", line->text);
        if (found && kind)
            *kind = line->kind;
    }
    pthread_mutex_unlock(&log->lock);
    return found;
}

static void file_rotate(const char *path)
{
    struct stat facts;
    char *old;
    if (stat(path, &facts) != 0 || !S_ISREG(facts.st_mode) || facts.st_size < FILE_ROTATE_BYTES ||
        asprintf(&old, "%s.1", path) < 0)
        return;
    rename(path, old);
    free(old);
}

static void file_open(struct tui_log *log, const char *path)
{
    mgb_paths_make_above(path);
    file_rotate(path);
    log->file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0666);
    int failed = log->file < 0 ? errno : mgb_thread_start(&log->writer, "log", file_keep, log);
    if (!failed)
        return;
    if (log->file >= 0)
        close(log->file);
    log->file = -1;
    char text[600];
    snprintf(text, sizeof text, "the log is not kept in %s: %s", path, strerror(failed));
    tui_log_add(log, MGB_LINE_WARNING, text);
}

static void locks_init(struct tui_log *log)
{
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&log->lock, NULL);
    pthread_cond_init(&log->wake, NULL);
    pthread_cond_init(&log->written, &monotonic);
    pthread_condattr_destroy(&monotonic);
}

enum mgb_status tui_log_open(struct tui_log **out, const char *path, void (*changed)(void *context),
                             void *context)
{
    struct tui_log *log = *out = calloc(1, sizeof *log);
    if (!log)
        return mgb_fail(MGB_NO_MEMORY, "opening the log: memory is exhausted");
    locks_init(log);
    log->file = -1;
    log->changed = changed;
    log->context = context;
    if (path)
        file_open(log, path);
    atomic_store(&newest, log);
    return MGB_OK;
}

/* All that was added is written first. */
static void writer_end(struct tui_log *log)
{
    pthread_mutex_lock(&log->lock);
    log->quit = true;
    pthread_cond_signal(&log->wake);
    pthread_mutex_unlock(&log->lock);
    pthread_join(log->writer, NULL);
    close(log->file);
}

void tui_log_close(struct tui_log *log)
{
    if (!log)
        return;
    atomic_store(&newest, (struct tui_log *)NULL);
    if (log->file >= 0)
        writer_end(log);
    for (int i = 0; i < TUI_LOG_LINES; i++)
        free(log->lines[i].text);
    free(log->waiting.at);
    pthread_cond_destroy(&log->written);
    pthread_cond_destroy(&log->wake);
    pthread_mutex_destroy(&log->lock);
    free(log);
}
