/* Signals of the worker. Handlers only set flags and call the target, which is async-signal-safe by contract. */
#include "app/cli/interrupt.h"
#include "app/cli/progress.h"
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <time.h>
#include <unistd.h>

/* A stop asked for twice within this time is one: `timeout` and shells signal the process and then its whole group. */
#define SAME_NS 200000000LL

static _Atomic(mgb_interrupt_function *) target;
static _Atomic(void *) target_context;
static atomic_bool asked, pipe_closed, be_quiet;
static _Atomic long long first_ns;

static long long now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static void say(const char *text, size_t size)
{
    if (atomic_load(&be_quiet) || !isatty(STDERR_FILENO))
        return;
    bool cleared =
        mgb_cli_progress_clear(); /* the terminal's ^C too, which else stands in the line */
    if ((!cleared && write(STDERR_FILENO, "\n", 1) < 0) || write(STDERR_FILENO, text, size) < 0)
        return; /* the terminal is gone: nobody to tell */
}

static void stop_ask(void)
{
    mgb_interrupt_function *stop = atomic_load(&target);
    if (stop)
        stop(atomic_load(&target_context));
}

static void signal_answer(int number)
{
    static const char text[] = "mgbench: stopping after this step; once more to stop at once\n";
    if (number == SIGPIPE) {
        atomic_store(&pipe_closed, true);
    } else if (atomic_exchange(&asked, true)) {
        if (now_ns() - atomic_load(&first_ns) > SAME_NS)
            _exit(130);
        return;
    } else {
        atomic_store(&first_ns, now_ns());
        say(text, sizeof text - 1);
    }
    stop_ask();
}

/* What it interrupts may be about to read errno. */
static void signal_take(int number)
{
    int before = errno;
    signal_answer(number);
    errno = before;
}

void mgb_interrupt_take(bool quiet)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};
    atomic_store(&be_quiet, quiet);
    /* A limit of file sizes is like a full disk: writing fails, the run goes on. */
    signal(SIGXFSZ, SIG_IGN);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct sigaction old, action = {.sa_handler = signal_take, .sa_flags = SA_RESTART};
        sigaction(numbers[i], NULL, &old);
        if (old.sa_handler != SIG_IGN || numbers[i] == SIGPIPE) /* nohup stays in force */
            sigaction(numbers[i], &action, NULL);
    }
}

void mgb_interrupt_target(mgb_interrupt_function *stop, void *context)
{
    atomic_store(&target, NULL); /* never the new function with the old context */
    atomic_store(&target_context, context);
    atomic_store(&target, stop);
    if (stop && (atomic_load(&asked) || atomic_load(&pipe_closed)))
        stop(context);
}

bool mgb_interrupt_asked(void)
{
    return atomic_load(&asked);
}

bool mgb_interrupt_pipe_closed(void)
{
    return atomic_load(&pipe_closed);
}
