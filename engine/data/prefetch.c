/* Fills two batch slots on a thread of its own, so that reading overlaps with the step before. The thread blocks all
 * signals: handlers belong to the program's other threads. */
#include <mgb/data.h>

#include <mgb/thread.h>

#include "engine/base/memory.h"
#include "engine/base/text.h"
#include <pthread.h>
#include <string.h>

enum slot_state { SLOT_EMPTY, SLOT_WANTED, SLOT_FILLING, SLOT_READY, SLOT_FAILED };

struct slot {
    enum slot_state state;
    struct mgb_batch_request request; /* wanted, being filled or held */
    bool renewed;                     /* while filling: another request arrived */
    struct mgb_batch_request next;
    enum mgb_status status; /* SLOT_FAILED */
    char message[512];
};

struct mgb_prefetch {
    const struct mgb_source *source;
    uint64_t seed;
    int inputs;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t work, done;
    bool closing;
    unsigned turn; /* which slot is looked at first: the one asked for longer ago */
    struct slot slot[2];
    void *memory[]; /* slot * inputs + input */
};

static bool request_equal(struct mgb_batch_request a, struct mgb_batch_request b)
{
    return a.epoch == b.epoch && a.first == b.first && a.rows == b.rows;
}

static enum mgb_status slot_fill(struct mgb_prefetch *prefetch, int index,
                                 struct mgb_batch_request request)
{
    const struct mgb_source *source = prefetch->source;
    for (int i = 0; i < prefetch->inputs; i++)
        MGB_TRY(source->fill(source->context, prefetch->seed, request.epoch, request.first,
                             request.rows, i, prefetch->memory[index * prefetch->inputs + i]));
    return MGB_OK;
}

/* The slot to fill next, or -1. */
static int wanted_find(const struct mgb_prefetch *prefetch)
{
    for (unsigned i = 0; i < 2; i++) {
        unsigned index = (prefetch->turn + i) % 2;
        if (prefetch->slot[index].state == SLOT_WANTED)
            return (int)index;
    }
    return -1;
}

/* Called with the lock held, which is given up while the source works. */
static void slot_serve(struct mgb_prefetch *prefetch, int index)
{
    struct slot *slot = &prefetch->slot[index];
    struct mgb_batch_request request = slot->request;
    slot->state = SLOT_FILLING;
    pthread_mutex_unlock(&prefetch->lock);
    enum mgb_status status = slot_fill(prefetch, index, request);
    pthread_mutex_lock(&prefetch->lock);
    prefetch->turn = (unsigned)index ^ 1;
    if (slot->renewed) {
        slot->renewed = false;
        slot->request = slot->next;
        slot->state = SLOT_WANTED;
        return;
    }
    slot->state = status == MGB_OK ? SLOT_READY : SLOT_FAILED;
    slot->status = status;
    if (status != MGB_OK)
        mgb_format(slot->message, sizeof slot->message, "%s", mgb_message_get());
    pthread_cond_broadcast(&prefetch->done);
}

static void *prefetch_main(void *argument)
{
    struct mgb_prefetch *prefetch = argument;
    pthread_mutex_lock(&prefetch->lock);
    while (!prefetch->closing) {
        int index = wanted_find(prefetch);
        if (index < 0)
            pthread_cond_wait(&prefetch->work, &prefetch->lock);
        else
            slot_serve(prefetch, index);
    }
    pthread_mutex_unlock(&prefetch->lock);
    return NULL;
}

static int thread_start(struct mgb_prefetch *prefetch)
{
    return mgb_thread_start(&prefetch->thread, "prefetch", prefetch_main, prefetch);
}

enum mgb_status mgb_prefetch_make(struct mgb_prefetch **out, const struct mgb_source *source,
                                  uint64_t seed, int inputs, void *const *slots)
{
    size_t count = 2 * (size_t)inputs;
    struct mgb_prefetch *prefetch =
        mgb_alloc(sizeof *prefetch + count * sizeof prefetch->memory[0]);
    if (!prefetch)
        return mgb_fail(MGB_NO_MEMORY, "no memory for a prefetcher");
    prefetch->source = source;
    prefetch->seed = seed;
    prefetch->inputs = inputs;
    memcpy(prefetch->memory, slots, count * sizeof prefetch->memory[0]);
    pthread_mutex_init(&prefetch->lock, NULL);
    pthread_cond_init(&prefetch->work, NULL);
    pthread_cond_init(&prefetch->done, NULL);
    int error = thread_start(prefetch);
    if (error) {
        mgb_release(prefetch);
        return mgb_fail(MGB_NO_MEMORY, "cannot start the thread that reads ahead: %s",
                        strerror(error));
    }
    *out = prefetch;
    return MGB_OK;
}

void mgb_prefetch_free(struct mgb_prefetch *prefetch)
{
    if (!prefetch)
        return;
    pthread_mutex_lock(&prefetch->lock);
    prefetch->closing = true;
    pthread_cond_signal(&prefetch->work);
    pthread_mutex_unlock(&prefetch->lock);
    pthread_join(prefetch->thread, NULL);
    pthread_cond_destroy(&prefetch->work);
    pthread_cond_destroy(&prefetch->done);
    pthread_mutex_destroy(&prefetch->lock);
    mgb_release(prefetch);
}

/* A fixed source gives the same rows in every epoch. */
static bool slot_serves(const struct mgb_prefetch *prefetch, const struct slot *slot,
                        struct mgb_batch_request request)
{
    if (prefetch->source->fixed)
        request.epoch = slot->request.epoch;
    return slot->state != SLOT_EMPTY && slot->state != SLOT_FAILED && !slot->renewed &&
           request_equal(slot->request, request);
}

static void slot_ask(struct mgb_prefetch *prefetch, int index, struct mgb_batch_request request)
{
    struct slot *slot = &prefetch->slot[index];
    if (slot_serves(prefetch, slot, request))
        return;
    if (slot->state == SLOT_FILLING) {
        slot->renewed = true;
        slot->next = request;
    } else {
        slot->request = request;
        slot->state = SLOT_WANTED;
    }
    pthread_cond_signal(&prefetch->work);
}

void mgb_prefetch_begin(struct mgb_prefetch *prefetch, int slot, struct mgb_batch_request request)
{
    pthread_mutex_lock(&prefetch->lock);
    slot_ask(prefetch, slot, request);
    pthread_mutex_unlock(&prefetch->lock);
}

enum mgb_status mgb_prefetch_wait(struct mgb_prefetch *prefetch, int slot,
                                  struct mgb_batch_request request)
{
    struct slot *wanted = &prefetch->slot[slot];
    enum mgb_status status = MGB_OK;
    char message[sizeof wanted->message];
    pthread_mutex_lock(&prefetch->lock);
    bool failed_before = wanted->state == SLOT_FAILED && request_equal(wanted->request, request);
    if (!failed_before)
        slot_ask(prefetch, slot, request);
    while (wanted->state != SLOT_READY && wanted->state != SLOT_FAILED)
        pthread_cond_wait(&prefetch->done, &prefetch->lock);
    if (wanted->state == SLOT_FAILED) {
        status = wanted->status;
        memcpy(message, wanted->message, sizeof message);
        wanted->state = SLOT_EMPTY; /* asking again reads again */
    }
    pthread_mutex_unlock(&prefetch->lock);
    return status == MGB_OK ? MGB_OK : mgb_fail(status, "%s", message);
}
