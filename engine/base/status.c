/* The thread's last failure: its message and, for a device out of memory, the figures. */
#include <mgb/status.h>

#include "engine/base/text.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define MESSAGE_BYTES 4096

static _Thread_local char message[MESSAGE_BYTES];
static _Thread_local struct mgb_oom last_oom;

/* Arguments may point into the old message, so the new one is made beside it. */
static void message_set(const char *prefix_end, const char *format, va_list args)
{
    char text[MESSAGE_BYTES];
    mgb_format_list(text, sizeof text, format, args);
    if (prefix_end) {
        size_t length = strlen(text);
        snprintf(text + length, sizeof text - length, ": %s", prefix_end);
    }
    memcpy(message, text, sizeof text);
}

enum mgb_status mgb_fail(enum mgb_status status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    message_set(NULL, format, args);
    va_end(args);
    return status;
}

enum mgb_status mgb_fail_in(enum mgb_status status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    message_set(message, format, args);
    va_end(args);
    return status;
}

const char *mgb_message_get(void)
{
    return message;
}

const char *mgb_status_name(enum mgb_status status)
{
    switch (status) {
    case MGB_OK:
        return "ok";
    case MGB_INVALID:
        return "invalid";
    case MGB_UNSUPPORTED:
        return "unsupported";
    case MGB_MISSING:
        return "missing";
    case MGB_NO_MEMORY:
        return "no_memory";
    case MGB_OOM:
        return "oom";
    case MGB_DEVICE:
        return "device";
    case MGB_IO:
        return "io";
    case MGB_CORRUPT:
        return "corrupt";
    case MGB_BUSY:
        return "busy";
    case MGB_INTERRUPTED:
        return "interrupted";
    case MGB_TIMEOUT:
        return "timeout";
    case MGB_STATE:
        return "state";
    }
    return "unknown";
}

enum mgb_status mgb_fail_oom(const char *device, long long needed, long long available,
                             const char *what)
{
    char wanted[48] = "", left[32], bytes[32];
    if (needed > 0)
        snprintf(wanted, sizeof wanted, "%s needed, ",
                 mgb_format_bytes(bytes, sizeof bytes, needed));
    snprintf(last_oom.device, sizeof last_oom.device, "%s", device);
    last_oom.needed = needed;
    last_oom.available = available;
    return mgb_fail(MGB_OOM,
                    "%s: out of memory on %s: %s%s available; use a smaller batch, move "
                    "weights or slots elsewhere, or give the device more memory",
                    what, last_oom.device, wanted, mgb_format_bytes(left, sizeof left, available));
}

struct mgb_oom mgb_oom_get(void)
{
    return last_oom;
}
