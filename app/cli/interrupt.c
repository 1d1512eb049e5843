/* Signals of the worker. Handlers only set flags and call the target, which is async-signal-safe by contract. */
#include "app/cli/interrupt.h"
#include "app/cli/progress.h"
#include <mgb/thread.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <time.h>
#include <unistd.h>

/* A stop asked for twice within this time is one: `timeout` and shells signal the process and then its whole group. */
#define SAME_NS 200000000LL
#define STORING_S 2 /* at most */

static _Atomic(mgb_interrupt_function *) target;
static _Atomic(void *) target_context;
static atomic_bool asked, pipe_closed, be_quiet;
static _Atomic long long first_ns, second_ns;

static pthread_mutex_t storing =
    PTHREAD_MUTEX_INITIALIZER; /* of what follows; kept to the end by who stores */
static mgb_interrupt_store *store;
static void *store_context;
static sem_t end_asked;
static atomic_bool has_ender;

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

/* The one who stores ends the process; a disk that takes nothing does not keep it. */
static void end_ask(void)
{
    long long since = now_ns() - atomic_load(&second_ns);
    if (!atomic_load(&has_ender) || (atomic_load(&second_ns) && since > SAME_NS))
        _exit(130);
    if (atomic_load(&second_ns))
        return;
    atomic_store(&second_ns, now_ns());
    alarm(STORING_S);
    sem_post(&end_asked);
}

static void signal_answer(int number)
{
    static const char text[] = "mgbench: stopping after this step; once more to stop at once\n";
    if (number == SIGPIPE) {
        atomic_store(&pipe_closed, true);
    } else if (atomic_exchange(&asked, true)) {
        if (now_ns() - atomic_load(&first_ns) > SAME_NS)
            end_ask();
        return;
    } else {
        atomic_store(&first_ns, now_ns());
        say(text, sizeof text - 1);
    }
    stop_ask();
}

static void alarm_take(int number)
{
    (void)number;
    _exit(130);
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

static void *ender_main(void *unused)
{
    while (sem_wait(&end_asked) != 0)
        ;
    pthread_mutex_lock(&storing);
    if (store)
        store(store_context);
    _exit(130);
    return unused;
}

/* Without a thread for it the second ends the process as the third does. */
static void ender_start(void)
{
    pthread_t thread;
    if (atomic_load(&has_ender))
        return;
    signal(SIGALRM, alarm_take);
    if (sem_init(&end_asked, 0, 0) != 0 ||
        mgb_thread_start(&thread, "ender", ender_main, NULL) != 0)
        return;
    pthread_detach(thread);
    atomic_store(&has_ender, true);
}

void mgb_interrupt_storing(mgb_interrupt_store *what, void *context)
{
    pthread_mutex_lock(&storing);
    store = what;
    store_context = context;
    pthread_mutex_unlock(&storing);
    if (what)
        ender_start();
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
