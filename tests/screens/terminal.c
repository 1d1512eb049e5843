/* The pseudo-terminal's part: a process on it, what it writes, how it ends. See terminal.h. */
#include "tests/screens/emulator.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

/* Long enough for output that is on its way, short enough to see an end at once. */
enum { SLICE_MS = 20 };

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

void terminal_fail(struct terminal *t, const char *format, ...)
{
    char what[1000];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    bool ended = terminal_has_ended(t);
    print_error("%s\nthe program %s %d, the screen of %d x %d was:\n", what,
                ended ? "has ended with status" : "runs as process",
                ended ? t->status : (int)t->pid, t->columns, t->rows);
    for (int y = 0; y < t->rows; y++) /* cmocka prints no more than a line of 1 KiB */
        print_error("%s\n", terminal_line(t, y));
    fail_msg("%s", what);
}

static void environment_set(const struct terminal_options *options)
{
    const char *term = options->term ? options->term : "xterm-256color";
    if (*term)
        setenv("TERM", term, 1);
    else
        unsetenv("TERM");
    unsetenv("LINES");
    unsetenv("COLUMNS");
    unsetenv("NO_COLOR");
    for (const char *const *at = options->environment; at && *at; at++) {
        const char *equals = strchr(*at, '=');
        char *name = equals ? strndup(*at, (size_t)(equals - *at)) : NULL;
        if (!equals)
            unsetenv(*at);
        else if (name)
            setenv(name, equals + 1, 1);
        free(name);
    }
}

/* In the child: a session of its own whose terminal is the slave. */
static void program_become(const struct terminal *t, const struct terminal_options *options,
                           const char *const *argv)
{
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    for (int i = 1; i < NSIG; i++)
        signal(i, SIG_DFL);
    setsid();
    ioctl(t->slave, TIOCSCTTY, 0);
    for (int fd = 0; fd <= 2; fd++)
        dup2(t->slave, fd);
    environment_set(options);
    if (options->folder && chdir(options->folder) != 0)
        _exit(126);
    execvp(argv[0], (char *const *)argv);
    _exit(127);
}

struct terminal *terminal_start(const struct terminal_options *options, const char *const *argv)
{
    static const struct terminal_options usual;
    struct terminal *t = calloc(1, sizeof *t);
    assert_non_null(t);
    options = options ? options : &usual;
    t->rows = options->rows ? options->rows : 24;
    t->columns = options->columns ? options->columns : 80;
    t->master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    assert_true(t->master >= 0 && grantpt(t->master) == 0 && unlockpt(t->master) == 0);
    char name[64];
    assert_int_equal(ptsname_r(t->master, name, sizeof name), 0);
    t->slave = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
    assert_true(t->slave >= 0);
    struct winsize size = {.ws_row = (unsigned short)t->rows, .ws_col = (unsigned short)t->columns};
    assert_int_equal(ioctl(t->master, TIOCSWINSZ, &size), 0);
    assert_int_equal(tcgetattr(t->slave, &t->before), 0);
    fcntl(t->master, F_SETFL, O_NONBLOCK);
    emulator_make(t);
    t->pid = fork();
    assert_true(t->pid >= 0);
    if (t->pid == 0)
        program_become(t, options, argv);
    return t;
}

bool terminal_has_ended(struct terminal *t)
{
    if (!t->ended && waitpid(t->pid, &t->status, WNOHANG) == t->pid)
        t->ended = true;
    return t->ended;
}

void terminal_end(struct terminal *t)
{
    if (!t)
        return;
    if (!terminal_has_ended(t)) {
        pid_t worker = terminal_worker(t);
        if (worker != t->pid)
            kill(worker, SIGKILL);
        kill(-t->pid, SIGKILL);
        waitpid(t->pid, &t->status, 0);
    }
    terminal_hang_up(t);
    emulator_free(t);
    free(t);
}

void terminal_hang_up(struct terminal *t)
{
    if (t->slave >= 0)
        close(t->slave);
    if (t->master >= 0)
        close(t->master);
    t->slave = t->master = -1;
}

/* Whatever is there; false: nothing. */
static bool output_take(struct terminal *t)
{
    char block[8192];
    bool any = false;
    ssize_t got;
    while (t->master >= 0 && (got = read(t->master, block, sizeof block)) > 0) {
        emulator_take(t, block, (size_t)got);
        any = true;
    }
    return any;
}

bool terminal_look(struct terminal *t, int ms)
{
    double end = now_s() + ms * 1e-3;
    do {
        if (output_take(t))
            return true;
        double left = (end - now_s()) * 1e3;
        struct pollfd fd = {.fd = t->master, .events = POLLIN};
        poll(&fd, 1, left < 0 ? 0 : left > SLICE_MS ? SLICE_MS : (int)left + 1);
    } while (!terminal_has_ended(t) && now_s() < end);
    return output_take(t);
}

/* A program that does not read fills the line: what it writes meanwhile is taken, so that it gets on. */
void terminal_write(struct terminal *t, const char *bytes, size_t count)
{
    double end = now_s() + TERMINAL_SECONDS;
    while (count > 0 && t->master >= 0 && now_s() < end && !t->ended) {
        ssize_t put = write(t->master, bytes, count);
        if (put > 0) {
            bytes += put;
            count -= (size_t)put;
        } else if (errno == EAGAIN) {
            struct pollfd fd = {.fd = t->master, .events = POLLIN | POLLOUT};
            poll(&fd, 1, SLICE_MS);
            output_take(t);
        } else if (errno != EINTR)
            break;
    }
}

void terminal_resize(struct terminal *t, int rows, int columns)
{
    struct winsize size = {.ws_row = (unsigned short)rows, .ws_col = (unsigned short)columns};
    output_take(t);
    emulator_resize(t, rows, columns);
    assert_int_equal(ioctl(t->master, TIOCSWINSZ, &size), 0);
}

void terminal_await_that(struct terminal *t, bool (*is)(struct terminal *, void *context),
                         void *context, const char *what)
{
    double end = now_s() + TERMINAL_SECONDS;
    while (!is(t, context)) {
        bool ended = terminal_has_ended(t);
        if (!terminal_look(t, 1000) && ended && !is(t, context))
            terminal_fail(t, "the program ended before this came: %s", what);
        if (now_s() > end && !is(t, context))
            terminal_fail(t, "within %d s this did not come: %s", TERMINAL_SECONDS, what);
    }
}

static bool has(struct terminal *t, void *text)
{
    return terminal_has(t, text);
}

static bool has_not(struct terminal *t, void *text)
{
    return !terminal_has(t, text);
}

static bool matches(struct terminal *t, void *regex)
{
    return terminal_matches(t, regex);
}

/* `words` before what is awaited, for people. */
static void await(struct terminal *t, bool (*is)(struct terminal *, void *), const char *words,
                  const char *text)
{
    char what[500], copy[500];
    snprintf(what, sizeof what, "%s'%s'", words, text);
    snprintf(copy, sizeof copy, "%s", text);
    terminal_await_that(t, is, copy, what);
}

void terminal_await(struct terminal *t, const char *text)
{
    await(t, has, "", text);
}

void terminal_await_gone(struct terminal *t, const char *text)
{
    await(t, has_not, "a screen without ", text);
}

void terminal_await_match(struct terminal *t, const char *regex)
{
    await(t, matches, "a match of ", regex);
}

int terminal_await_exit(struct terminal *t)
{
    double end = now_s() + TERMINAL_SECONDS;
    while (!terminal_has_ended(t)) {
        if (now_s() > end)
            terminal_fail(t, "the program did not end within %d s", TERMINAL_SECONDS);
        terminal_look(t, 1000);
    }
    output_take(t);
    return WIFEXITED(t->status) ? WEXITSTATUS(t->status) : 128 + WTERMSIG(t->status);
}
