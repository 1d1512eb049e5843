/* One sink for the whole process; the engine itself never prints. */
#include "engine/base/log.h"

#include "engine/base/text.h"
#include <pthread.h>
#include <stdarg.h>

static pthread_mutex_t sink_lock = PTHREAD_MUTEX_INITIALIZER;
static mgb_log_sink *sink_function;
static void *sink_context;

void mgb_log_set_sink(mgb_log_sink *sink, void *context)
{
    pthread_mutex_lock(&sink_lock);
    sink_function = sink;
    sink_context = context;
    pthread_mutex_unlock(&sink_lock);
}

void mgb_log(enum mgb_log_level level, const char *format, ...)
{
    pthread_mutex_lock(&sink_lock);
    mgb_log_sink *sink = sink_function;
    void *context = sink_context;
    pthread_mutex_unlock(&sink_lock);
    if (!sink)
        return;
    char line[1024];
    va_list args;
    va_start(args, format);
    mgb_format_list(line, sizeof line, format, args);
    va_end(args);
    sink(context, level, line);
}
