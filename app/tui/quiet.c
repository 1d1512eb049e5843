/* See quiet.h. */
#include "app/tui/quiet.h"
#include <signal.h>

int tui_thread_start(pthread_t *out, void *(*run)(void *context), void *context)
{
    static const int own[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    sigset_t quiet, before;
    sigfillset(&quiet);
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        sigdelset(&quiet, own[i]);
    pthread_sigmask(SIG_SETMASK, &quiet, &before);
    int error = pthread_create(out, NULL, run, context);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}
