/* See sensors.h. The thread has its own copies of all it reads, and the last of the two who know them frees them. */
#include "app/session/sensors.h"

#include <errno.h>
#include <mgb/run.h>
#include <mgb/thread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PERIOD_NS INT64_C(1000000000)
#define FIRST_NS INT64_C(200000000)
#define MOST_WORDS 16 /* different texts of reasons */

struct sensor {
    struct mgb_device device;
    int index; /* of the topology */
    bool fresh;
    int64_t at_ns; /* session clock */
    struct mgb_sensed sensed;
};

struct session_sensors {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int owners;
    bool stopped, ended, any; /* the thread shall end; has ended; there was a reading */
    char backend[16];
    int count;
    struct sensor *list;
    /* Ring records borrow these until the session is closed. */
    int word_count;
    char words[MOST_WORDS][sizeof((struct mgb_sensed *)0)->throttle];
};

static void sensors_drop(struct session_sensors *sensors) /* caller holds the lock */
{
    bool last = --sensors->owners == 0;
    pthread_mutex_unlock(&sensors->lock);
    if (!last)
        return;
    pthread_cond_destroy(&sensors->changed);
    pthread_mutex_destroy(&sensors->lock);
    free(sensors->list);
    free(sensors);
}

static struct timespec time_after(int64_t ns)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    at.tv_nsec += ns;
    at.tv_sec += at.tv_nsec / 1000000000;
    at.tv_nsec %= 1000000000;
    return at;
}

/* One round; false when no device answers. The lock is not held while the driver is asked. */
static bool sensors_read(struct session_sensors *sensors)
{
    bool any = false;
    for (int i = 0; i < sensors->count && !sensors->stopped; i++) {
        struct sensor *it = &sensors->list[i];
        struct mgb_sensed sensed;
        pthread_mutex_unlock(&sensors->lock);
        bool read = mgb_backend_sense(&sensed, sensors->backend, &it->device) == MGB_OK;
        int64_t now = session_clock_ns();
        pthread_mutex_lock(&sensors->lock);
        any = any || read;
        if (!read)
            continue;
        it->sensed = sensed;
        it->at_ns = now;
        it->fresh = true;
    }
    sensors->any = sensors->any || any;
    return any;
}

static void *sensors_run(void *context)
{
    struct session_sensors *sensors = context;
    pthread_mutex_lock(&sensors->lock);
    while (!sensors->stopped && sensors_read(sensors)) {
        struct timespec until = time_after(PERIOD_NS);
        pthread_cond_broadcast(&sensors->changed);
        while (!sensors->stopped &&
               pthread_cond_timedwait(&sensors->changed, &sensors->lock, &until) != ETIMEDOUT)
            ;
    }
    sensors->ended = true;
    pthread_cond_broadcast(&sensors->changed);
    sensors_drop(sensors);
    return NULL;
}

static void list_fill(struct session_sensors *sensors, const struct script_session *session)
{
    const struct mgb_topology *topology = mgb_run_topology(session->run);
    for (int i = 0; i < topology->device_count; i++)
        if (topology->devices[i].class == MGB_CLASS_CUDA)
            sensors->list[sensors->count++] =
                (struct sensor){.device = topology->devices[i], .index = i};
}

static bool lock_make(struct session_sensors *sensors)
{
    pthread_condattr_t attributes;
    if (pthread_condattr_init(&attributes) != 0)
        return false;
    bool made = pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC) == 0 &&
                pthread_cond_init(&sensors->changed, &attributes) == 0;
    pthread_condattr_destroy(&attributes);
    return made && pthread_mutex_init(&sensors->lock, NULL) == 0;
}

struct session_sensors *mgb_session_sensors_start(const struct script_session *session)
{
    size_t devices = (size_t)mgb_run_topology(session->run)->device_count;
    struct session_sensors *sensors = calloc(1, sizeof *sensors);
    struct sensor *list = calloc(devices, sizeof *list);
    pthread_t thread;
    if (sensors && list) {
        sensors->list = list;
        sensors->owners = 2;
        snprintf(sensors->backend, sizeof sensors->backend, "%s", mgb_run_backend(session->run));
        list_fill(sensors, session);
    }
    if (!sensors || !list || sensors->count == 0 || !lock_make(sensors) ||
        mgb_thread_start(&thread, "sensors", sensors_run, sensors) != 0) {
        free(list);
        free(sensors);
        return NULL;
    }
    pthread_detach(thread);
    return sensors;
}

void mgb_session_sensors_stop(struct session_sensors *sensors)
{
    if (!sensors)
        return;
    pthread_mutex_lock(&sensors->lock);
    sensors->stopped = true;
    pthread_cond_broadcast(&sensors->changed);
    sensors_drop(sensors);
}

/* The same text at an address that lasts; NULL when there is no room for another one. */
static const char *word_keep(struct session_sensors *sensors, const struct mgb_sensed *sensed)
{
    if (!sensed->throttle_known)
        return NULL;
    for (int i = 0; i < sensors->word_count; i++)
        if (strcmp(sensors->words[i], sensed->throttle) == 0)
            return sensors->words[i];
    if (sensors->word_count == MOST_WORDS)
        return NULL;
    char *word = sensors->words[sensors->word_count++];
    memcpy(word, sensed->throttle, sizeof sensed->throttle);
    return word;
}

static void sensor_push(struct script_session *session, struct sensor *it)
{
    struct mgb_record record = {.kind = MGB_RECORD_SAMPLE};
    record.sample = (struct mgb_record_sample){
        .run = session->run_id,
        .segment = session->segment_id,
        .device = session_device(session, it->index),
        .at_ns = it->at_ns - session->began_ns,
        .clock_khz = it->sensed.clock_khz,
        .memory_clock_khz = it->sensed.memory_clock_khz,
        .power_mw = it->sensed.power_mw,
        .temperature_mc = it->sensed.temperature_mc,
        .utilisation_ppm = it->sensed.utilisation_ppm,
        .memory_used_bytes = it->sensed.used_bytes,
        .process_bytes = MGB_NO_READING,
        .throttle = word_keep(session->sensors, &it->sensed),
    };
    it->fresh = false;
    if (session->towers[it->index].there)
        mgb_recorder_push(session->hub->recorder, &record);
}

void mgb_session_sensors_push(struct script_session *session, bool first)
{
    struct session_sensors *sensors = session->sensors;
    if (!sensors)
        return;
    struct timespec until = time_after(FIRST_NS);
    pthread_mutex_lock(&sensors->lock);
    while (first && !sensors->any && !sensors->ended &&
           pthread_cond_timedwait(&sensors->changed, &sensors->lock, &until) != ETIMEDOUT)
        ;
    for (int i = 0; i < sensors->count; i++)
        if (sensors->list[i].fresh)
            sensor_push(session, &sensors->list[i]);
    pthread_mutex_unlock(&sensors->lock);
}

bool mgb_session_sensed(struct script_session *session, int device, struct mgb_sensed *out)
{
    struct session_sensors *sensors = session->sensors;
    bool found = false;
    if (!sensors)
        return false;
    pthread_mutex_lock(&sensors->lock);
    for (int i = 0; i < sensors->count && !found; i++) {
        found = sensors->list[i].index == device && sensors->list[i].at_ns > 0;
        if (found)
            *out = sensors->list[i].sensed;
    }
    pthread_mutex_unlock(&sensors->lock);
    return found;
}
