/* IDX files: values, shapes, and every way in which a file can be wrong. */
#include "tests/engine/data/data_graph.h"

#include <mgb/data.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define ROWS 5
#define IMAGE_BYTES (16 + ROWS * 12)
#define LABEL_BYTES (8 + ROWS)

static char folder[] = "/tmp/mgb-test-idx-XXXXXX";
static char image_path[96], label_path[96];
static unsigned char image_file[IMAGE_BYTES] = {0, 0, 8, 3, 0, 0, 0, ROWS, 0, 0, 0, 4, 0, 0, 0, 3};
static unsigned char label_file[LABEL_BYTES] = {0, 0, 8, 1, 0, 0, 0, ROWS, 4, 3, 2, 1, 0};
static const struct mgb_idx_file files[2] = {{"image", image_path}, {"label", label_path}};

static void plain_write(const char *path, const void *bytes, size_t count)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, count, file), count);
    assert_int_equal(fclose(file), 0);
}

static void gzip_write(const char *path, const void *bytes, size_t count)
{
    gzFile file = gzopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(gzwrite(file, bytes, (unsigned)count), count);
    assert_int_equal(gzclose(file), Z_OK);
}

static size_t file_read(const char *path, unsigned char *out, size_t capacity)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t count = fread(out, 1, capacity, file);
    fclose(file);
    return count;
}

static int folder_make(void **state)
{
    (void)state;
    if (!mkdtemp(folder))
        return 1;
    snprintf(image_path, sizeof image_path, "%s/images", folder);
    snprintf(label_path, sizeof label_path, "%s/labels", folder);
    for (int i = 0; i < ROWS * 12; i++)
        image_file[16 + i] = (unsigned char)(i * 4);
    return 0;
}

static int folder_remove(void **state)
{
    (void)state;
    unlink(image_path);
    unlink(label_path);
    return rmdir(folder);
}

static int files_write(void **state)
{
    (void)state;
    plain_write(image_path, image_file, sizeof image_file);
    plain_write(label_path, label_file, sizeof label_file);
    return 0;
}

static void refused(enum mgb_status wanted, int classes, const char *words)
{
    struct mgb_graph *graph = data_graph_make(classes);
    struct mgb_source source;
    assert_status(mgb_source_idx(&source, graph, files, 2, false), wanted);
    assert_message(words);
    mgb_graph_free(graph);
}

static void values_check(void)
{
    struct mgb_graph *graph = data_graph_make(5);
    struct mgb_source source;
    float image[ROWS][12];
    int32_t label[ROWS];
    assert_ok(mgb_source_idx(&source, graph, files, 2, false));
    assert_int_equal(source.rows, ROWS);
    assert_ok(source.fill(source.context, 0, 0, 0, ROWS, 0, image));
    assert_ok(source.fill(source.context, 0, 0, 0, ROWS, 1, label));
    for (int i = 0; i < ROWS; i++) {
        assert_int_equal(label[i], ROWS - 1 - i);
        for (int k = 0; k < 12; k++)
            assert_true(image[i][k] == (float)((i * 12 + k) * 4) / 255.0f);
    }
    mgb_source_close(&source);
    mgb_graph_free(graph);
}

static void plain_and_gzip_files_give_the_same_values(void **state)
{
    (void)state;
    values_check();
    gzip_write(image_path, image_file, sizeof image_file);
    values_check();
    gzip_write(label_path, label_file, sizeof label_file);
    values_check();
}

static void a_file_cut_at_any_byte_is_refused(void **state)
{
    (void)state;
    for (size_t count = 0; count < sizeof image_file; count++) {
        plain_write(image_path, image_file, count);
        refused(MGB_CORRUPT, 5, image_path);
        assert_message("offset");
    }
}

static void a_gzip_file_cut_at_any_byte_is_refused(void **state)
{
    (void)state;
    unsigned char packed[512];
    gzip_write(image_path, image_file, sizeof image_file);
    size_t size = file_read(image_path, packed, sizeof packed);
    for (size_t count = 0; count < size; count++) {
        plain_write(image_path, packed, count);
        refused(MGB_CORRUPT, 5, image_path);
    }
}

static void a_damaged_gzip_stream_never_passes_for_data(void **state)
{
    (void)state;
    unsigned char packed[512];
    gzip_write(image_path, image_file, sizeof image_file);
    size_t size = file_read(image_path, packed, sizeof packed);
    /* Bytes 4 to 9 of a gzip header are time, flags and system: no part of the data. Nor is a bit that pads the last
     * byte of the stream: then the values are the right ones. */
    int passed = 0;
    for (size_t at = 10; at < size; at++) {
        struct mgb_graph *graph = data_graph_make(5);
        struct mgb_source source;
        packed[at] ^= 0x10;
        plain_write(image_path, packed, size);
        enum mgb_status status = mgb_source_idx(&source, graph, files, 2, false);
        if (status == MGB_OK) {
            mgb_source_close(&source);
            values_check();
            passed++;
        } else {
            assert_int_equal(status, MGB_CORRUPT);
            assert_message(image_path);
        }
        packed[at] ^= 0x10;
        mgb_graph_free(graph);
    }
    assert_true(passed <= 1);
}

static void a_header_that_lies_is_refused(void **state)
{
    (void)state;
    static const struct {
        int at;
        unsigned char value;
        const char *words;
    } lies[] = {
        {0, 1, "begins with 01 00 08 03 at offset 0"},
        {2, 0x0d, "value type 0x0d at offset 2"},
        {3, 0, "0 dimensions at offset 3"},
        {3, 200, "200 dimensions at offset 3"},
        {3, 4, "bytes are missing"}, /* the first values are read as a dimension */
        {7, 0, "dimension 0 at offset 4 is 0"},
        {7, ROWS + 1, "12 bytes are missing"},
        {7, ROWS - 1, "data goes on at offset 64"},
        {4, 0xff, "bytes are missing"}, /* four thousand million rows */
    };
    for (size_t i = 0; i < sizeof lies / sizeof lies[0]; i++) {
        unsigned char copy[sizeof image_file];
        memcpy(copy, image_file, sizeof copy);
        copy[lies[i].at] = lies[i].value;
        plain_write(image_path, copy, sizeof copy);
        refused(MGB_CORRUPT, 5, lies[i].words);
    }
}

static void a_huge_claim_takes_no_memory(void **state)
{
    (void)state;
    unsigned char copy[sizeof image_file];
    memcpy(copy, image_file, sizeof copy);
    copy[4] = copy[8] = 0xff;
    copy[12] = 0x7f;
    plain_write(image_path, copy, sizeof copy);
    refused(MGB_CORRUPT, 5, "dimension");
}

static void files_with_different_numbers_of_rows_are_refused(void **state)
{
    (void)state;
    unsigned char copy[LABEL_BYTES - 1];
    memcpy(copy, label_file, sizeof copy);
    copy[7] = ROWS - 1;
    plain_write(label_path, copy, sizeof copy);
    refused(MGB_CORRUPT, 5, "holds 4");
    assert_message("holds 5 rows");
}

static void a_label_beyond_the_classes_is_refused(void **state)
{
    (void)state;
    refused(MGB_INVALID, 4, "row 0 is of class 4");
}

static void rows_of_another_shape_are_refused(void **state)
{
    (void)state;
    unsigned char copy[sizeof image_file];
    memcpy(copy, image_file, sizeof copy);
    copy[11] = 3;
    copy[15] = 4;
    plain_write(image_path, copy, sizeof copy);
    refused(MGB_INVALID, 5, "rows of 3x4");
    assert_message("4x3x1");
}

static void missing_files_and_wrong_names_are_named(void **state)
{
    (void)state;
    struct mgb_graph *graph = data_graph_make(5);
    struct mgb_source source;
    unlink(label_path);
    refused(MGB_MISSING, 5, "labels");
    struct mgb_idx_file wrong[2] = {{"imgae", image_path}, {"label", image_path}};
    assert_status(mgb_source_idx(&source, graph, wrong, 2, false), MGB_INVALID);
    assert_message("did you mean 'image'");
    assert_status(mgb_source_idx(&source, graph, files, 1, false), MGB_INVALID);
    assert_message("input 'label' of model 'small' is given no file");
    struct mgb_idx_file twice[2] = {{"image", image_path}, {"image", image_path}};
    assert_status(mgb_source_idx(&source, graph, twice, 2, false), MGB_INVALID);
    assert_message("two files");
    struct mgb_idx_file directory[1] = {{"image", folder}};
    assert_status(mgb_source_idx(&source, graph, directory, 1, false), MGB_IO);
    mgb_graph_free(graph);
}

/* Opening a named pipe that nobody writes would never return. */
static void what_is_no_plain_file_is_refused(void **state)
{
    (void)state;
    char pipe_path[96], link_path[96];
    struct mgb_source source;
    struct mgb_graph *graph = data_graph_make(5);
    snprintf(pipe_path, sizeof pipe_path, "%s/pipe", folder);
    snprintf(link_path, sizeof link_path, "%s/link", folder);
    assert_int_equal(mkfifo(pipe_path, 0600), 0);
    assert_int_equal(symlink(pipe_path, link_path), 0);
    struct mgb_idx_file odd[] = {
        {"image", pipe_path}, {"image", link_path}, {"image", "/dev/zero"}, {"image", folder}};
    const char *const words[] = {"it is a named pipe", "it is a named pipe", "it is a device",
                                 "it is a folder"};
    for (int i = 0; i < 4; i++) {
        assert_status(mgb_source_idx(&source, graph, &odd[i], 1, false), MGB_IO);
        assert_message(words[i]);
    }
    unlink(link_path);
    unlink(pipe_path);
    mgb_graph_free(graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(plain_and_gzip_files_give_the_same_values, files_write),
        cmocka_unit_test_setup(a_file_cut_at_any_byte_is_refused, files_write),
        cmocka_unit_test_setup(a_gzip_file_cut_at_any_byte_is_refused, files_write),
        cmocka_unit_test_setup(a_damaged_gzip_stream_never_passes_for_data, files_write),
        cmocka_unit_test_setup(a_header_that_lies_is_refused, files_write),
        cmocka_unit_test_setup(a_huge_claim_takes_no_memory, files_write),
        cmocka_unit_test_setup(files_with_different_numbers_of_rows_are_refused, files_write),
        cmocka_unit_test_setup(a_label_beyond_the_classes_is_refused, files_write),
        cmocka_unit_test_setup(rows_of_another_shape_are_refused, files_write),
        cmocka_unit_test_setup(missing_files_and_wrong_names_are_named, files_write),
        cmocka_unit_test(what_is_no_plain_file_is_refused),
    };
    return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
