/* Reads one IDX file, plain or gzip, and trusts nothing in it. Offsets in messages count uncompressed bytes. */
#include "engine/data/idx_file.h"

#include "engine/base/memory.h"
#include "engine/data/stream.h"

#define TYPE_U8 0x08
/* Memory is taken as data arrives, so that a false header cannot ask for more than the file holds. */
#define FIRST_BLOCK (4u << 20)
#define MAX_BYTES ((int64_t)1 << 40)

static enum mgb_status header_get(struct mgb_gzip *reader, unsigned char *out, int64_t bytes,
                                  const char *what)
{
    int64_t at = reader->offset, got;
    MGB_TRY(mgb_gzip_read(reader, out, bytes, &got));
    if (got == bytes)
        return MGB_OK;
    return mgb_fail(MGB_CORRUPT,
                    "'%s': the file ends at offset %lld within %s (%lld bytes at offset %lld)",
                    reader->path, (long long)reader->offset, what, (long long)bytes, (long long)at);
}

static enum mgb_status magic_read(struct mgb_gzip *reader, struct mgb_idx *out)
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
static enum mgb_status dimensions_read(struct mgb_gzip *reader, struct mgb_idx *out, int64_t *bytes)
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

static enum mgb_status values_read(struct mgb_gzip *reader, struct mgb_idx *out, int64_t bytes)
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
        MGB_TRY(mgb_gzip_read(reader, out->values + have, size - have, &got));
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
    MGB_TRY(mgb_gzip_read(reader, more, sizeof more, &got));
    if (got > 0)
        return mgb_fail(
            MGB_CORRUPT,
            "'%s': data goes on at offset %lld (0x%02x), where its header says that %lld rows end",
            reader->path, (long long)(header + bytes), more[0], (long long)out->dim[0]);
    return MGB_OK;
}

enum mgb_status mgb_idx_read(struct mgb_idx *out, const char *path)
{
    *out = (struct mgb_idx){0};
    struct mgb_gzip reader;
    MGB_TRY(mgb_gzip_open(&reader, path));
    int64_t bytes;
    enum mgb_status status;
    MGB_TRY_GOTO(status, magic_read(&reader, out), end);
    MGB_TRY_GOTO(status, dimensions_read(&reader, out, &bytes), end);
    MGB_TRY_GOTO(status, values_read(&reader, out, bytes), end);
end:
    mgb_gzip_close(&reader);
    if (status != MGB_OK)
        mgb_idx_done(out);
    return status;
}

void mgb_idx_done(struct mgb_idx *idx)
{
    mgb_release(idx->values);
    *idx = (struct mgb_idx){0};
}
