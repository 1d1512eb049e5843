/* CSV: values and classes, columns by name and number, and a message with line and column for all that is wrong. */
#include "tests/engine/data/data_file.h"
#include "tests/support/check.h"
#include "tests/support/golden.h"

#include <locale.h>
#include <mgb/data.h>
#include <mgb/model.h>
#include <mgb/op.h>

/* Inputs "x" of two values and "label", one i32; with `classes` a loss says how many there are. */
static struct mgb_graph *graph_make(int classes)
{
    struct mgb_graph *graph;
    struct mgb_shape pair = {1, {2}}, scalar = {0, {0}}, weight = {2, {2, classes}};
    struct mgb_init init = {.kind = MGB_GLOROT_UNIFORM, .fan_in = 2, .fan_out = classes};
    int x, label, w, read, logits, loss;
    assert_ok(mgb_graph_make(&graph, "small"));
    assert_ok(mgb_graph_input(graph, &x, "x", &pair, MGB_F32));
    assert_ok(mgb_graph_input(graph, &label, "label", &scalar, MGB_I32));
    assert_ok(mgb_graph_variable(graph, &w, "kernel", &weight, &init));
    assert_ok(mgb_graph_read(graph, &read, w));
    assert_ok(mgb_op_dense(graph, &logits, "dense", x, read, -1, MGB_LINEAR));
    assert_ok(mgb_op_softmax_cross_entropy(graph, &loss, "loss", logits, label));
    assert_ok(mgb_graph_loss(graph, loss, 1.0f));
    assert_ok(mgb_graph_finish(graph));
    return graph;
}

static struct mgb_graph *graph;

static int all_make(void **state)
{
    graph = graph_make(3);
    return data_folder_make(state);
}

static int all_free(void **state)
{
    mgb_graph_free(graph);
    return data_folder_remove(state);
}

struct ask {
    const char *x[3];
    const char *label, *separator;
    bool headless;
    const char *classes[4];
};

static enum mgb_status asked_open(struct mgb_source *out, const struct ask *ask)
{
    struct mgb_csv_input inputs[] = {{"x", ask->x, 0}, {"label", &ask->label, 1}};
    struct mgb_csv csv = {.path = data_path,
                          .inputs = inputs,
                          .count = 2,
                          .headless = ask->headless,
                          .separator = ask->separator ? *ask->separator : ',',
                          .classes = ask->classes};
    while (inputs[0].count < 3 && ask->x[inputs[0].count])
        inputs[0].count++;
    while (csv.class_count < 4 && ask->classes[csv.class_count])
        csv.class_count++;
    return mgb_source_csv(out, graph, &csv, true);
}

static const struct ask plain = {.x = {"a:b"}, .label = "kind"};

static void reads(const struct ask *ask, const char *text, const char *rows)
{
    struct mgb_source source;
    char got[256];
    size_t used = 0;
    data_write_text(text);
    assert_ok(asked_open(&source, ask));
    for (int64_t i = 0; i < source.rows; i++) {
        float x[2];
        int32_t label;
        assert_ok(source.fill(source.context, 1, -1, i, 1, 0, x));
        assert_ok(source.fill(source.context, 1, -1, i, 1, 1, &label));
        used += (size_t)snprintf(got + used, sizeof got - used, "%g %g %d; ", (double)x[0],
                                 (double)x[1], (int)label);
    }
    mgb_source_close(&source);
    assert_string_equal(got, rows);
}

static void columns_are_found_by_name_number_and_range(void **state)
{
    (void)state;
    const char *text = "a,b,kind\n1,2,0\n3,4,2\n";
    struct ask by_number = {.x = {"2", "1"}, .label = "3"};
    struct ask mixed = {.x = {"b", "1"}, .label = "kind"};
    struct ask headless = {.x = {"1:2"}, .label = "3", .headless = true};
    struct ask tabs = {.x = {"a", "b"}, .label = "kind", .separator = "\t"};
    reads(&plain, text, "1 2 0; 3 4 2; ");
    reads(&by_number, text, "2 1 0; 4 3 2; ");
    reads(&mixed, text, "2 1 0; 4 3 2; ");
    reads(&headless, "1,2,0\n3,4,1", "1 2 0; 3 4 1; ");
    reads(&tabs, "a\tb\tkind\n1\t2\t1\n", "1 2 1; ");
    reads(&plain,
          "\xef\xbb\xbf"
          "a,b,kind\r\n-1.5e2, +.25 ,\"1\"\r\n\r\n\r\n",
          "-150 0.25 1; ");
}

static void names_become_classes_in_order_of_appearance(void **state)
{
    (void)state;
    const char *text =
        "kind,a,note,b\n\"elm, old\",1,\"two\nlines\",2\nash,3,,4\n\"elm, old\",5,x,6\n";
    struct ask ask = {.x = {"a", "b"}, .label = "kind"};
    struct mgb_source source;
    reads(&ask, text, "1 2 0; 3 4 1; 5 6 0; ");
    assert_ok(asked_open(&source, &ask));
    assert_string_equal(source.description, "3 rows of file; classes 0 elm, old, 1 ash");
    mgb_source_close(&source);
    struct ask given = {.x = {"a", "b"}, .label = "kind", .classes = {"ash", "oak", "elm, old"}};
    reads(&given, text, "1 2 2; 3 4 0; 5 6 2; ");
    struct ask numbers = {.x = {"a", "b"}, .label = "kind", .classes = {"7", "3"}};
    reads(&numbers, "kind,a,b\n3,1,1\n7,1,1\n", "1 1 1; 1 1 0; ");
}

static void many_rows_are_read(void **state)
{
    (void)state;
    char *text = malloc(1 << 20);
    int used = sprintf(text, "a,b,kind\n");
    for (int i = 0; i < 3000; i++)
        used += sprintf(text + used, "%d,%d,%d\n", i, -i, i % 3);
    data_write(text, (size_t)used);
    free(text);
    struct mgb_source source;
    float x[2];
    assert_ok(asked_open(&source, &plain));
    assert_int_equal(source.rows, 3000);
    for (int i = 0; i < 3000; i += 77) {
        assert_ok(source.fill(source.context, 1, -1, i, 1, 0, x));
        assert_true(x[0] == (float)i && x[1] == (float)-i);
    }
    mgb_source_close(&source);
}

static void numbers_are_read_as_numpy_reads_them(void **state)
{
    (void)state;
    size_t size;
    unsigned char *bytes = data_read(data_golden("numbers.csv"), &size);
    float wanted[40], got[40];
    struct golden golden = golden_open("data/arrays.txt");
    struct mgb_source source;
    golden_read(&golden, "csv", wanted, 40);
    golden_close(&golden);
    data_write(bytes, size);
    free(bytes);
    assert_ok(asked_open(&source, &plain));
    assert_int_equal(source.rows, 20);
    assert_ok(source.fill(source.context, 1, -1, 0, 20, 0, got));
    assert_memory_equal(got, wanted, sizeof got);
    mgb_source_close(&source);
}

static void a_comma_locale_does_not_matter(void **state)
{
    (void)state;
    static const char *const locales[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE", "nl_NL.UTF-8"};
    const char *set = NULL;
    for (int i = 0; i < 4 && !set; i++)
        set = setlocale(LC_NUMERIC, locales[i]);
    struct mgb_source source;
    float x[2];
    data_write_text("a,b,kind\n1.5,-2.25e1,0\n");
    enum mgb_status status = asked_open(&source, &plain);
    setlocale(LC_NUMERIC, "C");
    assert_ok(status);
    assert_ok(source.fill(source.context, 1, -1, 0, 1, 0, x));
    mgb_source_close(&source);
    if (!set)
        print_message("no locale with a comma here\n");
    assert_true(x[0] == 1.5f && x[1] == -22.5f);
}

static void refused(const struct ask *ask, const char *text, size_t size, const char *words)
{
    struct mgb_source source;
    data_write(text, size);
    if (asked_open(&source, ask) == MGB_OK)
        fail_msg("taken: %s", text);
    assert_message(words);
    assert_message(data_path);
}

#define H "a,b,kind\n"

static void a_bad_file_is_refused_with_line_and_column(void **state)
{
    (void)state;
    static const struct {
        const char *text, *words;
    } wrong[] = {
        {"", "' is empty"},
        {H, "' has no row"},
        {H "1,2,0\n3,,1\n", "line 3, column 2 ('b'): empty; every field needs a value"},
        {H "1,2,0\n3,4,\n", "line 3, column 3 ('kind'): empty;"},
        {H "1,x,0\n", "line 2, column 2 ('b'): 'x' is no number"},
        {H "1,0x10,0\n", "'0x10' is no number"},
        {H "1,nan,0\n", "'nan' is no number"},
        {H "1,inf,0\n", "'inf' is no number"},
        {H "1,1e,0\n", "'1e' is no number"},
        {H "1,1 2,0\n", "'1 2' is no number"},
        {H "1,\"1,5\",0\n", "'1,5' is no number"},
        {H "1,1e39,0\n", "'1e39' is too large for f32"},
        {H "1,1e999,0\n", "'1e999' is too large for f32"},
        {H "1,2,0.5\n", "line 2, column 3 ('kind'): '0.5' is no whole number of 32 bits"},
        {H "1,2,4294967296\n", "'4294967296' is no whole number of 32 bits"},
        {H "1,2,0\n1,2,elm\n", "line 3, column 3 ('kind'): 'elm' is no number"},
        {H "1,2,3\n", "line 2: "},
        {H "1,2,-1\n", "', line 2: row 0 is of class -1, but input 'label' of model 'small' takes "
                       "classes 0 to 2"},
        {H "1,2,a\n1,2,b\n1,2,c\n1,2,d\n",
         "line 5, column 3 ('kind'): 'd' is class 3 in order of appearance, but the model takes 0 "
         "to 2"},
        {H "1,2\n", "line 2: 2 fields, but the first line has 3"},
        {H "1,2,0,4\n", "line 2: 4 fields, but the first line has 3"},
        {H "1,2,0\n\n3,4,0\n", "line 3: empty; every line is a row"},
        {H "1,\"2,0\n", "the file ends within quotes (the record began at line 2)"},
        {H "1,\"2\"x,0\n", "line 2, column 2: something follows the quotes of a field"},
        {H "1,2\",0\n", "line 2, column 2: a quote within a field"},
        {H "1,2,0\r3,4,0\r", "line 2, column 3: a carriage return without a new line"},
        {"a,c,kind\n1,2,0\n", "has no column 'b' among its 3"},
        {"a,b,kin\n1,2,0\n", "has no column 'kind' among its 3; did you mean 'kin'?"},
        {"a,a,b,kind\n1,2,3,0\n", "has several columns 'a'; give the number of one"},
        {"b,a,kind\n1,2,0\n", "columns 'a:b' of"},
        {H "1,\x1b[2J,0\n", "'?[2J' is no number"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        refused(&plain, wrong[i].text, strlen(wrong[i].text), wrong[i].words);
    refused(&plain, H "1,2\0,0\n", sizeof H + 7, "line 2, column 2: a zero byte");
    refused(&plain, H "1,\"2\0\",0\n", sizeof H + 9, "line 2, column 2: a zero byte");
    struct ask unknown = {.x = {"a", "b"}, .label = "kind", .classes = {"elm"}};
    refused(&unknown, H "1,2,ash\n", sizeof H + 7, "'ash' is not one of the classes given");
    struct ask headless = {.x = {"a:b"}, .label = "3", .headless = true};
    refused(&headless, "1,2,0\n", 6, "has no column 'a' among its 3, which have numbers only");
    struct ask beyond = {.x = {"3:4"}, .label = "3", .headless = true};
    refused(&beyond, "1,2,0\n", 6, "has no column '4' among its 3");
}

static void what_is_asked_must_fit_the_model(void **state)
{
    (void)state;
    struct mgb_source source;
    struct ask three = {.x = {"a", "b", "a"}, .label = "kind"};
    data_write_text(H "1,2,0\n");
    assert_status(asked_open(&source, &three), MGB_INVALID);
    assert_message("input 'x' of model 'small' takes 2 values, but 3 columns of '/tmp");
    struct ask twice = {.x = {"a:b"}, .label = "kind", .classes = {"a", "a"}};
    assert_status(asked_open(&source, &twice), MGB_INVALID);
    assert_message("class 'a' is given twice");
    struct mgb_csv_input inputs[] = {{"x", plain.x, 1}};
    struct mgb_csv csv = {.path = data_path, .inputs = inputs, .count = 1, .separator = ','};
    assert_status(mgb_source_csv(&source, graph, &csv, true), MGB_INVALID);
    assert_message("input 'label' of model 'small' is given no columns");
    inputs[0].input = "y";
    assert_status(mgb_source_csv(&source, graph, &csv, true), MGB_INVALID);
    assert_message("data for input 'y': model 'small' has no such input");
    csv.path = "/tmp/mgb-test-none";
    assert_status(mgb_source_csv(&source, graph, &csv, true), MGB_MISSING);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_are_found_by_name_number_and_range),
        cmocka_unit_test(names_become_classes_in_order_of_appearance),
        cmocka_unit_test(many_rows_are_read),
        cmocka_unit_test(numbers_are_read_as_numpy_reads_them),
        cmocka_unit_test(a_comma_locale_does_not_matter),
        cmocka_unit_test(a_bad_file_is_refused_with_line_and_column),
        cmocka_unit_test(what_is_asked_must_fit_the_model),
    };
    return cmocka_run_group_tests(tests, all_make, all_free);
}
