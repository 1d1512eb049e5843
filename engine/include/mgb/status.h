/* Status codes and the message that goes with them.
 *
 * Every fallible function of libmgb and of db/ returns an enum mgb_status. On failure it leaves a message for people in
 * a thread-local buffer: what was tried, with what, and what to do about it. Messages do not cross threads by
 * themselves: a thread that hands a failure to another copies the text. */
#ifndef MGB_STATUS_H
#define MGB_STATUS_H

enum mgb_status {
    MGB_OK = 0,
    MGB_INVALID,     /* an argument, option or model that makes no sense: the caller can mend it */
    MGB_UNSUPPORTED, /* it makes sense, but this build or this device cannot do it */
    MGB_MISSING,     /* a device, file, name or plugin that is not there */
    MGB_NO_MEMORY,   /* the host heap is exhausted */
    MGB_OOM,         /* a device's memory does not suffice: see mgb_oom_get */
    MGB_DEVICE,      /* a device or a kernel library failed */
    MGB_IO,          /* reading or writing a file failed */
    MGB_CORRUPT,     /* a file or a plan is not what it claims to be */
    MGB_BUSY,        /* somebody else holds it */
    MGB_INTERRUPTED, /* the user asked to stop; what was done is kept */
    MGB_TIMEOUT,     /* a deadline passed */
    MGB_STATE,       /* called in the wrong order: a fault of the calling code */
};

/* Stores the message (printf style, no newline) for this thread and returns `status`, so that `return mgb_fail(...)` is
 * one line. */
enum mgb_status mgb_fail(enum mgb_status status, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Puts "context: " in front of this thread's message and returns `status`; for callers that know more. */
enum mgb_status mgb_fail_in(enum mgb_status status, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* This thread's last message; never NULL; valid until the next failure on this thread. */
const char *mgb_message_get(void);

/* The name of a status in lower case ("oom"), for records and tests. */
const char *mgb_status_name(enum mgb_status status);

/* What an MGB_OOM was about: device name ("/gpu:1"), bytes needed (0: not known) and bytes available
 * there. */
struct mgb_oom {
    char device[32];
    long long needed;
    long long available;
};
enum mgb_status mgb_fail_oom(const char *device, long long needed, long long available,
                             const char *what);
/* The details of this thread's last MGB_OOM. */
struct mgb_oom mgb_oom_get(void);

#define MGB_TRY(expr)                                                                              \
    do {                                                                                           \
        enum mgb_status mgb_try_status_ = (expr);                                                  \
        if (mgb_try_status_ != MGB_OK)                                                             \
            return mgb_try_status_;                                                                \
    } while (0)

/* For functions with clean-up: sets `status` and jumps. */
#define MGB_TRY_GOTO(status, expr, label)                                                          \
    do {                                                                                           \
        (status) = (expr);                                                                         \
        if ((status) != MGB_OK)                                                                    \
            goto label;                                                                            \
    } while (0)

#endif
