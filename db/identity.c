/* Process identity from /proc; see identity.h. Fields: proc(5). */
#include "db/identity.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool file_line(char *out, size_t size, const char *path)
{
    FILE *file = fopen(path, "re");
    if (!file)
        return false;
    bool ok = fgets(out, (int)size, file) != NULL;
    fclose(file);
    out[ok ? strcspn(out, "\n") : 0] = 0;
    return ok;
}

/* State letter and start time (field 22); false if there is no such process. The command name may hold spaces and
 * brackets, so fields are counted from the last bracket. */
static bool process_stat(char *state, int64_t *started, int64_t pid)
{
    char path[40], line[1024];
    snprintf(path, sizeof path, "/proc/%lld/stat", (long long)pid);
    if (!file_line(line, sizeof line, path))
        return false;
    char *at = strrchr(line, ')');
    if (!at || at[1] != ' ')
        return false;
    at += 2;
    *state = *at;
    for (int field = 3; field < 22; field++) {
        at = strchr(at, ' ');
        if (!at)
            return false;
        at++;
    }
    *started = strtoll(at, NULL, 10);
    return true;
}

void mgb_identity_get(struct mgb_identity *out)
{
    *out = (struct mgb_identity){.pid = getpid()};
    char state;
    out->started.known = process_stat(&state, &out->started.value, out->pid);
    struct stat namespace;
    if (stat("/proc/self/ns/pid", &namespace) == 0)
        out->pid_namespace = MGB_KNOWN_INT((int64_t) namespace.st_ino);
    file_line(out->boot_id, sizeof out->boot_id, "/proc/sys/kernel/random/boot_id");
    if (gethostname(out->host, sizeof out->host - 1) != 0)
        out->host[0] = 0;
}

enum mgb_liveness mgb_identity_liveness(const struct mgb_identity *identity)
{
    struct mgb_identity self;
    mgb_identity_get(&self);
    if (!identity->boot_id[0] || !self.boot_id[0] || !identity->started.known)
        return MGB_LIVENESS_UNKNOWN;
    if (strcmp(identity->boot_id, self.boot_id) != 0)
        return strcmp(identity->host, self.host) == 0 ? MGB_DEAD : MGB_LIVENESS_UNKNOWN;
    if (!identity->pid_namespace.known || !self.pid_namespace.known ||
        identity->pid_namespace.value != self.pid_namespace.value)
        return MGB_LIVENESS_UNKNOWN;
    char state;
    int64_t started;
    if (!process_stat(&state, &started, identity->pid) || started != identity->started.value)
        return MGB_DEAD;
    return state == 'Z' || state == 'X' ? MGB_DEAD : MGB_ALIVE;
}

void mgb_process_describe(char *out, size_t size, int64_t pid)
{
    char path[40], name[64];
    snprintf(path, sizeof path, "/proc/%lld/comm", (long long)pid);
    if (file_line(name, sizeof name, path))
        snprintf(out, size, "pid %lld (%s)", (long long)pid, name);
    else
        snprintf(out, size, "pid %lld", (long long)pid);
}
