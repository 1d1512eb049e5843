/* Ten thousand runs: a list costs SQLite no more with many steps, a page is found anywhere, and a newer request ends the one
 * that is being read. (reference/ecosystem.md 6.3; times are in tests/bench/lists.c.) */
#include "tests/app/session/workbench/stored.h"

#include "app/session/workbench/archive_private.h"
#include "db/store_private.h"
#include "tests/support/faulty_vfs.h"

#include <stdlib.h>

enum { RUNS = 10000 };

/* Copies of the first run, in one transaction; every seventh with a tag. */
static void runs_copy(const char *path, int runs)
{
    struct mgb_store *store;
    char sql[2000];
    assert_ok(mgb_store_open(&store, path, NULL));
    stored_run(store, database_run(), database_segment(0), 30, 10000000);
    snprintf(sql, sizeof sql,
             "WITH RECURSIVE n (i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < %d)"
             "INSERT INTO run (id, uuid, started_ms, machine_id, model_id, backend, simulated, "
             "outcome, log_complete, pid) SELECT i, 'u' || i, started_ms + i * 1000, machine_id, "
             "model_id, backend, simulated, 'ok', 1, 1 FROM n JOIN run ON run.id = 1",
             runs);
    assert_ok(mgb_sql_run(&store->sql, "BEGIN"));
    assert_ok(mgb_sql_run(&store->sql, sql));
    assert_ok(mgb_sql_run(
        &store->sql,
        "INSERT INTO segment (id, run_id, started_ms, outcome, first_step, strategy, gpus, "
        "gpu_list, batch_mode, batch_per_gpu, global_batch, weights_at, join_at) SELECT r.id, "
        "r.id, r.started_ms, 'ok', 0, strategy, gpus, gpu_list, batch_mode, batch_per_gpu, "
        "global_batch, weights_at, join_at FROM run AS r JOIN segment AS s ON s.id = 1 WHERE r.id "
        "> 1"));
    assert_ok(mgb_sql_run(
        &store->sql,
        "INSERT INTO segment_stat (segment_id, timed_steps, warmup_steps, examples, timed_ns, "
        "median_ns) SELECT s.id, 30, 0, examples, timed_ns, median_ns + (s.id * 7919) % 10007 "
        "FROM segment AS s JOIN segment_stat AS t ON t.segment_id = 1 WHERE s.id > 1"));
    assert_ok(mgb_sql_run(&store->sql, "INSERT INTO tag SELECT id, 'seventh' FROM run WHERE "
                                       "id % 7 = 0"));
    assert_ok(mgb_sql_run(&store->sql, "COMMIT"));
    mgb_store_close(store);
}

static struct mgb_list *list_read(struct mgb_reader *reader, const char *filter,
                                  enum mgb_list_column sort, int64_t first)
{
    struct mgb_list_request request = {filter, sort, false, first, 50};
    struct mgb_list *list = mgb_archive_list_make(&request);
    assert_non_null(list);
    assert_ok(mgb_archive_list_fill(list, reader, &request));
    return list;
}

static void any_page_of_ten_thousand_is_found(void **state)
{
    struct mgb_reader *reader;
    runs_copy(*state, RUNS);
    assert_ok(mgb_reader_open(&reader, *state));
    struct mgb_list *list = list_read(reader, "", MGB_LIST_RUN, 9000);
    assert_int_equal(list->total, RUNS);
    assert_int_equal(list->count, 50);
    assert_int_equal(list->rows[0].run, RUNS - 9000);
    mgb_shared_drop(list);
    list = list_read(reader, "seventh", MGB_LIST_STEP_MS, 100);
    assert_int_equal(list->total, RUNS / 7);
    char sql[200];
    snprintf(sql, sizeof sql,
             "SELECT run_id FROM run_summary WHERE run_id %% 7 = 0 ORDER BY step_ms_median DESC, "
             "run_id DESC LIMIT 1 OFFSET 100");
    assert_int_equal(list->rows[0].run, database_int(*state, sql));
    mgb_shared_drop(list);
    mgb_reader_close(reader);
}

struct asking { /* `stop` of a query: counts, and says stop from a number on */
    int asked, stop_at;
};

static bool is_asked(void *context)
{
    struct asking *asking = context;
    return ++asking->asked >= asking->stop_at;
}

/* How often SQLite asked whether to stop, once in so many of its instructions, for one list by each column. */
static int cost_of(struct mgb_reader *reader)
{
    struct asking asking = {0, 1 << 30};
    mgb_reader_watch(reader, is_asked, &asking);
    for (int sort = 0; sort < MGB_LIST_COLUMN_COUNT; sort++)
        mgb_shared_drop(list_read(reader, "tiny", (enum mgb_list_column)sort, 0));
    mgb_reader_watch(reader, NULL, NULL);
    return asking.asked;
}

static void a_list_costs_the_same_with_many_steps(void **state)
{
    struct mgb_reader *reader;
    struct mgb_store *store;
    runs_copy(*state, RUNS / 10);
    assert_ok(mgb_reader_open(&reader, *state));
    int before = cost_of(reader);
    assert_ok(mgb_store_open(&store, *state, NULL));
    assert_ok(mgb_sql_run(&store->sql,
                          "INSERT INTO step SELECT s.id, t.step + 30 * n.value, 0, 0, 0, wall_ns, "
                          "64, 1, 'ok' FROM segment AS s JOIN step AS t ON t.segment_id = 1 JOIN "
                          "json_each('[1,2,3]') AS n WHERE s.id > 1"));
    mgb_store_close(store);
    assert_true(database_int(*state, "SELECT count(*) FROM step") > 80000);
    assert_in_range(cost_of(reader), before - 1, before + 1);
    mgb_reader_close(reader);
}

static void a_query_in_progress_ends_when_it_is_told_to(void **state)
{
    struct mgb_reader *reader;
    struct asking asking = {0, 2};
    struct mgb_list_request request = {"no such word", MGB_LIST_RUN, false, 0, 50};
    runs_copy(*state, RUNS);
    assert_ok(mgb_reader_open(&reader, *state));
    mgb_reader_watch(reader, is_asked, &asking);
    struct mgb_list *list = mgb_archive_list_make(&request);
    assert_status(mgb_archive_list_fill(list, reader, &request), MGB_INTERRUPTED);
    assert_int_equal(asking.asked, 2);
    mgb_shared_drop(list);
    mgb_reader_close(reader);
}

/* Typing: every letter a request, the last one counts; closing does not wait for a long query. */
static void the_newest_request_is_the_one_that_is_answered(void **state)
{
    struct news news;
    struct mgb_archive *archive;
    const struct mgb_list *list = NULL;
    char filter[32];
    runs_copy(*state, RUNS);
    news_init(&news);
    assert_ok(mgb_archive_open(&archive, *state, news_tell, &news));
    for (int i = 1; i <= 50; i++) {
        snprintf(filter, sizeof filter, "run<=%d", i);
        mgb_archive_ask(archive, &(struct mgb_list_request){filter, MGB_LIST_RUN, true, 0, 50});
        memset(filter, 'x', sizeof filter); /* it was borrowed for the call only */
    }
    do {
        news_await(&news);
        mgb_shared_drop(list);
        list = mgb_archive_look(archive);
    } while (strcmp(list->filter, "run<=50") != 0);
    assert_int_equal(list->total, 50);
    assert_true(list->version <= 50);
    mgb_archive_ask(archive, &(struct mgb_list_request){"nothing", MGB_LIST_RUN, true, 0, 50});
    mgb_archive_close(archive);
    assert_int_equal(list->rows[49].run, 50); /* whoever holds a list may keep it */
    mgb_shared_drop(list);
}

#define ON_A_FILE(name) cmocka_unit_test_setup_teardown(name, database_setup, database_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_A_FILE(any_page_of_ten_thousand_is_found),
        ON_A_FILE(a_list_costs_the_same_with_many_steps),
        ON_A_FILE(a_query_in_progress_ends_when_it_is_told_to),
        ON_A_FILE(the_newest_request_is_the_one_that_is_answered),
    };
    faulty_install(); /* for its syncs, which take no time */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
