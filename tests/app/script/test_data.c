/* mgb.data: what the data sets that scripts describe hand to a session, row by row. */
#include "tests/app/script/run_text.h"

#include "app/script/services.h"
#include <stdio.h>
#include <string.h>

static char seen[512]; /* the rows in stored order, "x... label" each */

static enum mgb_status source_note(const struct script_open_request *r)
{
    float x[4 * 4];
    int32_t label[4];
    size_t used = 0;
    int64_t rows = r->source->rows < 4 ? r->source->rows : 4;
    MGB_TRY(r->source->fill(r->source->context, 1, -1, 0, rows, 0, x));
    MGB_TRY(r->source->fill(r->source->context, 1, -1, 0, rows, 1, label));
    int width = (int)mgb_shape_count(mgb_tensor_shape(r->graph, 0));
    for (int i = 0; i < rows; i++) {
        for (int k = 0; k < width; k++)
            used +=
                (size_t)snprintf(seen + used, sizeof seen - used, "%g ", (double)x[i * width + k]);
        used += (size_t)snprintf(seen + used, sizeof seen - used, "%d; ", (int)label[i]);
    }
    snprintf(seen + used, sizeof seen - used, "%lld rows", (long long)r->source->rows);
    return MGB_OK;
}

static enum mgb_status fake_open(void *context, struct script_session **out,
                                 const struct script_open_request *request)
{
    (void)context;
    *out = (struct script_session *)seen;
    return request->source ? source_note(request) : MGB_OK;
}

static void fake_close(struct script_session *session)
{
    (void)session;
}

static const struct script_services services = {.open = fake_open, .close = fake_close};

#define OPEN(data)                                                                                 \
    "mgb.session{ model = nn.model('m', function(m) local x = m:input('x', { 2 })\n"               \
    "m:loss(nn.softmax_cross_entropy(nn.dense{ units = 3 }(x), m:input('label', {}, 'i32'))) "     \
    "end),\ndata = " data " }:close()"

#define ROWS "mgb.data.rows{ x = { { 1, 2 }, { 3, 4 }, { 5, 6 } }, label = { 0, 1, 2 } }"

static void shows(const char *text, const char *rows)
{
    seen[0] = 0;
    script_text_run(&services, text, NULL);
    assert_string_equal(seen, rows);
}

static void refuses(const char *text, const char *message)
{
    script_text_run(&services, text, message);
}

static void rows_are_taken_as_written(void **state)
{
    (void)state;
    shows(OPEN(ROWS), "1 2 0; 3 4 1; 5 6 2; 3 rows");
    refuses(OPEN("mgb.data.rows{ x = { { 1, 2 } } }"),
            "data: the model's input 'label' has no rows");
    refuses(OPEN("mgb.data.rows{ x = { { 1, 2 }, { 1, 2 } }, label = { 0 } }"),
            "data: input 'label' has 1 rows, the one before it 2");
    refuses(OPEN("mgb.data.rows{ x = { { 1 } }, label = { 0 } }"),
            "data: input 'x': a list of 2 numbers expected for each row, got a table");
    refuses(OPEN("mgb.data.rows{ x = { { 1, 2 } }, label = { 0.5 } }"),
            "data: input 'label': integer expected, got 0.5");
    refuses(OPEN("mgb.data.rows{ x = { { 1, 2 } }, label = { (1 << 32) + 1 } }"),
            "data: input 'label': integer of 32 bits expected, got 4294967297");
    refuses(OPEN("mgb.data.rows{ x = { { 1, 'a' } }, label = { 0 } }"),
            "data: input 'x': number expected, got \"a\"");
    refuses(OPEN("mgb.data.rows{}"),
            "mgb.data.rows: the model's inputs by name expected, as { image = ..., label = ... }");
}

static void a_part_of_data_can_be_taken(void **state)
{
    (void)state;
    shows("local part = mgb.data.take(" ROWS ", { count = 2, skip = 1 })\n" OPEN("part"),
          "3 4 1; 5 6 2; 2 rows");
    refuses("mgb.data.take(" ROWS ", {})",
            "mgb.data.take: count: positive integer expected, got nil");
    refuses("mgb.data.take('mnist', { count = 1 })",
            "mgb.data.take: data expected (as mgb.data.mnist{}), got \"mnist\"");
}

static void rows_can_be_changed_by_a_function(void **state)
{
    (void)state;
    shows("local d = mgb.data.map(" ROWS ", function(row)\n"
          "return { x = { row.x[2], row.x[1] * 10 }, label = 2 - row.label } end)\n" OPEN("d"),
          "2 10 2; 4 30 1; 6 50 0; 3 rows");
    refuses("local d = mgb.data.map(" ROWS ", function(row) row.label = 9 end)\n" OPEN("d"),
            "mgb.data.map: the function returns the row, a table; it returned nil");
    refuses("mgb.data.map(" ROWS ")", "mgb.data.map: function expected, got nil");
}

/* The words by which a sweep tells whether a point was run on the same data. */
static void descriptions_tell_data_apart(void **state)
{
    (void)state;
    script_text_run(
        &services,
        "local function text(rows, fn) return tostring(mgb.data.map(mgb.data.rows(rows), fn)) end\n"
        "local function same(row) return row end\n"
        "local a, b = { x = { { 1, 2 } }, label = { 0 } }, { x = { { 1, 3 } }, label = { 0 } }\n"
        "assert(text(a, same) == text(a, same) and text(a, same) ~= text(b, same))\n"
        "assert(text(a, same) ~= text(a, function(row) return nil end))\n"
        "assert(tostring(mgb.data.mnist()) == 'data: mnist train')\n"
        "assert(tostring(mgb.data.take(mgb.data.digits(), { count = 5 })) == 'data: rows 0 to 4 of "
        "digits all')",
        NULL);
}

static void columns_of_a_file_are_taken(void **state)
{
    (void)state;
    FILE *file = fopen("/tmp/mgb-test-script-data.csv", "w");
    assert_non_null(file);
    fputs("a,b,kind\n1,2.5,ash\n3,4,elm\n5,6,ash\n", file);
    fclose(file);
    shows(OPEN("mgb.data.csv{ file = '/tmp/mgb-test-script-data.csv', x = 'a:b', label = 'kind' }"),
          "1 2.5 0; 3 4 1; 5 6 0; 3 rows");
    shows(OPEN("mgb.data.csv{ file = '/tmp/mgb-test-script-data.csv', x = { 2, 'a' }, label = 3,\n"
               "classes = { 'oak', 'elm', 'ash' } }"),
          "2.5 1 2; 4 3 1; 6 5 2; 3 rows");
    passes("local name = '/tmp/mgb-test-script-data.csv'\n"
           "local function text(x) return tostring(mgb.data.csv{ file = name, x = x }) end\n"
           "assert(text('a') == text{ 'a' } and text('a') ~= text('b'))\n"
           "assert(text('a'):match('^data: csv .*%(%x+%) x=a$'), text('a'))");
    remove("/tmp/mgb-test-script-data.csv");
    refuses("mgb.data.csv{}", "mgb.data.csv: file: text expected, got nil");
    refuses("mgb.data.csv{ file = 'a', separator = ',,', x = 1 }",
            "mgb.data.csv: separator: one character expected, as \",\" or \";\", got \",,\"");
    refuses("mgb.data.csv{ file = 'a', x = { 1.5 } }",
            "mgb.data.csv: x: name or number of a column expected, got 1.5");
    refuses("mgb.data.csv{ file = 'a' }", "mgb.data.csv: columns for the model's inputs expected, "
                                          "as { file = ..., x = \"a:d\", label = \"species\" }");
    refuses("mgb.data.npz{ file = '/tmp/mgb-test-none' }",
            "cannot open '/tmp/mgb-test-none': No such file or directory");
    refuses("mgb.data.npz{ file = 3 }", "mgb.data.npz: file: file name expected, got 3");
}

#define NOVEL "mgb.data.text{ unit = 'word', vocabulary = 100 }"

static void a_text_tells_its_vocabulary(void **state)
{
    (void)state;
    passes("local d = " NOVEL "\n"
           "assert(d.vocabulary == 100 and d:word(0) == ',' and d:word(99) == nil)\n"
           "assert(mgb.data.take(d, { count = 2 }).vocabulary == 100)\n"
           "assert(mgb.data.text{ unit = 'word', vocabulary = d }:word(5) == d:word(5))\n"
           "local pairs = mgb.data.jsonl{}\n"
           "assert(pairs.skipped == 1 and pairs:word(0) == nil and pairs:word(2) == '.')\n"
           "assert(mgb.data.jsonl{ vocabulary = pairs }.vocabulary == pairs.vocabulary)");
    refuses("local n = mgb.data.digits{}.vocabulary",
            "data has no field 'vocabulary': it is given to mgb.run, mgb.session and evaluate");
    refuses("local n = " NOVEL ".rows",
            "data has no field 'rows': it is given to mgb.run, mgb.session and evaluate; a text "
            "has vocabulary, skipped and word()");
    refuses("mgb.data.text{ vocabulary = 1 }",
            "mgb.data.text: vocabulary: integer from 2 up, or data with a vocabulary, expected, "
            "got 1");
    refuses("mgb.data.text{ vocabulary = mgb.data.digits{} }",
            "mgb.data.text: vocabulary: digits all has none");
    refuses("mgb.data.text{ unit = 'line' }",
            "mgb.data.text: unit: \"char\" or \"word\" expected, got \"line\"");
}

static void what_is_no_format_is_told(void **state)
{
    (void)state;
    refuses("mgb.data.tsv{}", "mgb.data has no 'tsv' (did you mean 'csv'?)");
    refuses("mgb.data.idx{ image = 3 }", "mgb.data.idx: image: file name expected, got 3");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_taken_as_written),
        cmocka_unit_test(a_part_of_data_can_be_taken),
        cmocka_unit_test(rows_can_be_changed_by_a_function),
        cmocka_unit_test(descriptions_tell_data_apart),
        cmocka_unit_test(columns_of_a_file_are_taken),
        cmocka_unit_test(a_text_tells_its_vocabulary),
        cmocka_unit_test(what_is_no_format_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
