/* Signals of the program. They are blocked from before the first thread on, so that none is disturbed by them, and read from
 * a descriptor like everything else: nothing is done in handlers, but for the wait at the very end. */
#include "app/tui/program.h"
#include <errno.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

static const int read_ones[] = {SIGINT, SIGTERM, SIGHUP, SIGWINCH, SIGTSTP, SIGCONT};
enum { READ_ONES = sizeof read_ones / sizeof *read_ones };

static void signals_collect(sigset_t *out)
{
    sigemptyset(out);
    for (int i = 0; i < READ_ONES; i++) {
        struct sigaction now;
        sigaction(read_ones[i], NULL, &now);
        if (now.sa_handler != SIG_IGN) /* nohup stays in force */
            sigaddset(out, read_ones[i]);
    }
}

enum mgb_status tui_signals_take(struct tui_program *program)
{
    sigset_t wanted, blocked;
    signals_collect(&wanted);
    blocked = wanted;
    sigaddset(&blocked, SIGTTOU); /* setting the terminal up from the background must not stop it */
    pthread_sigmask(SIG_BLOCK, &blocked, &program->mask_before);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* a limit of file sizes is like a full disk */
    program->signals = signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK);
    if (program->signals >= 0)
        return MGB_OK;
    return mgb_fail(MGB_IO, "waiting for signals: %s", strerror(errno));
}

void tui_signals_give_back(struct tui_program *program)
{
    for (int i = 0; i < READ_ONES; i++)
        tui_signals_forget(read_ones[i]); /* what came meanwhile was about what is over */
    if (program->signals >= 0)
        close(program->signals);
    program->signals = -1;
    pthread_sigmask(SIG_SETMASK, &program->mask_before, NULL);
}

int tui_signals_next(struct tui_program *program)
{
    struct signalfd_siginfo info;
    ssize_t size = read(program->signals, &info, sizeof info);
    return size == (ssize_t)sizeof info ? (int)info.ssi_signo : 0;
}

void tui_signals_forget(int number)
{
    static const struct timespec at_once;
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, number);
    while (sigtimedwait(&one, NULL, &at_once) > 0)
        ;
}

static volatile int64_t wait_begun_ns;
static const char *volatile wait_reason = "waiting for the end of the step";

void tui_signals_wait_reason(const char *text)
{
    wait_reason = text;
}

static void waiting_say(const char *text)
{
    if (write(STDERR_FILENO, text, strlen(text)) < 0)
        return; /* nobody to tell */
}

static void wait_signal(int number)
{
    int before = errno;
    if (number == SIGALRM) {
        waiting_say(wait_reason);
        waiting_say("; Ctrl-C ends the program at once\n");
    } else if (tui_now_ns() - wait_begun_ns > TUI_SAME_SIGNAL_NS) {
        waiting_say("ended at once; what was recorded is kept\n");
        _exit(130);
    }
    errno = before;
}

void tui_signals_wait_begin(const struct tui_program *program)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGALRM};
    struct sigaction action = {.sa_handler = wait_signal, .sa_flags = SA_RESTART};
    sigset_t open;
    wait_begun_ns = tui_now_ns();
    sigemptyset(&open);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct sigaction old;
        tui_signals_forget(numbers[i]);
        sigaction(numbers[i], NULL, &old);
        if (old.sa_handler == SIG_IGN)
            continue;
        sigaction(numbers[i], &action, NULL);
        sigaddset(&open, numbers[i]);
    }
    if (program->end == TUI_END_SIGNAL)
        return; /* it ends in two seconds anyway */
    pthread_sigmask(SIG_UNBLOCK, &open, NULL);
    alarm(1);
}

void tui_signals_wait_end(void)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    sigset_t set;
    alarm(0);
    sigemptyset(&set);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        sigaddset(&set, numbers[i]);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct sigaction now;
        sigaction(numbers[i], NULL, &now);
        if (now.sa_handler == wait_signal)
            signal(numbers[i], SIG_DFL);
    }
    signal(SIGALRM, SIG_DFL);
}
