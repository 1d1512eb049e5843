/* The writer lock, an open file description lock; see lock.h. */
#include "db/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define POLL_MS 10

static char *lock_path(const char *database)
{
    char *path = NULL;
    return asprintf(&path, "%s.lock", database) < 0 ? NULL : path;
}

enum mgb_status mgb_lock_open(struct mgb_lock *out, const char *database)
{
    *out = (struct mgb_lock){.fd = -1, .path = lock_path(database)};
    if (!out->path)
        return mgb_fail(MGB_NO_MEMORY, "no memory for the lock of %s", database);
    out->fd = open(out->path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (out->fd < 0) {
        enum mgb_status status =
            mgb_fail(MGB_IO, "cannot make the lock file %s: %s; name another file with --db",
                     out->path, strerror(errno));
        mgb_lock_close(out);
        return status;
    }
    return MGB_OK;
}

void mgb_lock_close(struct mgb_lock *lock)
{
    if (lock->fd >= 0)
        close(lock->fd);
    free(lock->path);
    *lock = (struct mgb_lock){.fd = -1};
}

static void holder_read(struct mgb_lock_holder *holder, int fd)
{
    char text[64];
    ssize_t size = pread(fd, text, sizeof text - 1, 0);
    if (size <= 0)
        return;
    text[size] = 0;
    char *end = text;
    holder->pid = strtoll(text, &end, 10);
    holder->run = strtoll(end, NULL, 10);
}

void mgb_lock_name_run(struct mgb_lock *lock, int64_t run)
{
    char text[64];
    int size = snprintf(text, sizeof text, "%-10ld %-20lld\n", (long)getpid(), (long long)run);
    /* The text is for people; a full disk must not stop a run here. */
    if (pwrite(lock->fd, text, (size_t)size, 0) != size && ftruncate(lock->fd, 0) != 0)
        return;
}

/* Between its opening and its locking the file may have been removed (sealing does): a lock on a file without a name
 * excludes nobody. *again: another one was opened, to be locked. */
static enum mgb_status name_check(bool *again, struct mgb_lock *lock)
{
    struct stat ours, named;
    *again = fstat(lock->fd, &ours) != 0 || stat(lock->path, &named) != 0 ||
             ours.st_dev != named.st_dev || ours.st_ino != named.st_ino;
    if (!*again)
        return MGB_OK;
    close(lock->fd);
    lock->fd = open(lock->path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    return lock->fd >= 0
               ? MGB_OK
               : mgb_fail(MGB_IO, "cannot make the lock file %s: %s", lock->path, strerror(errno));
}

enum mgb_status mgb_lock_take(struct mgb_lock *lock, const char *database, int64_t wait_ms)
{
    struct flock all = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    for (int64_t waited = 0;; waited += POLL_MS) {
        if (fcntl(lock->fd, F_OFD_SETLK, &all) == 0) {
            bool again;
            MGB_TRY(name_check(&again, lock));
            if (again)
                continue;
            mgb_lock_name_run(lock, 0);
            return MGB_OK;
        }
        if (errno == EINTR)
            continue;
        if (errno != EAGAIN && errno != EACCES)
            return mgb_fail(MGB_IO, "cannot lock %s: %s; name a file on a local disk with --db",
                            lock->path, strerror(errno));
        struct mgb_lock_holder holder = {0};
        holder_read(&holder, lock->fd);
        /* A text seen once may be that of a killed holder, not yet replaced by the new one's. */
        if (holder.run > 0 && waited > 0)
            return mgb_fail(MGB_BUSY,
                            "%s is in use by pid %lld, run %lld: wait for it to end, or write to "
                            "another file with --db; to look at it meanwhile: mgbench query SQL, "
                            "or sqlite3 -readonly %s",
                            database, (long long)holder.pid, (long long)holder.run, database);
        if (waited >= wait_ms)
            return mgb_fail(MGB_BUSY,
                            "%s is being written by pid %lld: wait for it to end and try again, or "
                            "write to another file with --db",
                            database, (long long)holder.pid);
        nanosleep(&(struct timespec){.tv_nsec = POLL_MS * 1000000L}, NULL);
    }
}

void mgb_lock_release(struct mgb_lock *lock)
{
    struct flock all = {.l_type = F_UNLCK, .l_whence = SEEK_SET};
    mgb_lock_name_run(lock, 0);
    fcntl(lock->fd, F_OFD_SETLK, &all);
}

struct mgb_lock_holder mgb_lock_find_holder(const char *database)
{
    struct mgb_lock_holder holder = {0};
    char *path = lock_path(database);
    int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    free(path);
    if (fd < 0)
        return holder;
    struct flock test = {.l_type = F_RDLCK, .l_whence = SEEK_SET};
    holder.held = fcntl(fd, F_OFD_GETLK, &test) == 0 && test.l_type != F_UNLCK;
    if (holder.held)
        holder_read(&holder, fd);
    close(fd);
    return holder;
}
