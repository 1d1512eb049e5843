/* A terminal may take nothing more: an ssh that stands still, a reader that was stopped. Whoever writes to it waits then, the
 * main thread too. This thread sees that a signal to end is not answered, or that the end does not get on, because of that,
 * and puts nothing in the terminal's place; for a moment only where a picture keeps a key from being read. It sleeps
 * otherwise. */
#include "app/tui/program.h"
#include <mgb/thread.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { PATIENCE_MS = 600, LEAVE_PATIENCE_MS = 1200, SLICE_MS = 50 };
enum { WATCH_LOOP, WATCH_LEAVE, WATCH_END, WATCH_OVER }; /* tui_program.watched */

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

/* What is left of the picture goes nowhere; the main thread, which then takes the key, gives the terminal back. */
static void picture_cut(struct tui_program *program, unsigned picture)
{
    struct sigaction action = {.sa_handler = nothing_do};
    struct pollfd out = {.fd = program->terminal, .events = POLLOUT};
    int nothing = open("/dev/null", O_WRONLY | O_CLOEXEC), drawn = tui_terminal_descriptor();
    pthread_mutex_lock(&program->cut_lock);
    if (nothing >= 0 && drawn >= 0 && atomic_load(&program->drawing) == picture &&
        poll(&out, 1, 0) == 0 && dup3(nothing, drawn, O_CLOEXEC) >= 0) {
        program->cut = true;
        sigaction(SIGURG, &action, NULL);
        pthread_kill(program->main, SIGURG);
    }
    pthread_mutex_unlock(&program->cut_lock);
    if (nothing >= 0)
        close(nothing);
}

void tui_watch_picture_begun(struct tui_program *program)
{
    atomic_fetch_add(&program->drawing, 1);
}

bool tui_watch_picture_ended(struct tui_program *program)
{
    pthread_mutex_lock(&program->cut_lock);
    atomic_fetch_add(&program->drawing, 1);
    bool cut = program->cut;
    program->cut = false;
    pthread_mutex_unlock(&program->cut_lock);
    return !cut || dup3(program->terminal, tui_terminal_descriptor(), O_CLOEXEC) < 0;
}

/* How long a key has waited for one and the same picture. */
static int key_waited_ms(const struct tui_program *program, bool pressed, unsigned *picture,
                         int before_ms)
{
    unsigned now = atomic_load(&program->drawing);
    bool same = pressed && now % 2 == 1 && now == *picture;
    *picture = now;
    return same ? before_ms + SLICE_MS : 0;
}

static int patience_ms(int phase)
{
    return phase == WATCH_LEAVE ? LEAVE_PATIENCE_MS : PATIENCE_MS;
}

static void *watch(void *context)
{
    struct tui_program *program = context;
    struct pollfd fds[] = {{.fd = program->watch, .events = POLLIN},
                           {.fd = program->signals, .events = POLLIN},
                           {.fd = program->keyboard, .events = POLLIN}};
    int waited_ms = 0, key_ms = 0, phase;
    unsigned picture = 0;
    eventfd_t count;
    while ((phase = atomic_load(&program->watched)) != WATCH_OVER) {
        bool due = phase != WATCH_LOOP || end_is_pending();
        if (due && waited_ms >= patience_ms(phase))
            terminal_abandon(program);
        waited_ms = due ? waited_ms + SLICE_MS : 0;
        if (poll(&fds[2], 1, 0) > 0 && fds[2].revents != POLLIN)
            fds[2].fd = -1; /* hung up */
        key_ms = key_waited_ms(program, fds[2].revents == POLLIN, &picture, key_ms);
        if (!due && key_ms >= PATIENCE_MS)
            picture_cut(program, picture);
        /* other signals and keys are taken in a moment */
        bool idle = !due && !fds[1].revents && !fds[2].revents;
        fds[1].revents = 0;
        poll(fds, idle ? 3 : 1, idle ? -1 : SLICE_MS);
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
    phase_set(program, program->end == TUI_END_SIGNAL ? WATCH_END : WATCH_LEAVE);
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
