/* Files that claim to be safetensors: each way of being wrong is told with the tensor or byte. */
#include "engine/io/tensor_file.h"
#include "tests/engine/io/rig.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ONE(more) "{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}" more "}"

static enum mgb_status open_status(const char *path)
{
    struct mgb_tensor_file file;
    enum mgb_status status = mgb_tensor_file_open(&file, path);
    if (status == MGB_OK)
        mgb_tensor_file_close(&file);
    return status;
}

static void tensors_are_found_by_name(void **state)
{
    static const float values[] = {1.5f, -2.0f, 3.25f};
    const char *header =
        "{ \"z\" : {\"data_offsets\":[8,12],\"shape\":[ ],\"dtype\":\"F32\"},\n"
        "\"__metadata__\":{\"who\":\"me\"},\"none\":{\"dtype\":\"I64\",\"shape\":[0,"
        "9223372036854775807],\"data_offsets\":[8,8]},"
        "\"a/k\":{\"dtype\":\"F32\",\"shape\":[2,1],\"data_offsets\":[0,8]}}   ";
    struct mgb_tensor_file file;
    float out[2];
    (void)state;
    io_write_tensors(io_path("t"), header, values, sizeof values);
    assert_ok(mgb_tensor_file_open(&file, io_path("t")));
    assert_int_equal(file.count, 3);
    const struct mgb_stored *stored = mgb_tensor_file_find(&file, "a/k");
    assert_non_null(stored);
    assert_int_equal(stored->rank, 2);
    assert_ok(mgb_tensor_file_read(out, &file, stored));
    assert_memory_equal(out, values, 8);
    assert_ok(mgb_tensor_file_read(out, &file, mgb_tensor_file_find(&file, "z")));
    assert_memory_equal(out, values + 2, 4);
    assert_null(mgb_tensor_file_find(&file, "a"));
    assert_false(mgb_stored_readable(mgb_tensor_file_find(&file, "none")));
    assert_string_equal(mgb_tensor_file_find_word(&file, "who"), "me");
    assert_null(mgb_tensor_file_find_word(&file, "nobody"));
    mgb_tensor_file_close(&file);
}

/* More than one piece, so that the way pieces are widened in place is seen. */
static void halves_are_widened(void **state)
{
    enum { COUNT = 150001 };
    uint16_t *halves = malloc(2 * COUNT * sizeof *halves);
    float *out = malloc(COUNT * sizeof *out);
    struct mgb_tensor_file file;
    (void)state;
    for (int i = 0; i < COUNT; i++) {
        halves[i] = (uint16_t)(0x3c00 + i % 1024);        /* 1 + k / 1024 */
        halves[COUNT + i] = (uint16_t)(0x3f80 + i % 128); /* 1 + k / 128 */
    }
    io_write_tensors(
        io_path("h"),
        "{\"f\":{\"dtype\":\"F16\",\"shape\":[150001],\"data_offsets\":[0,300002]},"
        "\"b\":{\"dtype\":\"BF16\",\"shape\":[150001],\"data_offsets\":[300002,600004]}}",
        halves, 4 * (size_t)COUNT);
    assert_ok(mgb_tensor_file_open(&file, io_path("h")));
    assert_ok(mgb_tensor_file_read(out, &file, mgb_tensor_file_find(&file, "f")));
    for (int i = 0; i < COUNT; i++)
        assert_true(out[i] == 1.0f + (float)(i % 1024) / 1024.0f);
    assert_ok(mgb_tensor_file_read(out, &file, mgb_tensor_file_find(&file, "b")));
    for (int i = 0; i < COUNT; i++)
        assert_true(out[i] == 1.0f + (float)(i % 128) / 128.0f);
    mgb_tensor_file_close(&file);
    free(halves);
    free(out);
}

static const struct {
    const char *header;
    size_t bytes; /* of values */
    const char *words;
} wrong[] = {
    {"", 0, "'{' expected where the header ends"},
    {"[]", 0, "'{' expected at byte 0 of the header, '[' found"},
    {"{} x", 0, "the end expected at byte 3"},
    {ONE(""), 7, "tensor 'a': its values are said to be at bytes 0 to 8, the file has 7"},
    {ONE(""), 9, "1 bytes behind its last tensor belong to none"},
    {ONE(","), 8, "a text expected"},
    {ONE(",\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[8,16]}"), 16,
     "tensor 'a' is there twice"},
    {ONE(",\"b\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[4,12]}"), 12,
     "tensor 'b': its values begin at byte 4, within those of another, which end at 8"},
    {ONE(",\"b\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[12,20]}"), 20,
     "tensor 'b': its values begin at byte 12, behind a hole from byte 8"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[8,0]}}", 8, "tensor 'a'"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[3],\"data_offsets\":[0,8]}}", 8,
     "tensor 'a': 3 elements of type F32 do not fill its 8 bytes"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[4294967296,4294967296],\"data_offsets\":[0,8]}}", 8,
     "tensor 'a': its shape has more elements than can be counted"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[4611686018427387906],\"data_offsets\":[0,8]}}", 8,
     "do not fill its 8 bytes"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[NaN],\"data_offsets\":[0,8]}}", 8,
     "tensor 'a': a whole number from 0 expected at byte 29"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[-2],\"data_offsets\":[0,8]}}", 8, "'-' found"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2.0],\"data_offsets\":[0,8]}}", 8, "'.' found"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[99999999999999999999],\"data_offsets\":[0,8]}}", 8,
     "the number at byte 29 of the header is too large"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[[[[[[[2]]]]]]],\"data_offsets\":[0,8]}}", 8,
     "'[' found"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":2,\"data_offsets\":[0,8]}}", 8, "'[' expected"},
    {"{\"a\":{\"dtype\":\"F31\",\"shape\":[2],\"data_offsets\":[0,8]}}", 8,
     "its type 'F31' is not known"},
    {"{\"a\":{\"dtype\":7,\"shape\":[2],\"data_offsets\":[0,8]}}", 8, "a text expected"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2]}}", 8, "tensor 'a': its entry has no 'data_offsets'"},
    {"{\"a\":{\"shape\":[2],\"shape\":[2],\"data_offsets\":[0,8]}}", 8, "'shape' twice"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8],\"x\":1}}", 8,
     "'x' which no tensor"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,4,8]}}", 8, "']' expected"},
    {"{\"a\":{}}", 0, "tensor 'a': a text expected"},
    {"{\"a\":[1]}", 0, "tensor 'a': '{' expected"},
    {"{\"__metadata__\":{\"x\":{}}}", 0, "__metadata__: a text expected"},
    {"{\"__metadata__\":{\"x\":1}}", 0, "__metadata__: a text expected"},
    {"{\"__metadata__\":{},\"__metadata__\":{}}", 0, "__metadata__: it is there twice"},
    {"{\"__metadata__\":{\"x\":\"1\",\"x\":\"2\"}}", 0, "__metadata__ has 'x' twice"},
    {"{\"\\u001b[2J\":1}", 0, "tensor '?[2J'"},
};

static void what_is_wrong_is_named(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        io_write_tensors(io_path("w"), wrong[i].header, NULL, wrong[i].bytes);
        assert_status(open_status(io_path("w")), MGB_CORRUPT);
        assert_message(wrong[i].words);
        assert_message("/w'");
    }
}

static void sizes_of_headers_are_not_believed(void **state)
{
    static const uint64_t sizes[] = {3, 100000001, UINT64_C(1) << 60, INT64_MAX, UINT64_MAX};
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        unsigned char bytes[10] = {[8] = '{', [9] = '}'};
        memcpy(bytes, &sizes[i], 8);
        io_write(io_path("s"), bytes, sizeof bytes);
        assert_status(open_status(io_path("s")), MGB_CORRUPT);
        assert_message("promise a header of");
    }
    for (size_t size = 0; size < 8; size++) {
        io_write(io_path("s"), "\0\0\0\0\0\0\0\0", size);
        assert_status(open_status(io_path("s")), MGB_CORRUPT);
        assert_message("is no safetensors file");
    }
}

/* A sparse file of 101 MB: a header within the file that is larger than any table of tensors. */
static void headers_have_a_limit(void **state)
{
    uint64_t size = 100000001;
    (void)state;
    io_write(io_path("big"), &size, 8);
    assert_int_equal(truncate(io_path("big"), 101000000), 0);
    assert_status(open_status(io_path("big")), MGB_CORRUPT);
    assert_message("at most 100000000 are read");
    size = 90000000; /* zeros: read, and refused at the first byte */
    io_write(io_path("big"), &size, 8);
    assert_int_equal(truncate(io_path("big"), 101000000), 0);
    assert_status(open_status(io_path("big")), MGB_CORRUPT);
    assert_message("byte 0x00 found");
}

static void deep_nesting_is_refused_at_once(void **state)
{
    enum { DEPTH = 1000000 };
    char *header = malloc(DEPTH + 8);
    (void)state;
    strcpy(header, "{\"a\":");
    memset(header + 5, '[', DEPTH);
    header[DEPTH + 5] = '\0';
    io_write_tensors(io_path("d"), header, NULL, 0);
    assert_status(open_status(io_path("d")), MGB_CORRUPT);
    assert_message("'{' expected at byte 5");
    free(header);
}

static void what_is_no_file_is_not_waited_for(void **state)
{
    (void)state;
    assert_status(open_status(io_path("nothing")), MGB_MISSING);
    assert_status(open_status(io_folder), MGB_INVALID);
    assert_message("is a folder");
    assert_int_equal(mkfifo(io_path("pipe"), 0600), 0);
    assert_status(open_status(io_path("pipe")), MGB_INVALID);
    assert_message("a pipe or a device");
    assert_status(open_status("/dev/zero"), MGB_INVALID);
}

static void a_file_that_shrinks_is_noticed(void **state)
{
    struct mgb_tensor_file file;
    float out[2];
    (void)state;
    io_write_tensors(io_path("c"), ONE(""), NULL, 8);
    assert_ok(mgb_tensor_file_open(&file, io_path("c")));
    assert_int_equal(truncate(io_path("c"), 69), 0);
    assert_status(mgb_tensor_file_read(out, &file, file.tensors), MGB_CORRUPT);
    assert_message("became shorter");
    mgb_tensor_file_close(&file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tensors_are_found_by_name),
        cmocka_unit_test(halves_are_widened),
        cmocka_unit_test(what_is_wrong_is_named),
        cmocka_unit_test(sizes_of_headers_are_not_believed),
        cmocka_unit_test(headers_have_a_limit),
        cmocka_unit_test(deep_nesting_is_refused_at_once),
        cmocka_unit_test(what_is_no_file_is_not_waited_for),
        cmocka_unit_test(a_file_that_shrinks_is_noticed),
    };
    return cmocka_run_group_tests(tests, io_folder_make, io_folder_remove);
}
