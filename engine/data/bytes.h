/* The bytes of an entry of an archive, or of a whole file, read in order. */
#ifndef MGB_DATA_BYTES_H
#define MGB_DATA_BYTES_H

#include <mgb/status.h>
#include <stdbool.h>
#include <stdint.h>

struct mgb_bytes {
    const char *path, *entry; /* for messages; entry NULL: the whole file */
    int64_t size, at;         /* unpacked: as promised, and read so far */
    int file;
    bool closes;            /* the file is its own */
    int64_t offset, packed; /* in the file: where the next bytes are, how many are left */
    bool summed;
    uint32_t sum, wanted_sum;    /* CRC-32 */
    struct mgb_inflate *inflate; /* NULL: stored as they are */
};

/* All of a plain file (mgb_bytes_end). */
enum mgb_status mgb_bytes_begin(struct mgb_bytes *out, const char *path);
/* The rest is deflated. */
enum mgb_status mgb_bytes_unpack(struct mgb_bytes *bytes);
/* Exactly `count` of them; MGB_CORRUPT when they end before. With the last one the sum is checked. */
enum mgb_status mgb_bytes_get(struct mgb_bytes *bytes, void *out, int64_t count);
void mgb_bytes_end(struct mgb_bytes *bytes);
/* A failure about it: "'x.npz', entry 'y.npy': " and the words. */
enum mgb_status mgb_bytes_fail(const struct mgb_bytes *bytes, enum mgb_status status,
                               const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Exactly `bytes` at `offset`; MGB_IO, MGB_CORRUPT when the file ends before. */
enum mgb_status mgb_file_read(const char *path, int file, int64_t offset, void *out, int64_t bytes);

#endif
