/* Reads one IDX file, plain or gzip, and trusts nothing in it. Offsets in messages count uncompressed bytes. */
#include "engine/data/idx_file.h"

#include "engine/base/memory.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define TYPE_U8 0x08
/* Memory is taken as data arrives, so that a false header cannot ask for more than the file holds. */
#define FIRST_BLOCK (4u << 20)
#define MAX_BYTES ((int64_t)1 << 40)

struct reader {
    const char *path;
    gzFile file;
    int64_t offset;
};

/* Reads up to `bytes`; *got less than that at the end of the file. */
static enum mgb_status reader_get(struct reader *reader, void *out, int64_t bytes, int64_t *got)
{
    *got = 0;
    while (*got < bytes) {
        int64_t left = bytes - *got;
        unsigned piece = left > (1 << 30) ? 1u << 30 : (unsigned)left;
        int n = gzread(reader->file, (unsigned char *)out + *got, piece);
        int code = Z_OK;
        const char *why = gzerror(reader->file, &code);
        if (code == Z_ERRNO)
            return mgb_fail(MGB_IO, "reading '%s' at offset %lld: %s", reader->path,
                            (long long)reader->offset, strerror(errno));
        /* gzread hands out what precedes the damage first; the offset is where good data ends. */
        if (n < 0 || code == Z_BUF_ERROR || code == Z_DATA_ERROR) {
            reader->offset += n > 0 ? n : 0;
            return mgb_fail(MGB_CORRUPT, "'%s': damaged gzip stream after %lld bytes of data (%s)",
                            reader->path, (long long)reader->offset, why);
        }
        if (n == 0)
            break;
        *got += n;
        reader->offset += n;
    }
    return MGB_OK;
}

static enum mgb_status header_get(struct reader *reader, unsigned char *out, int64_t bytes,
                                  const char *what)
{
    int64_t at = reader->offset, got;
    MGB_TRY(reader_get(reader, out, bytes, &got));
    if (got == bytes)
        return MGB_OK;
    return mgb_fail(MGB_CORRUPT,
                    "'%s': the file ends at offset %lld within %s (%lld bytes at offset %lld)",
                    reader->path, (long long)reader->offset, what, (long long)bytes, (long long)at);
}

static enum mgb_status magic_read(struct reader *reader, struct mgb_idx *out)
{
    unsigned char magic[4];
    MGB_TRY(header_get(reader, magic, 4, "the IDX magic number"));
    if (magic[0] != 0 || magic[1] != 0)
        return mgb_fail(
            MGB_CORRUPT,
            "'%s': no IDX file: it begins with %02x %02x %02x %02x at offset 0, not 00 00",
            reader->path, magic[0], magic[1], magic[2], magic[3]);
    if (magic[2] != TYPE_U8)
        return mgb_fail(MGB_CORRUPT,
                        "'%s': value type 0x%02x at offset 2; only 0x08 (unsigned bytes) is read",
                        reader->path, magic[2]);
    if (magic[3] < 1 || magic[3] > MGB_IDX_MAX_RANK)
        return mgb_fail(MGB_CORRUPT, "'%s': %d dimensions at offset 3; 1 to %d are possible",
                        reader->path, magic[3], MGB_IDX_MAX_RANK);
    out->rank = magic[3];
    return MGB_OK;
}

/* Dimensions; *bytes is what the values must come to. */
static enum mgb_status dimensions_read(struct reader *reader, struct mgb_idx *out, int64_t *bytes)
{
    *bytes = 1;
    for (int i = 0; i < out->rank; i++) {
        unsigned char b[4];
        int64_t at = reader->offset;
        MGB_TRY(header_get(reader, b, 4, "the dimensions"));
        out->dim[i] = (int64_t)b[0] << 24 | (int64_t)b[1] << 16 | (int64_t)b[2] << 8 | b[3];
        if (out->dim[i] == 0 || out->dim[i] > MAX_BYTES / *bytes)
            return mgb_fail(MGB_CORRUPT, "'%s': dimension %d at offset %lld is %lld", reader->path,
                            i, (long long)at, (long long)out->dim[i]);
        *bytes *= out->dim[i];
    }
    out->row_count = *bytes / out->dim[0];
    return MGB_OK;
}

static enum mgb_status values_read(struct reader *reader, struct mgb_idx *out, int64_t bytes)
{
    int64_t header = reader->offset, have = 0;
    while (have < bytes) {
        int64_t size = have ? have * 2 : FIRST_BLOCK, got;
        if (size > bytes)
            size = bytes;
        unsigned char *grown = mgb_realloc(out->values, (size_t)size);
        if (!grown)
            return mgb_fail(MGB_NO_MEMORY, "'%s': no memory for %lld bytes", reader->path,
                            (long long)size);
        out->values = grown;
        MGB_TRY(reader_get(reader, out->values + have, size - have, &got));
        have += got;
        if (have < size)
            return mgb_fail(
                MGB_CORRUPT,
                "'%s': the file ends at offset %lld, but its header promises %lld rows, "
                "to offset %lld: %lld bytes are missing",
                reader->path, (long long)reader->offset, (long long)out->dim[0],
                (long long)(header + bytes), (long long)(bytes - have));
    }
    unsigned char more[16];
    int64_t got;
    MGB_TRY(reader_get(reader, more, sizeof more, &got));
    if (got > 0)
        return mgb_fail(
            MGB_CORRUPT,
            "'%s': data goes on at offset %lld (0x%02x), where its header says that %lld rows end",
            reader->path, (long long)(header + bytes), more[0], (long long)out->dim[0]);
    return MGB_OK;
}

static const char *kind_word(mode_t mode)
{
    return S_ISDIR(mode)                    ? "a folder"
           : S_ISFIFO(mode)                 ? "a named pipe"
           : S_ISSOCK(mode)                 ? "a socket"
           : S_ISCHR(mode) || S_ISBLK(mode) ? "a device"
                                            : "no file";
}

/* Without waiting for a writer, as a named pipe would; what is no regular file is refused. */
static enum mgb_status file_open(int *out, const char *path)
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
    return MGB_OK;
}

static enum mgb_status reader_open(struct reader *reader)
{
    int file = -1;
    MGB_TRY(file_open(&file, reader->path));
    reader->file = gzdopen(file, "rb");
    if (reader->file)
        return MGB_OK;
    close(file);
    return mgb_fail(MGB_NO_MEMORY, "no memory to open '%s'", reader->path);
}

enum mgb_status mgb_idx_read(struct mgb_idx *out, const char *path)
{
    *out = (struct mgb_idx){0};
    struct reader reader = {.path = path};
    MGB_TRY(reader_open(&reader));
    gzbuffer(reader.file, 1 << 16);
    int64_t bytes;
    enum mgb_status status;
    MGB_TRY_GOTO(status, magic_read(&reader, out), end);
    MGB_TRY_GOTO(status, dimensions_read(&reader, out, &bytes), end);
    MGB_TRY_GOTO(status, values_read(&reader, out, bytes), end);
end:
    gzclose_r(reader.file);
    if (status != MGB_OK)
        mgb_idx_done(out);
    return status;
}

void mgb_idx_done(struct mgb_idx *idx)
{
    mgb_release(idx->values);
    *idx = (struct mgb_idx){0};
}
