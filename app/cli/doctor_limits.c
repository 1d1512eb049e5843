/* What a container or batch system allows, and memory; see doctor.h. Control groups: kernel documentation
 * admin-guide/cgroup-v2 and cgroup-v1. */
#include "app/cli/doctor.h"
#include <mgb/text.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATH_BYTES 400

/* The control group of a controller ("" is version 2's only one) as its line in /proc/self/cgroup tells it. */
static bool group_find(char out[PATH_BYTES], const char *root, const char *controller)
{
    char name[512], line[512];
    snprintf(name, sizeof name, "%s/proc/self/cgroup", root);
    FILE *file = fopen(name, "re");
    bool found = false;
    while (file && !found && fgets(line, sizeof line, file)) {
        char *list = strchr(line, ':'), *path = list ? strchr(list + 1, ':') : NULL;
        if (!path)
            continue;
        *path++ = '\0';
        path[strcspn(path, "\n")] = '\0';
        for (char *rest = list + 1, *word; !found && (word = strsep(&rest, ",")) != NULL;)
            found = strcmp(word, controller) == 0;
        if (found)
            snprintf(out, PATH_BYTES, "%.*s", PATH_BYTES - 1, strcmp(path, "/") == 0 ? "" : path);
    }
    if (file)
        fclose(file);
    return found;
}

struct limits {
    double cpus;            /* 0: none */
    long long memory_bytes; /* 0: none */
    long long throttled;    /* times it was held back */
};

static void cpu_limit_take(struct limits *limits, double quota, double period)
{
    if (quota > 0 && period > 0 && (limits->cpus == 0 || quota / period < limits->cpus))
        limits->cpus = quota / period;
}

static void memory_limit_take(struct limits *limits, long long bytes)
{
    bool none = bytes <= 0 || bytes > (1LL << 60); /* version 1 says "none" with a huge number */
    if (!none && (limits->memory_bytes == 0 || bytes < limits->memory_bytes))
        limits->memory_bytes = bytes;
}

/* One folder of version 2; an ancestor's limit holds too. */
static void group_2_read(struct limits *limits, const char *root, const char *group)
{
    char path[PATH_BYTES + 64], text[64], *end;
    long long bytes;
    snprintf(path, sizeof path, "/sys/fs/cgroup%s/cpu.max", group);
    if (mgb_doctor_line(text, sizeof text, root, path)) {
        double quota = (double)strtoll(text, &end, 10);
        if (end != text)
            cpu_limit_take(limits, quota, (double)strtoll(end, NULL, 10));
    }
    snprintf(path, sizeof path, "/sys/fs/cgroup%s/memory.max", group);
    if (mgb_doctor_number(&bytes, root, path))
        memory_limit_take(limits, bytes);
}

static void group_1_read(struct limits *limits, const char *root, const char *cpu,
                         const char *memory)
{
    char path[PATH_BYTES + 64];
    long long quota, period, bytes;
    snprintf(path, sizeof path, "/sys/fs/cgroup/cpu%s/cpu.cfs_quota_us", cpu);
    bool told = mgb_doctor_number(&quota, root, path);
    snprintf(path, sizeof path, "/sys/fs/cgroup/cpu%s/cpu.cfs_period_us", cpu);
    if (told && mgb_doctor_number(&period, root, path))
        cpu_limit_take(limits, (double)quota, (double)period);
    snprintf(path, sizeof path, "/sys/fs/cgroup/memory%s/memory.limit_in_bytes", memory);
    if (mgb_doctor_number(&bytes, root, path))
        memory_limit_take(limits, bytes);
}

static void limits_read(struct limits *out, const char *root)
{
    char group[PATH_BYTES] = "", memory[PATH_BYTES] = "";
    *out = (struct limits){0};
    if (!group_find(group, root, ""))
        group[0] = '\0';
    for (;;) {
        group_2_read(out, root, group);
        char *slash = strrchr(group, '/');
        if (!slash)
            break;
        *slash = '\0';
    }
    bool cpu = group_find(group, root, "cpu");
    bool ram = group_find(memory, root, "memory");
    group_1_read(out, root, "", ""); /* how a container sees its own */
    group_1_read(out, root, cpu ? group : "", ram ? memory : "");
}

static void cpus_say(const struct mgb_symptom_sink *sink, const struct limits *limits)
{
    int cpus = mgb_doctor_cpus(), tenths = (int)(limits->cpus * 10 + 0.5);
    if (limits->cpus == 0)
        mgb_symptom_say(sink, MGB_SYMPTOM_OK, "cpu limit", NULL, "none by a control group");
    else if (limits->cpus < cpus)
        mgb_symptom_say(sink, MGB_SYMPTOM_WARN, "cpu limit",
                        "ask for whole CPUs (taskset, --cpuset-cpus), or fewer threads",
                        "a control group allows %d.%d of the %d CPUs: steps are held up in bursts",
                        tenths / 10, tenths % 10, cpus);
    else
        mgb_symptom_say(sink, MGB_SYMPTOM_OK, "cpu limit", NULL,
                        "%d.%d CPUs by a control group, no less than there are", tenths / 10,
                        tenths % 10);
}

/* A figure of /proc/meminfo in bytes; -1: not told. */
static long long memory_find(const char *root, const char *key)
{
    char name[512], line[128];
    long long kib = -1;
    snprintf(name, sizeof name, "%s/proc/meminfo", root);
    FILE *file = fopen(name, "re");
    while (file && kib < 0 && fgets(line, sizeof line, file))
        if (strncmp(line, key, strlen(key)) == 0 && line[strlen(key)] == ':')
            kib = strtoll(line + strlen(key) + 1, NULL, 10);
    if (file)
        fclose(file);
    return kib < 0 ? -1 : kib * 1024;
}

static void memory_say(const struct mgb_symptom_sink *sink, const char *root,
                       const struct limits *limits)
{
    char free_text[32], all_text[32];
    long long all = memory_find(root, "MemTotal"), available = memory_find(root, "MemAvailable");
    if (available < 0 || all <= 0) {
        mgb_symptom_say(sink, MGB_SYMPTOM_OK, "memory", NULL, "not told here");
    } else {
        bool little = available < all / 10 || available < (1LL << 30);
        mgb_symptom_say(sink, little ? MGB_SYMPTOM_WARN : MGB_SYMPTOM_OK, "memory",
                        little ? "close what else uses memory (top, sorted with M)" : NULL,
                        "%s of %s are available",
                        mgb_format_bytes(free_text, sizeof free_text, available),
                        mgb_format_bytes(all_text, sizeof all_text, all));
    }
    if (limits->memory_bytes > 0 && (all <= 0 || limits->memory_bytes < all))
        mgb_symptom_say(sink, MGB_SYMPTOM_WARN, "memory limit",
                        "--gpu-memory keeps CPU devices below it; a run above it is killed",
                        "a control group allows %s",
                        mgb_format_bytes(all_text, sizeof all_text, limits->memory_bytes));
    long long swap = memory_find(root, "SwapTotal"), unused = memory_find(root, "SwapFree");
    if (swap > 0 && unused >= 0 && swap - unused > swap / 20)
        mgb_symptom_say(sink, MGB_SYMPTOM_WARN, "swap",
                        "close what else uses memory, then sudo swapoff -a && sudo swapon -a",
                        "%s are in use: memory was short",
                        mgb_format_bytes(free_text, sizeof free_text, swap - unused));
    else if (swap >= 0)
        mgb_symptom_say(sink, MGB_SYMPTOM_OK, "swap", NULL, swap == 0 ? "none" : "not in use");
}

static void pages_say(const struct mgb_symptom_sink *sink, const char *root)
{
    char text[64];
    if (!mgb_doctor_line(text, sizeof text, root, "/sys/kernel/mm/transparent_hugepage/enabled"))
        return;
    char *open = strchr(text, '['), *close = open ? strchr(open, ']') : NULL;
    if (close)
        *close = '\0';
    mgb_symptom_say(sink, MGB_SYMPTOM_OK, "huge pages", NULL, "%s", close ? open + 1 : text);
}

void mgb_doctor_limits(const struct mgb_symptom_sink *sink, const char *root)
{
    struct limits limits;
    limits_read(&limits, root);
    cpus_say(sink, &limits);
    memory_say(sink, root, &limits);
    pages_say(sink, root);
}
