/* mgbench compare and scaling, on a small results file whose figures can be worked out in one's head.
 * (reference/ecosystem.md, rows 1 to 3 and 38 of section 2.) */
#include "tests/app/cli/answer.h"
#include "tests/support/database.h"
#include "tests/support/results.h"

#include "db/store_private.h"

static void what_is_slower_is_said_with_both_times_and_the_ratio(void **state)
{
    SAYS(*state, 0, "compare 1,5,9 tag:after", "A: runs 1, 5, 9: mlp on here, backend host",
         "no setting differs", "A 100 ms [", "n=3x61   B 137 ms [",
         "B/A 1.37 [1.369, 1.371]  slower", "time a step; noise floor 1 % (default)",
         "Mann-Whitney p 0.1 (with so few repetitions it cannot be below 0.1)");
    SAYS(*state, 0, "compare tag:after 1,5,9", "  faster",
         "note: the runs of A and B did not take turns");
    lacks(*state, "compare sweep:placement/0 sweep:placement/1", "take turns");
    SAYS(*state, 0, "compare sweep:placement/0 1,5,9", "B/A 1 [", "same within 1 %");
}

static void scripts_can_fail_when_it_is_slower(void **state)
{
    SAYS(*state, 3, "compare 1,5,9 tag:after --fail-if-slower", "slower");
    SAYS(*state, 0, "compare tag:after 1,5,9 --fail-if-slower", "faster");
    SAYS(*state, 1, "compare 1,5,9 17 --fail-if-slower", "refused");
    SAYS(*state, 0, "compare sweep:placement/0 1,5,9 --fail-if-slower", "same within 1 %");
}

static void errs(const char *path, const char *line, const char *wanted)
{
    struct answer got = answer_get(path, line);
    if (got.code != 1 || !strstr(got.err, wanted))
        fail_msg("mgbench %s: exit code %d\n%s%s", line, got.code, got.out, got.err);
    answer_done(&got);
}

static void a_gate_without_a_verdict_is_shut_and_says_what_would_open_it(void **state)
{
    errs(*state, "compare 1 13 --fail-if-slower", "no verdict: undecided: one repetition says");
    errs(*state, "compare 1 13 --fail-if-slower", "mgbench run MODEL ... --repeats N --tag NAME");
    errs(*state, "compare 1 13 --fail-if-slower --json", "no verdict: undecided");
    errs(*state, "compare 1,5,9 20 --fail-if-slower", "no verdict: refused: run 20 is not steady");
}

static void floor_put(struct mgb_store *store, int at_ms, double floor, int comparisons)
{
    char sql[256];
    snprintf(sql, sizeof sql,
             "INSERT INTO noise_floor (machine_id, backend, measured_ms, floor, comparisons, "
             "false_verdicts, settings) SELECT id, 'host', %d, %g, %d, 1, '{}' FROM machine",
             at_ms, floor, comparisons);
    assert_ok(mgb_sql_run(&store->sql, sql));
}

static void the_noise_floor_is_given_or_measured_or_one_percent(void **state)
{
    struct mgb_store *store;
    SAYS(*state, 0, "compare 1,5,9 tag:after --floor 40%", "same within 40 %",
         "noise floor 40 % (given)");
    SAYS(*state, 0, "compare 1,5,9 tag:after --floor 0.4", "noise floor 40 % (given)");
    SAYS(*state, 2, "compare 1,5,9 tag:after --floor 40", "--floor: a fraction expected");
    assert_ok(mgb_store_open(&store, *state, NULL));
    floor_put(store, 1, 0.08, 20);
    SAYS(*state, 0, "compare 1,5,9 tag:after", "  slower",
         "8 % (measured on this machine by selftest on ");
    floor_put(store, 2, 0.05, 3); /* a newer quick one that was kept */
    SAYS(*state, 0, "compare 1,5,9 tag:after", "noise floor 8 % (measured");
    floor_put(store, 3, 0.5, 20);
    SAYS(*state, 0, "compare 1,5,9 tag:after", "noise floor 8 % (measured",
         "the noise floor of 50 % that selftest found on 1970-01-01 does not count");
    floor_put(store, 4, 0.002, 20);
    SAYS(*state, 0, "compare 1,5,9 tag:after", "  slower", "noise floor 1 % (default)");
    mgb_store_close(store);
}

static void change(const char *path, const char *sql)
{
    struct mgb_store *store;
    assert_ok(mgb_store_open(&store, path, NULL));
    assert_ok(mgb_sql_run(&store->sql, sql));
    mgb_store_close(store);
}

/* Who took turns is told by the clock: runs of a merged file have numbers of their own. */
static void turns_are_told_by_the_clock(void **state)
{
    change(*state, "UPDATE segment SET started_ms = 1000 * id");
    SAYS(*state, 0, "compare 1,5,9 15,16", "did not take turns");
    change(*state, "UPDATE segment SET started_ms = 4500 WHERE run_id = 15");
    struct answer got = answer_get(*state, "compare 1,5,9 15,16");
    assert_null(strstr(got.out, "did not take turns"));
    answer_done(&got);
}

static void a_verdict_of_steps_nobody_judged_says_so(void **state)
{
    change(*state, "UPDATE segment_stat SET steady = NULL WHERE segment_id IN (SELECT id FROM "
                   "segment WHERE run_id IN (1, 5, 9))");
    SAYS(*state, 0, "compare 1,5,9 tag:after", "  slower",
         "whether A was steady is not judged: that takes 60 timed steps a run");
    struct answer got = answer_get(*state, "compare 1,5,9 tag:after");
    assert_null(strstr(got.out, "whether B was steady"));
    answer_done(&got);
}

static void one_repetition_is_undecided_and_says_what_would_settle_it(void **state)
{
    SAYS(*state, 0, "compare 1 13", "B/A 1.37  undecided",
         "undecided: one repetition says nothing of the spread between repetitions; about 4 more "
         "repetitions of each would settle it");
}

static void other_batches_are_compared_by_example(void **state)
{
    SAYS(*state, 0, "compare sweep:placement/0 sweep:placement/2", "gpus          1           2",
         "A 3.125 ms/example [", "B 1.719 ms/example [", "B/A 0.55 [0.5494, 0.5506]  faster",
         "time an example (the global batches differ)");
}

static void no_verdict_is_given_on_what_cannot_be_trusted(void **state)
{
    SAYS(*state, 0, "compare 1,5,9 16", "B 100 ms", "refused: A is of backend host, B of cuda",
         "environment  A     B\nbackend      host  cuda");
    SAYS(*state, 0, "compare 1,5,9 17", "B 1.719 ms/example",
         "refused: run 17 stores 1 variable twice (mgbench show 17)");
    SAYS(*state, 0, "compare 1,5,9 18", "B 100 ms", "refused: the log of run 18 is incomplete");
    SAYS(*state, 0, "compare 1,5,9 19", "A 3.125 ms/example [", "B - ms/example",
         "refused: run 19 has no timed steps (oom)");
    SAYS(*state, 0, "compare 21.1 21.2", "A (21.1): run 21: mlp", "B (21.2): run 21: mlp");
    SAYS(*state, 0, "compare 1,5,9 20", "B 100 ms", "refused: run 20 is not steady",
         "; measure longer, or with --warmup auto\n");
    lacks(*state, "compare 1,5,9 20", "not steady: not steady");
    SAYS(*state, 0, "compare 1,5,9 16 --across-backends", "undecided: one repetition");
}

static void what_befell_a_run_is_told_beside_its_figures(void **state)
{
    struct mgb_store *store;
    assert_ok(mgb_store_open(&store, *state, NULL));
    assert_ok(mgb_sql_run(
        &store->sql, "INSERT INTO sample (run_id, segment_id, device, at_ns, throttle) "
                     "VALUES (5, 5, '/gpu:0', 1, 'thermal');"
                     "UPDATE segment SET oversubscribed = 1 WHERE id = 13;"
                     "UPDATE segment SET target_noise = 0.01, stop_reason = 'time' WHERE id = 14;"
                     "UPDATE step SET loss = NULL, loss_status = 'nan' WHERE segment_id = 15 AND "
                     "step > 7"));
    mgb_store_close(store);
    SAYS(*state, 0, "compare 1,5,9 tag:after", "  slower", "note: run 5 was throttled: thermal",
         "note: B is oversubscribed: its towers have more threads than there are cores",
         "note: run 14 ran out of time before its noise was below its target",
         "note: run 15: the loss is no number from step 8 on");
}

static void script_says(const char *path, int code, const char *text, const char *wanted)
{
    char line[700];
    snprintf(line, sizeof line, "--quiet -e '%s'", text);
    SAYS(path, code, line, wanted);
}

static void a_repetition_unlike_the_others_is_named(void **state)
{
    struct mgb_store *store;
    lacks(*state, "compare 1,5,9 tag:after", "something else was going on");
    assert_ok(mgb_store_open(&store, *state, NULL));
    assert_ok(
        mgb_sql_run(&store->sql, "UPDATE step SET wall_ns = 50 * wall_ns WHERE segment_id = 5"));
    mgb_store_close(store);
    SAYS(*state, 0, "compare 1,5,9 tag:after", "  undecided",
         "note: repetition 2 of A (run 5) took 5000 ms, the others 99.95 to 100: something else "
         "was going "
         "on; repeat it");
    SAYS(*state, 0, "compare tag:after 1,5",
         "note: repetition 2 of B (run 5) took 5000 ms, the other ");
    SAYS(*state, 0, "compare tag:after 1,5,9 --json", "\"remarks\":\"",
         "repetition 2 of B (run 5) took 5000 ms");
    SAYS(*state, 0, "compare sweep:placement --against 0", "note: repetition 2 of A (run 5) took");
    SAYS(*state, 0, "compare sweep:placement/1 sweep:placement",
         "note: point 0: repetition 2 of B (run 5) took");
    script_says(*state, 0, "print(mgb.compare({ 1, 5, 9 }, \"tag:after\"))",
                "repetition 2 of A (run 5) took 5000 ms");
    script_says(*state, 0, "print(mgb.compare({ 1, 5, 9 }, \"tag:after\", { floor = 0.4 }))",
                "differences up to 40 % count as none: noise floor given");
    script_says(*state, 0,
                "local over = { odd = \"repetition 2 took 5 ms\" } local rows = {}\n"
                "for i = 1, 2 do rows[i] = { sweep = \"s\", point = 0, repetition = i, gpus = 1,\n"
                "  label = \"gpus=1\", step_ms = { median = i }, over = over } end\n"
                "mgb.table(rows, { \"gpus\", \"step_ms\" })",
                "note: gpus=1: repetition 2 took 5 ms\n");
}

static void what_is_the_same_is_shown_on_request(void **state)
{
    lacks(*state, "compare 1 5", "OMP_NUM_THREADS");
    SAYS(*state, 0, "compare 1 5 --all", "OMP_NUM_THREADS", "model.classes", "optimizer",
         "sgd(lr=0.01)");
}

static void programs_get_the_verdict_as_a_row(void **state)
{
    SAYS(*state, 0, "compare 1,5,9 tag:after --json", "{\"a\":\"1,5,9\",\"b\":\"tag:after\"",
         "\"per\":\"step\",\"a_ms\":100,", "\"b_ms\":137,", "\"ratio\":1.37",
         "\"verdict\":\"slower\"", "\"a_repetitions\":3,\"a_steps\":61", "\"seed\":20260131");
    SAYS(*state, 0, "compare 1 3 --csv", "gpus: 1 | 2");
    SAYS(*state, 0, "compare 1 13 --json", "\"ratio_low\":null,\"ratio_high\":null", "\"p\":null",
         "\"more_repetitions\":4");
}

static void a_sweep_is_compared_point_by_point(void **state)
{
    SAYS(*state, 0, "compare sweep:placement --against 0",
         "Fastest: batch=32 gpus=2 strategy=independent, 1.484 ms an example; ahead of batch=32 "
         "gpus=1 by 110.5 % [",
         "A: run 1 and its repetitions, batch=32 gpus=1 on host", "3.125 ms/example",
         "    1  batch=64 gpus=1", "  2.812  ", "0.55  [0.5494, 0.5506]",
         "corrected for 3 comparisons (Holm)");
    SAYS(*state, 0, "compare tag:after sweep:placement --csv", "tag:after,sweep:placement/0,",
         "tag:after,sweep:placement/3,", "faster");
    SAYS(*state, 3, "compare sweep:placement/3 sweep:placement --fail-if-slower", "  slower");
    SAYS(*state, 0, "compare tag:paper sweep:placement",
         "note: A's runs are of several settings, taken for repetitions of one another");
    SAYS(*state, 2, "compare sweep:placement 1", "names 4 points of a sweep");
    SAYS(*state, 2, "compare 1", "B is missing");
    SAYS(*state, 2, "compare", "usage: mgbench compare A B | sweep:NAME");
}

/* The answer comes first, and the fastest is not compared with itself. */
static void a_sweep_alone_is_ranked(void **state)
{
    struct answer got = answer_get(*state, "compare sweep:placement");
    static const char first[] =
        "Fastest: batch=32 gpus=2 strategy=independent, 1.484 ms an example; ahead of batch=32 "
        "gpus=2 by 15.79 % [";
    if (strncmp(got.out, first, strlen(first)) != 0)
        fail_msg("'%s' does not begin with '%s'", got.out, first);
    answer_done(&got);
    SAYS(*state, 0, "compare sweep:placement", ", more than noise\n",
         "A: run 4 and its repetitions", "corrected for 3 comparisons (Holm)");
    lacks(*state, "compare sweep:placement", "    3  batch=32");
    SAYS(*state, 0, "compare sweep:placement --floor 20%",
         "; not told apart from: batch=32 gpus=2\n");
    SAYS(*state, 0, "compare sweep:placement/1 sweep:placement", "Fastest: batch=32 gpus=2 strat",
         "; ahead of batch=64 gpus=1 by ", "corrected for 3 comparisons (Holm)");
    SAYS(*state, 0, "compare sweep:placement --against tag:after --csv",
         "tag:after,sweep:placement/0,");
    SAYS(*state, 0, "compare sweep:placement --csv", "sweep:placement/3,sweep:placement/0,");
    SAYS(*state, 2, "compare sweep:placement --against sweep:placement",
         "one configuration expected");
}

static void the_verdict_of_two_comes_first(void **state)
{
    struct answer got = answer_get(*state, "compare 1,5,9 tag:after");
    assert_memory_equal(got.out, "A 100 ms [", 10);
    assert_true(strstr(got.out, "  slower\n") < strstr(got.out, "note: "));
    assert_true(strstr(got.out, "note: ") < strstr(got.out, "no setting differs"));
    answer_done(&got);
}

static void other_threads_are_said_where_they_matter(void **state)
{
    struct mgb_store *store;
    assert_ok(mgb_store_open(&store, *state, NULL));
    assert_ok(mgb_sql_run(&store->sql,
                          "UPDATE segment SET threads = CASE gpus WHEN 1 THEN 2 ELSE 1 END"));
    SAYS(*state, 0, "compare 1,5,9 sweep:placement/2",
         "note: A ran 2 threads a device, B 1: give threads = 1 to both\n");
    SAYS(*state, 0, "compare sweep:placement --against 0",
         "note: point 2: A ran 2 threads a device, B 1", "note: point 3: A ran 2 threads");
    assert_ok(mgb_sql_run(&store->sql, "UPDATE run SET backend = 'cuda'"));
    lacks(*state, "compare 1,5,9 sweep:placement/2", "threads a device, B");
    mgb_store_close(store);
}

static void a_sweep_defined_anew_is_said(void **state)
{
    struct mgb_store *store;
    assert_ok(mgb_store_open(&store, *state, NULL));
    assert_ok(mgb_sql_run(&store->sql,
                          "INSERT INTO sweep (name, started_ms, settings) VALUES ('placement', 9, "
                          "'{\"grid\":{\"gpus\":[1]}}');"
                          "INSERT INTO sweep_point (sweep_id, run_id, point, repeat, position, "
                          "settings, settings_digest) VALUES (2, 13, 0, 0, 0, '{}', 'x'), "
                          "(2, 16, 1, 0, 1, '{\"gpus\":1}', 'y')"));
    mgb_store_close(store);
    SAYS(*state, 0, "compare sweep:placement --across-backends",
         "note: sweep 'placement' was defined 2 times; these are the points of the newest (id 2); "
         "the other: sweep:placement@1\n");
    SAYS(*state, 0, "compare sweep:placement@1 --csv", "sweep:placement@1/3,sweep:placement@1/0,");
}

static void scaling_tells_batch_from_gpus_and_what_merging_costs(void **state)
{
    SAYS(*state, 0, "scaling sweep:placement", "mlp on here, backend host: /gpu:N are CPU devices",
         "weak: time(1 GPU, b) / time(N GPUs, N b)",
         "gpu0>cpu0       2   2x32      110       581.8       100  0.9091       180  0.8182",
         "gpu0>cpu0       2   2x32      110  1x32     100     1.818         1.111       1.636  1 "
         "GPU, 64 in all",
         "gpu0>cpu0     2   2x32      110              95           15      13.64");
    SAYS(*state, 0, "scaling sweep:placement --json", "\"placement\":\"independent\"",
         "\"weak\":0.9090909090909091", "\"strong\":0.8181818181818182", "\"exchange_ms\":15,",
         "\"exchange_share\":0.13636363636363635", "\"epoch\":null");
    SAYS(*state, 0, "scaling mlp", "mlp on here, backend cuda", "out of memory",
         "not known, no run had --strategy independent");
    SAYS(*state, 4, "scaling nothing", "no finished run on GPUs of the model nothing");
}

static void epochs_count_when_the_data_has_an_end(void **state)
{
    struct mgb_store *store;
    assert_ok(mgb_store_open(&store, *state, NULL));
    /* 320 examples an epoch: 10 steps of 100 ms on one GPU, 5 of 110 ms on two */
    assert_ok(mgb_sql_run(&store->sql, "UPDATE step SET epoch = step * examples / 320"));
    mgb_store_close(store);
    SAYS(*state, 0, "scaling sweep:placement --json", "\"epoch\":0.9090909090909091");
}

/* `text`: Lua without apostrophes. */
static void scripts_compare_what_they_name_or_hold(void **state)
{
    script_says(*state, 0, "print(mgb.compare({ 1, 5, 9 }, \"tag:after\"))",
                "A 100 ms [99.89, 100.1] n=3x61   B 137 ms [136.8, 137.2] n=3x61   B/A 1.37 "
                "[1.369, 1.371]  "
                "slower\n");
    script_says(*state, 0,
                "local c = mgb.compare(\"1,5,9\", \"tag:after\") "
                "print(c.verdict, c.a_ms, c.b_ms, c.more_repetitions, c.reason, c.per, c.floor)",
                "slower\t100.0\t137.0\t0\tnil\tstep\t0.01\n");
    script_says(
        *state, 0,
        "local rows = mgb.db.query(\"select * from run_summary where run_id in (1, 5, 9)\") "
        "local c = mgb.compare(rows, { 13, rows[1] }) print(c.verdict, c.ratio > 1.18, c.p_rank)",
        "undecided\ttrue\t");
    script_says(*state, 0, "print(mgb.compare(1, 13))",
                "  undecided\nundecided: one repetition says nothing of the spread");
    script_says(*state, 0,
                "print(mgb.compare({ 1, 5 }, { 9, 16 }, { across_backends = true }).verdict)",
                "refused\n");
    script_says(*state, 0, "print(mgb.compare({ 1, 5 }, 16).reason)", "across_backends = true");
    script_says(*state, 0, "print(mgb.compare(\"1,5,9\", \"tag:after\", { floor = 0.4 }).verdict)",
                "same\n");
}

static void scripts_are_told_what_cannot_be_compared(void **state)
{
    script_says(*state, 1, "mgb.compare(1, 99)", "99: there is no such run; there are 21 runs");
    script_says(*state, 1, "mgb.compare(1, {})", "mgb.compare: b: a result, a row, a run's id");
    script_says(*state, 1, "mgb.compare(1)", "or a list of these expected, got nil");
    script_says(*state, 1, "mgb.compare(1, 2, { flor = 1 })", "did you mean 'floor'");
    script_says(*state, 1, "mgb.compare(1, 2, { floor = 1 })",
                "a fraction between 0 and 1 expected");
}

int main(void)
{
#define WRITES(test) cmocka_unit_test_setup_teardown(test, results_setup, database_teardown)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_slower_is_said_with_both_times_and_the_ratio),
        cmocka_unit_test(scripts_can_fail_when_it_is_slower),
        cmocka_unit_test(a_gate_without_a_verdict_is_shut_and_says_what_would_open_it),
        WRITES(the_noise_floor_is_given_or_measured_or_one_percent),
        WRITES(turns_are_told_by_the_clock),
        WRITES(a_verdict_of_steps_nobody_judged_says_so),
        cmocka_unit_test(one_repetition_is_undecided_and_says_what_would_settle_it),
        cmocka_unit_test(other_batches_are_compared_by_example),
        cmocka_unit_test(no_verdict_is_given_on_what_cannot_be_trusted),
        WRITES(a_repetition_unlike_the_others_is_named),
        WRITES(what_befell_a_run_is_told_beside_its_figures),
        cmocka_unit_test(what_is_the_same_is_shown_on_request),
        cmocka_unit_test(programs_get_the_verdict_as_a_row),
        cmocka_unit_test(a_sweep_is_compared_point_by_point),
        cmocka_unit_test(a_sweep_alone_is_ranked),
        cmocka_unit_test(the_verdict_of_two_comes_first),
        WRITES(other_threads_are_said_where_they_matter),
        WRITES(a_sweep_defined_anew_is_said),
        cmocka_unit_test(scripts_compare_what_they_name_or_hold),
        cmocka_unit_test(scripts_are_told_what_cannot_be_compared),
        cmocka_unit_test(scaling_tells_batch_from_gpus_and_what_merging_costs),
        WRITES(epochs_count_when_the_data_has_an_end),
    };
    return cmocka_run_group_tests(tests, results_setup, database_teardown);
}
