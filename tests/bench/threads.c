/* See threads.h. /proc/PID/task/TID/sched has nanoseconds where the kernel tells them, else stat has ticks. */
#include "tests/bench/threads.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static FILE *task_open(pid_t process, const char *task, const char *name)
{
    char path[300];
    snprintf(path, sizeof path, "/proc/%d/task/%s/%s", (int)process, task, name);
    return fopen(path, "re");
}

/* -1: not told there. */
static int64_t scheduler_ns(pid_t process, const char *task)
{
    char line[256];
    double ms = -1;
    FILE *file = task_open(process, task, "sched");
    while (file && ms < 0 && fgets(line, sizeof line, file))
        if (strncmp(line, "se.sum_exec_runtime", 19) == 0)
            ms = strtod(strchr(line, ':') + 1, NULL);
    if (file)
        fclose(file);
    return ms < 0 ? -1 : (int64_t)(ms * 1e6);
}

static int64_t ticks_ns(pid_t process, const char *task)
{
    char line[1024];
    unsigned long user = 0, kernel = 0;
    FILE *file = task_open(process, task, "stat");
    const char *at = file && fgets(line, sizeof line, file) ? strrchr(line, ')') : NULL;
    if (!at ||
        sscanf(at + 2, "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user, &kernel) != 2)
        user = kernel = 0;
    if (file)
        fclose(file);
    return (int64_t)(user + kernel) * (1000000000 / sysconf(_SC_CLK_TCK));
}

static void name_read(char out[THREADS_NAME], pid_t process, const char *task)
{
    FILE *file = task_open(process, task, "comm");
    if (atoi(task) == process || !file || !fgets(out, THREADS_NAME, file))
        snprintf(out, THREADS_NAME, "%s", atoi(task) == process ? "screen" : "?");
    out[strcspn(out, "\n")] = '\0';
    if (file)
        fclose(file);
}

static int threads_find(struct threads *threads, const char *name)
{
    for (int i = 0; i < threads->count; i++)
        if (strcmp(threads->at[i].name, name) == 0)
            return i;
    int fresh = threads->count < THREADS_MOST ? threads->count++ : THREADS_MOST - 1;
    snprintf(threads->at[fresh].name, THREADS_NAME, "%s", name);
    return fresh;
}

void threads_read(struct threads *out, pid_t process)
{
    char path[64], name[THREADS_NAME];
    struct dirent *entry;
    *out = (struct threads){0};
    snprintf(path, sizeof path, "/proc/%d/task", (int)process);
    DIR *tasks = opendir(path);
    while (tasks && (entry = readdir(tasks))) {
        if (entry->d_name[0] == '.')
            continue;
        name_read(name, process, entry->d_name);
        int64_t ns = scheduler_ns(process, entry->d_name);
        out->at[threads_find(out, name)].cpu_ns += ns >= 0 ? ns : ticks_ns(process, entry->d_name);
    }
    if (tasks)
        closedir(tasks);
}

static int64_t cpu_of(const struct threads *threads, const char *name)
{
    int64_t sum = 0;
    for (int i = 0; i < threads->count; i++)
        if (strcmp(name, "*") == 0 || strcmp(threads->at[i].name, name) == 0)
            sum += threads->at[i].cpu_ns;
    return sum;
}

double threads_share(const struct threads *before, const struct threads *after, const char *name,
                     int64_t wall_ns)
{
    return 100 * (double)(cpu_of(after, name) - cpu_of(before, name)) / (double)wall_ns;
}
