/* See stream.h. zlib reads plain files as they are. */
#include "engine/data/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

static const char *kind_word(mode_t mode)
{
    return S_ISDIR(mode)                    ? "a folder"
           : S_ISFIFO(mode)                 ? "a named pipe"
           : S_ISSOCK(mode)                 ? "a socket"
           : S_ISCHR(mode) || S_ISBLK(mode) ? "a device"
                                            : "no file";
}

/* Without waiting for a writer, as a named pipe would; what is no regular file is refused. */
enum mgb_status mgb_data_file_open(int *out, int64_t *bytes, const char *path)
{
    struct stat info = {0};
    int file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (file < 0)
        return mgb_fail(errno == ENOENT ? MGB_MISSING : MGB_IO, "cannot open '%s': %s", path,
                        strerror(errno));
    if (fstat(file, &info) != 0 || !S_ISREG(info.st_mode)) {
        close(file);
        return mgb_fail(MGB_IO, "cannot read '%s': it is %s; data comes from plain files", path,
                        kind_word(info.st_mode));
    }
    *out = file;
    *bytes = info.st_size;
    return MGB_OK;
}

enum mgb_status mgb_gzip_open(struct mgb_gzip *out, const char *path)
{
    int file = -1;
    int64_t bytes;
    *out = (struct mgb_gzip){.path = path};
    MGB_TRY(mgb_data_file_open(&file, &bytes, path));
    out->file = gzdopen(file, "rb");
    if (!out->file) {
        close(file);
        return mgb_fail(MGB_NO_MEMORY, "no memory to open '%s'", path);
    }
    gzbuffer(out->file, 1 << 16);
    return MGB_OK;
}

enum mgb_status mgb_gzip_read(struct mgb_gzip *gzip, void *out, int64_t bytes, int64_t *got)
{
    *got = 0;
    while (*got < bytes) {
        int64_t left = bytes - *got;
        unsigned piece = left > (1 << 30) ? 1u << 30 : (unsigned)left;
        int n = gzread(gzip->file, (unsigned char *)out + *got, piece);
        int code = Z_OK;
        const char *why = gzerror(gzip->file, &code);
        if (code == Z_ERRNO)
            return mgb_fail(MGB_IO, "reading '%s' at offset %lld: %s", gzip->path,
                            (long long)gzip->offset, strerror(errno));
        /* gzread hands out what precedes the damage first; the offset is where good data ends. */
        if (n < 0 || code == Z_BUF_ERROR || code == Z_DATA_ERROR) {
            gzip->offset += n > 0 ? n : 0;
            return mgb_fail(MGB_CORRUPT, "'%s': damaged gzip stream after %lld bytes of data (%s)",
                            gzip->path, (long long)gzip->offset, why);
        }
        if (n == 0)
            break;
        *got += n;
        gzip->offset += n;
    }
    return MGB_OK;
}

void mgb_gzip_close(struct mgb_gzip *gzip)
{
    if (gzip->file)
        gzclose_r(gzip->file);
    gzip->file = NULL;
}

static enum mgb_status block_read(struct mgb_stream *stream)
{
    int64_t got;
    MGB_TRY(mgb_gzip_read(&stream->gzip, stream->block, sizeof stream->block, &got));
    stream->at = 0;
    stream->have = (size_t)got;
    return MGB_OK;
}

enum mgb_status mgb_stream_open(struct mgb_stream *out, const char *path)
{
    *out = (struct mgb_stream){.line = 1};
    MGB_TRY(mgb_gzip_open(&out->gzip, path));
    enum mgb_status status = block_read(out);
    if (status != MGB_OK)
        mgb_stream_close(out);
    else if (out->have >= 3 && memcmp(out->block, "\xef\xbb\xbf", 3) == 0)
        out->at = 3;
    return status;
}

void mgb_stream_close(struct mgb_stream *stream)
{
    mgb_gzip_close(&stream->gzip);
}

enum mgb_status mgb_stream_look(int *byte, struct mgb_stream *stream)
{
    if (stream->at == stream->have)
        MGB_TRY(block_read(stream));
    *byte = stream->at == stream->have ? -1 : stream->block[stream->at];
    return MGB_OK;
}

enum mgb_status mgb_stream_get(int *byte, struct mgb_stream *stream)
{
    MGB_TRY(mgb_stream_look(byte, stream));
    stream->at += *byte >= 0;
    stream->line += *byte == '\n';
    return MGB_OK;
}
