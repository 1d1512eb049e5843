/* What takes long on the workbench, and what it writes: expressions, verifications, sweeps, and the script that repeats a
 * session. */
#include "tests/app/session/workbench/await.h"

#include "app/script/state.h"
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static void pause_after(struct bench *bench, int segment)
{
    assert_ok(bench_ask(bench, MGB_WISH_RUN, NULL));
    bench_await_segment(bench, segment);
    bench_pause(bench);
}

/* Does a piece of Lua, and waits until it is done. */
static void bench_eval(struct bench *bench, const char *text)
{
    static int serial;
    char marked[600], mark[40];
    snprintf(mark, sizeof mark, "done-%d", ++serial);
    assert_ok(bench_ask(bench, MGB_WISH_EVAL, text));
    snprintf(marked, sizeof marked, "print('%s')", mark);
    assert_ok(bench_ask(bench, MGB_WISH_EVAL, marked));
    bench_await_log(bench, mark);
}

static void expressions_answer_in_the_log(void **state)
{
    struct bench bench;
    bench_open(&bench, *state);
    bench_await_state(&bench, MGB_BENCH_READY);
    bench_eval(&bench, "s");
    bench_eval(&bench, "x = 20");
    bench_eval(&bench, "x + 1, 'y'");
    bench_eval(&bench, "print('printed')");
    assert_true(bench_logged(&bench, "3 21\n3 y\n"));
    assert_true(bench_logged(&bench, "3 printed\n"));
    assert_ok(bench_ask(&bench, MGB_WISH_EVAL,
                        "local function f() local t = nil; return t.x end\nreturn f()"));
    bench_await_log(&bench, "command:1: attempt to index a nil value");
    bench_await_log(&bench, "stack traceback:");
    assert_ok(bench_ask(&bench, MGB_WISH_EVAL, "1 +"));
    bench_await_log(&bench, "unexpected symbol");
    bench_close(&bench);
}

static void answer_is(struct bench *bench, const char *text, const char *answer)
{
    assert_ok(bench_ask(bench, MGB_WISH_EVAL, text));
    bench_await_state(bench, MGB_BENCH_READY);
    const struct mgb_snapshot *snapshot = mgb_workbench_look(bench->at, NULL);
    assert_string_equal(snapshot->said.text, answer);
    mgb_shared_drop(snapshot);
}

static void the_newest_answer_is_there_to_be_shown(void **state)
{
    struct bench bench;
    char message[600];
    bench_open(&bench, *state);
    bench_await_state(&bench, MGB_BENCH_READY);
    answer_is(&bench, "1 + 2", "= 3");
    answer_is(&bench, "s", "= nil: s is the session, and none is open: space opens one");
    answer_is(&bench, "print('one')", "one");
    answer_is(&bench, "for i = 1, 3 do print(i) end", "1  (7: all 3 lines)");
    answer_is(&bench, "x = 5", "done");
    assert_ok(bench_ask(&bench, MGB_WISH_EVAL, "s.gpus + 1"));
    bench_message(&bench, message, sizeof message);
    assert_non_null(strstr(message, "s is the session, and none is open: space opens one"));
    bench_close(&bench);
}

static void an_endless_expression_is_stopped(void **state)
{
    struct bench bench;
    bench_open_running(&bench, *state);
    assert_ok(bench_ask(&bench, MGB_WISH_EVAL, "while true do pcall(function() end) end"));
    bench_await_busy(&bench);
    assert_ok(bench_ask(&bench, MGB_WISH_STOP, NULL));
    bench_await_state(&bench, MGB_BENCH_RUNNING); /* only the expression is stopped */
    assert_true(bench_logged(&bench, "the expression was stopped"));
    assert_ok(bench_ask(&bench, MGB_WISH_STOP, NULL)); /* nothing else runs: that is meant */
    bench_await_state(&bench, MGB_BENCH_PAUSED);
    bench_close(&bench);
}

static void steps_of_an_expression_are_stopped_and_go_on(void **state)
{
    struct bench bench;
    bench_open(&bench, *state);
    pause_after(&bench, 1);
    assert_ok(bench_ask(&bench, MGB_WISH_EVAL, "s:step(1000000000)"));
    bench_await_busy(&bench);
    assert_ok(bench_ask(&bench, MGB_WISH_STOP, NULL));
    bench_await_state(&bench, MGB_BENCH_PAUSED);
    const struct mgb_snapshot *snapshot = mgb_workbench_look(bench.at, NULL);
    int64_t steps = snapshot->step;
    mgb_shared_drop(snapshot);
    assert_ok(bench_ask(&bench, MGB_WISH_RUN, NULL));
    bench_await_steps(&bench, steps + 3);
    bench_close(&bench);
    assert_int_equal(database_int(*state, "SELECT count(*) FROM run WHERE outcome = 'ok'"), 1);
}

static void a_placement_set_by_an_expression_is_picked_up(void **state)
{
    struct bench bench;
    bench_open(&bench, *state);
    pause_after(&bench, 1);
    bench_eval(&bench, "s:set{ weights_at = '/cpu:0', batch = 8 }");
    const struct mgb_snapshot *snapshot = mgb_workbench_look(bench.at, NULL);
    assert_int_equal(snapshot->now.number, 2);
    assert_int_equal(snapshot->now.batch_per_gpu, 8);
    assert_int_equal(snapshot->undo_count, 1);
    mgb_shared_drop(snapshot);
    assert_ok(bench_ask(&bench, MGB_WISH_UNDO, NULL));
    pause_after(&bench, 3);
    snapshot = mgb_workbench_look(bench.at, NULL);
    assert_int_equal(snapshot->now.batch_per_gpu, 4);
    mgb_shared_drop(snapshot);
    bench_close(&bench);
}

static void a_checkpoint_loaded_by_an_expression_is_gone_on_from(void **state)
{
    struct bench bench;
    bench_open(&bench, *state);
    pause_after(&bench, 1);
    bench_eval(&bench, "s:save('bench.safetensors')");
    const struct mgb_snapshot *snapshot = mgb_workbench_look(bench.at, NULL);
    int64_t saved = snapshot->step;
    mgb_shared_drop(snapshot);
    bench_eval(&bench, "s:step(7)");
    bench_eval(&bench, "print(s:load('bench.safetensors').resumed, s.step_index)");
    char line[60];
    snprintf(line, sizeof line, "true\t%lld", (long long)saved);
    assert_true(bench_logged(&bench, line));
    assert_ok(bench_ask(&bench, MGB_WISH_RUN, NULL));
    bench_await_segment(&bench, 2);
    bench_pause(&bench);
    bench_close(&bench);
    assert_int_equal(remove("bench.safetensors"), 0);
    assert_int_equal(remove("bench.optimizer.safetensors"), 0);
    assert_int_equal(database_int(*state, "SELECT count(*) FROM segment WHERE outcome = 'ok'"), 2);
    assert_int_equal(database_int(*state, "SELECT first_step FROM segment WHERE id = 2"), saved);
}

static bool is_verified(const struct mgb_snapshot *snapshot, const struct mgb_pending *pending,
                        int64_t unused)
{
    (void)pending, (void)unused;
    return snapshot->verified.there;
}

static void placements_are_verified_against_each_other(void **state)
{
    struct bench bench;
    bench_open(&bench, *state);
    pause_after(&bench, 1);
    assert_ok(bench_toggle(&bench, MGB_OPTION_WEIGHTS_AT, 1));
    pause_after(&bench, 2);
    assert_ok(bench_ask(&bench, MGB_WISH_VERIFY, NULL));
    const struct mgb_snapshot *snapshot = bench_await(&bench, is_verified, 0, "a verification");
    assert_true(snapshot->verified.equal);
    assert_int_equal(snapshot->verified.steps, 20);
    assert_non_null(strstr(snapshot->verified.text, "20 steps under 1 and 2"));
    mgb_shared_drop(snapshot);
    bench_await_state(&bench, MGB_BENCH_PAUSED);
    bench_close(&bench);
    assert_int_equal(database_int(*state, "SELECT count(*) FROM run"), 3);
    assert_int_equal(database_int(*state, "SELECT count(*) FROM tag WHERE name = 'verify'"), 2);
}

static void unlike_batches_are_not_verified_against_each_other(void **state)
{
    struct bench bench;
    char message[600];
    bench_open(&bench, *state);
    pause_after(&bench, 1);
    assert_ok(bench_ask(&bench, MGB_WISH_SET, "batch=8"));
    pause_after(&bench, 2);
    assert_ok(bench_ask(&bench, MGB_WISH_VERIFY, NULL));
    bench_message(&bench, message, sizeof message);
    assert_string_equal(
        message, "verify: the global batches differ (16 against 8): the two see different data");
    bench_close(&bench);
}

static bool takes_turns(const struct mgb_snapshot *snapshot, const struct mgb_pending *pending,
                        int64_t unused)
{
    (void)pending, (void)unused;
    return strcmp(snapshot->doing, "turn 2 of 2") == 0;
}

static bool has_repetitions(const struct mgb_snapshot *snapshot, const struct mgb_pending *pending,
                            int64_t number)
{
    return snapshot->state == MGB_BENCH_PAUSED && pending->wishes == 0 &&
           snapshot->now.number == (int)number && snapshot->answer.there &&
           snapshot->answer.now_count == 2 && snapshot->answer.before_count == 2;
}

static void two_placements_take_turns_and_are_judged(void **state)
{
    struct bench bench;
    char message[200];
    bench_open(&bench, *state);
    pause_after(&bench, 1);
    assert_ok(bench_ask(&bench, MGB_WISH_TURNS, "1"));
    bench_message(&bench, message, sizeof message);
    assert_non_null(strstr(message, "no earlier placement to take turns with"));
    assert_ok(bench_toggle(&bench, MGB_OPTION_WEIGHTS_AT, 1));
    pause_after(&bench, 2);
    assert_ok(bench_ask(&bench, MGB_WISH_TURNS, "1"));
    mgb_shared_drop(bench_await(&bench, takes_turns, 0, "the second turn"));
    const struct mgb_snapshot *snapshot = bench_await(&bench, has_repetitions, 4, "repetitions");
    assert_true(snapshot->now.figures.steps >= 10);
    assert_string_equal(snapshot->doing, "");
    mgb_shared_drop(snapshot);
    assert_true(bench_logged(&bench, "turns: 1 of either placement are done"));
    bench_close(&bench);
    assert_int_equal(database_int(*state, "SELECT count(*) FROM segment"), 4);
    assert_int_equal(database_int(*state, "SELECT count(DISTINCT weights_at) FROM segment"), 2);
    assert_int_equal(database_int(*state,
                                  "SELECT count(*) FROM segment WHERE (SELECT count(*) FROM "
                                  "step WHERE segment_id = segment.id) < 10 AND id > 2"),
                     0);
}

static void turns_are_stopped(void **state)
{
    struct bench bench;
    bench_open(&bench, *state);
    pause_after(&bench, 1);
    assert_ok(bench_toggle(&bench, MGB_OPTION_WEIGHTS_AT, 1));
    pause_after(&bench, 2);
    assert_ok(bench_ask(&bench, MGB_WISH_TURNS, NULL));
    bench_await_segment(&bench, 3);
    assert_ok(bench_ask(&bench, MGB_WISH_STOP, NULL));
    bench_await_state(&bench, MGB_BENCH_PAUSED);
    assert_true(bench_logged(&bench, "turns: stopped in turn 1 of 10"));
    bench_close(&bench);
}

/* What the engine traces by itself is of the warm-up, and a long one. */
static void a_timed_step_is_traced_unasked(void **state)
{
    struct bench bench;
    bench_open(&bench, *state);
    pause_after(&bench, 1);
    assert_ok(bench_ask(&bench, MGB_WISH_RUN, NULL));
    bench_await_steps(&bench, 200);
    bench_close(&bench);
    assert_true(database_int(*state, "SELECT count(DISTINCT task.step) FROM task JOIN step USING "
                                     "(segment_id, step) WHERE warmup = 0") >= 1);
}

static void another_warmup_begins_another_run(void **state)
{
    struct bench bench;
    char message[200];
    bench_open(&bench, *state);
    pause_after(&bench, 1);
    assert_ok(bench_ask(&bench, MGB_WISH_WARMUP, "some"));
    bench_message(&bench, message, sizeof message);
    assert_non_null(strstr(message, "warmup: steps that are not timed, or auto, expected"));
    assert_ok(bench_ask(&bench, MGB_WISH_WARMUP, "3"));
    bench_await_state(&bench, MGB_BENCH_READY);
    const struct mgb_snapshot *snapshot = mgb_workbench_look(bench.at, NULL);
    assert_int_equal(snapshot->step, 0); /* nor is what the other run did shown as this one's */
    assert_true(!snapshot->history || snapshot->history->count == 0);
    assert_null(snapshot->traced);
    mgb_shared_drop(snapshot);
    pause_after(&bench, 1);
    bench_close(&bench);
    assert_int_equal(database_int(*state,
                                  "SELECT sum(warmup) FROM step JOIN segment AS s ON s.id = "
                                  "segment_id WHERE run_id = 2"),
                     3);
}

static bool is_swept(const struct mgb_snapshot *snapshot, const struct mgb_pending *pending,
                     int64_t unused)
{
    (void)unused;
    return snapshot->sweep && snapshot->sweep->done && pending->wishes == 0 &&
           snapshot->state == MGB_BENCH_READY;
}

static void a_sweep_fills_its_table(void **state)
{
    struct bench bench;
    bench_open(&bench, *state);
    pause_after(&bench, 1);
    assert_ok(bench_ask(
        &bench, MGB_WISH_SWEEP,
        "{ name = 'w', grid = { gpus = {1, 2}, batch = {2, 4} }, steps = 5, warmup = 1 }"));
    const struct mgb_snapshot *snapshot = bench_await(&bench, is_swept, 0, "a sweep");
    assert_int_equal(snapshot->sweep->row_count, 4);
    assert_int_equal(snapshot->sweep->column_count, 2);
    assert_int_equal(snapshot->sweep->total, 4);
    for (int i = 0; i < 4; i++) {
        assert_string_equal(snapshot->sweep->rows[i].outcome, "ok");
        assert_true(snapshot->sweep->rows[i].step_ms > 0);
    }
    mgb_shared_drop(snapshot);
    assert_true(bench_logged(&bench, "given to the sweep"));
    bench_close(&bench);
}

/* It is being done, and waits for nothing. */
static bool has_cell(const struct mgb_snapshot *snapshot, const struct mgb_pending *pending,
                     int64_t unused)
{
    (void)unused;
    if (!snapshot->sweep || snapshot->sweep->position < 2)
        return false;
    assert_int_equal(pending->busy, 1);
    assert_int_equal(pending->wishes, 1);
    return true;
}

static bool is_stopped(const struct mgb_snapshot *snapshot, const struct mgb_pending *pending,
                       int64_t unused)
{
    (void)unused;
    return pending->wishes == 0 && snapshot->state == MGB_BENCH_READY;
}

static void a_sweep_is_stopped_and_keeps_what_it_has(void **state)
{
    struct bench bench;
    bench_open(&bench, *state);
    bench_await_state(&bench, MGB_BENCH_READY);
    assert_ok(bench_ask(&bench, MGB_WISH_SWEEP,
                        "{ name = 'w', grid = { batch = {1, 2, 3, 4, 5, 6, 7, 8} }, steps = 200, "
                        "order = 'grid' }"));
    mgb_shared_drop(bench_await(&bench, has_cell, 0, "a second cell"));
    assert_ok(bench_ask(&bench, MGB_WISH_STOP, NULL));
    const struct mgb_snapshot *snapshot = bench_await(&bench, is_stopped, 0, "the end of a sweep");
    assert_true(snapshot->sweep->row_count >= 1);
    assert_false(snapshot->sweep->done);
    assert_true(snapshot->sweep->position < snapshot->sweep->total);
    mgb_shared_drop(snapshot);
    assert_true(bench_logged(&bench, "finished cells are kept"));
    bench_close(&bench);
}

/* Standard output of a script, run over a results file. */
static void script_run(char *out, size_t size, const char *database, const char *path)
{
    struct mgb_hub *hub;
    struct script_services services;
    struct mgb_script *script;
    char file[700];
    snprintf(file, sizeof file, "%s.out", path);
    assert_ok(mgb_hub_open(
        &hub, &(struct mgb_hub_options){.database = database, .program_version = "0.0.1"}));
    mgb_hub_services(&services, hub);
    assert_ok(mgb_script_make(&script, &(struct mgb_script_settings){.services = &services}));
    fflush(stdout);
    int kept = dup(STDOUT_FILENO), to = open(file, O_CREAT | O_TRUNC | O_RDWR, 0600);
    assert_true(kept >= 0 && to >= 0);
    dup2(to, STDOUT_FILENO);
    enum mgb_status status = mgb_script_run_file(script, path);
    fflush(stdout);
    dup2(kept, STDOUT_FILENO);
    close(kept);
    ssize_t got = pread(to, out, size - 1, 0);
    out[got > 0 ? got : 0] = '\0';
    close(to);
    remove(file);
    if (status != MGB_OK)
        fail_msg("%s", mgb_script_error_get(script)->text);
    mgb_script_free(script);
    mgb_hub_close(hub);
}

static void losses_of(char *out, size_t size, const char *path, const char *where)
{
    char query[300];
    snprintf(
        query, sizeof query,
        "SELECT group_concat(loss, ' ') FROM (SELECT printf('%%!.17g', loss) AS loss FROM step "
        "JOIN segment ON segment.id = segment_id WHERE run_id %s ORDER BY run_id, step)",
        where);
    database_text(out, size, path, query);
}

static void a_saved_session_repeats_to_the_last_bit(void **state)
{
    static char first[1 << 20], second[1 << 20];
    struct bench bench;
    char path[600], printed[2000], digest[40];
    bench_open(&bench, *state);
    snprintf(path, sizeof path, "%s.lua", (const char *)*state);
    assert_ok(bench_ask(&bench, MGB_WISH_SAVE, path));
    bench_await_log(&bench, "nothing was run yet");
    assert_ok(bench_ask(&bench, MGB_WISH_SET, "strategy=allreduce weights_at=nil"));
    assert_ok(bench_ask(&bench, MGB_WISH_SET, "merge_at=/gpu:0")); /* parked */
    pause_after(&bench, 1);
    assert_ok(bench_ask(&bench, MGB_WISH_SET, "strategy=outputs"));
    pause_after(&bench, 2);
    assert_ok(bench_toggle(&bench, MGB_OPTION_GPUS, -1));
    pause_after(&bench, 3);
    bench_eval(&bench, "s:step(7) s:freeze('logits') s:step(2) s:set{ gpus = {1, 0}, global_batch "
                       "= 6 } s:step(3)");
    assert_ok(bench_ask(&bench, MGB_WISH_MODEL, "mlp hidden=8 height=4 width=4"));
    pause_after(&bench, 1);
    bench_eval(&bench, "print('digest ' .. s:digest())");
    pthread_mutex_lock(&bench.lock);
    sscanf(strstr(bench.log, "digest "), "digest %39s", digest);
    pthread_mutex_unlock(&bench.lock);
    assert_ok(bench_ask(&bench, MGB_WISH_SAVE, path));
    bench_await_log(&bench, "wrote ");
    assert_ok(bench_ask(&bench, MGB_WISH_SAVE, path));
    bench_await_log(&bench, "exists: give");
    char again[640];
    snprintf(again, sizeof again, "%s!", path);
    assert_ok(bench_ask(&bench, MGB_WISH_SAVE, again));
    char pipe[610];
    snprintf(pipe, sizeof pipe, "%s.pipe", path);
    assert_int_equal(mkfifo(pipe, 0600), 0);
    snprintf(again, sizeof again, "%s!", pipe);
    assert_ok(bench_ask(&bench, MGB_WISH_SAVE, again));
    bench_await_log(&bench, "it is no regular file");
    assert_int_equal(unlink(pipe), 0);
    bench_close(&bench);
    script_run(printed, sizeof printed, *state, path);
    losses_of(first, sizeof first, *state, "<= 2");
    losses_of(second, sizeof second, *state, "> 2");
    assert_int_equal(database_int(*state, "SELECT count(*) FROM run"), 4);
    assert_string_equal(first, second);
    if (!strstr(printed, digest))
        fail_msg("digest %s is not in\n%s", digest, printed);
    assert_non_null(strstr(printed, ", as recorded"));
    remove(path);
}

/* xorshift: the same wishes each time. */
static uint32_t draw(uint32_t *state, uint32_t below)
{
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state % below;
}

static void two_hundred_wishes_in_any_order_do_no_harm(void **state)
{
    static const char *const texts[] = {
        "weights_at=/cpu:0", "batch=2",         "global_batch=12",   "gpus=2",
        "precision=bf16",    "gpu_memory=4KiB", "strategy=gradients"};
    struct bench bench;
    uint32_t random = 2463534242;
    bench_open(&bench, *state);
    pause_after(&bench, 1);
    for (int i = 0; i < 200; i++) {
        enum mgb_wish_kind kind = (enum mgb_wish_kind)draw(&random, MGB_WISH_NOTE + 1);
        struct mgb_wish wish = {.kind = kind,
                                .option = (enum mgb_option_id)draw(&random, MGB_OPTION_COUNT),
                                .direction = draw(&random, 2) ? 1 : -1,
                                .text = texts[draw(&random, 7)]};
        if (kind == MGB_WISH_MODEL)
            wish.text = draw(&random, 2) ? "mlp hidden=8 height=4 width=4" : "nobody";
        if (kind == MGB_WISH_EVAL)
            wish.text = "s and s:step(1)";
        if (kind == MGB_WISH_SWEEP)
            wish.text = "{ grid = { batch = {1, 2} }, steps = 1, warmup = 0 }";
        if (kind == MGB_WISH_BACKEND)
            wish.text = draw(&random, 2) ? "host" : "sim";
        if (kind == MGB_WISH_MACHINE || kind == MGB_WISH_DATA || kind == MGB_WISH_VERIFY)
            wish.text = draw(&random, 2) ? "none" : "";
        if (kind != MGB_WISH_SAVE) /* would write into the working directory */
            (void)mgb_workbench_ask(bench.at, &wish);
        if (i % 16 == 0)
            nanosleep(&(struct timespec){.tv_nsec = 30000000}, NULL);
    }
    assert_ok(bench_ask(&bench, MGB_WISH_STOP, NULL));
    assert_ok(bench_ask(&bench, MGB_WISH_BACKEND, "host"));
    assert_ok(bench_ask(&bench, MGB_WISH_DATA, ""));
    assert_ok(bench_ask(&bench, MGB_WISH_MACHINE, ""));
    bench_eval(&bench, "print('alive')");
    bench_close(&bench);
    assert_int_equal(database_int(*state, "SELECT count(*) FROM run WHERE outcome = 'running'"), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, database_setup, database_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(expressions_answer_in_the_log),
        TEST(the_newest_answer_is_there_to_be_shown),
        TEST(an_endless_expression_is_stopped),
        TEST(steps_of_an_expression_are_stopped_and_go_on),
        TEST(a_placement_set_by_an_expression_is_picked_up),
        TEST(a_checkpoint_loaded_by_an_expression_is_gone_on_from),
        TEST(placements_are_verified_against_each_other),
        TEST(two_placements_take_turns_and_are_judged),
        TEST(turns_are_stopped),
        TEST(a_timed_step_is_traced_unasked),
        TEST(another_warmup_begins_another_run),
        TEST(unlike_batches_are_not_verified_against_each_other),
        TEST(a_sweep_fills_its_table),
        TEST(a_sweep_is_stopped_and_keeps_what_it_has),
        TEST(a_saved_session_repeats_to_the_last_bit),
        TEST(two_hundred_wishes_in_any_order_do_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
