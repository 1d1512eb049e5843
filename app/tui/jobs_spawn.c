/* See jobs_private.h. posix_spawn, since between fork and exec of a program with threads hardly anything may be called. */
#include "app/tui/jobs_private.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static char **words_make(const struct job_words *words)
{
    char **all = calloc((size_t)words->count + 4, sizeof *all);
    static char db[] = "--db";
    int count = 0;
    if (!all)
        return NULL;
    all[count++] = (char *)words->program;
    if (words->database) {
        all[count++] = db;
        all[count++] = (char *)words->database;
    }
    for (int i = 0; i < words->count; i++)
        all[count++] = words->words[i];
    return all;
}

static int is_set_anew(const char *setting)
{
    return strncmp(setting, "NO_COLOR=", 9) == 0 || strncmp(setting, "MGBENCH_COLUMNS=", 16) == 0;
}

/* The environment with two changes; the settings themselves are borrowed. */
static char **environment_make(char *columns)
{
    static char no_color[] = "NO_COLOR=1";
    size_t count = 0, used = 0;
    while (environ && environ[count])
        count++;
    char **all = calloc(count + 3, sizeof *all);
    if (!all)
        return NULL;
    for (size_t i = 0; i < count; i++)
        if (!is_set_anew(environ[i]))
            all[used++] = environ[i];
    all[used++] = no_color;
    all[used] = columns;
    return all;
}

/* What the child does before it becomes the program. */
static int plan_make(posix_spawn_file_actions_t *actions, posix_spawnattr_t *attributes,
                     const int ends[2])
{
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    int failed = posix_spawn_file_actions_addopen(actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    failed |= posix_spawn_file_actions_adddup2(actions, ends[0], STDOUT_FILENO);
    failed |= posix_spawn_file_actions_adddup2(actions, ends[1], STDERR_FILENO);
    failed |= posix_spawn_file_actions_addclosefrom_np(actions, STDERR_FILENO + 1);
    failed |= posix_spawnattr_setpgroup(attributes, 0);
    failed |= posix_spawnattr_setsigmask(attributes, &none);
    failed |= posix_spawnattr_setsigdefault(attributes, &all);
    failed |= posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
                                                       POSIX_SPAWN_SETSIGDEF);
    return failed;
}

static int process_spawn(pid_t *pid, const int ends[2], char **words, char **environment)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    if (posix_spawn_file_actions_init(&actions) != 0)
        return ENOMEM;
    int failed = posix_spawnattr_init(&attributes);
    if (failed == 0) {
        failed = plan_make(&actions, &attributes, ends);
        if (failed == 0)
            failed = posix_spawn(pid, words[0], &actions, &attributes, words, environment);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&actions);
    return failed;
}

/* Two pipes, and the process at their other ends. */
static int piped_spawn(pid_t *pid, int outputs[2], char **words, char **environment)
{
    int first[2], second[2];
    if (pipe2(first, O_CLOEXEC) != 0)
        return errno;
    if (pipe2(second, O_CLOEXEC) != 0) {
        int failed = errno;
        close(first[0]);
        close(first[1]);
        return failed;
    }
    int failed = process_spawn(pid, (const int[2]){first[1], second[1]}, words, environment);
    close(first[1]);
    close(second[1]);
    if (failed != 0) {
        close(first[0]);
        close(second[0]);
        return failed;
    }
    fcntl(first[0], F_SETFL, O_NONBLOCK);
    fcntl(second[0], F_SETFL, O_NONBLOCK);
    outputs[0] = first[0];
    outputs[1] = second[0];
    return 0;
}

enum mgb_status tui_job_spawn(pid_t *pid, int outputs[2], const struct job_words *words,
                              int columns)
{
    char setting[32];
    snprintf(setting, sizeof setting, "MGBENCH_COLUMNS=%d", columns > 0 ? columns : 80);
    char **all = words_make(words), **environment = environment_make(setting);
    int failed = all && environment ? piped_spawn(pid, outputs, all, environment) : ENOMEM;
    free(all);
    free(environment);
    return failed ? mgb_fail(MGB_IO, "cannot start %s: %s", words->program, strerror(failed))
                  : MGB_OK;
}

int tui_job_watch(pid_t pid)
{
#ifdef SYS_pidfd_open
    return (int)syscall(SYS_pidfd_open, pid, 0);
#else
    (void)pid;
    return -1;
#endif
}
