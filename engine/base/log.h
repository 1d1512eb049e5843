/* Where the engine's remarks go. The engine never prints: a sink set by the program does. Without a sink remarks vanish. */
#ifndef MGB_BASE_LOG_H
#define MGB_BASE_LOG_H

enum mgb_log_level { MGB_LOG_DEBUG, MGB_LOG_INFO, MGB_LOG_WARNING };

typedef void mgb_log_sink(void *context, enum mgb_log_level level, const char *line);

/* Process-wide; may be called from any thread, the sink must be thread-safe. */
void mgb_log_set_sink(mgb_log_sink *sink, void *context);
void mgb_log(enum mgb_log_level level, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
