/* See observer.h. Of the threads of Linux, by their names. */
#include "app/session/workbench/observer.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define APART_NS INT64_C(2000000000)

static const char *const watching[] = {"workbench", "judge", "archive", "recorder",
                                       "chatter",   "jobs",  "log",     NULL};

/* The first line of a file of a thread. */
static bool line_read(char *out, int size, const char *thread, const char *name)
{
    char path[300];
    snprintf(path, sizeof path, "/proc/self/task/%.200s/%s", thread, name);
    FILE *file = fopen(path, "re");
    bool read = file && fgets(out, size, file);
    if (file)
        fclose(file);
    if (read)
        out[strcspn(out, "\n")] = '\0';
    return read;
}

/* The main thread is the screen's, whatever the program is called. */
static bool is_watching(const char *thread)
{
    char name[32];
    if (strtol(thread, NULL, 10) == (long)getpid())
        return true;
    if (!line_read(name, sizeof name, thread, "comm"))
        return false;
    for (int i = 0; watching[i]; i++)
        if (strcmp(name, watching[i]) == 0)
            return true;
    return false;
}

bool mgb_observer_read(int64_t *cpu_ns)
{
    char line[100];
    bool told = false;
    DIR *threads = opendir("/proc/self/task");
    *cpu_ns = 0;
    for (struct dirent *entry; threads && (entry = readdir(threads));)
        if (*entry->d_name != '.' && is_watching(entry->d_name) &&
            line_read(line, sizeof line, entry->d_name, "schedstat")) {
            *cpu_ns += strtoll(line, NULL, 10);
            told = true;
        }
    if (threads)
        closedir(threads);
    return told;
}

/* A thread that ended takes its time away: that look tells nothing. */
void mgb_observer_look(struct mgb_observer *observer, double *share, int64_t now_ns)
{
    int64_t cpu_ns, before_ns = observer->at_ns;
    if (before_ns && now_ns - before_ns < APART_NS)
        return;
    if (!mgb_observer_read(&cpu_ns))
        return;
    if (before_ns && cpu_ns >= observer->cpu_ns)
        *share = (double)(cpu_ns - observer->cpu_ns) / (double)(now_ns - before_ns);
    *observer = (struct mgb_observer){now_ns, cpu_ns};
}

void mgb_observer_rest(struct mgb_observer *observer)
{
    observer->at_ns = 0;
}
