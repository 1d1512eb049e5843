/* mgbench scaling: what is set beside each other says where it differs in more than GPUs and batch. */
#include "tests/app/cli/answer.h"
#include "tests/support/database.h"
#include "tests/support/results.h"

#include "db/store_private.h"

static void change(const char *path, const char *sql)
{
    struct mgb_store *store;
    assert_ok(mgb_store_open(&store, path, NULL));
    assert_ok(mgb_sql_run(&store->sql, sql));
    mgb_store_close(store);
}

/* `text` is in the answer, wherever its lines end. */
static void in_one_line(const char *path, const char *line, const char *text)
{
    struct answer got = answer_get(path, line);
    for (char *at = got.out; *at; at++)
        *at = *at == '\n' ? ' ' : *at;
    if (got.code != 0 || !strstr(got.out, text))
        fail_msg("mgbench %s: '%s' is not in %s%s", line, text, got.out, got.err);
    answer_done(&got);
}

static void other_threads_of_the_one_gpu_are_said(void **state)
{
    change(*state, "UPDATE segment SET threads = CASE gpus WHEN 1 THEN 2 ELSE 1 END");
    SAYS(*state, 0, "scaling sweep:placement",
         "note: the one-GPU baseline ran 2 threads a device, these 1: give threads = 1 to all\n",
         "placement    threads  gpus  batch", "other threads than its 1 GPU");
    SAYS(*state, 0, "scaling sweep:placement --json",
         "\"threads\":1,\"one_gpu_weak_threads\":2,\"one_gpu_strong_threads\":2");
    in_one_line(*state, "plot scaling sweep:placement",
                "The one-GPU baseline ran 2 threads a device, these 1: give threads = 1 to all");
    change(*state, "UPDATE segment SET threads = 1");
    lacks(*state, "scaling sweep:placement", "threads  gpus");
    lacks(*state, "scaling sweep:placement", "baseline ran");
}

/* On a GPU, threads are the host's business, which divides its cores whatever the GPUs do. */
static void threads_are_of_no_account_on_gpus(void **state)
{
    change(*state, "UPDATE segment SET threads = CASE gpus WHEN 1 THEN 2 ELSE 1 END;"
                   "UPDATE run SET backend = 'cuda'");
    lacks(*state, "scaling sweep:placement", "threads  gpus");
    lacks(*state, "scaling sweep:placement", "baseline ran");
}

/* Runs 13 to 15 are like point 0 of the sweep but for their threads: both are baselines, and points keep to their own. */
static void a_baseline_with_the_same_threads_is_preferred(void **state)
{
    change(*state, "UPDATE segment SET threads = CASE WHEN id BETWEEN 13 AND 15 THEN 2 ELSE 1 END");
    SAYS(*state, 0, "scaling sweep:placement,tag:after --json",
         "\"step_ms\":110,\"examples_per_s\":581.8181818181819,\"one_gpu_weak_ms\":100,");
    change(*state, "UPDATE segment SET threads = 2 WHERE id <= 12");
    SAYS(*state, 0, "scaling sweep:placement,tag:after",
         "step_ms: mean of the repetitions' medians");
}

static void more_than_ideal_is_doubted(void **state)
{
    change(*state, "UPDATE segment_stat SET median_ns = 97000000 WHERE segment_id IN (4, 8, 12)");
    lacks(*state, "scaling sweep:placement", "more than ideal");
    change(*state, "UPDATE segment_stat SET median_ns = 80000000 WHERE segment_id IN (3, 7, 11)");
    SAYS(*state, 0, "scaling sweep:placement", "more than ideal\n",
         "note: efficiency above 1.05 is more than ideal: look for other threads");
}

static void other_data_and_optimizers_stand_apart_and_say_so(void **state)
{
    lacks(*state, "scaling sweep:placement", "optimizer");
    change(*state, "UPDATE segment SET optimizer = 'adam(lr=0.1)' WHERE gpus = 1;"
                   "UPDATE run SET data = 'digits' WHERE id IN (SELECT run_id FROM segment WHERE "
                   "gpus = 1)");
    SAYS(*state, 0, "scaling sweep:placement", ", data digits, optimizer adam(lr=0.1)\n",
         ", optimizer sgd(lr=0.01)\n",
         "no placement of several GPUs was measured with one GPU beside it");
}

static void a_cost_of_exchange_below_noise_is_no_figure(void **state)
{
    SAYS(*state, 0, "scaling sweep:placement --json", "\"exchange_below_noise\":false");
    change(*state,
           "UPDATE step SET wall_ns = wall_ns * 3 WHERE segment_id IN (4, 8, 12);"
           "UPDATE segment_stat SET median_ns = median_ns * 3 WHERE segment_id IN (4, 8, 12)");
    SAYS(*state, 0, "scaling sweep:placement", "below noise");
    lacks(*state, "scaling sweep:placement", "-175");
}

/* Of a model as of its sweep: the repetitions of a point are one figure, the mean of their medians. */
static void a_model_is_its_newest_points_with_their_repetitions(void **state)
{
    SAYS(*state, 0, "scaling mlp --json",
         "\"placement\":\"independent\",\"gpus\":2,\"global_batch\":64,\"run\":12,"
         "\"repetitions\":3,\"step_ms\":95,\"examples_per_s\":673.6842105263158");
}

/* The rows of the command beside those of the views, as many as agree. */
static int64_t agreeing(const char *path, const char *rows, const char *condition)
{
    char *sql = NULL;
    assert_true(asprintf(&sql,
                         "SELECT count(*) FROM json_each('[' || replace(trim('%s', char(10)), "
                         "char(10), ',') || ']') AS j"
                         "  LEFT JOIN scaling AS x ON x.run_id = json_extract(j.value, '$.run')"
                         "  LEFT JOIN exchange AS e ON e.run_id = json_extract(j.value, '$.run')"
                         " WHERE %s",
                         rows, condition) > 0);
    int64_t count = database_int(path, sql);
    free(sql);
    return count;
}

#define WEAK "CASE x.batch_mode WHEN 'weak' THEN j.value ->> 'weak' ELSE j.value ->> 'strong' END"
#define NEAR(a, b)                                                                                 \
    "((" a ") IS NULL) = ((" b ") IS NULL) AND coalesce(abs((" a ") - (" b ")), 0) < 1e-9"

static void the_command_and_the_views_agree(void **state)
{
    static const char *const changes[] = {
        "DELETE FROM sweep_point; DELETE FROM segment WHERE id = 22", /* a row of each is a run */
        "UPDATE segment SET threads = 1 + id % 2 WHERE id > 4",
        "UPDATE segment SET optimizer = 'adam' WHERE id % 5 = 1",
        "UPDATE run SET data = 'digits' WHERE id % 3 = 1",
        "UPDATE segment SET recompute = 'sqrt' WHERE id % 7 = 2",
        "UPDATE segment SET strategy = 'gradients' WHERE id % 4 = 3 AND strategy = 'outputs'",
        "UPDATE segment SET strategy = 'independent' WHERE id IN (6, 18, 10)",
        "UPDATE segment SET batch_mode = 'strong' WHERE id % 2 = 0"};
    int64_t bases = 0, costs = 0;
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        change(*state, changes[i]);
        struct answer got = answer_get(*state, "scaling mlp --json");
        if (got.code == 0) {
            int64_t rows = agreeing(*state, got.out, "true");
            assert_true(rows > 0);
            assert_int_equal(agreeing(*state, got.out, NEAR("x.efficiency", WEAK)), rows);
            assert_int_equal(
                agreeing(*state, got.out, NEAR("e.exchange_ms", "j.value ->> 'exchange_ms'")),
                rows);
            bases += agreeing(*state, got.out, "x.gpus > 1 AND x.efficiency > 0");
            costs += agreeing(*state, got.out, "e.exchange_ms IS NOT NULL");
        }
        answer_done(&got);
    }
    assert_int_equal(bases > 3 ? 4 : bases, 4);
    assert_int_equal(costs > 1 ? 2 : costs, 2);
}

/* A sweep that was interrupted and resumed is two rows of the table sweep, and one sweep. */
static void repetitions_of_before_an_interruption_count(void **state)
{
    change(*state,
           "INSERT INTO sweep (name, settings, started_ms) SELECT name, settings, started_ms + 1 "
           "FROM sweep;"
           "UPDATE sweep_point SET sweep_id = 2 WHERE run_id > 6");
    a_model_is_its_newest_points_with_their_repetitions(state);
    in_one_line(*state, "plot placement sweep:placement", "n = 3 runs of 61 timed steps");
    in_one_line(*state, "plot placement sweep:placement", "mean of the runs' median steps");
    SAYS(*state, 0, "plot placement mlp", "1 to 3 runs");
}

/* Of a sweep that was defined twice the newest goes; what the name stands for then is told, and goes next. */
static void deleting_a_sweep_deletes_what_its_name_stands_for(void **state)
{
    change(*state, "INSERT INTO sweep (name, started_ms, settings) VALUES ('placement', 9, "
                   "'{\"grid\":{\"gpus\":[1]}}');"
                   "INSERT INTO sweep_point (sweep_id, run_id, point, repeat, position, settings, "
                   "settings_digest) VALUES (2, 13, 0, 0, 0, '{}', 'x')");
    SAYS(*state, 0, "rm sweep:placement --yes", "note: sweep 'placement' was defined 2 times",
         "deleted 1 run, 1 segment,", "sweep:placement stands for 12 older runs now\n");
    SAYS(*state, 0, "rm sweep:placement --yes", "deleted 12 runs");
    SAYS(*state, 4, "rm sweep:placement --yes", "the sweep has no runs, or they were deleted");
}

int main(void)
{
#define WRITES(test) cmocka_unit_test_setup_teardown(test, results_setup, database_teardown)
    const struct CMUnitTest tests[] = {
        WRITES(other_threads_of_the_one_gpu_are_said),
        WRITES(threads_are_of_no_account_on_gpus),
        WRITES(a_baseline_with_the_same_threads_is_preferred),
        WRITES(more_than_ideal_is_doubted),
        WRITES(other_data_and_optimizers_stand_apart_and_say_so),
        WRITES(a_cost_of_exchange_below_noise_is_no_figure),
        WRITES(the_command_and_the_views_agree),
        WRITES(a_model_is_its_newest_points_with_their_repetitions),
        WRITES(repetitions_of_before_an_interruption_count),
        WRITES(deleting_a_sweep_deletes_what_its_name_stands_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
