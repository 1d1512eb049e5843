/* See log.h. Two locks: the file's is held while a line is written, so that lines stand there in the order in which they
 * are counted; the ring's only for as long as memory is touched, so that the screen does not wait for a disk. */
#include "app/tui/log.h"
#include "app/script/paths.h"
#include <mgb/text.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { LINE_BYTES = 4096 };           /* longer ones are cut up */
#define FILE_ROTATE_BYTES (4LL << 20) /* at the start: the old file is kept beside it */
#define FILE_MOST_BYTES (64LL << 20)  /* of one session: a library that floods fills no disk */

struct tui_log {
    pthread_mutex_t file_lock, lock;
    int file; /* -1: none; under file_lock, as the next two */
    long long file_bytes;
    bool file_failed;
    struct tui_log_line lines[TUI_LOG_LINES]; /* under lock, as `count` */
    int64_t count;
    void (*changed)(void *context);
    void *context;
};

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

static void line_keep(struct tui_log *log, int64_t at_ms, enum mgb_line_kind kind, const char *text,
                      size_t length)
{
    char *copy = strndup(text, length);
    if (!copy)
        return; /* the file still gets it */
    pthread_mutex_lock(&log->lock);
    struct tui_log_line *line = &log->lines[log->count % TUI_LOG_LINES];
    char *old = line->text;
    *line = (struct tui_log_line){.at_ms = at_ms, .kind = kind, .text = copy};
    log->count++;
    pthread_mutex_unlock(&log->lock);
    free(old);
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
static bool line_write(int file, int64_t at_ms, enum mgb_line_kind kind, const char *text,
                       size_t length, long long *bytes)
{
    char line[64 + LINE_BYTES * 4 + MGB_CHARACTER_SHOWN];
    size_t size = stamp_write(line, 64, at_ms, kind);
    for (size_t used; length > 0; text += used, length -= used)
        size += mgb_character_show(line + size, &used, text, length);
    line[size++] = '\n';
    *bytes += (long long)size;
    for (size_t done = 0; done < size;) {
        ssize_t wrote = write(file, line + done, size - done);
        if (wrote < 0 && errno != EINTR)
            return false;
        done += wrote > 0 ? (size_t)wrote : 0;
    }
    return true;
}

static void file_end(struct tui_log *log, int64_t at_ms, const char *why)
{
    char text[200];
    log->file_failed = true;
    snprintf(text, sizeof text, "the log file gets no more lines: %s", why);
    line_keep(log, at_ms, MGB_LINE_WARNING, text, strlen(text));
}

static void line_add(struct tui_log *log, enum mgb_line_kind kind, const char *text, size_t length)
{
    pthread_mutex_lock(&log->file_lock);
    int64_t at_ms = now_ms();
    line_keep(log, at_ms, kind, text, length);
    if (log->file >= 0 && !log->file_failed) {
        if (!line_write(log->file, at_ms, kind, text, length, &log->file_bytes))
            file_end(log, at_ms, strerror(errno));
        else if (log->file_bytes > FILE_MOST_BYTES)
            file_end(log, at_ms, "it has 64 MiB of this session");
    }
    pthread_mutex_unlock(&log->file_lock);
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

bool tui_log_newest(struct tui_log *log, char *out, size_t size, int64_t since_ms)
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
    if (log->file >= 0)
        return;
    char text[600];
    snprintf(text, sizeof text, "the log is not kept in %s: %s", path, strerror(errno));
    tui_log_add(log, MGB_LINE_WARNING, text);
}

enum mgb_status tui_log_open(struct tui_log **out, const char *path, void (*changed)(void *context),
                             void *context)
{
    struct tui_log *log = *out = calloc(1, sizeof *log);
    if (!log)
        return mgb_fail(MGB_NO_MEMORY, "opening the log: memory is exhausted");
    pthread_mutex_init(&log->file_lock, NULL);
    pthread_mutex_init(&log->lock, NULL);
    log->file = -1;
    log->changed = changed;
    log->context = context;
    if (path)
        file_open(log, path);
    return MGB_OK;
}

void tui_log_close(struct tui_log *log)
{
    if (!log)
        return;
    for (int i = 0; i < TUI_LOG_LINES; i++)
        free(log->lines[i].text);
    if (log->file >= 0)
        close(log->file);
    pthread_mutex_destroy(&log->file_lock);
    pthread_mutex_destroy(&log->lock);
    free(log);
}
