/* The supervisor's one loop. Signals are handled inside ppoll only, so that nothing can slip between looking and waiting.
 * Ctrl-C reaches the whole foreground group from the terminal by itself; only what was sent to the supervisor alone is
 * passed on, or the worker would count it twice. */
#include "app/supervisor/supervisor.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#define MOST_DEATHS 3 /* at one point */

enum message_kind {
    MESSAGE_POINT,
    MESSAGE_NO_POINT,
    MESSAGE_SCREEN_ON,
    MESSAGE_SCREEN_OFF,
    MESSAGE_RETURNED, /* what comes from here on is no fault */
    MESSAGE_EXITS     /* something called exit */
};

struct message { /* shorter than PIPE_BUF: written whole or not at all */
    int kind;
    char text[MGB_SUPERVISED_POINT];
};
_Static_assert(sizeof(struct message) <= PIPE_BUF, "a message must be written whole or not at all");

/* Async-signal-safe. */
static void message_send(const struct mgb_supervised *link, enum message_kind kind,
                         const char *text)
{
    struct message message = {.kind = kind};
    size_t length = strlen(text);
    if (link->pipe < 0)
        return;
    memcpy(message.text, text, length < sizeof message.text ? length : sizeof message.text - 1);
    while (write(link->pipe, &message, sizeof message) < 0 && errno == EINTR)
        ;
}

void mgb_supervised_restartable(struct mgb_supervised *link, const char *point)
{
    message_send(link, point ? MESSAGE_POINT : MESSAGE_NO_POINT, point ? point : "");
}

void mgb_supervised_screen(struct mgb_supervised *link, bool on)
{
    message_send(link, on ? MESSAGE_SCREEN_ON : MESSAGE_SCREEN_OFF, "");
}

/* What is known of the worker that runs now. */
struct watch {
    pid_t pid;
    int pipe, status;
    bool restartable, screen, returned, exits;
    char point[MGB_SUPERVISED_POINT];
};

static volatile sig_atomic_t worker_pid, stop_asked;

static void signal_pass_on(int number, siginfo_t *info, void *unused)
{
    (void)unused;
    if (number == SIGCHLD)
        return; /* it only ends the wait */
    stop_asked = 1;
    if (info->si_code != SI_KERNEL && worker_pid > 0)
        kill(worker_pid, number);
}

static const int handled[] = {SIGCHLD, SIGINT, SIGTERM, SIGHUP};
#define HANDLED (sizeof handled / sizeof *handled)

static void signals_take(sigset_t *before)
{
    struct sigaction action = {.sa_sigaction = signal_pass_on, .sa_flags = SA_SIGINFO};
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < HANDLED; i++)
        sigaddset(&set, handled[i]);
    sigprocmask(SIG_BLOCK, &set, before);
    for (size_t i = 0; i < HANDLED; i++) {
        struct sigaction old;
        sigaction(handled[i], NULL, &old);
        if (old.sa_handler != SIG_IGN || handled[i] == SIGCHLD) /* nohup stays in force */
            sigaction(handled[i], &action, NULL);
    }
}

static void signals_give_back(const sigset_t *before)
{
    for (size_t i = 0; i < HANDLED; i++) {
        struct sigaction old;
        sigaction(handled[i], NULL, &old);
        if (old.sa_handler != SIG_IGN)
            signal(handled[i], SIG_DFL);
    }
    sigprocmask(SIG_SETMASK, before, NULL);
}

/* A wish to stop may have come together with the worker's end, and not been let in yet. */
static void signals_look(void)
{
    sigset_t waiting;
    sigpending(&waiting);
    if (sigismember(&waiting, SIGINT) || sigismember(&waiting, SIGTERM) ||
        sigismember(&waiting, SIGHUP))
        stop_asked = 1;
}

/* A signal that came together with the worker's end may still wait, and would kill this process once it is let in: what it
 * was about is over. Ignoring a signal discards it. */
static void signals_discard(void)
{
    for (size_t i = 0; i < HANDLED; i++) {
        struct sigaction old;
        sigaction(handled[i], NULL, &old);
        signal(handled[i], SIG_IGN);
        sigaction(handled[i], &old, NULL);
    }
}

static void message_take(struct watch *watch, const struct message *message)
{
    switch ((enum message_kind)message->kind) {
    case MESSAGE_POINT:
        watch->restartable = true;
        memcpy(watch->point, message->text, sizeof watch->point);
        break;
    case MESSAGE_NO_POINT:
        watch->restartable = false;
        break;
    case MESSAGE_SCREEN_ON:
        watch->screen = true;
        break;
    case MESSAGE_SCREEN_OFF:
        watch->screen = false;
        break;
    case MESSAGE_RETURNED:
        watch->returned = true;
        break;
    case MESSAGE_EXITS:
        watch->exits = true;
        break;
    }
}

static void messages_drain(struct watch *watch)
{
    struct message message;
    ssize_t size;
    while ((size = read(watch->pipe, &message, sizeof message)) == (ssize_t)sizeof message)
        message_take(watch, &message);
    if (size == 0) { /* the worker closed its end: wait for the process alone */
        close(watch->pipe);
        watch->pipe = -1;
    }
}

static void worker_await(struct watch *watch, const sigset_t *during)
{
    for (;;) {
        struct pollfd fd = {.fd = watch->pipe, .events = POLLIN};
        int ready = ppoll(&fd, 1, NULL, during);
        if (ready > 0)
            messages_drain(watch);
        if (waitpid(watch->pid, &watch->status, WNOHANG) == watch->pid)
            break;
    }
    if (watch->pipe >= 0) {
        messages_drain(watch);
        if (watch->pipe >= 0)
            close(watch->pipe);
    }
}

static struct mgb_supervised of_this_process;
static pid_t this_process; /* 0: the worker has returned */

/* Destructors would run beside threads that are still at work. Not for children that the worker forks. */
static void exit_take(int code, void *unused)
{
    (void)unused;
    if (getpid() != this_process)
        return;
    message_send(&of_this_process, MESSAGE_EXITS, "");
    _exit(code);
}

static void child_run(mgb_worker_function *worker, void *context, struct mgb_supervised link,
                      pid_t parent, const sigset_t *mask)
{
    signals_give_back(mask);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) /* it died before that took hold */
        _exit(1);
    of_this_process = link;
    this_process = getpid();
    on_exit(exit_take, NULL);
    int code = worker(&link, context);
    message_send(&link, MESSAGE_RETURNED, "");
    this_process = 0;
    exit(code);
}

static bool worker_start(struct watch *watch, mgb_worker_function *worker, void *context,
                         struct mgb_supervised link, const sigset_t *mask)
{
    int ends[2];
    pid_t parent = getpid();
    /* One that dies before it has told where it is died where the one before did. */
    *watch = (struct watch){.pipe = -1, .restartable = link.restarts > 0};
    memcpy(watch->point, link.point, sizeof watch->point);
    if (pipe2(ends, O_CLOEXEC) != 0)
        return false;
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    fflush(NULL);
    watch->pid = fork();
    if (watch->pid == 0) {
        close(ends[0]);
        link.pipe = ends[1];
        child_run(worker, context, link, parent, mask);
    }
    close(ends[1]);
    watch->pipe = ends[0];
    worker_pid = watch->pid;
    return watch->pid > 0;
}

static void terminal_restore(const struct termios *saved, bool known, bool screen)
{
    if (!known)
        return;
    static const char leave[] = "\033[?1000l\033[?1006l\033[?1049l\033[?25h\033[0m\r\n";
    void (*before)(int) = signal(SIGTTOU, SIG_IGN);
    tcsetattr(STDIN_FILENO, TCSANOW, saved);
    signal(SIGTTOU, before);
    if (screen && isatty(STDOUT_FILENO) && write(STDOUT_FILENO, leave, sizeof leave - 1) < 0)
        return; /* the terminal is gone: nothing left to restore */
}

static void death_tell(const char *program, int status)
{
    if (WIFSIGNALED(status))
        fprintf(stderr, "%s: the program died: %s (signal %d); what was recorded is kept\n",
                program, strsignal(WTERMSIG(status)), WTERMSIG(status));
    else
        fprintf(stderr,
                "%s: the program died: something in it ended it with code %d; what was recorded is "
                "kept\n",
                program, WEXITSTATUS(status));
}

/* Whether to start again; `deaths` counts those at one point. */
static bool death_judge(const struct mgb_supervisor_settings *settings, const struct watch *watch,
                        struct mgb_supervised *link, int *deaths)
{
    const char *program = settings->program;
    const char *point = !*watch->point    ? "its start"
                        : settings->point ? settings->point
                                          : watch->point;
    death_tell(program, watch->status);
    if (!watch->restartable)
        return false;
    *deaths = link->restarts > 0 && strcmp(link->point, watch->point) == 0 ? *deaths + 1 : 1;
    memcpy(link->point, watch->point, sizeof link->point);
    if (*deaths >= MOST_DEATHS) {
        fprintf(stderr, "%s: giving up after %d deaths at %s\n", program, *deaths, point);
        return false;
    }
    link->restarts++;
    fprintf(stderr, "%s: starting again; it was at %s\n", program, point);
    return true;
}

/* A planted fault befalls one worker: the next one has what follows the next ';' (engine/host/fault.h). */
static void faults_pass(void)
{
    const char *planted = getenv("MGBENCH_FAULT"), *rest = planted ? strchr(planted, ';') : NULL;
    if (rest)
        setenv("MGBENCH_FAULT", rest + 1, 1);
    else
        unsetenv("MGBENCH_FAULT");
}

static int watch_over(const struct mgb_supervisor_settings *settings, mgb_worker_function *worker,
                      void *context, const sigset_t *mask)
{
    struct termios saved;
    bool known = tcgetattr(STDIN_FILENO, &saved) == 0;
    struct mgb_supervised link = {.pipe = -1};
    struct watch watch;
    int deaths = 0;
    do {
        if (!worker_start(&watch, worker, context, link, mask)) {
            fprintf(stderr, "%s: cannot start a process: %s\n", settings->program, strerror(errno));
            return 1;
        }
        faults_pass();
        worker_await(&watch, mask);
        worker_pid = 0;
        signals_look();
        if (watch.returned && WIFEXITED(watch.status))
            return WEXITSTATUS(watch.status);
        bool own_way = WIFEXITED(watch.status) && !watch.exits && !watch.screen;
        if (!own_way)
            terminal_restore(&saved, known, watch.screen);
        if (settings->died)
            settings->died(context, watch.pid,
                           WIFSIGNALED(watch.status) ? WTERMSIG(watch.status) : 0);
        if (own_way) /* by _exit, for what it could not wait for */
            return WEXITSTATUS(watch.status);
        if (stop_asked)
            return 130;
    } while (death_judge(settings, &watch, &link, &deaths));
    return 1;
}

int mgb_supervise(const struct mgb_supervisor_settings *settings, mgb_worker_function *worker,
                  void *context)
{
    if (settings->off) {
        struct mgb_supervised link = {.pipe = -1};
        return worker(&link, context);
    }
    sigset_t before;
    signals_take(&before);
    int code = watch_over(settings, worker, context, &before);
    signals_discard();
    signals_give_back(&before);
    return code;
}
