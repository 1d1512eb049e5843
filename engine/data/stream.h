/* A file of data, plain or gzip, byte by byte. */
#ifndef MGB_DATA_STREAM_H
#define MGB_DATA_STREAM_H

#include <mgb/status.h>
#include <stddef.h>
#include <stdint.h>

/* Opens a plain file to read it: MGB_MISSING or MGB_IO (folders, pipes) otherwise. */
enum mgb_status mgb_data_file_open(int *out, int64_t *bytes, const char *path);

struct mgb_gzip {
    const char *path; /* borrowed */
    struct gzFile_s *file;
    int64_t offset; /* uncompressed bytes read */
};
enum mgb_status mgb_gzip_open(struct mgb_gzip *out, const char *path);
/* Up to `bytes` of them; *got less than that at the end of the file. MGB_CORRUPT names where a stream is damaged. */
enum mgb_status mgb_gzip_read(struct mgb_gzip *gzip, void *out, int64_t bytes, int64_t *got);
void mgb_gzip_close(struct mgb_gzip *gzip);

struct mgb_stream {
    struct mgb_gzip gzip;
    int64_t line; /* of the next byte, from 1 */
    size_t at, have;
    unsigned char block[1 << 14];
};
/* A byte order mark of UTF-8 at the beginning is left out. */
enum mgb_status mgb_stream_open(struct mgb_stream *out, const char *path);
void mgb_stream_close(struct mgb_stream *stream);
/* The next byte, looked at only; -1: the file ends. */
enum mgb_status mgb_stream_look(int *byte, struct mgb_stream *stream);
/* The same, and moves on. */
enum mgb_status mgb_stream_get(int *byte, struct mgb_stream *stream);

#endif
