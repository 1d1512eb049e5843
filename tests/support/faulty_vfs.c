/* See faulty_vfs.h. Every method passes on to the system's VFS; the file's own part lies behind ours. */
#include "tests/support/faulty_vfs.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

struct faulty_file {
    sqlite3_file base;
    sqlite3_file *real; /* lies behind this struct */
    int logged;         /* as faulty_event.file; -1: not logged */
};

static sqlite3_vfs *real_vfs;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* guards what follows */
static struct faulty_plan plan;
static int64_t calls, failures;
static char log_path[512];
static struct faulty_event *events;
static size_t event_count, event_room;

static sqlite3_file *real_of(sqlite3_file *file)
{
    return ((struct faulty_file *)file)->real;
}

/* SQLITE_OK, or what the call has to return instead. */
static int fault_of(enum faulty_kind kind, bool *half)
{
    int code = SQLITE_OK;
    pthread_mutex_lock(&mutex);
    if (plan.kinds & (unsigned)kind) {
        calls++;
        if (plan.at > 0 && (calls == plan.at || (plan.lasting && calls > plan.at))) {
            failures++;
            code = plan.code;
        }
    }
    if (kind == FAULTY_SHM && plan.shm_open_fails)
        code = plan.shm_open_fails;
    if (half)
        *half = plan.short_write;
    pthread_mutex_unlock(&mutex);
    return code;
}

static void event_add_to(int logged, enum faulty_event_kind kind, const void *data, int size,
                         int64_t offset)
{
    pthread_mutex_lock(&mutex);
    if (logged >= 0 && log_path[0]) {
        if (event_count == event_room) {
            event_room = event_room ? 2 * event_room : 1024;
            events = realloc(events, event_room * sizeof *events);
            if (!events)
                abort();
        }
        struct faulty_event *event = &events[event_count++];
        *event = (struct faulty_event){
            .kind = kind, .file = logged, .offset = offset, .size = (size_t)size};
        if (size > 0) {
            event->data = malloc((size_t)size);
            if (!event->data)
                abort();
            memcpy(event->data, data, (size_t)size);
        }
    }
    pthread_mutex_unlock(&mutex);
}

static void event_add(sqlite3_file *file, enum faulty_event_kind kind, const void *data, int size,
                      int64_t offset)
{
    event_add_to(((struct faulty_file *)file)->logged, kind, data, size, offset);
}

static int file_close(sqlite3_file *file)
{
    return real_of(file)->pMethods->xClose(real_of(file));
}

static int file_read(sqlite3_file *file, void *data, int size, sqlite3_int64 offset)
{
    int code = fault_of(FAULTY_READ, NULL);
    return code ? code : real_of(file)->pMethods->xRead(real_of(file), data, size, offset);
}

static int file_write(sqlite3_file *file, const void *data, int size, sqlite3_int64 offset)
{
    bool half;
    sqlite3_file *real = real_of(file);
    int code = fault_of(FAULTY_WRITE, &half);
    if (code == SQLITE_OK) {
        event_add(file, FAULTY_EVENT_WRITE, data, size, offset);
        return real->pMethods->xWrite(real, data, size, offset);
    }
    if (half && size > 1)
        (void)real->pMethods->xWrite(real, data, size / 2, offset);
    return code;
}

static int file_truncate(sqlite3_file *file, sqlite3_int64 size)
{
    int code = fault_of(FAULTY_TRUNCATE, NULL);
    if (code)
        return code;
    event_add(file, FAULTY_EVENT_TRUNCATE, NULL, 0, size);
    return real_of(file)->pMethods->xTruncate(real_of(file), size);
}

static int file_sync(sqlite3_file *file, int flags)
{
    int code = fault_of(FAULTY_SYNC, NULL);
    if (code)
        return code;
    (void)flags;
    event_add(file, FAULTY_EVENT_SYNC, NULL, 0, 0);
    return SQLITE_OK; /* the machine does not fail: a real one would only take time */
}

static int file_size(sqlite3_file *file, sqlite3_int64 *size)
{
    return real_of(file)->pMethods->xFileSize(real_of(file), size);
}

static int file_lock(sqlite3_file *file, int level)
{
    return real_of(file)->pMethods->xLock(real_of(file), level);
}

static int file_unlock(sqlite3_file *file, int level)
{
    return real_of(file)->pMethods->xUnlock(real_of(file), level);
}

static int file_is_reserved(sqlite3_file *file, int *out)
{
    return real_of(file)->pMethods->xCheckReservedLock(real_of(file), out);
}

static int file_control(sqlite3_file *file, int operation, void *argument)
{
    return real_of(file)->pMethods->xFileControl(real_of(file), operation, argument);
}

static int file_sector(sqlite3_file *file)
{
    return real_of(file)->pMethods->xSectorSize(real_of(file));
}

static int file_traits(sqlite3_file *file)
{
    return real_of(file)->pMethods->xDeviceCharacteristics(real_of(file));
}

static int shm_map(sqlite3_file *file, int page, int size, int extend, void volatile **out)
{
    *out = NULL;
    int code = fault_of(FAULTY_SHM, NULL);
    return code ? code : real_of(file)->pMethods->xShmMap(real_of(file), page, size, extend, out);
}

/* Giving a lock back does not fail. */
static int shm_lock(sqlite3_file *file, int offset, int count, int flags)
{
    int code = flags & SQLITE_SHM_UNLOCK ? SQLITE_OK : fault_of(FAULTY_SHM, NULL);
    return code ? code : real_of(file)->pMethods->xShmLock(real_of(file), offset, count, flags);
}

static void shm_barrier(sqlite3_file *file)
{
    real_of(file)->pMethods->xShmBarrier(real_of(file));
}

static int shm_unmap(sqlite3_file *file, int remove)
{
    return real_of(file)->pMethods->xShmUnmap(real_of(file), remove);
}

#define COMMON                                                                                     \
    .xClose = file_close, .xRead = file_read, .xWrite = file_write, .xTruncate = file_truncate,    \
    .xSync = file_sync, .xFileSize = file_size, .xLock = file_lock, .xUnlock = file_unlock,        \
    .xCheckReservedLock = file_is_reserved, .xFileControl = file_control,                          \
    .xSectorSize = file_sector, .xDeviceCharacteristics = file_traits

static const sqlite3_io_methods with_shm = {.iVersion = 2,
                                            COMMON,
                                            .xShmMap = shm_map,
                                            .xShmLock = shm_lock,
                                            .xShmBarrier = shm_barrier,
                                            .xShmUnmap = shm_unmap};
static const sqlite3_io_methods without_shm = {.iVersion = 1, COMMON};

static int logged_as(const char *name)
{
    static const char *const endings[] = {"", "-wal", "-journal"};
    size_t length = strlen(log_path);
    if (!name || length == 0 || strncmp(name, log_path, length) != 0)
        return -1;
    for (int i = 0; i < 3; i++)
        if (strcmp(name + length, endings[i]) == 0)
            return i;
    return -1;
}

static int vfs_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags,
                    int *out_flags)
{
    struct faulty_file *own = (struct faulty_file *)file;
    (void)vfs;
    own->base.pMethods = NULL;
    own->real = (sqlite3_file *)(own + 1);
    int code = fault_of(FAULTY_OPEN, NULL);
    if (code)
        return code;
    code = real_vfs->xOpen(real_vfs, name, own->real, flags, out_flags);
    pthread_mutex_lock(&mutex);
    own->logged = logged_as(name);
    if (own->real->pMethods)
        own->base.pMethods = plan.no_shm ? &without_shm : &with_shm;
    pthread_mutex_unlock(&mutex);
    return code;
}

/* The directory's sync is not done either. */
static int vfs_delete(sqlite3_vfs *vfs, const char *name, int sync)
{
    (void)vfs;
    pthread_mutex_lock(&mutex);
    int logged = logged_as(name);
    pthread_mutex_unlock(&mutex);
    int code = real_vfs->xDelete(real_vfs, name, 0);
    if (code == SQLITE_OK)
        event_add_to(logged, FAULTY_EVENT_DELETE, NULL, 0, sync);
    return code;
}

void faulty_install(void)
{
    static sqlite3_vfs vfs;
    if (real_vfs)
        return;
    sqlite3_initialize();
    real_vfs = sqlite3_vfs_find(NULL);
    vfs = *real_vfs;
    vfs.zName = "faulty";
    vfs.szOsFile += (int)sizeof(struct faulty_file);
    vfs.xOpen = vfs_open;
    vfs.xDelete = vfs_delete;
    sqlite3_vfs_register(&vfs, 1);
}

void faulty_plan(const struct faulty_plan *wanted)
{
    pthread_mutex_lock(&mutex);
    plan = wanted ? *wanted : (struct faulty_plan){0};
    calls = failures = 0;
    pthread_mutex_unlock(&mutex);
}

int64_t faulty_calls(void)
{
    pthread_mutex_lock(&mutex);
    int64_t out = calls;
    pthread_mutex_unlock(&mutex);
    return out;
}

int64_t faulty_failures(void)
{
    pthread_mutex_lock(&mutex);
    int64_t out = failures;
    pthread_mutex_unlock(&mutex);
    return out;
}

void faulty_log_begin(const char *path)
{
    pthread_mutex_lock(&mutex);
    for (size_t i = 0; i < event_count; i++)
        free(events[i].data);
    free(events);
    events = NULL;
    event_count = event_room = 0;
    sqlite3_snprintf((int)sizeof log_path, log_path, "%s", path ? path : "");
    pthread_mutex_unlock(&mutex);
}

const struct faulty_event *faulty_log(size_t *count)
{
    pthread_mutex_lock(&mutex);
    *count = event_count;
    pthread_mutex_unlock(&mutex);
    return events;
}
