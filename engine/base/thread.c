/* See mgb/thread.h. */
#include <mgb/thread.h>

#include <signal.h>

int mgb_thread_start(pthread_t *out, const char *name, void *(*run)(void *context), void *context)
{
    static const int own[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    sigset_t quiet, before;
    sigfillset(&quiet);
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        sigdelset(&quiet, own[i]);
    pthread_sigmask(SIG_SETMASK, &quiet, &before);
    int error = pthread_create(out, NULL, run, context);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error == 0 && name)
        pthread_setname_np(*out, name);
    return error;
}
