/* Who a process is, so that a run can be told from a later process with the same number. Internal to db/. */
#ifndef MGB_DB_IDENTITY_H
#define MGB_DB_IDENTITY_H

#include <stddef.h>

#include <mgb/record.h>

struct mgb_identity {
    int64_t pid;
    struct mgb_maybe_int pid_namespace; /* inode of /proc/self/ns/pid */
    struct mgb_maybe_int started;       /* clock ticks since boot */
    char boot_id[40];                   /* "" if not known */
    char host[72];
};

/* This process; what /proc does not tell stays unknown. */
void mgb_identity_get(struct mgb_identity *out);

/* A stopped process is alive, a zombie is not. Unknown: another machine or another pid namespace. */
enum mgb_liveness { MGB_ALIVE, MGB_DEAD, MGB_LIVENESS_UNKNOWN };
enum mgb_liveness mgb_identity_liveness(const struct mgb_identity *identity);

/* "pid 12 (sqlite3)"; without a name where /proc does not tell. */
void mgb_process_describe(char *out, size_t size, int64_t pid);

#endif
