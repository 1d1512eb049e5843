/* Rows as text: what each format makes of every kind of value, and how a document ends that was cut short.
 * (reference/ecosystem.md, row 31 of section 2.) */
#include "tests/support/check.h"

#include "db/export.h"
#include "db/export_file.h"
#include "db/schema.h"
#include "db/store.h"
#include "tests/support/database.h"
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct mgb_reader *reader;

static int export_setup(void **state)
{
    struct mgb_store *store;
    if (database_setup(state) != 0)
        return -1;
    assert_ok(mgb_store_open(&store, *state, NULL));
    mgb_store_close(store);
    assert_ok(mgb_reader_open(&reader, *state));
    return 0;
}

static int export_teardown(void **state)
{
    mgb_reader_close(reader);
    return database_teardown(state);
}

static bool stop_never(void *context)
{
    (void)context;
    return false;
}

static bool stop_after_two(void *context)
{
    int *asked = context;
    return ++*asked > 2;
}

struct document {
    enum mgb_export_format format;
    bool plain;
    bool (*stop)(void *context);
    char text[4000];
    enum mgb_status status;
};

static void document_write(struct document *d, const char *sql)
{
    char *text = NULL;
    size_t size;
    int asked = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    struct mgb_export writer = {.out = out,
                                .format = d->format,
                                .program = "a \"program\"",
                                .plain = d->plain,
                                .stop = d->stop ? d->stop : stop_never,
                                .context = &asked};
    struct mgb_query_sink sink = mgb_export_sink(&writer);
    d->status = mgb_query_run(reader, sql, NULL, 0, &sink);
    assert_ok(mgb_export_end(&writer, d->status == MGB_OK));
    fclose(out);
    snprintf(d->text, sizeof d->text, "%s", text);
    free(text);
}

#define VALUES                                                                                     \
    "SELECT 9007199254740993 AS i, 0.1 AS r, 3.0 AS whole, 9e999 AS inf, NULL AS n, '' AS e, "     \
    "'a,\"b\"' || char(10) || 'c|\\' AS t, x'00ff' AS b"

static void csv_is_as_rfc_4180_has_it(void **state)
{
    (void)state;
    struct document d = {.format = MGB_EXPORT_CSV};
    document_write(&d, VALUES);
    assert_ok(d.status);
    assert_string_equal(d.text, "i,r,whole,inf,n,e,t,b\r\n"
                                "9007199254740993,0.1,3.0,,,\"\",\"a,\"\"b\"\"\nc|\\\",00FF\r\n");
    d.plain = true;
    document_write(&d, "SELECT 3.0 AS w, '' AS e, 1e300 AS x");
    assert_string_equal(d.text, "w,e,x\r\n3,,1e+300\r\n");
}

static void json_is_one_document(void **state)
{
    (void)state;
    struct document d = {.format = MGB_EXPORT_JSON};
    char head[80], wanted[512];
    snprintf(head, sizeof head, "{\"schema\":%d,\"program\":\"a \\\"program\\\"\",\"rows\":[",
             mgb_schema_get()->version);
    document_write(&d, VALUES);
    assert_ok(d.status);
    snprintf(wanted, sizeof wanted, "%s\n%s", head,
             "{\"i\":9007199254740993,\"r\":0.1,\"whole\":3.0,\"inf\":null,\"n\":null,"
             "\"e\":\"\",\"t\":\"a,\\\"b\\\"\\nc|\\\\\",\"b\":\"00FF\"}\n"
             "],\"complete\":true}\n");
    assert_string_equal(d.text, wanted);
    document_write(&d, "SELECT 1 AS a WHERE 0");
    snprintf(wanted, sizeof wanted, "%s],\"complete\":true}\n", head);
    assert_string_equal(d.text, wanted);
}

static void markdown_is_for_people(void **state)
{
    (void)state;
    struct document d = {.format = MGB_EXPORT_MARKDOWN};
    document_write(&d,
                   "SELECT 247.12345 AS ms, 123456.7 AS rate, 0.00012345678 AS small, 'a|b' AS t");
    assert_string_equal(d.text, "| ms | rate | small | t |\n| --- | --- | --- | --- |\n"
                                "| 247.1 | 123457 | 0.0001235 | a\\|b |\n");
}

static void what_markdown_would_act_on_stands_for_itself(void **state)
{
    (void)state;
    struct document d = {.format = MGB_EXPORT_MARKDOWN};
    document_write(&d, "SELECT '<script>&amp;</script>' AS h, '![x](y)`*a_b' AS m, "
                       "'a' || char(27, 0, 10, 13, 9) || CAST(x'ff' AS TEXT) || '\\é' AS c");
    assert_string_equal(d.text, "| h | m | c |\n| --- | --- | --- |\n"
                                "| &lt;script&gt;&amp;amp;&lt;/script&gt; | !\\[x\\](y)\\`\\*a_b | "
                                "a\\\\x1b\\\\x00<br> \\\\xff\\\\é |\n");
}

static void a_name_given_twice_is_told_apart_in_objects(void **state)
{
    (void)state;
    struct document d = {.format = MGB_EXPORT_JSONL};
    document_write(&d, "SELECT 1 AS a, 2 AS a, 3 AS a");
    assert_string_equal(d.text, "{\"a\":1,\"a_2\":2,\"a_3\":3}\n");
    document_write(&d, "SELECT 1 AS a_2, 2 AS a, 3 AS a");
    assert_string_equal(d.text, "{\"a_2\":1,\"a\":2,\"a_3\":3}\n");
}

static void bytes_that_are_no_text_do_not_spoil_json(void **state)
{
    (void)state;
    struct document d = {.format = MGB_EXPORT_JSONL};
    document_write(&d, "SELECT 'a' || CAST(x'ff' AS TEXT) || char(1) || 'é' AS t, "
                       "CAST(x'c3' AS TEXT) AS cut, CAST(x'eda080' AS TEXT) AS half");
    assert_string_equal(d.text, "{\"t\":\"a\\ufffd\\u0001é\",\"cut\":\"\\ufffd\","
                                "\"half\":\"\\ufffd\\ufffd\\ufffd\"}\n");
}

static void what_was_cut_short_is_whole_rows_and_says_so(void **state)
{
    (void)state;
    struct document d = {.format = MGB_EXPORT_JSON, .stop = stop_after_two};
    static const char rows[] = "SELECT column1 AS n FROM (VALUES (1), (2), (3), (4))";
    document_write(&d, rows);
    assert_int_equal(d.status, MGB_INTERRUPTED);
    assert_non_null(strstr(d.text, "[\n{\"n\":1},\n{\"n\":2}\n],\"complete\":false}\n"));
    d.format = MGB_EXPORT_CSV;
    document_write(&d, rows);
    assert_string_equal(d.text, "n\r\n1\r\n2\r\n");
}

static void a_query_can_be_stopped_before_its_first_row(void **state)
{
    (void)state;
    int asked = 0;
    struct document d = {.format = MGB_EXPORT_JSON};
    mgb_reader_watch(reader, stop_after_two, &asked);
    document_write(&d, "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c LIMIT "
                       "1000000000) SELECT max(n) FROM c");
    mgb_reader_watch(reader, NULL, NULL);
    assert_int_equal(d.status, MGB_INTERRUPTED);
    assert_non_null(strstr(d.text, "\"rows\":[],\"complete\":false}"));
}

/* The bits of a double from a simple generator: every exponent comes up. */
static double any_double(uint64_t *state)
{
    union {
        uint64_t bits;
        double value;
    } one;
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    one.bits = *state ^ (*state >> 29);
    return one.value;
}

static void numbers_read_back_the_same(void **state)
{
    (void)state;
    char text[MGB_EXPORT_NUMBER];
    uint64_t seed = 1;
    const double known[] = {0.0,     -0.0,    0.1,         1.0 / 3, 5e-324,        4e-320,
                            DBL_MIN, DBL_MAX, DBL_EPSILON, 1e15,    -123456789.125};
    for (int i = 0; i < 5000; i++) {
        double value = i < 11 ? known[i] : any_double(&seed);
        if (!isfinite(value))
            continue;
        mgb_export_number(text, value, i % 2);
        double back = strtod(text, NULL);
        assert_memory_equal(&back, &value, sizeof value);
    }
    assert_string_equal(mgb_export_number(text, 5e-324, false), "5e-324");
    assert_string_equal(mgb_export_number(text, 0.1, false), "0.1");
    assert_string_equal(mgb_export_number(text, 1e22, false), "1e+22");
    assert_string_equal(mgb_export_number(text, (double)NAN, false), "");
}

static void file_read(char *out, size_t size, const char *path)
{
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    out[fread(out, 1, size - 1, file)] = 0;
    fclose(file);
}

static void a_file_is_replaced_as_a_whole_or_not_at_all(void **state)
{
    char path[100], partial[120], text[20];
    struct mgb_export_file file;
    snprintf(path, sizeof path, "%s.copy", (char *)*state);
    snprintf(partial, sizeof partial, "%s.partial", path);
    for (int i = 0; i < 2; i++) {
        assert_ok(mgb_export_file_open(&file, path));
        fprintf(file.out, "version %d", i);
        if (i == 1)
            file_read(text, sizeof text, path);
        assert_ok(mgb_export_file_commit(&file));
        mgb_export_file_done(&file);
        assert_int_not_equal(access(partial, F_OK), 0);
    }
    assert_string_equal(text, "version 0"); /* while the second was being written */
    assert_ok(mgb_export_file_open(&file, path));
    fputs("never", file.out);
    assert_ok(mgb_export_file_leave(&file, true));
    mgb_export_file_done(&file);
    file_read(text, sizeof text, path);
    assert_string_equal(text, "version 1");
    file_read(text, sizeof text, partial);
    assert_string_equal(text, "never");
    unlink(partial);
}

static void a_file_that_cannot_be_written_is_explained(void **state)
{
    char path[100];
    struct mgb_export_file file;
    snprintf(path, sizeof path, "%s.d/x", (char *)*state);
    assert_status(mgb_export_file_open(&file, path), MGB_IO);
    assert_message("No such file or directory");
    assert_status(mgb_export_file_open(&file, "/"), MGB_IO);
    assert_message("Is a directory");
    if (access("/dev/full", W_OK) != 0)
        return;
    assert_ok(mgb_export_file_open(&file, "/dev/full"));
    fputs("text", file.out);
    assert_status(mgb_export_file_commit(&file), MGB_IO);
    assert_message("No space left");
    mgb_export_file_done(&file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(csv_is_as_rfc_4180_has_it),
        cmocka_unit_test(json_is_one_document),
        cmocka_unit_test(markdown_is_for_people),
        cmocka_unit_test(what_markdown_would_act_on_stands_for_itself),
        cmocka_unit_test(a_name_given_twice_is_told_apart_in_objects),
        cmocka_unit_test(bytes_that_are_no_text_do_not_spoil_json),
        cmocka_unit_test(what_was_cut_short_is_whole_rows_and_says_so),
        cmocka_unit_test(a_query_can_be_stopped_before_its_first_row),
        cmocka_unit_test(numbers_read_back_the_same),
        cmocka_unit_test(a_file_is_replaced_as_a_whole_or_not_at_all),
        cmocka_unit_test(a_file_that_cannot_be_written_is_explained),
    };
    return cmocka_run_group_tests(tests, export_setup, export_teardown);
}
