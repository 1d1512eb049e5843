/* The log: the newest lines of everything that was done or said, from any thread. Where a file is given, a thread of the
 * log's own writes all of them to it too: who adds one waits for no disk. */
#ifndef APP_TUI_LOG_H
#define APP_TUI_LOG_H

#include "app/session/workbench/workbench.h"

struct tui_log;

enum { TUI_LOG_LINES = 5000 };

struct tui_log_line {
    int64_t at_ms; /* UTC */
    enum mgb_line_kind kind;
    char *text; /* one line, as it came: to be drawn by tui_put only */
};

/* `path` NULL: no file; one that cannot be written is said in the log. `changed` (NULL: nobody) must not block. */
enum mgb_status tui_log_open(struct tui_log **out, const char *path, void (*changed)(void *context),
                             void *context);
/* Once all lines are in the file. */
void tui_log_close(struct tui_log *log);
/* Waits until all lines so far are in the file, or it gets no more; false: that took longer than `limit_ms`. */
bool tui_log_settle(struct tui_log *log, int64_t limit_ms);
/* Before the process ends with its threads at work: half a second of it, where a log is open. */
void tui_log_rescue(void);
/* From any thread; a text of several lines makes several. */
void tui_log_add(struct tui_log *log, enum mgb_line_kind kind, const char *text);
int64_t tui_log_count(struct tui_log *log); /* ever added */
/* Copies up to `most` lines from number `first` (of all ever added) on into `out`, texts to be freed; returns how many;
 * *first becomes the number of the first one, later when older ones are gone. */
int tui_log_read(struct tui_log *log, struct tui_log_line *out, int most, int64_t *first);
/* The newest line of kind WARNING or FAULT not older than `since_ms`, into `out`, its kind into `kind`, which may be NULL;
 * false: none. */
bool tui_log_newest(struct tui_log *log, char *out, size_t size, int64_t since_ms,
                    enum mgb_line_kind *kind);

#endif
