/* Arrays of numpy: rows equal numpy's own, and every way in which an archive can be wrong is told. */
#include "tests/engine/data/data_file.h"
#include "tests/engine/data/data_graph.h"
#include "tests/support/golden.h"

#include <mgb/data.h>

enum { ROWS = 5, VALUES = ROWS * 12 };

static struct mgb_graph *graph;

static int all_make(void **state)
{
    graph = data_graph_make(7);
    return data_folder_make(state);
}

static int all_free(void **state)
{
    mgb_graph_free(graph);
    return data_folder_remove(state);
}

static void rows_equal(const struct mgb_source *source, const char *image, const char *label)
{
    float got[VALUES], wanted[VALUES], classes[ROWS];
    int32_t labels[ROWS];
    struct golden golden = golden_open("data/arrays.txt");
    golden_read(&golden, image, wanted, VALUES);
    golden_read(&golden, label, classes, ROWS);
    golden_close(&golden);
    assert_int_equal(source->rows, ROWS);
    assert_ok(source->fill(source->context, 1, -1, 0, ROWS, 0, got));
    assert_ok(source->fill(source->context, 1, -1, 0, ROWS, 1, labels));
    assert_memory_equal(got, wanted, sizeof got);
    for (int i = 0; i < ROWS; i++)
        assert_int_equal(labels[i], (int)classes[i]);
}

static void arrays_equal(const char *archive, const char *image, const char *label)
{
    struct mgb_idx_file files[] = {{"image", image}, {"label", label}};
    struct mgb_source source;
    assert_ok(mgb_source_npz(&source, graph, data_golden(archive), files, 2, true));
    rows_equal(&source, image, label);
    mgb_source_close(&source);
}

static void every_type_is_read_as_numpy_reads_it(void **state)
{
    (void)state;
    static const char *const archives[] = {"stored.npz", "deflated.npz"};
    for (int i = 0; i < 2; i++) {
        arrays_equal(archives[i], "f4", "y_i8");
        arrays_equal(archives[i], "f8", "y_i4");
        arrays_equal(archives[i], "i4", "y_u1");
        arrays_equal(archives[i], "i8", "y_f8");
        arrays_equal(archives[i], "u1", "y_i8");
    }
}

static void files_of_each_version_are_read(void **state)
{
    (void)state;
    static const char *const names[] = {"v1.npy", "v2.npy", "v3.npy"};
    struct mgb_shape image = {3, {4, 3, 1}};
    for (int i = 0; i < 3; i++) {
        struct mgb_graph *alone;
        struct mgb_source source;
        int x;
        float got[VALUES], wanted[VALUES];
        struct mgb_idx_file file = {"image", data_golden(names[i])};
        struct golden golden = golden_open("data/arrays.txt");
        assert_ok(mgb_graph_make(&alone, "alone"));
        assert_ok(mgb_graph_input(alone, &x, "image", &image, MGB_F32));
        assert_ok(mgb_source_npz(&source, alone, NULL, &file, 1, true));
        assert_ok(source.fill(source.context, 1, -1, 0, ROWS, 0, got));
        golden_read(&golden, "f4", wanted, VALUES);
        assert_memory_equal(got, wanted, sizeof got);
        golden_close(&golden);
        mgb_source_close(&source);
        mgb_graph_free(alone);
    }
}

static void an_epoch_uses_every_row_once(void **state)
{
    (void)state;
    struct mgb_idx_file files[] = {{"image", "i4"}, {"label", "y_i8"}};
    struct mgb_source source;
    assert_ok(mgb_source_npz(&source, graph, data_golden("stored.npz"), files, 2, true));
    for (int epoch = 0; epoch < 3; epoch++) {
        float row[12], all[VALUES];
        int seen = 0;
        assert_ok(source.fill(source.context, 3, -1, 0, ROWS, 0, all));
        for (int i = 0; i < ROWS; i++) {
            assert_ok(source.fill(source.context, 3, epoch, i, 1, 0, row));
            for (int k = 0; k < ROWS; k++)
                if (memcmp(row, all + k * 12, sizeof row) == 0)
                    seen |= 1 << k;
        }
        assert_int_equal(seen, (1 << ROWS) - 1);
    }
    assert_status(source.fill(source.context, 3, 0, 4, 2, 0, NULL), MGB_INVALID);
    mgb_source_close(&source);
}

static void array_refused(const char *archive, const char *image, const char *label,
                          const char *words)
{
    struct mgb_idx_file files[] = {{"image", image}, {"label", label}};
    struct mgb_source source;
    if (mgb_source_npz(&source, graph, data_golden(archive), files, 2, true) == MGB_OK)
        fail_msg("%s, %s was taken", image, label);
    assert_message(words);
}

static void what_an_input_cannot_take_is_refused(void **state)
{
    (void)state;
    array_refused("odd.npz", "fortran", "y",
                  "'fortran.npy': an array in Fortran's order; save "
                  "numpy.ascontiguousarray(x)");
    array_refused("odd.npz", "big", "y", "values of type '>f4'; <f4, <f8, <i4, <i8 and |u1 are");
    array_refused("odd.npz", "half", "y", "values of type '<f2'");
    array_refused("odd.npz", "text", "y", "values of type '<U1'");
    array_refused("odd.npz", "record", "y", "an array of records; save each field by itself");
    array_refused("odd.npz", "scalar", "y", "a single number; an array whose first axis counts");
    array_refused("odd.npz", "none", "y", "axis 0 is 0 long: there are no values");
    array_refused("odd.npz", "wide", "y",
                  "rows of 2x3, but input 'image' of model 'small' takes 4x3x1");
    array_refused("odd.npz", "half_way", "y", "rows of one value, but input 'image'");
    array_refused("odd.npz", "infinite", "y", "row 0 holds 1.0000000000000001e+300, which input");
    array_refused("odd.npz", "short", "half_way", "5 rows, but input 'image' has 3");
    array_refused("stored.npz", "f4", "u1",
                  "rows of 4x3, but input 'label' of model 'small' takes");
    array_refused("odd.npz", "none.npy", "y", "axis 0 is 0 long");
    array_refused("stored.npz", "f5", "y",
                  "input 'image': '/"); /* the path, and then what there is */
    array_refused("stored.npz", "f5", "y", "has no entry 'f5'; it has 'f4.npy', 'f8.npy'");
}

static void labels_refused(const char *label, const char *words)
{
    struct mgb_graph *other;
    struct mgb_shape scalar = {0, {0}};
    struct mgb_source source;
    struct mgb_idx_file file = {"label", label};
    int x;
    assert_ok(mgb_graph_make(&other, "other"));
    assert_ok(mgb_graph_input(other, &x, "label", &scalar, MGB_I32));
    assert_status(mgb_source_npz(&source, other, data_golden("odd.npz"), &file, 1, true),
                  MGB_INVALID);
    assert_message(words);
    mgb_graph_free(other);
}

static void labels_are_whole_numbers_of_32_bits_and_classes(void **state)
{
    (void)state;
    labels_refused("half_way", "row 0 holds 0.5, which input 'label' cannot");
    labels_refused("large", "row 0 holds 1099511627776, which input 'label' cannot");
    struct mgb_idx_file files[] = {{"image", "big"}, {"label", "class_9"}};
    struct mgb_source source;
    assert_status(mgb_source_npz(&source, graph, data_golden("odd.npz"), files + 1, 1, true),
                  MGB_INVALID);
    assert_message("row 0 is of class 9, but input 'label' of model 'small' takes classes 0 to 6");
    files[1].path = "y_i8";
    assert_status(mgb_source_npz(&source, graph, data_golden("stored.npz"), files + 1, 1, true),
                  MGB_INVALID);
    assert_message("input 'image' of model 'small' is given no array");
}

/* One change to the stored archive, and what is said then. */
struct damage {
    int part; /* that `at` counts from */
    int at, bytes;
    uint64_t value;
    const char *words;
};

enum { ABSOLUTE, IN_ENTRY, IN_END };

static const struct damage damages[] = {
    {IN_END, 0, 1, 0, "no zip archive, or cut short"},
    {IN_END, 4, 2, 1, "one part of a zip archive in several files"},
    {IN_END, 10, 2, 0xffff, "a Zip64 archive"},
    {IN_END, 16, 4, 0xffffffff, "a Zip64 archive"},
    {IN_END, 12, 4, 0x7fffffff, "does not end where the end record begins"},
    {IN_END, 8, 4, 0xff00ff00, "65280 entries do not fit a directory of"},
    {IN_ENTRY, 0, 1, 0, "entry 0 of its directory, at offset"},
    {IN_ENTRY, 8, 2, 1, "entry 'f4.npy': it is encrypted"},
    {IN_ENTRY, 10, 2, 12, "packed by method 12"},
    {IN_ENTRY, 16, 4, 1, "entry 'f4.npy': damaged: its CRC is"},
    {IN_ENTRY, 20, 4, 0xffffffff, "a Zip64 archive"},
    {IN_ENTRY, 20, 4, 0x7fffffff, "go beyond the entries"},
    {IN_ENTRY, 24, 4, 0x7fffffff, "cannot come of the"},
    {IN_ENTRY, 28, 2, 0xffff, "entry 0 goes beyond its directory"},
    {IN_ENTRY, 42, 4, 5, "no entry begins at offset 5"},
    {IN_ENTRY, 46, 1, 0, "the name of entry 0 is no text"},
    {IN_ENTRY, 46, 2, '8' << 8 | 'f', "two entries are called 'f8.npy'"},
    {ABSOLUTE, 0, 1, 0, "no entry begins at offset 0"},
    {ABSOLUTE, 26, 2, 0xffff, "go beyond the entries, which end at"},
};

/* Offsets of the parts of an archive, found as a reader would. */
static size_t part_find(const unsigned char *bytes, size_t size, int part)
{
    size_t end = size - 22;
    assert_memory_equal(bytes + end, "PK\5\6", 4);
    size_t directory = bytes[end + 16] | (size_t)bytes[end + 17] << 8;
    return part == IN_END ? end : part == IN_ENTRY ? directory : 0;
}

static void written_refused(const char *words)
{
    struct mgb_idx_file files[] = {{"image", "f4"}, {"label", "y_i8"}};
    struct mgb_source source;
    if (mgb_source_npz(&source, graph, data_path, files, 2, true) == MGB_OK)
        fail_msg("taken, though: %s", words);
    assert_message(words);
    assert_message(data_path);
}

static void a_damaged_archive_is_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        const struct damage *d = &damages[i];
        size_t size;
        unsigned char *bytes = data_read(data_golden("stored.npz"), &size);
        size_t at = part_find(bytes, size, d->part) + (size_t)d->at;
        for (int k = 0; k < d->bytes; k++)
            bytes[at + (size_t)k] = (unsigned char)(d->value >> 8 * k);
        data_write(bytes, size);
        free(bytes);
        written_refused(d->words);
    }
}

static void an_archive_cut_anywhere_is_refused(void **state)
{
    (void)state;
    size_t size;
    unsigned char *bytes = data_read(data_golden("deflated.npz"), &size);
    for (size_t cut = 0; cut < size; cut += 1 + cut / 16) {
        data_write(bytes, cut);
        written_refused("");
    }
    free(bytes);
}

/* A .npy file with this header and `values` bytes of zeros. */
static void npy_refused(const char *header, size_t values, const char *words)
{
    unsigned char bytes[512] = "\x93NUMPY\1\0";
    struct mgb_idx_file file = {"image", data_path};
    struct mgb_source source;
    size_t length = strlen(header);
    bytes[8] = (unsigned char)length;
    memcpy(bytes + 10, header, length);
    data_write(bytes, 10 + length + values);
    if (mgb_source_npz(&source, graph, NULL, &file, 1, true) == MGB_OK)
        fail_msg("taken: %s", header);
    assert_message(words);
}

#define DESCR "'descr': '<f4', "
#define ORDER "'fortran_order': False, "

static void a_damaged_header_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *header, *words;
    } wrong[] = {
        {"", "{ expected"},
        {"{", "descr, fortran_order and shape, once each,"},
        {"{}", "descr, fortran_order, shape and the end expected"},
        {"{" DESCR ORDER "}", "descr, fortran_order, shape and the end"},
        {"{" DESCR DESCR ORDER "'shape': (5,)}", "once each"},
        {"{" DESCR ORDER "'shape': (5,), 'x': 1}", "once each"},
        {"{" DESCR ORDER "'shape': (5)}", ", between sizes"},
        {"{" DESCR ORDER "'shape': (5 4)}", ", between sizes"},
        {"{" DESCR ORDER "'shape': (-5,)}", "a size expected"},
        {"{" DESCR ORDER "'shape': 5}", "( before the shape"},
        {"{" DESCR ORDER "'shape': (5,", "a size expected"},
        {"{" DESCR ORDER "'shape': (5,)} x", "the end expected"},
        {"{" DESCR ORDER "'shape': (1,1,1,1,1,1,1,1,1)}", "more than 8 axes"},
        {"{" DESCR ORDER "'shape': (99999999999999999999,)}", "a size of 63 bits"},
        {"{" DESCR ORDER "'shape': (3037000500, 3037000500)}", "larger than any file"},
        {"{" DESCR ORDER "'shape': (1000000000000, 4, 3)}", "1000000000000 rows in"},
        {"{" DESCR "'fortran_order': 1, 'shape': (5,)}", "True or False"},
        {"{'descr': '<f4, " ORDER "'shape': (5,)}", "values of type '?'"},
        {"{'descr': '\x1b[2J', " ORDER "'shape': (5,)}", "values of type '?'"},
        {"{" DESCR ORDER "'shape': (5, 4, 3), }\n", "5 rows in 240 bytes, 100 are there"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        npy_refused(wrong[i].header, 100, wrong[i].words);
    data_write("\x93NUMPY\4\0aaaaaaaa", 16);
    struct mgb_idx_file file = {"image", data_path};
    struct mgb_source source;
    assert_status(mgb_source_npz(&source, graph, NULL, &file, 1, true), MGB_UNSUPPORTED);
    assert_message(".npy version 4.0; 1.0 to 3.0 are read");
    data_write("\x93NUMPY\2\0\xff\xff\xff\xff", 12);
    assert_status(mgb_source_npz(&source, graph, NULL, &file, 1, true), MGB_CORRUPT);
    assert_message("a header of 4294967295 bytes; 10000 are possible");
    file.path = "/tmp";
    assert_status(mgb_source_npz(&source, graph, NULL, &file, 1, true), MGB_IO);
    assert_message("it is a folder");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_type_is_read_as_numpy_reads_it),
        cmocka_unit_test(files_of_each_version_are_read),
        cmocka_unit_test(an_epoch_uses_every_row_once),
        cmocka_unit_test(what_an_input_cannot_take_is_refused),
        cmocka_unit_test(labels_are_whole_numbers_of_32_bits_and_classes),
        cmocka_unit_test(a_damaged_archive_is_refused),
        cmocka_unit_test(an_archive_cut_anywhere_is_refused),
        cmocka_unit_test(a_damaged_header_is_refused),
    };
    return cmocka_run_group_tests(tests, all_make, all_free);
}
