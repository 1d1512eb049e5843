/* The central directory of a zip archive: what entries there are and where. See zip.h; bytes.c reads them. */
#include "engine/data/zip.h"

#include "engine/base/memory.h"
#include "engine/data/bytes.h"
#include "engine/data/stream.h"
#include <mgb/text.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#define END_SIGNATURE 0x06054b50u
#define ENTRY_SIGNATURE 0x02014b50u
#define LOCAL_SIGNATURE 0x04034b50u
#define END_BYTES 22
#define ENTRY_BYTES 46
#define LOCAL_BYTES 30
/* The end record may have a comment of 65535 bytes behind it. */
#define TAIL_BYTES (END_BYTES + 65535)
/* RFC 1951 packs 258 bytes in two bits at best. */
#define MOST_PACKED 1032

struct entry {
    char *name;
    unsigned method, flags, crc;
    int64_t packed, size, offset;
};

struct mgb_zip {
    const char *path;
    int file;
    int64_t bytes, directory; /* of the file; where its directory begins */
    int count;
    struct entry *entries;
};

static unsigned u16(const unsigned char *at)
{
    return at[0] | (unsigned)at[1] << 8;
}

static uint32_t u32(const unsigned char *at)
{
    return u16(at) | (uint32_t)u16(at + 2) << 16;
}

static enum mgb_status zip64_refuse(const struct mgb_zip *zip)
{
    return mgb_fail(MGB_UNSUPPORTED,
                    "'%s' is a Zip64 archive (over 4 GiB or 65,535 entries), which is not read; "
                    "save each array with numpy.save and give its .npy file instead",
                    zip->path);
}

/* Finds the end record, the last one whose comment ends with the file. */
static enum mgb_status end_find(const struct mgb_zip *zip, unsigned char *tail, int64_t *at)
{
    int64_t size = zip->bytes < TAIL_BYTES ? zip->bytes : TAIL_BYTES;
    MGB_TRY(mgb_file_read(zip->path, zip->file, zip->bytes - size, tail, size));
    for (int64_t i = size - END_BYTES; i >= 0; i--)
        if (u32(tail + i) == END_SIGNATURE && i + END_BYTES + u16(tail + i + 20) == size) {
            *at = zip->bytes - size + i;
            memmove(tail, tail + i, END_BYTES);
            return MGB_OK;
        }
    return mgb_fail(MGB_CORRUPT,
                    "'%s' (%lld bytes): no zip archive, or cut short: its directory is missing at "
                    "the end; write it again with numpy.savez",
                    zip->path, (long long)zip->bytes);
}

static enum mgb_status end_read(struct mgb_zip *zip, int64_t *directory_bytes)
{
    int64_t at = 0;
    unsigned char *tail = mgb_alloc(TAIL_BYTES);
    if (!tail)
        return mgb_fail(MGB_NO_MEMORY, "no memory to open '%s'", zip->path);
    enum mgb_status status = end_find(zip, tail, &at);
    unsigned char end[END_BYTES];
    memcpy(end, tail, END_BYTES);
    mgb_release(tail);
    MGB_TRY(status);
    zip->count = (int)u16(end + 10);
    *directory_bytes = u32(end + 12);
    zip->directory = u32(end + 16);
    if (zip->count == 0xffff || u32(end + 12) == UINT32_MAX || u32(end + 16) == UINT32_MAX)
        return zip64_refuse(zip);
    if (u16(end + 4) || u16(end + 6) || u16(end + 8) != u16(end + 10))
        return mgb_fail(MGB_UNSUPPORTED, "'%s' is one part of a zip archive in several files",
                        zip->path);
    if (zip->directory + *directory_bytes != at)
        return mgb_fail(MGB_CORRUPT,
                        "'%s': its directory of %lld bytes at offset %lld does not end where the "
                        "end record begins, at offset %lld",
                        zip->path, (long long)*directory_bytes, (long long)zip->directory,
                        (long long)at);
    if ((int64_t)zip->count * ENTRY_BYTES > *directory_bytes)
        return mgb_fail(MGB_CORRUPT, "'%s': %d entries do not fit a directory of %lld bytes",
                        zip->path, zip->count, (long long)*directory_bytes);
    return MGB_OK;
}

static bool name_is_fit(const char *name, size_t length)
{
    for (size_t at = 0, step; at < length; at += step) {
        uint32_t point;
        step = mgb_character_read(&point, name + at, length - at);
        if (!step || !mgb_character_is_shown(point))
            return false;
    }
    return length > 0;
}

static enum mgb_status name_read(struct mgb_zip *zip, int index, const char *name, size_t length)
{
    if (!name_is_fit(name, length))
        return mgb_fail(MGB_CORRUPT, "'%s': the name of entry %d is no text", zip->path, index);
    char *copy = mgb_alloc(length + 1);
    if (!copy)
        return mgb_fail(MGB_NO_MEMORY, "no memory to open '%s'", zip->path);
    memcpy(copy, name, length);
    if (mgb_zip_find(zip, copy) >= 0) {
        enum mgb_status status =
            mgb_fail(MGB_CORRUPT, "'%s': two entries are called '%s'", zip->path, copy);
        mgb_release(copy);
        return status;
    }
    zip->entries[index].name = copy;
    return MGB_OK;
}

static enum mgb_status entry_check(const struct mgb_zip *zip, const struct entry *entry)
{
    if (entry->packed == UINT32_MAX || entry->size == UINT32_MAX || entry->offset == UINT32_MAX)
        return zip64_refuse(zip);
    if (entry->offset + LOCAL_BYTES + entry->packed > zip->directory)
        return mgb_fail(MGB_CORRUPT,
                        "'%s', entry '%s': %lld bytes at offset %lld go beyond the entries, which "
                        "end at offset %lld",
                        zip->path, entry->name, (long long)entry->packed, (long long)entry->offset,
                        (long long)zip->directory);
    bool false_size =
        entry->method ? entry->size / MOST_PACKED > entry->packed : entry->size != entry->packed;
    if (false_size)
        return mgb_fail(MGB_CORRUPT, "'%s', entry '%s': %lld bytes cannot come of the %lld stored",
                        zip->path, entry->name, (long long)entry->size, (long long)entry->packed);
    return MGB_OK;
}

/* Reads entry `index` at `*at`, moving it. */
static enum mgb_status entry_read(struct mgb_zip *zip, int index, const unsigned char *directory,
                                  int64_t bytes, int64_t *at)
{
    const unsigned char *from = directory + *at;
    if (bytes - *at < ENTRY_BYTES || u32(from) != ENTRY_SIGNATURE)
        return mgb_fail(MGB_CORRUPT, "'%s': entry %d of its directory, at offset %lld, is damaged",
                        zip->path, index, (long long)(zip->directory + *at));
    unsigned length = u16(from + 28);
    int64_t whole = ENTRY_BYTES + (int64_t)length + u16(from + 30) + u16(from + 32);
    if (whole > bytes - *at)
        return mgb_fail(MGB_CORRUPT, "'%s': entry %d goes beyond its directory", zip->path, index);
    struct entry *entry = &zip->entries[index];
    entry->flags = u16(from + 8);
    entry->method = u16(from + 10);
    entry->crc = u32(from + 16);
    entry->packed = u32(from + 20);
    entry->size = u32(from + 24);
    entry->offset = u32(from + 42);
    *at += whole;
    MGB_TRY(name_read(zip, index, (const char *)from + ENTRY_BYTES, length));
    return entry_check(zip, entry);
}

static enum mgb_status directory_read(struct mgb_zip *zip, int64_t bytes)
{
    unsigned char *directory = mgb_alloc((size_t)bytes + 1);
    zip->entries = mgb_alloc(((size_t)zip->count + 1) * sizeof *zip->entries);
    enum mgb_status status = MGB_OK;
    int64_t at = 0;
    if (!directory || !zip->entries)
        status = mgb_fail(MGB_NO_MEMORY, "no memory for the directory of '%s'", zip->path);
    if (status == MGB_OK)
        status = mgb_file_read(zip->path, zip->file, zip->directory, directory, bytes);
    for (int i = 0; i < zip->count && status == MGB_OK; i++)
        status = entry_read(zip, i, directory, bytes, &at);
    mgb_release(directory);
    return status;
}

enum mgb_status mgb_zip_open(struct mgb_zip **out, const char *path)
{
    struct mgb_zip *zip = mgb_alloc(sizeof *zip);
    if (!zip)
        return mgb_fail(MGB_NO_MEMORY, "no memory to open '%s'", path);
    *zip = (struct mgb_zip){.path = path, .file = -1};
    int64_t directory_bytes = 0;
    enum mgb_status status = mgb_data_file_open(&zip->file, &zip->bytes, path);
    if (status == MGB_OK)
        status = end_read(zip, &directory_bytes);
    if (status == MGB_OK)
        status = directory_read(zip, directory_bytes);
    if (status != MGB_OK) {
        mgb_zip_close(zip);
        return status;
    }
    *out = zip;
    return MGB_OK;
}

void mgb_zip_close(struct mgb_zip *zip)
{
    if (!zip)
        return;
    for (int i = 0; zip->entries && i < zip->count; i++)
        mgb_release(zip->entries[i].name);
    mgb_release(zip->entries);
    if (zip->file >= 0)
        close(zip->file);
    mgb_release(zip);
}

int mgb_zip_count(const struct mgb_zip *zip)
{
    return zip->count;
}

const char *mgb_zip_name(const struct mgb_zip *zip, int entry)
{
    return zip->entries[entry].name;
}

int mgb_zip_find(const struct mgb_zip *zip, const char *name)
{
    for (int i = 0; i < zip->count && zip->entries[i].name; i++)
        if (strcmp(zip->entries[i].name, name) == 0)
            return i;
    return -1;
}

enum mgb_status mgb_zip_begin(struct mgb_bytes *out, const struct mgb_zip *zip, int index)
{
    const struct entry *entry = &zip->entries[index];
    *out = (struct mgb_bytes){.path = zip->path,
                              .entry = entry->name,
                              .size = entry->size,
                              .file = zip->file,
                              .packed = entry->packed,
                              .wanted_sum = entry->crc,
                              .summed = true};
    unsigned char local[LOCAL_BYTES];
    if (entry->flags & 1)
        return mgb_bytes_fail(out, MGB_UNSUPPORTED, "it is encrypted");
    if (entry->method != 0 && entry->method != 8)
        return mgb_bytes_fail(out, MGB_UNSUPPORTED,
                              "packed by method %u; stored (numpy.savez) and deflated "
                              "(numpy.savez_compressed) are read",
                              entry->method);
    MGB_TRY(mgb_file_read(zip->path, zip->file, entry->offset, local, LOCAL_BYTES));
    if (u32(local) != LOCAL_SIGNATURE)
        return mgb_bytes_fail(out, MGB_CORRUPT, "no entry begins at offset %lld",
                              (long long)entry->offset);
    out->offset = entry->offset + LOCAL_BYTES + u16(local + 26) + u16(local + 28);
    if (out->offset + out->packed > zip->directory)
        return mgb_bytes_fail(out, MGB_CORRUPT,
                              "%lld bytes at offset %lld go beyond the entries, which end at "
                              "offset %lld",
                              (long long)out->packed, (long long)out->offset,
                              (long long)zip->directory);
    return entry->method ? mgb_bytes_unpack(out) : MGB_OK;
}
