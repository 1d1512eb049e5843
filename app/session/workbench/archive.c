/* The archive's thread: newest request first, and only that; see archive.h. What a list is made of is in archive_list.c. */
#include "app/session/workbench/archive_private.h"

#include <mgb/thread.h>

#include "app/session/workbench/results_file.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct mgb_archive {
    pthread_t thread;
    pthread_mutex_t lock; /* held for copies only */
    pthread_cond_t posted;
    void (*changed)(void *context);
    void *context;
    struct mgb_results_file file; /* the thread's */
    atomic_bool stop, abandon;    /* abandon: a newer request waits */

    struct mgb_list_request asked; /* its filter is the copy below */
    char filter[ARCHIVE_FILTER + 1];
    bool ever, waits; /* something was asked for; it is to be answered */
    const struct mgb_list *list;
    uint64_t version;
};

static bool is_abandoned(void *context)
{
    struct mgb_archive *archive = context;
    return atomic_load(&archive->abandon) || atomic_load(&archive->stop);
}

static enum mgb_status list_read(struct mgb_archive *archive, struct mgb_list *list,
                                 const struct mgb_list_request *request)
{
    struct mgb_reader *reader;
    MGB_TRY(mgb_results_file_get(&reader, &archive->file));
    mgb_reader_watch(reader, is_abandoned, archive);
    enum mgb_status status = mgb_archive_list_fill(list, reader, request);
    if (status != MGB_OK && is_abandoned(archive))
        return MGB_INTERRUPTED;
    if (status != MGB_OK && status != MGB_INVALID)
        mgb_results_file_close(&archive->file);
    return status;
}

static void list_publish(struct mgb_archive *archive, struct mgb_list *list)
{
    pthread_mutex_lock(&archive->lock);
    const struct mgb_list *old = archive->list;
    list->version = ++archive->version;
    archive->list = list;
    pthread_mutex_unlock(&archive->lock);
    mgb_shared_drop(old);
    if (archive->changed)
        archive->changed(archive->context);
}

static void request_answer(struct mgb_archive *archive, const struct mgb_list_request *request)
{
    struct mgb_list *list = mgb_archive_list_make(request);
    if (!list)
        return;
    enum mgb_status status = list_read(archive, list, request);
    if (status == MGB_INTERRUPTED) {
        mgb_shared_drop(list);
        return;
    }
    if (status != MGB_OK) {
        list->count = 0;
        list->total = 0;
        snprintf(list->message, sizeof list->message, "%s", mgb_message_get());
    }
    list_publish(archive, list);
}

static void *archive_main(void *argument)
{
    struct mgb_archive *archive = argument;
    char filter[sizeof archive->filter];
    pthread_mutex_lock(&archive->lock);
    while (!atomic_load(&archive->stop)) {
        if (!archive->waits) {
            pthread_cond_wait(&archive->posted, &archive->lock);
            continue;
        }
        struct mgb_list_request request = archive->asked;
        strcpy(filter, archive->filter);
        request.filter = filter;
        archive->waits = false;
        atomic_store(&archive->abandon, false);
        pthread_mutex_unlock(&archive->lock);
        request_answer(archive, &request);
        pthread_mutex_lock(&archive->lock);
    }
    pthread_mutex_unlock(&archive->lock);
    mgb_results_file_close(&archive->file);
    return NULL;
}

static void archive_free(struct mgb_archive *archive)
{
    pthread_mutex_destroy(&archive->lock);
    pthread_cond_destroy(&archive->posted);
    mgb_shared_drop(archive->list);
    free(archive->file.path);
    free(archive);
}

static enum mgb_status archive_start(struct mgb_archive *archive, const char *path)
{
    if (!(archive->file.path = strdup(path)))
        return mgb_fail(MGB_NO_MEMORY, "no memory to list the runs of %s", path);
    int failed = mgb_thread_start(&archive->thread, "archive", archive_main, archive);
    return failed ? mgb_fail(MGB_NO_MEMORY, "starting the thread that lists runs: %s",
                             strerror(failed))
                  : MGB_OK;
}

enum mgb_status mgb_archive_open(struct mgb_archive **out, const char *path,
                                 void (*changed)(void *context), void *context)
{
    *out = NULL;
    struct mgb_archive *archive = calloc(1, sizeof *archive);
    if (!archive)
        return mgb_fail(MGB_NO_MEMORY, "no memory to list the runs of %s", path);
    pthread_mutex_init(&archive->lock, NULL);
    pthread_cond_init(&archive->posted, NULL);
    archive->changed = changed;
    archive->context = context;
    enum mgb_status status = archive_start(archive, path);
    if (status != MGB_OK) {
        archive_free(archive);
        return status;
    }
    *out = archive;
    return MGB_OK;
}

void mgb_archive_close(struct mgb_archive *archive)
{
    if (!archive)
        return;
    pthread_mutex_lock(&archive->lock);
    atomic_store(&archive->stop, true);
    pthread_cond_signal(&archive->posted);
    pthread_mutex_unlock(&archive->lock);
    pthread_join(archive->thread, NULL);
    archive_free(archive);
}

void mgb_archive_ask(struct mgb_archive *archive, const struct mgb_list_request *request)
{
    pthread_mutex_lock(&archive->lock);
    archive->asked = *request;
    if ((int)request->sort < 0 || request->sort >= MGB_LIST_COLUMN_COUNT)
        archive->asked.sort = MGB_LIST_RUN;
    archive->asked.first = request->first > 0 ? request->first : 0;
    snprintf(archive->filter, sizeof archive->filter, "%s", request->filter ? request->filter : "");
    archive->ever = archive->waits = true;
    atomic_store(&archive->abandon, true);
    pthread_cond_signal(&archive->posted);
    pthread_mutex_unlock(&archive->lock);
}

void mgb_archive_refresh(struct mgb_archive *archive)
{
    pthread_mutex_lock(&archive->lock);
    archive->waits = archive->ever;
    pthread_cond_signal(&archive->posted);
    pthread_mutex_unlock(&archive->lock);
}

const struct mgb_list *mgb_archive_look(struct mgb_archive *archive)
{
    pthread_mutex_lock(&archive->lock);
    const struct mgb_list *list = mgb_shared_hold(archive->list);
    pthread_mutex_unlock(&archive->lock);
    return list;
}
