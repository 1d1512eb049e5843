/* See bytes.h. Knows no directory and no array. */
#include "engine/data/bytes.h"

#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "engine/data/stream.h"
#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

struct mgb_inflate {
    z_stream stream;
    unsigned char block[1 << 16];
};

enum mgb_status mgb_bytes_fail(const struct mgb_bytes *bytes, enum mgb_status status,
                               const char *format, ...)
{
    char words[512];
    va_list args;
    va_start(args, format);
    mgb_format_list(words, sizeof words, format, args);
    va_end(args);
    if (!bytes->entry)
        return mgb_fail(status, "'%s': %s", bytes->path, words);
    return mgb_fail(status, "'%s', entry '%s': %s", bytes->path, bytes->entry, words);
}

enum mgb_status mgb_file_read(const char *path, int file, int64_t offset, void *out, int64_t bytes)
{
    for (int64_t have = 0; have < bytes;) {
        ssize_t n = pread(file, (char *)out + have, (size_t)(bytes - have), (off_t)(offset + have));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return mgb_fail(MGB_IO, "reading '%s' at offset %lld: %s", path,
                            (long long)(offset + have), strerror(errno));
        if (n == 0)
            return mgb_fail(MGB_CORRUPT, "'%s' ends at offset %lld, %lld bytes early", path,
                            (long long)(offset + have), (long long)(bytes - have));
        have += n;
    }
    return MGB_OK;
}

enum mgb_status mgb_bytes_begin(struct mgb_bytes *out, const char *path)
{
    *out = (struct mgb_bytes){.path = path, .file = -1, .closes = true};
    MGB_TRY(mgb_data_file_open(&out->file, &out->size, path));
    out->packed = out->size;
    return MGB_OK;
}

enum mgb_status mgb_bytes_unpack(struct mgb_bytes *bytes)
{
    bytes->inflate = mgb_alloc(sizeof *bytes->inflate);
    if (!bytes->inflate || inflateInit2(&bytes->inflate->stream, -MAX_WBITS) != Z_OK) {
        mgb_release(bytes->inflate);
        bytes->inflate = NULL;
        return mgb_fail(MGB_NO_MEMORY, "no memory to unpack '%s'", bytes->path);
    }
    return MGB_OK;
}

void mgb_bytes_end(struct mgb_bytes *bytes)
{
    if (bytes->inflate)
        inflateEnd(&bytes->inflate->stream);
    mgb_release(bytes->inflate);
    bytes->inflate = NULL;
    if (bytes->closes && bytes->file >= 0)
        close(bytes->file);
    bytes->file = -1;
}

static enum mgb_status packed_get(struct mgb_bytes *bytes, void *out, int64_t count)
{
    int64_t piece = count;
    if (piece > bytes->packed)
        piece = bytes->packed;
    MGB_TRY(mgb_file_read(bytes->path, bytes->file, bytes->offset, out, piece));
    bytes->offset += piece;
    bytes->packed -= piece;
    return MGB_OK;
}

/* Fills `out` as far as it goes with one call; *got 0: the stream ends. */
static enum mgb_status piece_inflate(struct mgb_bytes *bytes, unsigned char *out, int64_t room,
                                     int64_t *got)
{
    z_stream *z = &bytes->inflate->stream;
    unsigned most = room > (1 << 30) ? 1u << 30 : (unsigned)room;
    *got = 0;
    while (*got == 0) {
        if (z->avail_in == 0 && bytes->packed > 0) {
            int64_t block = (int64_t)sizeof bytes->inflate->block;
            z->next_in = bytes->inflate->block;
            z->avail_in = (unsigned)(bytes->packed < block ? bytes->packed : block);
            MGB_TRY(packed_get(bytes, bytes->inflate->block, z->avail_in));
        }
        z->next_out = out;
        z->avail_out = most;
        int code = inflate(z, Z_NO_FLUSH);
        *got = most - z->avail_out;
        if (code == Z_STREAM_END)
            return MGB_OK;
        if (code != Z_OK)
            return mgb_bytes_fail(bytes, MGB_CORRUPT,
                                  "damaged after %lld bytes of data (%s); write it again",
                                  (long long)(bytes->at + *got), z->msg ? z->msg : "cut short");
    }
    return MGB_OK;
}

static enum mgb_status last_check(struct mgb_bytes *bytes)
{
    if (bytes->inflate) {
        unsigned char more;
        int64_t got;
        MGB_TRY(piece_inflate(bytes, &more, 1, &got));
        if (got > 0)
            return mgb_bytes_fail(bytes, MGB_CORRUPT, "it is larger than the %lld bytes promised",
                                  (long long)bytes->size);
    }
    if (bytes->summed && bytes->sum != bytes->wanted_sum)
        return mgb_bytes_fail(bytes, MGB_CORRUPT,
                              "damaged: its CRC is %08x, not %08x; write it again", bytes->sum,
                              bytes->wanted_sum);
    return MGB_OK;
}

enum mgb_status mgb_bytes_get(struct mgb_bytes *bytes, void *out, int64_t count)
{
    unsigned char *to = out;
    if (count > bytes->size - bytes->at)
        return mgb_bytes_fail(bytes, MGB_CORRUPT, "it ends after %lld bytes",
                              (long long)bytes->size);
    for (int64_t left = count, got; left > 0; left -= got, to += got) {
        got = left;
        if (bytes->inflate)
            MGB_TRY(piece_inflate(bytes, to, left, &got));
        else
            MGB_TRY(packed_get(bytes, to, left));
        if (got == 0)
            return mgb_bytes_fail(bytes, MGB_CORRUPT, "it ends after %lld of %lld bytes promised",
                                  (long long)bytes->at, (long long)bytes->size);
        if (bytes->summed)
            bytes->sum = (uint32_t)crc32_z(bytes->sum, to, (size_t)got);
        bytes->at += got;
    }
    return bytes->at == bytes->size ? last_check(bytes) : MGB_OK;
}
