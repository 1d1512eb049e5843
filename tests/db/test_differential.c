/* The documented views against the statistics in C, on the same results: neither may drift from the other. */
#include "db/draw.h"
#include "db/load.h"
#include "db/order.h"
#include "db/scaling.h"
#include "db/store_private.h"

#include <math.h>
#include <stdlib.h>

#include "tests/support/check.h"
#include "tests/support/database.h"
#include "tests/support/results.h"

/* Rows of a question, as numbers; NULL is NaN. */
struct rows {
    double at[128][8];
    int count;
};

static enum mgb_status row_take(void *context, const struct mgb_value *v, int count)
{
    struct rows *rows = context;
    assert_true(rows->count < 128 && count <= 8);
    for (int i = 0; i < count; i++)
        rows->at[rows->count][i] = v[i].kind == MGB_VALUE_INT    ? (double)v[i].integer
                                   : v[i].kind == MGB_VALUE_REAL ? v[i].real
                                                                 : (double)NAN;
    rows->count++;
    return MGB_OK;
}

static struct mgb_reader *reader_get(const char *path)
{
    struct mgb_reader *reader;
    assert_ok(mgb_reader_open(&reader, path));
    return reader;
}

static void rows_ask(struct rows *out, struct mgb_reader *reader, const char *sql)
{
    struct mgb_query_sink sink = {.context = out, .row = row_take};
    out->count = 0;
    assert_ok(mgb_query_run(reader, sql, NULL, 0, &sink));
}

static void close_to(double got, double wanted)
{
    if (!(fabs(got - wanted) <= 1e-9 * fabs(wanted)) && !(isnan(got) && isnan(wanted)))
        fail_msg("%.17g is not %.17g", got, wanted);
}

static double median_of(const struct mgb_series *series)
{
    double *sorted = calloc(series->count, sizeof *sorted);
    assert_non_null(sorted);
    for (size_t i = 0; i < series->count; i++)
        sorted[i] = (double)series->wall_ns[i];
    mgb_order_sort(sorted, series->count);
    double median = mgb_order_median(sorted, series->count);
    free(sorted);
    return median;
}

/* Columns: segment, steps, median, mean, least, most. */
static void medians_agree(struct mgb_reader *reader, const struct rows *rows)
{
    for (int i = 0; i < rows->count; i++) {
        struct mgb_loaded_side side;
        const double *row = rows->at[i];
        assert_ok(mgb_side_load(&side, reader, (const int64_t[]){(int64_t)row[0]}, 1));
        const struct mgb_series *series = &side.side.repetitions[0];
        double sum = 0, least = INFINITY, most = 0;
        for (size_t k = 0; k < series->count; k++) {
            sum += (double)series->wall_ns[k];
            least = fmin(least, (double)series->wall_ns[k]);
            most = fmax(most, (double)series->wall_ns[k]);
        }
        close_to((double)series->count, row[1]);
        close_to(row[2], median_of(series) / 1e6);
        close_to(row[3], sum / 1e6 / (double)series->count);
        close_to(row[4], least / 1e6);
        close_to(row[5], most / 1e6);
        mgb_side_done(&side);
    }
}

static const char stats_sql[] =
    "SELECT segment_id, timed_steps, step_ms_median, step_ms_mean, step_ms_min, step_ms_max"
    "  FROM step_stats ORDER BY segment_id";

static void loaded_steps_have_the_medians_of_the_views(void **state)
{
    struct rows rows;
    struct mgb_reader *reader = reader_get(*state);
    rows_ask(&rows, reader, stats_sql);
    assert_int_equal(rows.count, RESULTS_RUNS); /* one run has no steps, one has two segments */
    medians_agree(reader, &rows);
    mgb_reader_close(reader);
}

static void they_do_for_any_number_of_steps_and_any_times(void **state)
{
    struct mgb_store *store;
    struct rows rows;
    uint64_t drawn = 0;
    assert_ok(mgb_store_open(&store, *state, NULL));
    assert_ok(mgb_sql_run(&store->sql, "PRAGMA synchronous = OFF; DELETE FROM run"));
    for (int count = 1; count <= 40; count++) {
        int64_t run, segment;
        struct mgb_record_segment_end end = {.outcome = MGB_OUTCOME_OK};
        assert_ok(mgb_store_begin_run(&run, store, database_run()));
        struct mgb_record_segment record = database_segment(run);
        assert_ok(mgb_store_begin_segment(&segment, store, &record));
        for (int i = 0; i < count; i++) {
            struct mgb_record step = database_step(segment, i);
            step.step.wall_ns =
                1 + (int64_t)(1e8 * pow((double)(mgb_draw_at(7, 0, drawn++) >> 11) * 0x1p-53,
                                        3)); /* most short, some long */
            assert_ok(mgb_store_put_steps(store, &step, 1));
        }
        assert_ok(mgb_store_finish_segment(NULL, store, segment, &end));
        assert_ok(mgb_store_finish_run(store, run, MGB_OUTCOME_OK, NULL));
    }
    mgb_store_close(store);
    struct mgb_reader *reader = reader_get(*state);
    rows_ask(&rows, reader, stats_sql);
    assert_int_equal(rows.count, 40);
    medians_agree(reader, &rows);
    mgb_reader_close(reader);
}

static void efficiencies_of_the_view_are_those_of_the_definitions(void **state)
{
    struct rows rows;
    struct mgb_reader *reader = reader_get(*state);
    rows_ask(&rows, reader,
             "SELECT x.gpus, x.global_batch, x.step_ms_median, b.global_batch, b.step_ms_median,"
             "       x.efficiency, x.speedup FROM scaling AS x"
             "  JOIN run_summary AS b ON b.segment_id = x.baseline_segment_id WHERE x.batch_mode = "
             "'weak'");
    assert_true(rows.count >= 18);
    for (int i = 0; i < rows.count; i++) {
        const double *row = rows.at[i];
        struct mgb_scaling_point many = {(int64_t)row[0], (int64_t)row[1], row[2] * 1e6};
        struct mgb_scaling_point one = {1, (int64_t)row[3], row[4] * 1e6};
        struct mgb_maybe_real weak = mgb_scaling_weak(&one, &many);
        assert_true(weak.known);
        close_to(row[5], weak.value);
        close_to(row[6], mgb_scaling_separate(&one, &many, NULL).speedup.value);
    }
    mgb_reader_close(reader);
}

static void the_cost_of_exchange_in_the_view_is_that_of_the_definition(void **state)
{
    struct rows rows;
    struct mgb_reader *reader = reader_get(*state);
    rows_ask(&rows, reader,
             "SELECT gpus, global_batch, step_ms_median, independent_step_ms_median, exchange_ms,"
             "       exchange_share FROM exchange WHERE independent_segment_id IS NOT NULL");
    assert_true(rows.count >= 3);
    for (int i = 0; i < rows.count; i++) {
        const double *row = rows.at[i];
        struct mgb_scaling_point merged = {(int64_t)row[0], (int64_t)row[1], row[2] * 1e6};
        struct mgb_scaling_point apart = {(int64_t)row[0], (int64_t)row[1], row[3] * 1e6};
        struct mgb_scaling_exchange exchange = mgb_scaling_exchange(&merged, &apart);
        assert_true(exchange.cost_ns.known);
        close_to(row[4], exchange.cost_ns.value / 1e6);
        close_to(row[5], exchange.share.value);
    }
    mgb_reader_close(reader);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loaded_steps_have_the_medians_of_the_views),
        cmocka_unit_test(efficiencies_of_the_view_are_those_of_the_definitions),
        cmocka_unit_test(the_cost_of_exchange_in_the_view_is_that_of_the_definition),
        cmocka_unit_test_setup_teardown(they_do_for_any_number_of_steps_and_any_times,
                                        results_setup, database_teardown),
    };
    return cmocka_run_group_tests(tests, results_setup, database_teardown);
}
