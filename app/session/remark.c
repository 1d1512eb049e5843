/* Remarks have names, by which they can be silenced. See hub.h. */
#include "app/session/private.h"

#include <stdio.h>
#include <string.h>

const struct mgb_remark mgb_remarks[] = {
    {"crowded", "towers share cores"},
    {"diverged", "the loss is not a number any more"},
    {"idle", "a device computed nothing"},
    {"one-row", "batch_norm on a tower with one row, nothing to normalise over"},
    {"overflow", "gradients of f16 were not finite, and steps changed no weights"},
    {"peer", "peer access between two GPUs is slow, damages bytes or is not to be had"},
    {"unlike", "GPUs differ by a quarter or more in memory, multiprocessors or clock"},
    {"replicas", "the copies of the weights were not alike at the end"},
    {"not-steady", "step times never settled"},
    {"noise", "the target noise was not met"},
    {"traced", "tracing slowed timed steps"},
    {"log", "recording kept steps waiting, or its file is in trouble"},
    {"checkpoint", "a checkpoint was loaded in part, or training goes on otherwise than before"},
    {"resume", "points of a sweep are run again"},
    {"dry-run", "a script works with figures that a dry run has not"},
    {"busy", "other programs take the processors while selftest measures"},
    {"script", "what else a script remarks"},
    {NULL, NULL},
};

/* Whether the first `length` bytes are `name`. */
static bool is_name(const char *name, const char *text, size_t length)
{
    return strlen(name) == length && strncmp(name, text, length) == 0;
}

static enum mgb_status name_refuse(const char *name, size_t length)
{
    char names[160];
    size_t used = 0;
    for (const struct mgb_remark *r = mgb_remarks; r->name && used < sizeof names; r++)
        used +=
            (size_t)snprintf(names + used, sizeof names - used, "%s%s", used ? ", " : "", r->name);
    return mgb_fail(MGB_INVALID, "no warning is called '%.*s'; there are %s", (int)length, name,
                    names);
}

enum mgb_status mgb_remarks_check(const char *names)
{
    for (const char *at = names;; at++) {
        size_t length = strcspn(at, ",");
        const struct mgb_remark *r = mgb_remarks;
        while (r->name && !is_name(r->name, at, length))
            r++;
        if (!r->name)
            return name_refuse(at, length);
        at += length;
        if (!*at)
            return MGB_OK;
    }
}

static bool is_quiet(const char *names, const char *name)
{
    for (const char *at = names; at && *at; at += *at == ',') {
        size_t length = strcspn(at, ",");
        if (is_name(name, at, length))
            return true;
        at += length;
    }
    return false;
}

void mgb_remark_write(char *out, size_t size, const char *name, const char *line)
{
    snprintf(out, size, "%s [%s]", line, name);
}

void mgb_hub_tell(const struct mgb_hub *hub, const char *name, const char *named)
{
    if (hub->options.warn && !is_quiet(hub->options.quiet_remarks, name))
        hub->options.warn(hub->options.context, named);
}
