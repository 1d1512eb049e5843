/* See tensor_file.h. */
#include "engine/io/tensor_file.h"

#include "engine/base/half.h"
#include "engine/base/hash.h"
#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "engine/base/vector.h"
#include "engine/io/tensor_header.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* As the reference implementation: more is no table of tensors. */
#define MAX_HEADER 100000000
#define CHUNK 65536 /* elements that are widened at a time */

static enum mgb_status file_pread(const struct mgb_tensor_file *file, void *out, int64_t bytes,
                                  int64_t at)
{
    char *to = out;
    while (bytes > 0) {
        ssize_t got = pread(file->fd, to, (size_t)bytes, at);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return mgb_fail(MGB_IO, "'%s' could not be read at byte %lld: %s", file->path,
                            (long long)at, strerror(errno));
        if (got == 0)
            return mgb_fail(MGB_CORRUPT, "'%s' ends at byte %lld: it became shorter meanwhile",
                            file->path, (long long)at);
        to += got;
        at += got;
        bytes -= got;
    }
    return MGB_OK;
}

static enum mgb_status file_open(struct mgb_tensor_file *out, int64_t *size)
{
    struct stat info;
    out->fd = open(out->path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (out->fd < 0)
        return mgb_fail(errno == ENOENT ? MGB_MISSING : MGB_IO,
                        "checkpoint '%s' cannot be opened: %s", out->path, strerror(errno));
    if (fstat(out->fd, &info) != 0)
        return mgb_fail(MGB_IO, "checkpoint '%s': %s", out->path, strerror(errno));
    if (!S_ISREG(info.st_mode))
        return mgb_fail(MGB_INVALID, "checkpoint '%s' is %s and no file", out->path,
                        S_ISDIR(info.st_mode) ? "a folder" : "a pipe or a device");
    *size = info.st_size;
    return MGB_OK;
}

static enum mgb_status header_read(struct mgb_tensor_file *out, int64_t file)
{
    unsigned char raw[8];
    uint64_t size = 0;
    if (file < 8)
        return mgb_fail(MGB_CORRUPT, "'%s' is no safetensors file: it has %lld bytes", out->path,
                        (long long)file);
    MGB_TRY(file_pread(out, raw, 8, 0));
    for (int i = 7; i >= 0; i--)
        size = size << 8 | raw[i];
    if (size > (uint64_t)file - 8 || size > MAX_HEADER)
        return mgb_fail(MGB_CORRUPT,
                        "'%s' is no safetensors file, or damaged: bytes 0 to 7 promise a header of "
                        "%llu bytes, the file has %lld%s",
                        out->path, (unsigned long long)size, (long long)file,
                        size > MAX_HEADER ? ", and at most 100000000 are read" : "");
    out->data = 8 + (int64_t)size;
    out->data_bytes = file - out->data;
    out->header = mgb_alloc((size_t)size + 1);
    if (!out->header)
        return mgb_fail(MGB_NO_MEMORY, "no memory for the header of '%s'", out->path);
    MGB_TRY(file_pread(out, out->header, (int64_t)size, 8));
    enum mgb_status status = mgb_tensor_file_read_header(out, (size_t)size);
    return status == MGB_OK ? MGB_OK : mgb_fail_in(status, "checkpoint '%s'", out->path);
}

enum mgb_status mgb_tensor_file_open(struct mgb_tensor_file *out, const char *path)
{
    int64_t size = 0;
    *out = (struct mgb_tensor_file){.fd = -1, .path = mgb_copy_string(path)};
    if (!out->path)
        return mgb_fail(MGB_NO_MEMORY, "no memory to read '%s'", path);
    enum mgb_status status = file_open(out, &size);
    if (status == MGB_OK)
        status = header_read(out, size);
    if (status != MGB_OK)
        mgb_tensor_file_close(out);
    return status;
}

void mgb_tensor_file_close(struct mgb_tensor_file *file)
{
    if (file->fd >= 0)
        close(file->fd);
    mgb_release(file->tensors);
    mgb_release(file->words);
    mgb_release(file->header);
    mgb_release(file->path);
    *file = (struct mgb_tensor_file){.fd = -1};
}

static int name_compare(const void *name, const void *stored)
{
    return strcmp(name, ((const struct mgb_stored *)stored)->name);
}

const struct mgb_stored *mgb_tensor_file_find(const struct mgb_tensor_file *file, const char *name)
{
    if (!file->count)
        return NULL;
    return bsearch(name, file->tensors, (size_t)file->count, sizeof *file->tensors, name_compare);
}

const char *mgb_tensor_file_find_word(const struct mgb_tensor_file *file, const char *name)
{
    for (int i = 0; i < file->word_count; i++)
        if (strcmp(file->words[i].name, name) == 0)
            return file->words[i].value;
    return NULL;
}

bool mgb_stored_readable(const struct mgb_stored *stored)
{
    return strcmp(stored->type, "F32") == 0 || strcmp(stored->type, "F16") == 0 ||
           strcmp(stored->type, "BF16") == 0;
}

char *mgb_stored_shape(char *out, size_t size, const struct mgb_stored *stored)
{
    struct mgb_shape shape = {.rank = stored->rank};
    if (stored->rank > MGB_MAX_RANK) {
        mgb_format(out, size, "of more than %d axes", MGB_MAX_RANK);
        return out;
    }
    memcpy(shape.dim, stored->dim, sizeof shape.dim);
    return mgb_shape_format(out, size, &shape);
}

/* Piece by piece, each read into the end of the room that it fills: 16-bit values take half of it. */
enum mgb_status mgb_tensor_file_read(float *out, const struct mgb_tensor_file *file,
                                     const struct mgb_stored *stored)
{
    int64_t at = file->data + stored->begin;
    if (strcmp(stored->type, "F32") == 0)
        return file_pread(file, out, stored->bytes, at);
    bool brain = strcmp(stored->type, "BF16") == 0;
    for (int64_t first = 0; first < stored->count; first += CHUNK) {
        int64_t count = stored->count - first < CHUNK ? stored->count - first : CHUNK;
        unsigned char *raw = (unsigned char *)(out + first) + 2 * count;
        MGB_TRY(file_pread(file, raw, 2 * count, at + 2 * first));
        for (int64_t i = 0; i < count; i++) {
            uint16_t half = (uint16_t)(raw[2 * i] | raw[2 * i + 1] << 8);
            out[first + i] = brain ? mgb_f32_of_bf16(half) : mgb_f32_of_f16(half);
        }
    }
    return MGB_OK;
}

uint64_t mgb_stored_digest(const char *name, const float *values, int64_t count)
{
    return mgb_hash(mgb_hash(0, name, strlen(name)), values, (size_t)count * sizeof *values);
}
