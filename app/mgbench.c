/* The command line program: reads its words, then runs the command in a supervised worker. */
#include "app/cli/manual.h"
#include "app/mgb_commit.h"
#include "app/supervisor/supervisor.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

static void point_tell(void *link, const char *point)
{
    mgb_supervised_restartable(link, point);
}

static int worker_run(struct mgb_supervised *link, void *context)
{
    struct mgb_invocation *in = context;
    in->host = (struct mgb_cli_host){.restartable = point_tell,
                                     .context = link,
                                     .restarts = link->restarts,
                                     .point = link->point,
                                     .commit = *MGB_COMMIT ? MGB_COMMIT : NULL};
    return mgb_cli_run(in);
}

static void worker_died(void *context, pid_t worker, int signal)
{
    (void)worker;
    (void)signal;
    mgb_cli_mark_crashed(context);
}

/* libgomp's idle threads spin for milliseconds before they sleep, which costs whoever shares the machine, this program's
 * other devices included, more than it gains: with 1,000 turns a step on an idle machine takes as long. It reads its limit
 * when it is loaded, so the program starts once more with it set, unless the user has chosen. */
static void spinning_limit(char **argv)
{
    if (getenv("OMP_WAIT_POLICY") || getenv("GOMP_SPINCOUNT"))
        return;
    if (setenv("GOMP_SPINCOUNT", "1000", 1) == 0)
        execv("/proc/self/exe", argv); /* comes back only if it cannot */
}

/* What the shell closed: the next file that is opened would get its number, and be written to. What is opened the wrong
 * way round fails as a closed one does. */
static void standard_open(void)
{
    for (int fd = 0; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 &&
            open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd)
            return; /* no /dev/null: nothing better to do */
}

int main(int argc, char **argv)
{
    standard_open();
    spinning_limit(argv);
    struct mgb_invocation in;
    int code = mgb_cli_parse(&in, &mgb_manual_mgbench, argc, argv);
    if (code < 0) {
        struct mgb_supervisor_settings settings = {
            .off = in.no_supervisor, .program = in.program, .died = worker_died};
        code = mgb_supervise(&settings, worker_run, &in);
    }
    mgb_cli_done(&in);
    return code;
}
