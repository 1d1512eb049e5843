/* A terminal may take nothing more: an ssh that stands still, a reader that was stopped. Whoever writes to it waits then, the
 * main thread too. This thread sees that a signal to end is not answered, or that the end does not get on, because of that,
 * and puts nothing in the terminal's place. It sleeps otherwise. */
#include "app/tui/program.h"
#include <mgb/thread.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { PATIENCE_MS = 600, SLICE_MS = 50 };
enum { WATCH_LOOP, WATCH_END, WATCH_OVER }; /* tui_program.watched */

static void nothing_do(int number)
{
    (void)number; /* it only ends the call that waits */
}

static bool end_is_pending(void)
{
    sigset_t pending;
    return sigpending(&pending) == 0 &&
           (sigismember(&pending, SIGTERM) || sigismember(&pending, SIGHUP) ||
            sigismember(&pending, SIGINT));
}

/* True: it was a terminal that takes nothing, and is none any more. */
static bool descriptor_abandon(int fd, int nothing)
{
    struct pollfd out = {.fd = fd, .events = POLLOUT};
    return fd >= 0 && isatty(fd) && poll(&out, 1, 0) == 0 && dup2(nothing, fd) >= 0;
}

static void terminal_abandon(struct tui_program *program)
{
    struct sigaction action = {.sa_handler = nothing_do};
    int nothing = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (nothing < 0)
        return;
    bool any = descriptor_abandon(tui_terminal_descriptor(), nothing);
    any |= descriptor_abandon(STDOUT_FILENO, nothing);
    any |= descriptor_abandon(STDERR_FILENO, nothing);
    close(nothing);
    if (any)
        atomic_store(&program->stalled, true);
    if (!atomic_load(&program->stalled))
        return;
    sigaction(SIGURG, &action, NULL); /* else it is ignored; the write must end, not begin anew */
    pthread_kill(program->main, SIGURG);
}

static void *watch(void *context)
{
    struct tui_program *program = context;
    struct pollfd fds[] = {{.fd = program->watch, .events = POLLIN},
                           {.fd = program->signals, .events = POLLIN}};
    int waited_ms = 0, phase;
    eventfd_t count;
    while ((phase = atomic_load(&program->watched)) != WATCH_OVER) {
        bool due = phase == WATCH_END || end_is_pending();
        if (due && waited_ms >= PATIENCE_MS)
            terminal_abandon(program);
        waited_ms = due ? waited_ms + SLICE_MS : 0;
        bool idle = !due && !fds[1].revents; /* other signals are taken in a moment */
        fds[1].revents = 0;
        poll(fds, idle ? 2 : 1, idle ? -1 : SLICE_MS);
        if (fds[0].revents)
            eventfd_read(program->watch, &count);
    }
    return NULL;
}

enum mgb_status tui_watch_begin(struct tui_program *program)
{
    program->main = pthread_self();
    program->watch = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    int error = program->watch < 0 ? errno : 0;
    if (!error)
        error = mgb_thread_start(&program->watcher, "watch", watch, program);
    if (!error)
        return MGB_OK;
    if (program->watch >= 0)
        close(program->watch);
    program->watch = -1;
    return mgb_fail(MGB_IO, "watching the terminal: %s", strerror(error));
}

static void phase_set(struct tui_program *program, int phase)
{
    if (program->watch < 0)
        return;
    atomic_store(&program->watched, phase);
    eventfd_write(program->watch, 1);
}

void tui_watch_end_begun(struct tui_program *program)
{
    phase_set(program, WATCH_END);
}

void tui_watch_end(struct tui_program *program)
{
    if (program->watch < 0)
        return;
    phase_set(program, WATCH_OVER);
    pthread_join(program->watcher, NULL);
    close(program->watch);
    program->watch = -1;
}
