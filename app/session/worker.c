/* See worker.h. */
#include "app/session/worker.h"

#include <mgb/thread.h>

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct session_worker {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t posted, done;
    session_work *work; /* NULL: nothing to do */
    void *argument;
    bool finished, quit;
    enum mgb_status status;
    struct mgb_oom oom;
    char message[1024];
};

static void worker_run_one(struct session_worker *worker)
{
    pthread_mutex_unlock(&worker->lock);
    enum mgb_status status = worker->work(worker->argument);
    pthread_mutex_lock(&worker->lock);
    worker->status = status;
    if (status != MGB_OK) {
        snprintf(worker->message, sizeof worker->message, "%s", mgb_message_get());
        worker->oom = mgb_oom_get();
    }
    worker->work = NULL;
    worker->finished = true;
    pthread_cond_signal(&worker->done);
}

static void *worker_main(void *argument)
{
    struct session_worker *worker = argument;
    pthread_mutex_lock(&worker->lock);
    while (!worker->quit) {
        if (worker->work)
            worker_run_one(worker);
        else
            pthread_cond_wait(&worker->posted, &worker->lock);
    }
    pthread_mutex_unlock(&worker->lock);
    return NULL;
}

enum mgb_status mgb_session_worker_make(struct session_worker **out)
{
    struct session_worker *worker = calloc(1, sizeof *worker);
    if (!worker)
        return mgb_fail(MGB_NO_MEMORY, "starting the engine's thread: memory is exhausted");
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&worker->lock, NULL);
    pthread_cond_init(&worker->posted, NULL);
    pthread_cond_init(&worker->done, &monotonic);
    pthread_condattr_destroy(&monotonic);
    int failed = mgb_thread_start(&worker->thread, "engine", worker_main, worker);
    if (failed) {
        free(worker);
        return mgb_fail(MGB_NO_MEMORY, "starting the engine's thread: %s", strerror(failed));
    }
    *out = worker;
    return MGB_OK;
}

void mgb_session_worker_free(struct session_worker *worker)
{
    if (!worker)
        return;
    pthread_mutex_lock(&worker->lock);
    worker->quit = true;
    pthread_cond_signal(&worker->posted);
    pthread_mutex_unlock(&worker->lock);
    pthread_join(worker->thread, NULL);
    pthread_mutex_destroy(&worker->lock);
    pthread_cond_destroy(&worker->posted);
    pthread_cond_destroy(&worker->done);
    free(worker);
}

static void worker_wait(struct session_worker *worker, void (*watch)(void *), void *context)
{
    while (!worker->finished) {
        struct timespec until;
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_sec++;
        pthread_cond_timedwait(&worker->done, &worker->lock, &until);
        if (watch && !worker->finished) {
            pthread_mutex_unlock(&worker->lock);
            watch(context);
            pthread_mutex_lock(&worker->lock);
        }
    }
}

enum mgb_status mgb_session_worker_call(struct session_worker *worker, session_work *work,
                                        void *argument, void (*watch)(void *context), void *context)
{
    pthread_mutex_lock(&worker->lock);
    worker->argument = argument;
    worker->work = work;
    worker->finished = false;
    pthread_cond_signal(&worker->posted);
    worker_wait(worker, watch, context);
    enum mgb_status status = worker->status;
    pthread_mutex_unlock(&worker->lock);
    if (status == MGB_OOM)
        mgb_fail_oom(worker->oom.device, worker->oom.needed, worker->oom.available, "");
    return status == MGB_OK ? MGB_OK : mgb_fail(status, "%s", worker->message);
}
