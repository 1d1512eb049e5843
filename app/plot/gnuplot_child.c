/* gnuplot as a process: in a group of its own, so that a terminal's Ctrl-C reaches only us and we end it; it ends with us,
 * and after a bounded time. What it complains of becomes the message. See gnuplot_private.h. */
#include "app/plot/gnuplot_private.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TIMEOUT_S 60.0
#define LOOK_MS 10

static bool (*user_stops)(void);

void mgb_gnuplot_watch(bool (*stop)(void))
{
    user_stops = stop;
}

static double timeout_s(void)
{
    const char *text = getenv("MGBENCH_GNUPLOT_TIMEOUT");
    char *end = NULL;
    double seconds = text && *text ? strtod(text, &end) : TIMEOUT_S;
    return end && (*end || !(seconds >= 0) || seconds > 1e9) ? TIMEOUT_S : seconds;
}

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* What gnuplot wrote to its standard error, without the script's lines that it repeats. */
enum mgb_status mgb_gnuplot_fail(int complaints, int state)
{
    char text[1024];
    ssize_t got = pread(complaints, text, sizeof text - 1, 0);
    text[got > 0 ? got : 0] = '\0';
    const char *line = strstr(text, "line ");
    line = line ? line : text;
    size_t length = strcspn(line, "\n");
    if (WIFSIGNALED(state))
        return mgb_fail(MGB_IO, "gnuplot was ended by signal %d", WTERMSIG(state));
    return mgb_fail(MGB_IO, "gnuplot failed (exit %d): %.*s", WEXITSTATUS(state), (int)length,
                    length ? line : "it did not say why");
}

/* In the new process: nothing here may take a lock. Tells through `report` why it could not become gnuplot. */
static void child_become(pid_t parent, const int files[3], int report)
{
    char name[] = "gnuplot", plain[] = "-d", input[] = "-"; /* -d: nobody's ~/.gnuplot */
    char *const words[] = {name, plain, input, NULL};
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) /* it died before that took hold */
        _exit(1);
    int kept[3]; /* without a standard input of ours they may lie where they are to go */
    for (int i = 0; i < 3; i++)
        kept[i] = fcntl(files[i], F_DUPFD_CLOEXEC, 3);
    for (int i = 0; i < 3; i++)
        if (kept[i] < 0 || dup2(kept[i], i) < 0)
            _exit(1);
    execvp(name, words);
    int error = errno;
    _exit(write(report, &error, sizeof error) == sizeof error ? 127 : 126);
}

static enum mgb_status child_start(pid_t *out, const int files[3])
{
    int ends[2], error = 0;
    pid_t parent = getpid();
    if (pipe2(ends, O_CLOEXEC) != 0)
        return mgb_fail(MGB_IO, "starting gnuplot failed: %s", strerror(errno));
    *out = fork();
    if (*out == 0)
        child_become(parent, files, ends[1]);
    error = *out < 0 ? errno : 0;
    close(ends[1]);
    while (*out > 0 && read(ends[0], &error, sizeof error) < 0 && errno == EINTR)
        continue;
    close(ends[0]);
    if (error == 0)
        return MGB_OK;
    while (*out > 0 && waitpid(*out, NULL, 0) < 0 && errno == EINTR)
        continue;
    return mgb_fail(MGB_MISSING, "starting gnuplot failed: %s", strerror(error));
}

static enum mgb_status child_end(pid_t child, enum mgb_status status)
{
    kill(-child, SIGKILL); /* and what it started itself */
    kill(child, SIGKILL);
    while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
        continue;
    return status;
}

enum mgb_status mgb_gnuplot_run(int script, int picture, int complaints)
{
    pid_t child = 0, ended;
    int state = 0;
    double began = now_s(), most = timeout_s();
    MGB_TRY(child_start(&child, (int[]){script, picture, complaints}));
    while ((ended = waitpid(child, &state, WNOHANG)) == 0 || (ended < 0 && errno == EINTR)) {
        if (user_stops && user_stops())
            return child_end(child, mgb_fail(MGB_INTERRUPTED, "drawing was interrupted"));
        if (most > 0 && now_s() - began > most)
            return child_end(child,
                             mgb_fail(MGB_TIMEOUT,
                                      "gnuplot did not end within %.6g s and was ended: try "
                                      "again, or give it more (MGBENCH_GNUPLOT_TIMEOUT=SECONDS)",
                                      most));
        poll(NULL, 0, LOOK_MS); /* a signal ends it */
    }
    if (ended < 0)
        return mgb_fail(MGB_IO, "waiting for gnuplot failed: %s", strerror(errno));
    if (WIFSIGNALED(state) && user_stops && user_stops()) /* by the same hand */
        return mgb_fail(MGB_INTERRUPTED, "drawing was interrupted");
    return WIFEXITED(state) && WEXITSTATUS(state) == 0 ? MGB_OK
                                                       : mgb_gnuplot_fail(complaints, state);
}
