/* Who uses a write-ahead log; see doctor.h. The layout of the index and its lock bytes: https://sqlite.org/walformat.html,
 * section 2 (header 48 bytes twice, then backfill count, five read marks, eight lock bytes from 120 on, one for all who
 * have the file open at 128). */
#include "db/doctor.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FRAMES_AT 16
#define MARKS_AT 100
#define READERS 5
#define WRITE_LOCK 120
#define READ_LOCK 123
#define OPEN_LOCK 128

/* Who holds a lock on the byte: 0 nobody, -1 cannot be told. */
static int64_t holder_find(int fd, off_t byte)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1};
    if (fcntl(fd, F_GETLK, &lock) != 0 || lock.l_type == F_UNLCK)
        return 0;
    return lock.l_pid > 0 ? (int64_t)lock.l_pid : -1;
}

static void readers_look(struct mgb_wal_use *out, int fd)
{
    uint32_t index[32]; /* 128 bytes, in the machine's byte order */
    if (pread(fd, index, sizeof index, 0) != (ssize_t)sizeof index)
        return;
    uint32_t last = index[FRAMES_AT / 4];
    for (int i = 1; i < READERS; i++) { /* the first mark's readers use no log */
        uint32_t mark = index[MARKS_AT / 4 + i];
        int64_t pid = mark <= last ? holder_find(fd, READ_LOCK + i) : 0;
        if (pid == 0 || (out->reader_pid != 0 && (int64_t)(last - mark) <= out->reader_frames))
            continue;
        out->reader_pid = pid;
        out->reader_frames = (int64_t)(last - mark);
    }
}

void mgb_doctor_wal_look(struct mgb_wal_use *out, const char *path)
{
    char *name = NULL;
    struct stat info;
    *out = (struct mgb_wal_use){0};
    if (asprintf(&name, "%s-wal", path) < 0)
        return;
    out->log_bytes = stat(name, &info) == 0 ? (int64_t)info.st_size : 0;
    strcpy(name + strlen(name) - 3, "shm");
    int fd = open(name, O_RDONLY | O_CLOEXEC);
    free(name);
    if (fd < 0)
        return;
    out->open = holder_find(fd, OPEN_LOCK) != 0;
    out->writer_pid = holder_find(fd, WRITE_LOCK);
    readers_look(out, fd);
    close(fd);
}
