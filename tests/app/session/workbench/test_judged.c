/* The judge desk: what it says is what mgb_judge says of the same segments, repetitions of a placement are found, and it
 * works no more than it must. */
#include "tests/app/session/workbench/stored.h"

#include "app/session/judge.h"
#include "app/session/workbench/judged.h"

#include <math.h>
#include <unistd.h>

enum { STEPS = 80, WARM = 5 };

struct desk {
    struct news news;
    struct mgb_store *store;
    struct mgb_judge_desk *desk;
    int64_t run, segment[8];
    int64_t step; /* of the run: the next one */
    struct mgb_record_segment record;
};

static void desk_init(struct desk *d, const char *path)
{
    *d = (struct desk){.store = NULL};
    news_init(&d->news);
    assert_ok(mgb_store_open(&d->store, path, NULL));
    assert_ok(mgb_store_begin_run(&d->run, d->store, database_run()));
    d->record = database_segment(d->run);
    assert_ok(mgb_judge_desk_open(&d->desk, path, news_tell, &d->news));
}

static void desk_done(struct desk *d)
{
    mgb_judge_desk_close(d->desk);
    mgb_store_close(d->store);
}

/* Another segment of the run, on the CPU or not; the one before it ends. */
static int64_t toggle(struct desk *d, int64_t before, bool on_cpu, int64_t ns)
{
    if (before)
        stored_end(d->store, before);
    d->record.effective.weights_at = on_cpu ? "/cpu:0" : "/gpu:0";
    int64_t segment = stored_segment(d->store, &d->record, d->step, STEPS, WARM, ns);
    d->step += STEPS;
    return segment;
}

static struct mgb_bench_answer answer_await(struct desk *d, int64_t now, int64_t before)
{
    struct mgb_bench_answer answer;
    while (!mgb_judge_desk_look(d->desk, &answer, now, before))
        news_await(&d->news);
    return answer;
}

/* Until it was told so often in all. */
static void told_await(struct desk *d, int times)
{
    while (atomic_load(&d->news.count) < times)
        news_await(&d->news);
}

static struct mgb_judgement judge_directly(const char *path, const int64_t *a, size_t a_count,
                                           const int64_t *b, size_t b_count, bool per_example)
{
    struct mgb_judgement out;
    struct mgb_reader *reader;
    struct mgb_selected sides[2][8];
    struct mgb_judge_options options = {.single_enough = true, .per_example = per_example};
    for (size_t i = 0; i < 8; i++) {
        sides[0][i] = (struct mgb_selected){.segment = i < a_count ? a[i] : 0};
        sides[1][i] = (struct mgb_selected){.segment = i < b_count ? b[i] : 0};
    }
    const struct mgb_selection first = {sides[0], a_count}, second = {sides[1], b_count};
    assert_ok(mgb_reader_open(&reader, path));
    assert_ok(mgb_judge(&out, reader, &first, &second, &options));
    mgb_reader_close(reader);
    return out;
}

static void is_same(const struct mgb_bench_answer *answer, const struct mgb_judgement *direct)
{
    assert_true(answer->there);
    assert_true(answer->ratio == direct->comparison.ratio);
    assert_true(answer->low == direct->comparison.low);
    assert_true(answer->high == direct->comparison.high);
    assert_string_equal(answer->verdict, mgb_verdict_name(direct->comparison.verdict));
}

static void one_segment_each_gets_a_verdict_that_says_so(void **state)
{
    struct desk d;
    desk_init(&d, *state);
    int64_t before = toggle(&d, 0, false, 10000000);
    int64_t now = toggle(&d, before, true, 7000000);
    mgb_judge_desk_ask(d.desk, d.run, now, before, STEPS);
    struct mgb_bench_answer answer = answer_await(&d, now, before);
    struct mgb_judgement direct = judge_directly(*state, &before, 1, &now, 1, false);
    is_same(&answer, &direct);
    assert_string_equal(answer.verdict, "faster");
    assert_true(answer.ratio > 0.69 && answer.ratio < 0.71);
    assert_int_equal(answer.now_count, 1);
    assert_int_equal(answer.before_count, 1);
    assert_string_equal(answer.reason, "one segment each: toggle back and forth for repetitions");
    desk_done(&d);
}

static void toggling_back_and_forth_makes_repetitions(void **state)
{
    struct desk d;
    int64_t on[2], off[2];
    desk_init(&d, *state);
    off[0] = toggle(&d, 0, false, 10000000);
    on[0] = toggle(&d, off[0], true, 7000000);
    off[1] = toggle(&d, on[0], false, 10010000);
    mgb_judge_desk_ask(d.desk, d.run, off[1], on[0], STEPS);
    struct mgb_bench_answer answer = answer_await(&d, off[1], on[0]);
    assert_int_equal(answer.now_count, 2);
    assert_int_equal(answer.before_count, 1);
    assert_string_equal(
        answer.reason,
        "one segment of this placement before: toggle back and forth for repetitions");
    on[1] = toggle(&d, off[1], true, 7010000);
    mgb_judge_desk_ask(d.desk, d.run, on[1], off[1], STEPS);
    answer = answer_await(&d, on[1], off[1]);
    struct mgb_judgement direct = judge_directly(*state, off, 2, on, 2, false);
    is_same(&answer, &direct);
    assert_string_equal(answer.verdict, "faster");
    assert_int_equal(answer.now_count, 2);
    assert_int_equal(answer.before_count, 2);
    assert_string_equal(answer.reason, "ratio of 2 and 2 repetitions");
    desk_done(&d);
}

/* Both are of one run: which of its segments it is has to be said. */
static void a_segment_that_was_never_steady_is_called_by_its_number(void **state)
{
    struct desk d;
    desk_init(&d, *state);
    int64_t first = toggle(&d, 0, true, 7000000);
    int64_t before = toggle(&d, first, false, 10000000);
    stored_steps(d.store, &d.record, before, 2 * STEPS, STEPS, 0, 20000000);
    int64_t now = toggle(&d, before, true, 7000000);
    mgb_judge_desk_ask(d.desk, d.run, now, before, STEPS);
    struct mgb_bench_answer answer = answer_await(&d, now, before);
    assert_string_equal(answer.verdict, "refused");
    assert_int_equal(strncmp(answer.reason, "seg 2 unsteady: ", 16), 0);
    desk_done(&d);
}

/* Otherwise one hiccup in ten turns would take every verdict away. */
static void of_many_repetitions_the_unsteady_ones_are_left_out(void **state)
{
    struct desk d;
    int64_t before = 0, now = 0;
    desk_init(&d, *state);
    for (int i = 0; i < 2; i++) {
        before = toggle(&d, now, false, 10000000);
        if (i == 0) {
            int64_t odd = toggle(&d, before, true, 7000000);
            stored_steps(d.store, &d.record, odd, d.step, STEPS, 0, 20000000);
            d.step += STEPS;
            before = toggle(&d, odd, false, 10000000);
        }
        now = toggle(&d, before, true, 7000000);
    }
    mgb_judge_desk_ask(d.desk, d.run, now, before, STEPS);
    struct mgb_bench_answer answer = answer_await(&d, now, before);
    assert_string_equal(answer.verdict, "faster");
    assert_int_equal(answer.now_count, 2);
    assert_int_equal(answer.before_count, 3);
    assert_string_equal(answer.reason,
                        "ratio of 2 and 3 repetitions; 1 unsteady repetition left out");
    desk_done(&d);
}

static void other_batches_are_told_by_example(void **state)
{
    struct desk d;
    desk_init(&d, *state);
    int64_t before = toggle(&d, 0, false, 10000000);
    d.record.effective.batch_per_gpu.value = 64;
    d.record.effective.global_batch.value = 128;
    int64_t now = toggle(&d, before, false, 15000000);
    mgb_judge_desk_ask(d.desk, d.run, now, before, STEPS);
    struct mgb_bench_answer answer = answer_await(&d, now, before);
    struct mgb_judgement direct = judge_directly(*state, &before, 1, &now, 1, false);
    is_same(&answer, &direct);
    assert_true(answer.per_example);
    assert_true(answer.ratio > 0.74 && answer.ratio < 0.76);
    desk_done(&d);
}

/* What is asked for again the same way is an A/A check of the two, not of a set with itself. */
static void the_same_placement_twice_compares_the_two_segments(void **state)
{
    struct desk d;
    desk_init(&d, *state);
    int64_t before = toggle(&d, 0, false, 10000000);
    int64_t now = toggle(&d, before, false, 10000000);
    mgb_judge_desk_ask(d.desk, d.run, now, before, STEPS);
    struct mgb_bench_answer answer = answer_await(&d, now, before);
    assert_string_equal(answer.verdict, "same");
    assert_int_equal(answer.now_count, 1);
    assert_int_equal(answer.before_count, 1);
    desk_done(&d);
}

/* Whatever lies between the two, it was not the placement. */
static void the_same_placement_twice_is_never_faster_or_slower(void **state)
{
    struct desk d;
    desk_init(&d, *state);
    int64_t before = toggle(&d, 0, false, 10000000);
    int64_t now = toggle(&d, before, false, 15000000);
    mgb_judge_desk_ask(d.desk, d.run, now, before, STEPS);
    struct mgb_bench_answer answer = answer_await(&d, now, before);
    assert_true(answer.ratio > 1.4);
    assert_string_equal(answer.verdict, "undecided");
    assert_non_null(strstr(answer.reason, "the same placement twice"));
    desk_done(&d);
}

static void a_segment_without_timed_steps_is_not_judged_yet(void **state)
{
    struct desk d;
    desk_init(&d, *state);
    int64_t before = toggle(&d, 0, false, 10000000);
    stored_end(d.store, before);
    d.record.effective.weights_at = "/cpu:0";
    int64_t now = stored_segment(d.store, &d.record, STEPS, WARM, WARM, 7000000);
    mgb_judge_desk_ask(d.desk, d.run, now, before, WARM);
    struct mgb_bench_answer answer = answer_await(&d, now, before);
    assert_true(answer.there && isnan(answer.ratio));
    assert_string_equal(answer.verdict, "");
    assert_string_equal(answer.reason, "no timed steps yet");
    stored_steps(d.store, &d.record, now, STEPS + WARM, 3, 0, 7000000);
    mgb_judge_desk_ask(d.desk, d.run, now, before, WARM + 3);
    told_await(&d, 2);
    answer = answer_await(&d, now, before);
    assert_string_equal(answer.verdict, "undecided");
    assert_true(isnan(answer.low));
    assert_non_null(strstr(answer.reason, "too few timed steps yet"));
    desk_done(&d);
}

static void it_judges_again_when_there_are_a_sixteenth_more_steps(void **state)
{
    struct desk d;
    desk_init(&d, *state);
    int64_t before = toggle(&d, 0, false, 10000000);
    int64_t now = toggle(&d, before, true, 7000000);
    mgb_judge_desk_ask(d.desk, d.run, now, before, STEPS);
    struct mgb_bench_answer first = answer_await(&d, now, before);
    told_await(&d, 1);
    stored_steps(d.store, &d.record, now, 2 * STEPS, 40, 0, 8000000);
    for (int i = 1; i < STEPS / 16; i++)
        mgb_judge_desk_ask(d.desk, d.run, now, before, STEPS + i);
    usleep(1100000); /* for as long as it may not judge anyway; after that it might */
    assert_int_equal(atomic_load(&d.news.count), 1);
    mgb_judge_desk_ask(d.desk, d.run, now, before, STEPS + STEPS / 16);
    told_await(&d, 2);
    struct mgb_bench_answer again = answer_await(&d, now, before);
    struct mgb_judgement direct = judge_directly(*state, &before, 1, &now, 1, false);
    is_same(&again, &direct);
    assert_true(again.ratio != first.ratio);
    desk_done(&d);
}

/* What is on the screen of a paused bench is of all its steps, however few came since. */
static void a_segment_that_stands_still_is_judged_with_all_its_steps(void **state)
{
    struct desk d;
    desk_init(&d, *state);
    int64_t before = toggle(&d, 0, false, 10000000);
    int64_t now = toggle(&d, before, true, 7000000);
    mgb_judge_desk_ask(d.desk, d.run, now, before, STEPS);
    told_await(&d, 1);
    stored_steps(d.store, &d.record, now, 2 * STEPS, 2, 0, 9000000);
    mgb_judge_desk_ask_all(d.desk, d.run, now, before, STEPS + 2);
    told_await(&d, 2);
    struct mgb_bench_answer again = answer_await(&d, now, before);
    struct mgb_judgement direct = judge_directly(*state, &before, 1, &now, 1, false);
    is_same(&again, &direct);
    desk_done(&d);
}

/* A running segment whose warm-up is found by rule has no flags yet. */
static void the_warmup_of_a_running_segment_is_left_out_by_its_rule(void **state)
{
    struct desk d;
    desk_init(&d, *state);
    int64_t before = toggle(&d, 0, false, 50000000);
    stored_end(d.store, before);
    d.record.warmup_rule = "auto";
    d.record.warmup_steps = (struct mgb_maybe_int){0};
    d.record.effective.weights_at = "/cpu:0";
    int64_t now = stored_segment(d.store, &d.record, STEPS, 20, 0, 500000000);
    stored_steps(d.store, &d.record, now, STEPS + 20, 200, 0, 50000000);
    mgb_judge_desk_ask(d.desk, d.run, now, before, 220);
    struct mgb_bench_answer answer = answer_await(&d, now, before);
    assert_true(answer.ratio > 0.99 && answer.ratio < 1.01);
    assert_string_equal(answer.verdict, "same");
    desk_done(&d);
}

static struct mgb_record_segment one_gpu(int64_t batch)
{
    struct mgb_record_segment out = database_segment(0);
    out.effective.gpus.value = 1;
    out.effective.gpu_list = "[\"/gpu:0\"]";
    out.effective.batch_per_gpu.value = out.effective.global_batch.value = batch;
    return out;
}

static void the_speed_up_is_that_of_view_scaling(void **state)
{
    struct desk d;
    char sql[120];
    struct mgb_store *store;
    assert_ok(mgb_store_open(&store, *state, NULL));
    stored_run(store, database_run(), one_gpu(32), STEPS, 9000000); /* run 1 */
    stored_run(store, database_run(), one_gpu(32), STEPS, 9500000); /* run 2, the newest */
    stored_run(store, database_run(), one_gpu(64), STEPS, 17000000);
    mgb_store_close(store);
    desk_init(&d, *state);
    int64_t now = toggle(&d, 0, false, 10000000);
    stored_end(d.store, now);
    mgb_judge_desk_ask(d.desk, d.run, now, 0, STEPS);
    struct mgb_bench_answer answer = answer_await(&d, now, 0);
    assert_false(answer.there);
    snprintf(sql, sizeof sql, "SELECT speedup FROM scaling WHERE segment_id = %d", (int)now);
    assert_float_equal(answer.speedup, database_real(*state, sql), 1e-9);
    snprintf(sql, sizeof sql, "SELECT efficiency FROM scaling WHERE segment_id = %d", (int)now);
    assert_float_equal(answer.efficiency, database_real(*state, sql), 1e-9);
    assert_string_equal(answer.scaling, "weak, against run 2");
    d.record.effective.batch_mode = "strong";
    int64_t strong = toggle(&d, 0, false, 10000000);
    mgb_judge_desk_ask(d.desk, d.run, strong, now, STEPS);
    answer = answer_await(&d, strong, now);
    assert_float_equal(answer.speedup, 1.7, 0.01);
    assert_float_equal(answer.efficiency, 0.85, 0.01);
    assert_string_equal(answer.scaling, "strong, against run 3");
    d.record.effective.global_batch.value = 100;
    int64_t alone = toggle(&d, strong, false, 10000000);
    mgb_judge_desk_ask(d.desk, d.run, alone, strong, STEPS);
    answer = answer_await(&d, alone, strong);
    assert_true(isnan(answer.speedup));
    assert_string_equal(answer.scaling, "no stored one-GPU run of this model with a batch of 100");
    desk_done(&d);
}

static void the_speed_up_leans_on_a_base_of_enough_steps(void **state)
{
    struct desk d;
    struct mgb_store *store;
    assert_ok(mgb_store_open(&store, *state, NULL));
    stored_run(store, database_run(), one_gpu(32), STEPS, 9000000);
    stored_run(store, database_run(), one_gpu(32), 2, 7000000); /* newer, a cell of a sweep */
    stored_run(store, database_run(), one_gpu(64), 2, 17000000);
    mgb_store_close(store);
    desk_init(&d, *state);
    int64_t now = toggle(&d, 0, false, 10000000);
    mgb_judge_desk_ask(d.desk, d.run, now, 0, STEPS);
    struct mgb_bench_answer answer = answer_await(&d, now, 0);
    assert_string_equal(answer.scaling, "weak, against run 1");
    assert_false(answer.doubtful);
    d.record.effective.batch_mode = "strong"; /* there is no other */
    int64_t strong = toggle(&d, now, false, 10000000);
    mgb_judge_desk_ask(d.desk, d.run, strong, now, STEPS);
    answer = answer_await(&d, strong, now);
    assert_string_equal(answer.scaling, "strong, against run 3, 2 steps");
    assert_true(answer.doubtful);
    desk_done(&d);
}

static struct mgb_looked_up taken(struct desk *d)
{
    struct mgb_looked_up out;
    while (mgb_judge_desk_take(d->desk, &out, 1) == 0)
        news_await(&d->news);
    return out;
}

static const struct mgb_lookup on_cpu = {
    .id = 7,
    .model = "tiny",
    .backend = "host",
    .columns = {{"weights_at", "/cpu:0"}, {"gpus", "2"}, {"overlap", ""}, {"cpu_merge", "true"}},
    .column_count = 4};

static void stored_segments_tell_what_pressing_would_change(void **state)
{
    struct desk d;
    struct mgb_store *store;
    int64_t stored[2];
    struct mgb_record_run elsewhere = *database_run(), otherwise = elsewhere;
    struct mgb_record_machine machine = *elsewhere.machine;
    struct mgb_record_segment record = database_segment(0);
    machine.key = "other";
    elsewhere.machine = &machine;
    otherwise.data = "mnist";
    record.effective.weights_at = "/cpu:0";
    assert_ok(mgb_store_open(&store, *state, NULL));
    stored[0] = stored_run(store, database_run(), record, STEPS, 13000000);
    stored[1] = stored_run(store, database_run(), record, STEPS, 13010000);
    stored_run(store, &elsewhere, record, STEPS, 1000000);
    stored_run(store, &otherwise, record, STEPS, 1000000);
    stored_run(store, database_run(), database_segment(0), STEPS, 1000000);
    mgb_store_close(store);
    desk_init(&d, *state);
    int64_t now = toggle(&d, 0, false, 10000000);
    mgb_judge_desk_look_up(d.desk, now, &on_cpu, 1);
    struct mgb_looked_up got = taken(&d);
    struct mgb_judgement direct = judge_directly(*state, &now, 1, stored, 2, true);
    assert_int_equal(got.id, 7);
    assert_int_equal(got.segments, 2);
    assert_float_equal(got.ratio, direct.comparison.ratio, 1e-3);
    assert_true(got.low > 1.29 && got.high < 1.31);
    assert_string_equal(got.verdict, "slower");
    struct mgb_lookup odd[2] = {on_cpu, on_cpu};
    strcpy(odd[0].columns[0][1], "/gpu:9");
    strcpy(odd[1].columns[0][0], "id = 1 OR 1");
    mgb_judge_desk_look_up(d.desk, now, odd, 2);
    assert_int_equal(taken(&d).segments, 0);
    assert_int_equal(taken(&d).segments, 0);
    desk_done(&d);
}

static struct mgb_looked_up looked_up(struct desk *d, int64_t now)
{
    mgb_judge_desk_look_up(d->desk, now, &on_cpu, 1);
    return taken(d);
}

/* Two sides that take turns at every step say nothing of how fast either is; nor do a handful of steps. */
static void verifications_and_short_segments_are_no_evidence(void **state)
{
    struct desk d;
    struct mgb_record_segment record = database_segment(0), one = one_gpu(32);
    record.effective.weights_at = "/cpu:0";
    desk_init(&d, *state);
    stored_run(d.store, database_run(), record, 40, 13000000);
    stored_run(d.store, database_run(), record, 9, 13000000);
    stored_run(d.store, database_run(), one, 40, 9000000);
    assert_ok(mgb_store_put_tag(d.store, d.run + 1, "verify"));
    assert_ok(mgb_store_put_tag(d.store, d.run + 3, "verify"));
    int64_t now = toggle(&d, 0, false, 10000000);
    assert_int_equal(looked_up(&d, now).segments, 0);
    mgb_judge_desk_ask(d.desk, d.run, now, 0, STEPS);
    assert_true(isnan(answer_await(&d, now, 0).speedup));
    assert_int_equal(database_int(*state, "SELECT count(*) FROM scaling WHERE speedup IS NOT NULL"
                                          " AND gpus > 1"),
                     0);
    int64_t newest = stored_run(d.store, database_run(), record, 10, 13000000);
    struct mgb_looked_up got = looked_up(&d, now);
    struct mgb_judgement direct = judge_directly(*state, &now, 1, &newest, 1, true);
    assert_int_equal(got.segments, 1);
    assert_float_equal(got.ratio, direct.comparison.ratio, 1e-9);
    desk_done(&d);
}

static void steady_segments_go_before_newer_unsteady_ones(void **state)
{
    struct desk d;
    struct mgb_record_segment record = database_segment(0);
    record.effective.weights_at = "/cpu:0";
    desk_init(&d, *state);
    int64_t steady = stored_run(d.store, database_run(), record, STEPS, 13000000);
    assert_ok(mgb_store_begin_run(&record.run, d.store, database_run()));
    int64_t unsteady = stored_segment(d.store, &record, 0, STEPS, 0, 13000000);
    stored_steps(d.store, &record, unsteady, STEPS, STEPS, 0, 26000000);
    stored_end(d.store, unsteady);
    int64_t now = toggle(&d, 0, false, 10000000);
    struct mgb_looked_up got = looked_up(&d, now);
    struct mgb_judgement direct = judge_directly(*state, &now, 1, &steady, 1, true);
    assert_int_equal(got.segments, 1);
    assert_float_equal(got.ratio, direct.comparison.ratio, 1e-9);
    desk_done(&d);
}

static void look_ups_without_figures_are_answered_again_when_there_are_some(void **state)
{
    struct desk d;
    struct mgb_store *store;
    struct mgb_record_segment record = database_segment(0);
    record.effective.weights_at = "/cpu:0";
    assert_ok(mgb_store_open(&store, *state, NULL));
    for (int i = 0; i < 7; i++)
        stored_run(store, database_run(), record, STEPS, 13000000);
    mgb_store_close(store);
    desk_init(&d, *state);
    int64_t now = stored_segment(d.store, &d.record, 0, WARM, WARM, 10000000);
    mgb_judge_desk_ask(d.desk, d.run, now, 0, WARM);
    mgb_judge_desk_look_up(d.desk, now, &on_cpu, 1);
    struct mgb_looked_up got = taken(&d);
    assert_int_equal(got.segments, 5);
    assert_true(isnan(got.ratio));
    assert_string_equal(got.verdict, "");
    stored_steps(d.store, &d.record, now, WARM, STEPS, 0, 10000000);
    mgb_judge_desk_ask(d.desk, d.run, now, 0, WARM + STEPS);
    got = taken(&d);
    assert_int_equal(got.id, 7);
    assert_float_equal(got.ratio, 1.3, 0.01);
    desk_done(&d);
}

static void without_a_database_nothing_is_judged_and_nobody_waits(void **state)
{
    struct mgb_judge_desk *desk;
    struct mgb_bench_answer answer;
    struct mgb_looked_up got;
    (void)state;
    assert_ok(mgb_judge_desk_open(&desk, NULL, NULL, NULL));
    mgb_judge_desk_ask(desk, 1, 2, 1, 100);
    assert_false(mgb_judge_desk_look(desk, &answer, 2, 1));
    mgb_judge_desk_look_up(desk, 2, &on_cpu, 1);
    assert_int_equal(mgb_judge_desk_take(desk, &got, 1), 1);
    assert_int_equal(got.segments, 0);
    assert_true(isnan(got.ratio));
    assert_int_equal(mgb_judge_desk_take(desk, &got, 1), 0);
    mgb_judge_desk_close(desk);
    mgb_judge_desk_close(NULL);
}

static void a_file_that_is_not_there_yet_is_told_and_opened_when_it_is(void **state)
{
    struct desk d = {.store = NULL};
    news_init(&d.news);
    assert_ok(mgb_judge_desk_open(&d.desk, *state, news_tell, &d.news));
    mgb_judge_desk_ask(d.desk, 1, 1, 0, STEPS);
    struct mgb_bench_answer answer = answer_await(&d, 1, 0);
    assert_false(answer.there);
    assert_non_null(strstr(answer.reason, "is not there"));
    mgb_judge_desk_look_up(d.desk, 1, &on_cpu, 1);
    assert_int_equal(taken(&d).segments, 0);
    assert_ok(mgb_store_open(&d.store, *state, NULL));
    assert_ok(mgb_store_begin_run(&d.run, d.store, database_run()));
    d.record = database_segment(d.run);
    int64_t before = toggle(&d, 0, false, 10000000);
    int64_t now = toggle(&d, before, true, 7000000);
    mgb_judge_desk_ask(d.desk, d.run, now, before, STEPS);
    assert_string_equal(answer_await(&d, now, before).verdict, "faster");
    desk_done(&d);
}

#define ON_A_FILE(name) cmocka_unit_test_setup_teardown(name, database_setup, database_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_A_FILE(one_segment_each_gets_a_verdict_that_says_so),
        ON_A_FILE(toggling_back_and_forth_makes_repetitions),
        ON_A_FILE(a_segment_that_was_never_steady_is_called_by_its_number),
        ON_A_FILE(of_many_repetitions_the_unsteady_ones_are_left_out),
        ON_A_FILE(other_batches_are_told_by_example),
        ON_A_FILE(the_same_placement_twice_compares_the_two_segments),
        ON_A_FILE(the_same_placement_twice_is_never_faster_or_slower),
        ON_A_FILE(a_segment_without_timed_steps_is_not_judged_yet),
        ON_A_FILE(it_judges_again_when_there_are_a_sixteenth_more_steps),
        ON_A_FILE(a_segment_that_stands_still_is_judged_with_all_its_steps),
        ON_A_FILE(the_warmup_of_a_running_segment_is_left_out_by_its_rule),
        ON_A_FILE(the_speed_up_is_that_of_view_scaling),
        ON_A_FILE(the_speed_up_leans_on_a_base_of_enough_steps),
        ON_A_FILE(stored_segments_tell_what_pressing_would_change),
        ON_A_FILE(verifications_and_short_segments_are_no_evidence),
        ON_A_FILE(steady_segments_go_before_newer_unsteady_ones),
        ON_A_FILE(look_ups_without_figures_are_answered_again_when_there_are_some),
        cmocka_unit_test(without_a_database_nothing_is_judged_and_nobody_waits),
        ON_A_FILE(a_file_that_is_not_there_yet_is_told_and_opened_when_it_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
