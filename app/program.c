/* See program.h. */
#include "app/program.h"
#include "app/cli/variables.h"
#include "app/mgb_commit.h"
#include "app/supervisor/supervisor.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

struct program {
    struct mgb_invocation in;
    int (*run)(struct mgb_invocation *in);
};

static void point_tell(void *link, const char *point)
{
    mgb_supervised_restartable(link, point);
}

static void screen_tell(void *link, bool on)
{
    mgb_supervised_screen(link, on);
}

static int worker_run(struct mgb_supervised *link, void *context)
{
    struct program *program = context;
    program->in.host = (struct mgb_cli_host){.restartable = point_tell,
                                             .screen = screen_tell,
                                             .context = link,
                                             .restarts = link->restarts,
                                             .point = link->point,
                                             .commit = *MGB_COMMIT ? MGB_COMMIT : NULL};
    return program->run(&program->in);
}

static void worker_died(void *context, pid_t worker, int signal)
{
    struct program *program = context;
    (void)worker;
    (void)signal;
    mgb_cli_mark_crashed(&program->in);
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

int mgb_program_run(const struct mgb_manual *manual, int (*run)(struct mgb_invocation *in),
                    const char *point, int argc, char **argv)
{
    standard_open();
    spinning_limit(argv);
    struct program program = {.run = run};
    int code = mgb_cli_parse(&program.in, manual, argc, argv);
    if (code < 0 && mgb_cli_variables_check() != MGB_OK)
        code = mgb_cli_complain(&program.in, MGB_EXIT_USAGE, "%s", mgb_message_get());
    if (code < 0) {
        prctl(PR_SET_NAME, program.in.program, 0, 0, 0); /* started twice it is "exe" in lists */
        struct mgb_supervisor_settings settings = {.off = program.in.no_supervisor,
                                                   .program = program.in.program,
                                                   .point = point,
                                                   .died = worker_died};
        code = mgb_supervise(&settings, worker_run, &program);
    }
    mgb_cli_done(&program.in);
    return code;
}
