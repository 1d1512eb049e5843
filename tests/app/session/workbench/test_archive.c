/* Lists of runs for a screen: what is chosen, how it is sorted, what a file may do meanwhile. */
#include "tests/app/session/workbench/stored.h"

#include "app/session/workbench/archive.h"
#include "db/keep.h"
#include "db/store_private.h"
#include "tests/support/results.h"

#include <math.h>
#include <stdlib.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <unistd.h>

struct reading {
    struct news news;
    struct mgb_archive *archive;
    const struct mgb_list *list;
    uint64_t version; /* of it */
};

static void reading_init(struct reading *r, const char *path)
{
    *r = (struct reading){.version = 0};
    news_init(&r->news);
    assert_ok(mgb_archive_open(&r->archive, path, news_tell, &r->news));
    assert_null(mgb_archive_look(r->archive));
}

static void reading_done(struct reading *r)
{
    mgb_shared_drop(r->list);
    mgb_archive_close(r->archive);
}

/* The next list, held until the one after it. */
static const struct mgb_list *list_await(struct reading *r)
{
    for (;;) {
        const struct mgb_list *list = mgb_archive_look(r->archive);
        if (list && list->version > r->version) {
            mgb_shared_drop(r->list);
            r->version = list->version;
            return r->list = list;
        }
        mgb_shared_drop(list);
        news_await(&r->news);
    }
}

static const struct mgb_list *list_ask(struct reading *r, const char *filter,
                                       enum mgb_list_column sort, bool ascending, int64_t first,
                                       int most)
{
    mgb_archive_ask(r->archive, &(struct mgb_list_request){filter, sort, ascending, first, most});
    return list_await(r);
}

/* How many pass, newest first; the test fails on a message. */
static int64_t passing(struct reading *r, const char *filter)
{
    const struct mgb_list *list = list_ask(r, filter, MGB_LIST_RUN, false, 0, 50);
    if (*list->message)
        fail_msg("%s: %s", filter, list->message);
    assert_string_equal(list->filter, filter);
    assert_int_equal(list->count, list->total < 50 ? list->total : 50);
    return list->total;
}

static void change(const char *path, const char *sql)
{
    struct mgb_store *store;
    assert_ok(mgb_store_open(&store, path, NULL));
    assert_ok(mgb_sql_run(&store->sql, sql));
    mgb_store_close(store);
}

static void a_line_is_what_sql_says_of_the_segment(void **state)
{
    struct reading r;
    char sql[200], text[64];
    reading_init(&r, *state);
    const struct mgb_list *list = list_ask(&r, NULL, MGB_LIST_RUN, false, 0, 100);
    assert_string_equal(list->message, "");
    assert_int_equal(list->count, database_int(*state, "SELECT count(*) FROM run_summary"));
    assert_int_equal(list->total, list->count);
    for (int i = 0; i < list->count; i++) {
        const struct mgb_list_row *row = &list->rows[i];
        static const char *const texts[] = {"model", "backend", "outcome"};
        const char *const have[] = {row->model, row->backend, row->outcome};
        snprintf(sql, sizeof sql, "SELECT run_id FROM run_summary WHERE segment_id = %d",
                 (int)row->segment);
        assert_int_equal(row->run, database_int(*state, sql));
        for (int k = 0; k < 3; k++) {
            snprintf(sql, sizeof sql, "SELECT %s FROM run_summary WHERE segment_id = %d", texts[k],
                     (int)row->segment);
            assert_string_equal(have[k], database_text(text, sizeof text, *state, sql));
        }
        snprintf(sql, sizeof sql, "SELECT step_ms_median FROM run_summary WHERE segment_id = %d",
                 (int)row->segment);
        double median = database_real(*state, sql);
        assert_true(median < 0 ? isnan(row->step_ms) : row->step_ms == median);
        snprintf(
            sql, sizeof sql,
            "SELECT global_batch * 1e3 / step_ms_median FROM run_summary WHERE segment_id = %d",
            (int)row->segment);
        double rate = database_real(*state, sql);
        if (rate < 0)
            assert_true(isnan(row->rate));
        else
            assert_float_equal(row->rate, rate, rate * 1e-12);
    }
    assert_int_equal(list->rows[0].run, 21);
    assert_int_equal(list->rows[0].number, 2);
    assert_int_equal(list->rows[1].number, 1);
    assert_int_equal(strlen(list->rows[0].started), strlen("2026-11-30 16:20:00"));
    reading_done(&r);
}

static const struct mgb_list_row *row_of(const struct mgb_list *list, int64_t run)
{
    for (int i = 0; i < list->count; i++)
        if (list->rows[i].run == run)
            return &list->rows[i];
    fail_msg("run %d is not in the list", (int)run);
    return NULL;
}

static void ratios_are_to_the_pinned_baseline(void **state)
{
    struct reading r;
    reading_init(&r, *state);
    const struct mgb_list *list = list_ask(&r, "", MGB_LIST_RUN, true, 0, 100);
    assert_string_equal(row_of(list, 1)->baseline, "before");
    assert_string_equal(row_of(list, 1)->tags, "paper");
    assert_float_equal(row_of(list, 1)->ratio, 1, 1e-9);
    assert_string_equal(row_of(list, 13)->baseline, "");
    assert_string_equal(row_of(list, 13)->tags, "after");
    assert_float_equal(row_of(list, 13)->ratio, 1.37, 0.002);
    assert_true(isnan(row_of(list, 16)->ratio)); /* another backend */
    assert_true(isnan(row_of(list, 19)->ratio)); /* no figures */
    assert_true(isnan(row_of(list, 19)->step_ms));
    assert_string_equal(row_of(list, 19)->outcome, "oom");
    reading_done(&r);
}

static void words_and_conditions_all_must_hold(void **state)
{
    struct reading r;
    reading_init(&r, *state);
    int64_t all = passing(&r, "");
    assert_int_equal(passing(&r, "after"), 3);
    assert_int_equal(passing(&r, "AFTER"), 3);
    assert_int_equal(passing(&r, "  after   host "), 3);
    assert_int_equal(passing(&r, "after oom"), 0);
    assert_int_equal(passing(&r, "oom"), 1);
    assert_int_equal(passing(&r, "tag=paper"), 2);
    assert_int_equal(passing(&r, "tag:paper"), 2);
    assert_int_equal(passing(&r, "tag!=paper"), all - 2);
    assert_int_equal(passing(&r, "backend=cuda"), 1);
    assert_int_equal(passing(&r, "backend!=cuda"), all - 1);
    assert_int_equal(passing(&r, "run=13"), 1);
    assert_int_equal(passing(&r, "run>12 run<=15"), 3);
    assert_int_equal(passing(&r, "step_ms>130 step_ms<140 gpus=1 outcome=ok"), 3);
    assert_int_equal(passing(&r, "gpus=2 sweep=placement batch=32"), 6);
    assert_int_equal(passing(&r, "simulated=yes"), 0);
    assert_int_equal(passing(&r, "simulated=no"), all);
    assert_int_equal(passing(&r, "steady=no"), 1);
    assert_int_equal(passing(&r, "duplicate_count>0"), 1);
    assert_int_equal(passing(&r, "started>1970-01-01"), all);
    assert_int_equal(passing(&r, "weights_at=gpu:0"), passing(&r, "weights_at=/gpu:0"));
    assert_int_equal(passing(&r, "%"), 0);
    assert_int_equal(passing(&r, "a_ter"), 0);
    assert_int_equal(passing(&r, "'); DROP TABLE run; --"), 0);
    assert_int_equal(passing(&r, "model='x'"), 0);
    assert_int_equal(passing(&r, ""), all);
    reading_done(&r);
}

static void notes_and_placements_as_shown_are_found(void **state)
{
    struct reading r;
    struct mgb_store *store;
    assert_ok(mgb_store_open(&store, *state, NULL));
    assert_ok(mgb_store_put_note(store, 4, "the fan was off"));
    mgb_store_close(store);
    reading_init(&r, *state);
    assert_int_equal(passing(&r, "fan off"), 1);
    assert_int_equal(r.list->rows[0].run, 4);
    assert_string_equal(r.list->rows[0].notes, "the fan was off");
    assert_int_equal(passing(&r, "note=fan"), 1);
    char placement[64];
    assert_int_equal(passing(&r, "run=1"), 1);
    snprintf(placement, sizeof placement, "%s", r.list->rows[0].placement);
    assert_non_null(strchr(placement, '>'));
    assert_true(passing(&r, placement) > 0);
    for (int i = 0; i < r.list->count; i++)
        assert_non_null(strstr(r.list->rows[i].placement, placement));
    reading_done(&r);
}

static void checks_are_listed_when_they_are_asked_for(void **state)
{
    struct reading r;
    struct mgb_store *store;
    assert_ok(mgb_store_open(&store, *state, NULL));
    for (int i = 0; i < 3; i++)
        stored_run(store, database_run(), database_segment(0), 12, 1000000);
    assert_ok(mgb_store_put_tag(store, 1, "selftest"));
    assert_ok(mgb_store_put_tag(store, 2, "verify"));
    mgb_store_close(store);
    reading_init(&r, *state);
    assert_int_equal(passing(&r, ""), 1);
    assert_int_equal(list_ask(&r, "", MGB_LIST_RUN, false, 5, 10)->total, 1);
    assert_int_equal(passing(&r, "tiny"), 1);
    assert_int_equal(passing(&r, "verify"), 1);
    assert_int_equal(passing(&r, "tag=selftest"), 1);
    assert_int_equal(passing(&r, "tag!=other"), 3);
    assert_int_equal(passing(&r, "run=2"), 1);
    reading_done(&r);
}

static void says(struct reading *r, const char *filter, const char *words)
{
    const struct mgb_list *list = list_ask(r, filter, MGB_LIST_RUN, false, 0, 10);
    if (!strstr(list->message, words) || list->count != 0)
        fail_msg("%s: %s", filter, list->message);
}

static void what_cannot_be_asked_is_told(void **state)
{
    struct reading r;
    reading_init(&r, *state);
    says(&r, "modle=mlp", "no column 'modle'; did you mean model?");
    says(&r, "zzzzzzzz>1", "no column 'zzzzzzzz'; there are");
    says(&r, "gpus=two", "gpus: a number is expected, got 'two'");
    says(&r, "tag<a", "tag takes = or !=");
    says(&r, "a b c d e f g h i j k l m n o p q r s t u v w x y z", "too many words");
    says(&r,
         "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
         "aa"
         "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
         "longer than 127 bytes");
    assert_true(passing(&r, "mlp") > 0);
    reading_done(&r);
}

static double key_of(const struct mgb_list_row *row, enum mgb_list_column sort)
{
    switch (sort) {
    case MGB_LIST_RUN:
        return (double)row->run;
    case MGB_LIST_STEP_MS:
        return row->step_ms;
    case MGB_LIST_RATE:
        return row->rate;
    case MGB_LIST_MEMORY:
        return row->peak_bytes < 0 ? (double)NAN : (double)row->peak_bytes;
    case MGB_LIST_GPUS:
        return row->gpus < 0 ? (double)NAN : (double)row->gpus;
    case MGB_LIST_BATCH:
        return row->batch_per_gpu < 0 ? (double)NAN : (double)row->batch_per_gpu;
    case MGB_LIST_STARTED:
    case MGB_LIST_MODEL:
    case MGB_LIST_BACKEND:
    case MGB_LIST_OUTCOME:
    case MGB_LIST_COLUMN_COUNT:
        break;
    }
    return 0;
}

static const char *text_of(const struct mgb_list_row *row, enum mgb_list_column sort)
{
    return sort == MGB_LIST_STARTED   ? row->started
           : sort == MGB_LIST_MODEL   ? row->model
           : sort == MGB_LIST_BACKEND ? row->backend
           : sort == MGB_LIST_OUTCOME ? row->outcome
                                      : "";
}

static void is_sorted(const struct mgb_list *list)
{
    assert_string_equal(list->message, "");
    for (int i = 1; i < list->count; i++) {
        const struct mgb_list_row *a = &list->rows[list->ascending ? i - 1 : i];
        const struct mgb_list_row *b = &list->rows[list->ascending ? i : i - 1];
        double x = key_of(a, list->sort), y = key_of(b, list->sort);
        bool unknown = isnan(key_of(&list->rows[i], list->sort)); /* the last ones */
        assert_true(unknown || x <= y);
        assert_true(strcmp(text_of(a, list->sort), text_of(b, list->sort)) <= 0);
    }
}

static void every_column_sorts_both_ways(void **state)
{
    struct reading r;
    reading_init(&r, *state);
    for (int sort = 0; sort < MGB_LIST_COLUMN_COUNT; sort++)
        for (int ascending = 0; ascending < 2; ascending++) {
            const struct mgb_list *list =
                list_ask(&r, "", (enum mgb_list_column)sort, ascending, 0, 100);
            assert_int_equal(list->sort, sort);
            assert_int_equal(list->ascending, ascending);
            assert_int_equal(list->count, list->total);
            is_sorted(list);
        }
    reading_done(&r);
}

static void pages_make_up_the_whole(void **state)
{
    struct reading r;
    int64_t segments[64];
    reading_init(&r, *state);
    const struct mgb_list *list = list_ask(&r, "", MGB_LIST_STEP_MS, true, 0, 64);
    int total = (int)list->total;
    for (int i = 0; i < total; i++)
        segments[i] = list->rows[i].segment;
    for (int first = 0; first < total; first += 5) {
        list = list_ask(&r, "", MGB_LIST_STEP_MS, true, first, 5);
        assert_int_equal(list->first, first);
        assert_int_equal(list->total, total);
        assert_int_equal(list->count, total - first < 5 ? total - first : 5);
        for (int i = 0; i < list->count; i++)
            assert_int_equal(list->rows[i].segment, segments[first + i]);
    }
    list = list_ask(&r, "", MGB_LIST_STEP_MS, true, total + 7, 5);
    assert_int_equal(list->count, 0);
    assert_int_equal(list->total, total);
    list = list_ask(&r, "after", MGB_LIST_RUN, true, 1, 1);
    assert_int_equal(list->total, 3);
    assert_int_equal(list->rows[0].run, 14);
    reading_done(&r);
}

static void a_run_that_goes_on_shows_its_steps_and_one_whose_process_is_gone_crashed(void **state)
{
    struct reading r;
    struct mgb_store *store;
    int64_t run;
    assert_ok(mgb_store_open(&store, *state, NULL));
    assert_ok(mgb_store_begin_run(&run, store, database_run()));
    struct mgb_record_segment record = database_segment(run);
    int64_t segment = stored_segment(store, &record, 0, 41, 5, 10000000);
    reading_init(&r, *state);
    const struct mgb_list *list = list_ask(&r, "", MGB_LIST_RUN, false, 0, 10);
    assert_int_equal(list->total, 1);
    assert_string_equal(list->rows[0].outcome, "running");
    assert_int_equal(list->rows[0].steps, 36);
    assert_float_equal(list->rows[0].step_ms,
                       database_real(*state, "SELECT step_ms_median FROM run_summary"), 1e-9);
    assert_float_equal(
        list->rows[0].rate,
        database_real(*state, "SELECT global_batch * 1e3 / step_ms_median FROM run_summary"), 1e-6);
    stored_steps(store, &record, segment, 41, 10, 0, 10000000);
    mgb_archive_refresh(r.archive);
    assert_int_equal(list_await(&r)->rows[0].steps, 46);
    assert_ok(mgb_sql_run(&store->sql, "UPDATE run SET process_started = 1"));
    assert_int_equal(passing(&r, "outcome=running"), 0);
    assert_int_equal(passing(&r, "crashed"), 1);
    assert_string_equal(r.list->rows[0].outcome, "crashed");
    mgb_store_close(store);
    reading_done(&r);
}

static void a_run_without_segments_is_a_line_too(void **state)
{
    struct reading r;
    struct mgb_store *store;
    int64_t run;
    assert_ok(mgb_store_open(&store, *state, NULL));
    assert_ok(mgb_store_begin_run(&run, store, database_run()));
    assert_ok(mgb_store_finish_run(store, run, MGB_OUTCOME_ERROR, "no such data"));
    mgb_store_close(store);
    reading_init(&r, *state);
    const struct mgb_list *list = list_ask(&r, "", MGB_LIST_MEMORY, false, 0, 10);
    assert_int_equal(list->total, 1);
    assert_int_equal(list->rows[0].run, run);
    assert_int_equal(list->rows[0].segment, 0);
    assert_int_equal(list->rows[0].number, 0);
    assert_string_equal(list->rows[0].outcome, "error");
    assert_int_equal(list->rows[0].gpus, -1);
    assert_int_equal(list_ask(&r, "", MGB_LIST_RUN, false, 5, 10)->total, 1);
    reading_done(&r);
}

static void a_file_may_come_later_and_be_replaced(void **state)
{
    struct reading r;
    char other[96];
    struct mgb_store *store;
    snprintf(other, sizeof other, "%s.copy", (const char *)*state);
    reading_init(&r, *state);
    mgb_archive_refresh(r.archive); /* nothing was asked for */
    says(&r, "", "is not there");
    assert_ok(mgb_store_open(&store, *state, NULL));
    stored_run(store, database_run(), database_segment(0), 30, 10000000);
    stored_run(store, database_run(), database_segment(0), 30, 10000000);
    mgb_store_close(store);
    mgb_archive_refresh(r.archive);
    assert_int_equal(list_await(&r)->total, 2);
    assert_string_equal(r.list->message, "");
    assert_ok(mgb_store_open(&store, other, NULL));
    stored_run(store, database_run(), database_segment(0), 30, 10000000);
    mgb_store_close(store);
    assert_ok(mgb_keep_seal(other, NULL));
    assert_int_equal(rename(other, *state), 0);
    mgb_archive_refresh(r.archive);
    assert_int_equal(list_await(&r)->total, 1);
    assert_int_equal(unlink(*state), 0);
    mgb_archive_refresh(r.archive);
    assert_non_null(strstr(list_await(&r)->message, "is not there"));
    reading_done(&r);
}

static void what_is_no_results_file_is_told(void **state)
{
    struct reading r;
    FILE *file = fopen(*state, "w");
    assert_non_null(file);
    for (int i = 0; i < 1000; i++)
        fputs("This is a text and no database. ", file);
    fclose(file);
    reading_init(&r, *state);
    says(&r, "", "not");
    assert_int_equal(unlink(*state), 0);
    change(*state, "SELECT 1");
    assert_int_equal(passing(&r, ""), 0);
    reading_done(&r);
}

static void other_schemas_are_told(void **state)
{
    struct reading r;
    change(*state, "PRAGMA user_version = 1");
    reading_init(&r, *state);
    says(&r, "", "has an older schema");
    mgb_archive_refresh(r.archive);
    assert_non_null(strstr(list_await(&r)->message, "has an older schema"));
    reading_done(&r);
}

/* Root may write anywhere, but for a thread that looks at files as somebody else; threads it makes do so too. */
static void a_folder_that_cannot_be_written_to_is_read(void **state)
{
    struct reading r;
    char folder[96];
    snprintf(folder, sizeof folder, "%s", (const char *)*state);
    *strrchr(folder, '/') = '\0';
    assert_ok(mgb_keep_seal(*state, NULL));
    assert_int_equal(chmod(*state, 0444), 0);
    assert_int_equal(chmod(folder, 0555), 0);
    if (geteuid() == 0)
        setfsuid(65534);
    reading_init(&r, *state);
    assert_int_equal(passing(&r, "after"), 3);
    reading_done(&r);
    if (geteuid() == 0)
        setfsuid(0);
    assert_int_equal(chmod(folder, 0700), 0);
}

#define ON_A_FILE(name) cmocka_unit_test_setup_teardown(name, database_setup, database_teardown)
#define ON_RESULTS(name) cmocka_unit_test_setup_teardown(name, results_setup, database_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_RESULTS(a_line_is_what_sql_says_of_the_segment),
        ON_RESULTS(ratios_are_to_the_pinned_baseline),
        ON_RESULTS(words_and_conditions_all_must_hold),
        ON_RESULTS(notes_and_placements_as_shown_are_found),
        ON_A_FILE(checks_are_listed_when_they_are_asked_for),
        ON_RESULTS(what_cannot_be_asked_is_told),
        ON_RESULTS(every_column_sorts_both_ways),
        ON_RESULTS(pages_make_up_the_whole),
        ON_A_FILE(a_run_that_goes_on_shows_its_steps_and_one_whose_process_is_gone_crashed),
        ON_A_FILE(a_run_without_segments_is_a_line_too),
        ON_A_FILE(a_file_may_come_later_and_be_replaced),
        ON_A_FILE(what_is_no_results_file_is_told),
        ON_A_FILE(other_schemas_are_told),
        ON_RESULTS(a_folder_that_cannot_be_written_to_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
