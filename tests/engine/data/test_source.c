/* Sources: every row once an epoch, orders by seed and epoch only, synthetic rows by global number. */
#include "tests/engine/data/data_graph.h"

#include <mgb/data.h>
#include <string.h>

#define ROWS 37

static float images[ROWS][12];
static int32_t labels[ROWS];
static const void *const arrays[2] = {images, labels};

static struct mgb_source numbered_make(struct mgb_graph *graph, bool shuffle)
{
    struct mgb_source source;
    for (int i = 0; i < ROWS; i++) {
        for (int k = 0; k < 12; k++)
            images[i][k] = (float)i;
        labels[i] = i;
    }
    assert_ok(mgb_source_memory(&source, graph, arrays, ROWS, shuffle));
    return source;
}

/* The labels of an epoch, fetched in batches of `batch`. */
static void epoch_read(const struct mgb_source *source, uint64_t seed, int64_t epoch, int batch,
                       int32_t out[ROWS])
{
    for (int first = 0; first < source->rows; first += batch) {
        int rows = first + batch > source->rows ? (int)source->rows - first : batch;
        assert_ok(source->fill(source->context, seed, epoch, first, rows, 1, out + first));
    }
}

static void an_epoch_uses_every_row_once(void **state)
{
    (void)state;
    struct mgb_graph *graph = data_graph_make(ROWS);
    struct mgb_source source = numbered_make(graph, true);
    for (int epoch = 0; epoch < 5; epoch++) {
        int32_t got[ROWS];
        bool seen[ROWS] = {0};
        epoch_read(&source, 7, epoch, 8, got);
        for (int i = 0; i < ROWS; i++) {
            assert_in_range(got[i], 0, ROWS - 1);
            assert_false(seen[got[i]]);
            seen[got[i]] = true;
        }
    }
    mgb_source_close(&source);
    mgb_graph_free(graph);
}

static void the_order_depends_on_seed_and_epoch_only(void **state)
{
    (void)state;
    struct mgb_graph *graph = data_graph_make(ROWS);
    struct mgb_source source = numbered_make(graph, true), twin = numbered_make(graph, true);
    int32_t a[ROWS], b[ROWS], c[ROWS];
    epoch_read(&source, 7, 3, 8, a);
    epoch_read(&source, 7, 4, 5, b);
    assert_memory_not_equal(a, b, sizeof a);
    epoch_read(&twin, 7, 3, 11, c); /* another history, another batch */
    assert_memory_equal(a, c, sizeof a);
    epoch_read(&twin, 8, 3, 8, c);
    assert_memory_not_equal(a, c, sizeof a);
    epoch_read(&source, 7, 3, 37, c);
    assert_memory_equal(a, c, sizeof a);
    mgb_source_close(&source);
    mgb_source_close(&twin);
    mgb_graph_free(graph);
}

static void inputs_of_a_row_stay_together(void **state)
{
    (void)state;
    struct mgb_graph *graph = data_graph_make(ROWS);
    struct mgb_source source = numbered_make(graph, true);
    int32_t label[ROWS];
    float image[ROWS][12];
    epoch_read(&source, 1, 0, ROWS, label);
    assert_ok(source.fill(source.context, 1, 0, 0, ROWS, 0, image));
    for (int i = 0; i < ROWS; i++)
        assert_int_equal((int)image[i][11], label[i]);
    mgb_source_close(&source);
    mgb_graph_free(graph);
}

static void an_ordered_source_and_epoch_minus_one_keep_the_stored_order(void **state)
{
    (void)state;
    struct mgb_graph *graph = data_graph_make(ROWS);
    struct mgb_source shuffled = numbered_make(graph, true), ordered = numbered_make(graph, false);
    int32_t a[ROWS];
    epoch_read(&ordered, 7, 3, 8, a);
    assert_memory_equal(a, labels, sizeof a);
    epoch_read(&shuffled, 7, -1, 8, a);
    assert_memory_equal(a, labels, sizeof a);
    mgb_source_close(&shuffled);
    mgb_source_close(&ordered);
    mgb_graph_free(graph);
}

static void a_request_beyond_the_rows_is_refused(void **state)
{
    (void)state;
    struct mgb_graph *graph = data_graph_make(ROWS);
    struct mgb_source source = numbered_make(graph, true);
    int32_t a[ROWS + 1];
    assert_status(source.fill(source.context, 1, 0, 30, 8, 1, a), MGB_INVALID);
    assert_message("of 37");
    mgb_source_close(&source);
    mgb_graph_free(graph);
}

static void a_range_holds_its_rows_and_no_others(void **state)
{
    (void)state;
    struct mgb_graph *graph = data_graph_make(ROWS);
    struct mgb_source source = numbered_make(graph, true), range;
    assert_ok(mgb_source_take(&range, &source, graph, 10, 20));
    assert_int_equal(range.rows, 10);
    int32_t got[ROWS];
    bool seen[ROWS] = {0}, moved = false;
    epoch_read(&range, 3, 1, 4, got);
    for (int i = 0; i < 10; i++) {
        assert_in_range(got[i], 10, 19);
        assert_false(seen[got[i]]);
        seen[got[i]] = true;
        moved = moved || got[i] != 10 + i;
    }
    assert_true(moved);
    mgb_source_close(&range);
    assert_status(mgb_source_take(&range, &source, graph, 30, 38), MGB_INVALID);
    assert_status(mgb_source_take(&range, &source, graph, 5, 5), MGB_INVALID);
    mgb_source_close(&source);
    mgb_graph_free(graph);
}

static void synthetic_rows_depend_on_their_global_number_only(void **state)
{
    (void)state;
    struct mgb_graph *graph = data_graph_make(5);
    struct mgb_source source;
    float whole[20][12], part[7][12];
    int32_t label[200], other[7];
    assert_ok(mgb_source_random(&source, graph, 4));
    assert_true(source.fixed);
    assert_int_equal(source.rows, 0);
    assert_ok(source.fill(source.context, 1, 0, 0, 20, 0, whole));
    assert_ok(source.fill(source.context, 9, 5, 6, 7, 0, part));
    assert_memory_equal(part, whole[6], sizeof part);
    assert_ok(source.fill(source.context, 1, 0, 0, 200, 1, label));
    assert_ok(source.fill(source.context, 1, 0, 3, 7, 1, other));
    assert_memory_equal(other, label + 3, sizeof other);
    bool seen[5] = {0};
    for (int i = 0; i < 200; i++) {
        assert_in_range(label[i], 0, 4);
        seen[label[i]] = true;
    }
    for (int i = 0; i < 5; i++)
        assert_true(seen[i]);
    for (int i = 0; i < 20 * 12; i++)
        assert_true(whole[i / 12][i % 12] >= 0.0f && whole[i / 12][i % 12] < 1.0f);
    assert_memory_not_equal(whole[0], whole[1], sizeof whole[0]);
    mgb_source_close(&source);
    mgb_graph_free(graph);
}

static void a_label_that_is_no_class_is_refused(void **state)
{
    (void)state;
    struct mgb_graph *graph = data_graph_make(10);
    struct mgb_source source;
    for (int i = 0; i < ROWS; i++)
        labels[i] = i % 10;
    labels[23] = 10;
    assert_status(mgb_source_memory(&source, graph, arrays, ROWS, false), MGB_INVALID);
    assert_message("row 23");
    assert_message("classes 0 to 9");
    mgb_graph_free(graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_epoch_uses_every_row_once),
        cmocka_unit_test(the_order_depends_on_seed_and_epoch_only),
        cmocka_unit_test(inputs_of_a_row_stay_together),
        cmocka_unit_test(an_ordered_source_and_epoch_minus_one_keep_the_stored_order),
        cmocka_unit_test(a_request_beyond_the_rows_is_refused),
        cmocka_unit_test(a_range_holds_its_rows_and_no_others),
        cmocka_unit_test(synthetic_rows_depend_on_their_global_number_only),
        cmocka_unit_test(a_label_that_is_no_class_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
