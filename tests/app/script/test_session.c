/* mgb.run, mgb.session, mgb.sweep and mgb.db against services that only take notes: what they ask for, in which order, and
 * what they make of refusals. Real sessions are the matter of tests/app/scenarios. */
#include "tests/app/script/run_text.h"

#include "app/script/services.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* What the fake was asked, one line a call. */
static struct {
    char text[4096];
    size_t used;
    enum mgb_status open_fails, step_fails;
    int closed, opened;
    bool found;
    int64_t crashed; /* the point found as crashed, from 1 */
    double loss;     /* of a step; 0: 1 */
    int go_on;       /* so many step calls do not end a whole run */
} notes;

static void note(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int wrote = vsnprintf(notes.text + notes.used, sizeof notes.text - notes.used, format, args);
    va_end(args);
    notes.used += wrote > 0 ? (size_t)wrote : 0;
    assert_true(notes.used < sizeof notes.text);
}

static enum mgb_status fake_open(void *context, struct script_session **out,
                                 const struct script_open_request *r)
{
    char gpus[64], batch[64];
    (void)context;
    mgb_placement_get_text(gpus, sizeof gpus, &r->placement, MGB_OPTION_GPUS);
    mgb_placement_get_text(batch, sizeof batch, &r->placement, MGB_OPTION_BATCH);
    note("open %s %s gpus=%s batch=%s fresh=%llx %s lr=%g seed=%llu warmup=%lld backend=%s%s",
         r->model, r->model_options, gpus, batch, (unsigned long long)r->fresh,
         mgb_optimizer_name(r->optimizer.kind), (double)r->optimizer.lr,
         (unsigned long long)r->seed, (long long)r->warmup, r->backend,
         r->expect_oom ? " expect" : "");
    if (r->target_noise > 0)
        note(" noise=%g time=%g", r->target_noise, (double)r->max_time_ns / 1e9);
    if (r->point)
        note(" point=%lld repeat=%lld position=%lld %s", (long long)r->point->point,
             (long long)r->point->repeat, (long long)r->point->position, r->point->settings);
    note("\n");
    if (notes.open_fails != MGB_OK)
        *r->refused_run = 5;
    if (notes.open_fails == MGB_OOM)
        return mgb_fail_oom("/gpu:1", 300, 200, "the plan");
    if (notes.open_fails != MGB_OK)
        return mgb_fail(notes.open_fails, "open refused");
    *out = (struct script_session *)&notes;
    notes.opened++;
    return MGB_OK;
}

static void fake_close(struct script_session *session)
{
    (void)session;
    notes.closed++;
}

static enum mgb_status fake_step(struct script_session *session, struct script_figures *figures,
                                 struct script_losses *losses,
                                 const struct script_step_request *request)
{
    static const double values[300] = {3, 2, 1};
    (void)session;
    note("step %lld epochs=%lld%s", (long long)request->steps, (long long)request->epochs,
         request->whole ? " whole" : "");
    note("\n");
    bool fails = notes.go_on-- <= 0;
    if (fails && notes.step_fails == MGB_OOM)
        return mgb_fail_oom("/gpu:1", 300, 200, "a kernel");
    if (fails && notes.step_fails != MGB_OK)
        return mgb_fail(notes.step_fails, "the step failed");
    *figures = (struct script_figures){.steps = 3,
                                       .median_ms = 2.5,
                                       .p95_ms = (double)NAN,
                                       .loss = notes.loss != 0 ? notes.loss : 1,
                                       .examples_per_s = 100,
                                       .noise = 0.25,
                                       .not_steady = "why",
                                       .stop_reason = fails ? "steps" : NULL,
                                       .outliers = 2,
                                       .unaccounted_ms = 0.5,
                                       .worst_ratio = (double)NAN,
                                       .outcome = "ok",
                                       .log_complete = true};
    *losses = (struct script_losses){request->lr ? request->lr_count : 3, values};
    return MGB_OK;
}

static enum mgb_status fake_find(void *context, bool *found, struct script_figures *out,
                                 const struct script_point *point)
{
    (void)context;
    *found = notes.found;
    *out = (struct script_figures){.run_id = 7,
                                   .segment_id = 9,
                                   .steps = 3,
                                   .median_ms = 2,
                                   .examples_per_s = 50 * (double)(point->point + 1),
                                   .outcome = notes.crashed == point->point + 1 ? "crashed" : "ok"};
    return MGB_OK;
}

static enum mgb_status fake_sweep_finish(void *context, const char *sweep)
{
    (void)context;
    note("finished %s\n", sweep);
    return MGB_OK;
}

static void fake_restartable(void *context, const char *point)
{
    (void)context;
    note("at %s\n", point ? point : "(end)");
}

static bool fake_interrupted(void *context)
{
    (void)context;
    return false;
}

static enum mgb_status
fake_query(void *context, const char *sql, const char *const *parameters, int count,
           bool (*row)(void *, int, const char *const *, const char *const *, const int *),
           void *row_context)
{
    static const char *const names[] = {"i", "r", "t", "n"};
    static const char *const values[] = {"9007199254740993", "0.5", "12", NULL};
    static const int types[] = {1, 2, 3, 5};
    (void)context;
    if (strncmp(sql, "select ?", 8) != 0) /* of the program itself: nothing is stored */
        return MGB_OK;
    note("query %s", sql);
    for (int i = 0; i < count; i++)
        note(" [%s]", parameters[i] ? parameters[i] : "NULL");
    note("\n");
    return row(row_context, 4, names, values, types) && row(row_context, 4, names, values, types)
               ? MGB_OK
               : mgb_fail(MGB_INTERRUPTED, "stopped");
}

static const struct script_services services = {.open = fake_open,
                                                .close = fake_close,
                                                .step = fake_step,
                                                .sweep_find = fake_find,
                                                .sweep_finish = fake_sweep_finish,
                                                .restartable = fake_restartable,
                                                .query = fake_query,
                                                .interrupted = fake_interrupted};

#define SMALL                                                                                      \
    "local model = nn.model('small', function(m, opt) m:loss(nn.mean_squared_error(\n"             \
    "nn.dense{ units = opt.units }(m:input('x', { 4 })), m:input('t', { opt.units }))) end,\n"     \
    "{ options = { units = 2 } })\n"

static void run(const char *text, const char *message, const char *wanted)
{
    script_text_run(&services, text, message);
    if (wanted)
        assert_string_equal(notes.text, wanted);
    assert_int_equal(notes.opened, notes.closed);
}

static int notes_clear(void **state)
{
    (void)state;
    memset(&notes, 0, sizeof notes);
    return 0;
}

static void a_session_asks_for_what_was_given(void **state)
{
    (void)state;
    run(SMALL "local s <close> = mgb.session{ model = model{ units = 3 }, gpus = { 2, 0 }, batch = "
              "8, seed = 5, warmup = 1,\n"
              "optimizer = mgb.adam{ lr = 0.5 } } local seg = s:step(3)\n"
              "assert(#seg.losses == 3 and seg.losses[1] == 3 and seg.step_ms.median == 2.5 and "
              "seg.step_ms.p95 == nil)",
        NULL,
        "open small {\"units\":3} gpus=2,0 batch=8 fresh=3 adam lr=0.5 seed=5 warmup=1 "
        "backend=auto\n"
        "step 3 epochs=0\n");
}

static void options_are_those_that_the_function_of_the_model_left(void **state)
{
    (void)state;
    run("local model = nn.model('net', function(m, opt)\n"
        "if opt.small then opt.units, opt.size, opt.sizes, opt.kind = 3, {}, nil, 'b' end\n"
        "m:loss(nn.mean_squared_error(m:input('x', { 4 }), m:input('t', { 4 }))) end,\n"
        "{ options = { units = 9, small = false, size = 7, sizes = { 1 }, kind = 'a' } })\n"
        "mgb.session{ model = model{ small = true } }:close()\n"
        "mgb.session{ model = model }:close()",
        NULL,
        "open net {\"kind\":\"b\",\"size\":7,\"sizes\":[1],\"small\":true,\"units\":3} gpus= "
        "batch= "
        "fresh=0 sgd lr=0.01 seed=1 warmup=3 backend=auto\n"
        "open net {\"kind\":\"a\",\"size\":7,\"sizes\":[1],\"small\":false,\"units\":9} gpus= "
        "batch= "
        "fresh=0 sgd lr=0.01 seed=1 warmup=3 backend=auto\n");
}

static void defaults_are_those_of_the_contract(void **state)
{
    (void)state;
    run(SMALL "mgb.session{ model = model }:close()", NULL,
        "open small {\"units\":2} gpus= batch= fresh=0 sgd lr=0.01 seed=1 warmup=3 backend=auto\n");
}

static void forgotten_sessions_are_closed_before_the_next_opens(void **state)
{
    (void)state;
    run(SMALL
        "mgb.session{ model = model } mgb.session{ model = model } mgb.session{ model = model }\n"
        "collectgarbage()",
        NULL, NULL);
    assert_int_equal(notes.opened, 3);
}

static void a_closed_session_says_so(void **state)
{
    (void)state;
    run(SMALL "local s = mgb.session{ model = model } s:close() s:close() s:step(1)",
        "this session is closed", NULL);
}

static void refusals_keep_their_words_and_place(void **state)
{
    (void)state;
    notes.open_fails = MGB_MISSING;
    run(SMALL "mgb.session{ model = model }", "open refused", NULL);
    notes.open_fails = MGB_OK;
    notes.step_fails = MGB_DEVICE;
    run(SMALL "local s = mgb.session{ model = model } s:step(2)", "the step failed", NULL);
    run(SMALL "local s = mgb.session{ model = model } s:step(0)",
        "s:step: integer from 1 to 2147483647 expected, got 0", NULL);
    run(SMALL "local s = mgb.session{ model = model } s:stop()",
        "a session has no 'stop' (did you mean 'step'?)", NULL);
}

static void out_of_memory_is_a_result_when_it_is_expected(void **state)
{
    (void)state;
    const char *text =
        SMALL "local r = mgb.run{ model = model, expect = 'oom', gpus = 2 }\n"
              "assert(r.outcome == 'oom' and r.oom.device == '/gpu:1' and r.oom.needed == 300\n"
              "and r.oom.available == 200 and r.placement.asked.gpus == 2 and #r.losses == 0)";
    notes.open_fails = MGB_OOM;
    run(text, NULL,
        "open small {\"units\":2} gpus=2 batch= fresh=1 sgd lr=0.01 seed=1 warmup=10 backend=auto "
        "expect\n");
    notes.open_fails = MGB_OK;
    notes.step_fails = MGB_OOM; /* and as well when a step meets it */
    run(text, NULL, NULL);
    struct mgb_script *script;
    assert_int_equal(mgb_script_make(&script, &(struct mgb_script_settings){.services = &services}),
                     MGB_OK);
    assert_int_equal(mgb_script_run_text(script, SMALL "mgb.run{ model = model }"), MGB_OOM);
    mgb_script_free(script);
}

#define GRID "grid = { gpus = { 1, 2 }, batch = { 4 } }"

static void a_run_that_did_not_fit_has_its_row_and_no_weights(void **state)
{
    (void)state;
    notes.open_fails = MGB_OOM;
    run(SMALL "local r = mgb.run{ model = model, expect = 'oom' } assert(r.run_id == 5)\n"
              "r:evaluate(mgb.data.random{})",
        "evaluate: this run did not fit: the plan: out of memory on /gpu:1: 300 B needed, 200 B "
        "available; use a smaller batch, move weights or slots elsewhere, or give the device more "
        "memory",
        NULL);
    run(SMALL "local rows = mgb.sweep{ name = 's', model = model, " GRID " }\n"
              "assert(rows[2].outcome == 'oom' and rows[2].run_id == 5 and rows[2].oom.needed == "
              "300)",
        NULL, NULL);
}

static void a_loss_that_is_not_a_number_is_not_missing(void **state)
{
    (void)state;
    notes.loss = (double)NAN;
    run(SMALL "local s <close> = mgb.session{ model = model } local seg = s:step(3)\n"
              "assert(seg.loss ~= nil and seg.loss ~= seg.loss)",
        NULL, NULL);
    notes.loss = (double)INFINITY;
    run(SMALL "local s <close> = mgb.session{ model = model } assert(s:step(3).loss == math.huge)",
        NULL, NULL);
}

static void options_of_runs_are_checked(void **state)
{
    (void)state;
    run("mgb.run{ modle = 'x' }", "mgb.run: unknown option 'modle' (did you mean 'model'?)", "");
    run("mgb.sweep{ nam = 's' }", "mgb.sweep: unknown option 'nam' (did you mean 'name'?)", "");
    run("mgb.run()", "mgb.run: model: name or model expected, got nil", "");
    run(SMALL "mgb.run{ model = model, batch = '64' }",
        "mgb.run: batch: positive integer expected, got \"64\"", "");
    run(SMALL "mgb.run{ model = model, gpus = { 'a' } }",
        "mgb.run: gpus: a count, or a list of ids in merge order as {2, 0, 3}, expected, got a "
        "table",
        "");
    run(SMALL "mgb.run{ model = model, strategy = 'output' }",
        "mgb.run: strategy = output: give one of outputs, gradients, allreduce, independent", "");
    run(SMALL "mgb.run{ model = model, batch = 3, global_batch = 4 }",
        "mgb.run: batch and global_batch exclude each other: examples per GPU, or of all GPUs "
        "together",
        "");
    run(SMALL "mgb.run{ model = model, seed = -1 }",
        "mgb.run: seed: integer from 0 to 9223372036854775807 expected, got -1", "");
    run(SMALL "mgb.run{ model = model, steps = 3, epochs = 2 }",
        "mgb.run: steps and epochs exclude each other", "");
    run(SMALL "mgb.run{ model = model, target_noise = 0.1, epochs = 2 }",
        "mgb.run: epochs and target_noise exclude each other", "");
    run(SMALL "mgb.run{ model = model, optimizer = 'sgd' }",
        "mgb.run: optimizer: optimizer expected (as mgb.sgd{ lr = 0.01 }), got \"sgd\"", "");
    run("mgb.sgd{ lr = -1 }", "mgb.sgd: lr: number from 0.0 up expected, got -1", "");
    run("mgb.adam{ momentum = 0.9 }", "mgb.adam: unknown option 'momentum'", "");
    run("mgb.adam{ beta1 = 0, beta2 = 0.9999 } mgb.adam{ beta2 = 0.99999999 }",
        "mgb.adam: beta2: number from 0 to below 1 expected, got 0.99999999", "");
    run(SMALL "mgb.run{ model = model, recompute = true }",
        "mgb.run: recompute: one of \"none\", \"block\" expected, got true", "");
    run(SMALL "mgb.run{ model = model, data = {} }",
        "mgb.run: data: data expected (as mgb.data.mnist{}), got a table", "");
    run(SMALL "mgb.run{ model = model, data = mgb.data.mnist{ split = 'tset' } }",
        "mgb.data.mnist: split: \"train\" or \"test\" expected, got \"tset\" (did you mean "
        "\"test\"?)",
        "");
}

/* What a run asks for so that it goes on until it is told enough. */
static void a_run_says_what_ends_it(void **state)
{
    (void)state;
    notes.step_fails = MGB_DEVICE;
    run(SMALL "mgb.run{ model = model, warmup = 'auto' }", "the step failed",
        "open small {\"units\":2} gpus= batch= fresh=0 sgd lr=0.01 seed=1 warmup=-1 backend=auto\n"
        "step 100 epochs=0 whole\n");
    notes.used = 0;
    run(SMALL "mgb.run{ model = model, warmup = 2, steps = 5, target_noise = '0.5 %', max_time = "
              "'1.5m' }",
        "the step failed",
        "open small {\"units\":2} gpus= batch= fresh=0 sgd lr=0.01 seed=1 warmup=2 backend=auto "
        "noise=0.005 time=90\n"
        "step 7 epochs=0 whole\n");
    notes.used = 0;
    run(SMALL "mgb.run{ model = model, target_noise = 0.02, max_time = 2 }", "the step failed",
        "open small {\"units\":2} gpus= batch= fresh=0 sgd lr=0.01 seed=1 warmup=10 backend=auto "
        "noise=0.02 time=2\n"
        "step 110 epochs=0 whole\n");
}

static void figures_say_how_far_they_can_be_trusted(void **state)
{
    (void)state;
    run(SMALL
        "local s <close> = mgb.session{ model = model, warmup = 'auto' } local f = s:step(3)\n"
        "assert(f.noise == 0.25 and f.steady == false and f.not_steady == 'why' and "
        "f.stop_reason == 'steps')\n"
        "assert(f.outliers == 2 and f.unaccounted_ms == 0.5 and f.worst_ratio == nil)",
        NULL, NULL);
}

/* How many steps there will be is not known before, and a schedule may count its calls. */
static void a_schedule_is_asked_on_while_a_run_goes_on(void **state)
{
    (void)state;
    notes.go_on = 2;
    notes.step_fails = MGB_DEVICE;
    run(SMALL
        "local asked = 0\n"
        "local function schedule(step) assert(step == asked) asked = asked + 1 return 0.5 end\n"
        "pcall(mgb.run, { model = model, steps = 2, warmup = 1, target_noise = 0.01,\n"
        "  optimizer = mgb.sgd{ lr = 1, schedule = schedule } })\n"
        "assert(asked == 203, asked)",
        NULL, NULL);
}

/* Whatever stands in a grid is looked at before anything is opened. */
static void a_grid_is_refused_before_the_first_run(void **state)
{
    static const struct {
        const char *grid, *message;
    } cases[] = {
        {"gpus = {}", "grid: gpus: list of values expected, got an empty list"},
        {"gpus = { 1, x = 2 }",
         "grid: gpus: list of values expected, got a table with the key \"x\""},
        {"gpus = { 1, nil, 2 }", "grid: gpus: list of values expected, got "},
        {"optimizer = mgb.sgd{ lr = 1 }",
         "grid: optimizer: list of values expected, got an optimizer"},
        {"{ 1 }", "grid: value a table without a name"},
        {"optimizer = { mgb.sgd{ lr = 1 }, print }",
         "grid: optimizer[2]: optimizer expected (as mgb.sgd{ lr = 0.01 }), got a function"},
        {"gpus = { 1 }, steps = { 1, 2, -3 }", "grid: steps[3]: positive integer expected, got -3"},
        {"cpu_merge = { true, 'no' }", "grid: cpu_merge[2]: "},
        {"gpus = { 1, print }", "grid: gpus[2]: "},
        {"model = { model, 'nope' }", "grid: model[2]: "},
        {"model = { model, print }",
         "grid: model[2]: model: name or model expected, got a function"},
        {"data = { 7 }", "grid: data[1]: data expected (as mgb.data.mnist{}), got 7"},
        {"warmup = { 0, 'car' }", "grid: warmup[2]: integer from 0 to "},
        {"seed = { 1, -1 }", "grid: seed[2]: integer from 0 to "},
        {"target_noise = { 0.1, 2 }", "grid: target_noise[2]: a share"},
        {"max_time = { '1s', 'long' }", "grid: max_time[2]: seconds"},
        {"build = { 'once', 'two' }", "grid: build[2]: \"once\" or \"tower\" expected"},
        {"gpus = { 1, 2, 1 }", "grid: gpus: 1 is listed twice; use repeats = 2"},
        {"gpus = { 1, 1, 1.0 }", "grid: gpus: 1 is listed three times; use repeats = 3"},
        {"gpus = { { 0, 1 }, { 0, 1 } }", "grid: gpus: 0,1 is listed twice; use repeats = 2"},
        {"optimizer = { mgb.sgd{ lr = 1 }, mgb.sgd{ lr = 1 } }", "grid: optimizer: sgd(lr=1"},
        {"model = { model, model }", "grid: model: small is listed twice"},
        {"seed = many, gpus = { 1, 2 }, batch = many",
         "grid: 2,880,000 points (gpus 2 x batch 1200 x seed 1200) are more than the 100,000 that"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[1000];
        snprintf(text, sizeof text,
                 "%s local many = {} for i = 1, 1200 do many[i] = i end\n"
                 "local ok, said = pcall(mgb.sweep, { name = 's', model = model, grid = { %s } })\n"
                 "assert(not ok and said:find([[mgb.sweep: %s]], 1, true), said)",
                 SMALL, cases[i].grid, cases[i].message);
        notes.used = 0;
        run(text, NULL, "");
    }
}

/* What differs is no repetition: schedules are other ones though they are written alike, and so are models. */
static void values_of_a_grid_that_differ_are_all_run(void **state)
{
    (void)state;
    notes.step_fails = MGB_DEVICE;
    run(SMALL
        "local function o(k) return mgb.sgd{ lr = 1, schedule = function() return k end } end\n"
        "local rows = mgb.sweep{ name = 's', steps = 1, grid = { optimizer = { o(1), o(2) },\n"
        "  model = { model, mgb.model(model, { units = 3 }) } } }\n"
        "assert(#rows == 4) for _, r in ipairs(rows) do assert(not r.label:find('0x')) end",
        NULL, NULL);
}

static void a_sweep_interleaves_its_repeats_and_fails_by_row(void **state)
{
    (void)state;
    notes.step_fails = MGB_DEVICE;
    run(SMALL
        "local rows = mgb.sweep{ name = 's', model = model, repeats = 2, steps = 3, warmup = "
        "0, " GRID " }\n"
        "local text = {} for i, r in ipairs(rows) do text[i] = r.gpus .. '/' .. r.repetition .. "
        "'/' .. r.position end\n"
        "assert(table.concat(text, ' ') == '1/1/1 1/2/3 2/1/2 2/2/4', table.concat(text, ' '))\n"
        "assert(rows[1].outcome == 'error' and rows[1].message == 'the step failed')",
        NULL,
        "at sweep s, point 1 of 4\n"
        "open small {\"units\":2} gpus=1 batch=4 fresh=3 sgd lr=0.01 seed=1 warmup=0 backend=auto "
        "expect"
        " point=0 repeat=0 position=0 {\"batch\":4,\"gpus\":1}\n"
        "step 3 epochs=0 whole\n"
        "at sweep s, point 2 of 4\n"
        "open small {\"units\":2} gpus=2 batch=4 fresh=3 sgd lr=0.01 seed=1 warmup=0 backend=auto "
        "expect"
        " point=1 repeat=0 position=1 {\"batch\":4,\"gpus\":2}\n"
        "step 3 epochs=0 whole\n"
        "at sweep s, point 3 of 4\n"
        "open small {\"units\":2} gpus=1 batch=4 fresh=3 sgd lr=0.01 seed=1 warmup=0 backend=auto "
        "expect"
        " point=0 repeat=1 position=2 {\"batch\":4,\"gpus\":1}\n"
        "step 3 epochs=0 whole\n"
        "at sweep s, point 4 of 4\n"
        "open small {\"units\":2} gpus=2 batch=4 fresh=3 sgd lr=0.01 seed=1 warmup=0 backend=auto "
        "expect"
        " point=1 repeat=1 position=3 {\"batch\":4,\"gpus\":2}\n"
        "step 3 epochs=0 whole\n"
        "at (end)\n"
        "finished s\n");
}

static void a_sweep_takes_finished_points_from_the_store(void **state)
{
    (void)state;
    notes.found = true;
    run(SMALL "local rows = mgb.sweep{ name = 's', model = model, resume = true, " GRID " }\n"
              "assert(rows[2].run_id == 7 and rows[2].resumed and rows[2].step_ms.median == 2)\n"
              "assert(rows[2].speedup == 2 and rows[2].efficiency == 1 and rows[1].speedup == 1 "
              "and rows[1].baseline)",
        NULL, "at (end)\nfinished s\n");
    assert_int_equal(notes.opened, 0);
}

static void what_crashed_counts_for_nothing(void **state)
{
    (void)state;
    const char *text =
        SMALL "local rows = mgb.sweep{ name = 's', model = model, resume = true, grid = { gpus = { "
              "1, 2, 4 } } }\n"
              "local text = {} for i, r in ipairs(rows) do text[i] = r.outcome .. ' ' .. "
              "tostring(r.speedup) end\n"
              "error(table.concat(text, ', '), 0)";
    notes.found = true;
    notes.crashed = 1; /* as a baseline */
    run(text, "crashed nil, ok nil, ok nil", NULL);
    notes.crashed = 3; /* as a row */
    run(text, "ok 1.0, ok 2.0, crashed nil", NULL);
}

/* A baseline is of the same model; the row's own repetition; or what the script says. */
static void a_baseline_is_of_its_own_kind(void **state)
{
    (void)state;
    notes.found = true;
    run(SMALL "local other = model{ units = 3 }\n"
              "local rows = mgb.sweep{ name = 's', resume = true, grid = { model = { model, other "
              "}, gpus = { 1, 2 } } }\n"
              "for i, want in ipairs{ 'gpus=1 model=small', 'gpus=1 model=small{units=3}' } do "
              "assert(rows[i].label == want, rows[i].label) end\n"
              "assert(rows[1].model == 'small' and rows[1].speedup == 1 and rows[2].speedup == 1 "
              "and rows[3].speedup == 2)\n"
              "rows = mgb.sweep{ name = 's', model = model, resume = true, grid = { gpus = { 1, 2, "
              "4 } },\n"
              "  baseline = function(row) return row.gpus == 2 end }\n"
              "assert(rows[3].speedup == 2 and rows[3].efficiency == 1 and rows[2].baseline "
              "and not rows[1].baseline)",
        NULL, NULL);
}

static void a_sweep_ends_where_the_machine_fails(void **state)
{
    (void)state;
    notes.open_fails = MGB_BUSY;
    run(SMALL "mgb.sweep{ name = 's', model = model, " GRID " }", "open refused", NULL);
    run(SMALL "mgb.sweep{ name = 's', model = model, grid = { gpu = { 1 } } }",
        "mgb.sweep: grid: unknown option 'gpu' (did you mean 'gpus'?)", NULL);
    run(SMALL "mgb.sweep{ name = 's', model = model, grid = { gpus = 1 } }",
        "mgb.sweep: grid: gpus: list of values expected, got 1", NULL);
    run(SMALL "mgb.sweep{ model = model, " GRID " }", "mgb.sweep: name: text expected, got nil",
        NULL);
}

static void queries_come_back_as_rows_of_lua_values(void **state)
{
    (void)state;
    run("local rows = mgb.db.query('select ?', 'a', 2, nil, 0.5) local r = rows[2] assert(#rows == "
        "2)\n"
        "assert(r.i == 9007199254740993 and r.r == 0.5 and r.t == '12' and r.n == nil)",
        NULL, "query select ? [a] [2] [NULL] [0.5]\n");
    run("mgb.db.query(3)", "mgb.db.query: SQL text expected, got 3", NULL);
    run("mgb.db.ask('x')", "mgb.db has no 'ask'", NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_session_asks_for_what_was_given, notes_clear),
        cmocka_unit_test_setup(options_are_those_that_the_function_of_the_model_left, notes_clear),
        cmocka_unit_test_setup(defaults_are_those_of_the_contract, notes_clear),
        cmocka_unit_test_setup(forgotten_sessions_are_closed_before_the_next_opens, notes_clear),
        cmocka_unit_test_setup(a_closed_session_says_so, notes_clear),
        cmocka_unit_test_setup(refusals_keep_their_words_and_place, notes_clear),
        cmocka_unit_test_setup(out_of_memory_is_a_result_when_it_is_expected, notes_clear),
        cmocka_unit_test_setup(a_run_that_did_not_fit_has_its_row_and_no_weights, notes_clear),
        cmocka_unit_test_setup(a_loss_that_is_not_a_number_is_not_missing, notes_clear),
        cmocka_unit_test_setup(options_of_runs_are_checked, notes_clear),
        cmocka_unit_test_setup(a_run_says_what_ends_it, notes_clear),
        cmocka_unit_test_setup(figures_say_how_far_they_can_be_trusted, notes_clear),
        cmocka_unit_test_setup(a_schedule_is_asked_on_while_a_run_goes_on, notes_clear),
        cmocka_unit_test_setup(a_grid_is_refused_before_the_first_run, notes_clear),
        cmocka_unit_test_setup(values_of_a_grid_that_differ_are_all_run, notes_clear),
        cmocka_unit_test_setup(a_sweep_interleaves_its_repeats_and_fails_by_row, notes_clear),
        cmocka_unit_test_setup(a_sweep_takes_finished_points_from_the_store, notes_clear),
        cmocka_unit_test_setup(what_crashed_counts_for_nothing, notes_clear),
        cmocka_unit_test_setup(a_baseline_is_of_its_own_kind, notes_clear),
        cmocka_unit_test_setup(a_sweep_ends_where_the_machine_fails, notes_clear),
        cmocka_unit_test_setup(queries_come_back_as_rows_of_lua_values, notes_clear),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
