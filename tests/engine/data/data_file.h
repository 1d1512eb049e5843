/* A file of its own for a test, in a folder that goes with it. */
#ifndef MGB_TESTS_DATA_FILE_H
#define MGB_TESTS_DATA_FILE_H

#include "tests/support/check.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char data_folder[] = "/tmp/mgb-test-data-XXXXXX";
static char data_path[96];

static inline int data_folder_make(void **state)
{
    (void)state;
    if (!mkdtemp(data_folder))
        return 1;
    snprintf(data_path, sizeof data_path, "%s/file", data_folder);
    return 0;
}

static inline int data_folder_remove(void **state)
{
    (void)state;
    unlink(data_path);
    return rmdir(data_folder);
}

static inline void data_write(const void *bytes, size_t count)
{
    unlink(data_path); /* a file system may wait for the disk before it cuts one short */
    FILE *file = fopen(data_path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, count, file), count);
    assert_int_equal(fclose(file), 0);
}

static inline void data_write_text(const char *text)
{
    data_write(text, strlen(text));
}

/* The path of a stored file; valid until the next call. */
static inline const char *data_golden(const char *name)
{
    static char path[512];
    const char *root = getenv("MGB_SOURCE_DIR");
    snprintf(path, sizeof path, "%s/tests/golden/data/%s", root ? root : ".", name);
    return path;
}

/* All of a file, to be freed. */
static inline unsigned char *data_read(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    unsigned char *bytes = malloc(1 << 20);
    *size = fread(bytes, 1, 1 << 20, file);
    fclose(file);
    assert_in_range(*size, 1, (1 << 20) - 1);
    return bytes;
}

#endif
