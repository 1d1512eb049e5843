/* Failures: wrong data leaves the weights alone and the next step is clean, a lost GPU allows closing only, and whatever
 * CUDA call fails, the engine says so, does not crash and leaves nothing behind. */
#include "tests/engine/cuda/machine.h"

#include "tests/fake_cuda/fake_cuda.h"
#include "tests/support/check.h"
#include "tests/support/draws.h"
#include "tests/support/model.h"
#include "tests/support/training.h"
#include <stdio.h>
#include <string.h>

#define ROWS 20
#define MOST_FUNCTIONS 96

struct bench {
    struct mgb_graph *graph;
    float images[ROWS * 12];
    int32_t labels[ROWS];
    const void *arrays[2];
    struct mgb_source source;
    struct training training;
};

static void bench_begin(struct bench *bench, const char *options)
{
    memset(bench, 0, sizeof *bench);
    bench->graph = model_mlp();
    for (int i = 0; i < ROWS * 12; i++)
        bench->images[i] = (float)(i * 37 % 101) / 101.0f;
    for (int i = 0; i < ROWS; i++)
        bench->labels[i] = i % 3;
    bench->arrays[0] = bench->images;
    bench->arrays[1] = bench->labels;
    assert_ok(mgb_source_memory(&bench->source, bench->graph, bench->arrays, ROWS, false));
    bench->training = (struct training){.graph = bench->graph,
                                        .source = &bench->source,
                                        .options = options,
                                        .optimizer = training_sgd(0.1f, 0.9f),
                                        .play_on = machine_cuda()};
}

static void bench_end(struct bench *bench)
{
    mgb_source_close(&bench->source);
    mgb_graph_free(bench->graph);
}

static enum mgb_status steps_try(struct mgb_run *run, int steps)
{
    struct mgb_step_request request = {.steps = steps};
    int64_t done;
    return mgb_run_step(run, &done, &request, NULL);
}

/* Rows 10 to 19 are the second step of two. */
static void label_is_refused(const char *options)
{
    struct bench bench;
    machine_set("2", NULL);
    bench_begin(&bench, options);
    bench.labels[15] = 9;
    struct mgb_run *run = training_open(&bench.training);
    training_step(run, 1, NULL);
    uint64_t before = training_digest(run);
    assert_status(steps_try(run, 1), MGB_INVALID);
    assert_message("label 9 of row 5 is not a class number from 0 to 2");
    assert_int_equal(training_digest(run), before);
    mgb_run_close(run);
    bench_end(&bench);
    machine_check_empty();
}

static void wrong_label_on_a_gpu_leaves_the_weights(void **state)
{
    (void)state;
    label_is_refused("gpus=2 global_batch=10 strategy=gradients");
    label_is_refused("gpus=2 global_batch=10 strategy=allreduce");
    label_is_refused("gpus=2 global_batch=10 strategy=outputs loss_at=/gpu:0");
}

static void wrong_label_on_the_cpu_leaves_the_weights(void **state)
{
    (void)state;
    label_is_refused("gpus=2 global_batch=10 strategy=outputs loss_at=/cpu:0");
}

static void lost_gpu_allows_closing_only(void **state)
{
    (void)state;
    struct bench bench;
    machine_set("1", "cudaStreamQuery:60=719");
    bench_begin(&bench, "gpus=1 global_batch=10");
    struct mgb_run *run = training_open(&bench.training);
    assert_status(steps_try(run, 100), MGB_DEVICE);
    assert_message("lost to this process");
    assert_status(steps_try(run, 1), MGB_DEVICE);
    mgb_run_close(run);
    bench_end(&bench);
    machine_check_empty();
}

static void arena_beyond_a_gpu_is_out_of_memory(void **state)
{
    (void)state;
    struct bench bench;
    struct mgb_run *run;
    machine_set("2", "cudaMalloc:2");
    bench_begin(&bench, "gpus=2 global_batch=10 strategy=allreduce");
    assert_status(training_try_open(&run, &bench.training), MGB_OOM);
    bench_end(&bench);
    machine_check_empty();
}

struct play {
    const char *before, *after; /* placements */
    int steps;                  /* before the toggle */
};

struct outcome {
    enum mgb_status status;
    long calls;               /* of all functions */
    long at_toggle, at_close; /* how often `function` had been called when these began */
};

/* Open, some steps, a toggle and another step, close, with call number `call` of `function` failing; NULL: none. */
static void session_play(struct outcome *out, const struct play *play, const char *function,
                         long call)
{
    struct bench bench;
    struct mgb_run *run = NULL;
    char fail[64];
    snprintf(fail, sizeof fail, "%.40s:%ld", function ? function : "", call);
    machine_set("2", function ? fail : NULL);
    bench_begin(&bench, play->before);
    out->status = training_try_open(&run, &bench.training);
    if (out->status == MGB_OK)
        out->status = steps_try(run, play->steps);
    out->at_toggle = fake_cuda_calls(function);
    if (out->status == MGB_OK)
        out->status = training_try_set(run, play->after);
    if (out->status == MGB_OK)
        out->status = steps_try(run, 1);
    out->at_close = fake_cuda_calls(function);
    if (run)
        mgb_run_close(run);
    bench_end(&bench);
    out->calls = fake_cuda_calls(NULL);
}

static bool status_is_clean(enum mgb_status status)
{
    return status == MGB_OK || status == MGB_OOM || status == MGB_DEVICE || status == MGB_MISSING ||
           status == MGB_INVALID || status == MGB_NO_MEMORY;
}

/* A function and how often a session called it. */
struct called {
    char name[48];
    long calls;
};

/* Every call with MGB_LONG=1; else the first and another one, drawn from this seed, under a sanitizer the drawn one alone. How
 * often a stream is asked whether it is done is a matter of time: the first calls are sure to come. */
#define SEED 6u

static long call_draw(const struct called *called, unsigned *state)
{
    *state = *state * 1664525u + 1013904223u; /* Numerical Recipes' generator */
    long most = strcmp(called->name, "cudaStreamQuery") == 0 ? 3 : called->calls;
    return 1 + (long)(*state >> 8) % most;
}

static bool call_is_due(const struct called *called, long call, long drawn)
{
    if (strcmp(called->name, "cudaStreamQuery") == 0 && call > 3)
        return false;
    return draw_long() || call == drawn || (call == 1 && draw_count(2, 2) == 2);
}

struct tally {
    int played, reported, harmless;
};

/* The failures that a session may end well with, and nothing else may. */
enum phase { ANY, TOGGLE, CLOSE };
static const struct harmless {
    const char *function; /* the beginning of its name, or all of it where it ends with a blank */
    enum phase phase;
    const char *said; /* the engine noted this; "": nothing */
    int left;         /* handles that may stay */
    const char *why;
} harmless[] = {
    {"cudaFree", ANY, "", 1, "what was to be freed stays"},
    {"cudaEventDestroy ", ANY, "", 1, "what was to be freed stays"},
    {"cudaStreamDestroy ", ANY, "", 1, "what was to be freed stays"},
    {"cudaGraphDestroy ", ANY, "", 1, "what was to be freed stays"},
    {"cudaGraphExecDestroy ", ANY, "", 1, "what was to be freed stays"},
    {"cublasDestroy ", ANY, "", 1, "what was to be freed stays"},
    {"ncclCommDestroy ", ANY, "", 1, "what was to be freed stays"},
    {"cudaSetDevice ", CLOSE, "", 1, "what was to be freed there stays"},
    {"cudaDeviceDisablePeerAccess ", CLOSE, "", 0, "the next session asks for what it wants"},
    {"cudaSetDevice ", TOGGLE, "CUDA: cudaSetDevice", 1, "an old arena there stays"},
    {"", TOGGLE, "a queue of /gpu:", 0, "queues are made early; the next step tries again"},
    {"cudaMalloc ", TOGGLE, "an arena: out of memory", 0, "again without the step's arenas"},
    {"cudaHostAlloc ", TOGGLE, "a pinned arena", 0, "again without the step's arenas"},
    {"cudaMalloc ", ANY, "cudaMalloc(&probe->", 0, "no room to try peer access: as CUDA has it"},
};

static bool name_fits(const char *pattern, const char *function)
{
    size_t length = strcspn(pattern, " ");
    return strncmp(pattern, function, length) == 0 && (!pattern[length] || !function[length]);
}

/* How many handles the failed call may leave; -1: it had to be reported. */
static int harm_find(const struct outcome *out, const char *function, long call)
{
    enum phase phase = call > out->at_close ? CLOSE : call > out->at_toggle ? TOGGLE : ANY;
    for (size_t i = 0; i < sizeof harmless / sizeof *harmless; i++) {
        const struct harmless *it = &harmless[i];
        if (name_fits(it->function, function) && (it->phase == ANY || it->phase == phase) &&
            strncmp(mgb_message_get(), it->said, strlen(it->said)) == 0)
            return it->left;
    }
    return -1;
}

/* How often peer access is measured is a matter of time: a call that does not come this time counts for nothing. */
static void failure_play(const struct play *play, const char *function, long call,
                         struct tally *tally)
{
    struct outcome out;
    int before = fake_cuda_live();
    session_play(&out, play, function, call);
    if (fake_cuda_calls(function) < call)
        return;
    int left = out.status == MGB_OK ? harm_find(&out, function, call) : 0;
    tally->played++;
    tally->reported += out.status != MGB_OK;
    tally->harmless += out.status == MGB_OK;
    if (!status_is_clean(out.status) || left < 0 || !mgb_message_get()[0])
        fail_msg("%s:%ld: status %s, message '%s'", function, call, mgb_status_name(out.status),
                 mgb_message_get());
    if (fake_cuda_live() > before + left)
        fail_msg("%s:%ld: %d left over", function, call, fake_cuda_live() - before);
}

static void failures_play(const struct play *play)
{
    struct outcome whole;
    int live = fake_cuda_live(); /* of sessions before */
    static struct called called[MOST_FUNCTIONS];
    int functions = 0;
    unsigned draw = SEED;
    struct tally tally = {0};
    session_play(&whole, play, NULL, 0);
    assert_ok(whole.status);
    assert_int_equal(fake_cuda_live(), live);
    for (const char *name; (name = fake_cuda_function(functions)); functions++) {
        assert_in_range(functions, 0, MOST_FUNCTIONS - 1);
        snprintf(called[functions].name, sizeof called[0].name, "%s", name);
        called[functions].calls = fake_cuda_calls(name);
    }
    for (int f = 0; f < functions; f++) {
        long drawn = call_draw(&called[f], &draw);
        for (long call = 1; call <= called[f].calls; call++)
            if (call_is_due(&called[f], call, drawn))
                failure_play(play, called[f].name, call, &tally);
    }
    printf(
        "%s, then %s: %ld calls of %d functions; %d made to fail (seed %u), %d of them reported, "
        "%d harmless\n",
        play->before, play->after, whole.calls, functions, tally.played, SEED, tally.reported,
        tally.harmless);
    assert_true(tally.reported > functions / 2);
}

static void any_failing_call_is_reported_and_survived(void **state)
{
    (void)state;
    const struct play plays[] = {
        {"gpus=2 global_batch=10 strategy=allreduce", "strategy=gradients sum_at=/gpu:1", 2},
        {"gpus=2 global_batch=10 strategy=gradients weights_at=spread sum_at=spread", "gpus=1", 2},
        /* both of its input slots are kept and replayed */
        {"gpus=2 global_batch=10 strategy=gradients graph=true", "update_at=/gpu:1", 5},
    };
    for (size_t i = 0; i < sizeof plays / sizeof *plays; i++)
        failures_play(&plays[i]);
}

static void memory_is_named(const char *fail)
{
    struct bench bench;
    struct mgb_run *run = NULL;
    machine_set("2", fail);
    bench_begin(&bench, "gpus=2 global_batch=10 strategy=allreduce");
    enum mgb_status status = training_try_open(&run, &bench.training);
    if (status == MGB_OK)
        status = steps_try(run, 1);
    assert_status(status, MGB_OOM);
    assert_message("out of memory on ");
    if (run)
        mgb_run_close(run);
    machine_set("2", NULL);
    run = training_open(&bench.training); /* the process lives on */
    training_step(run, 1, NULL);
    mgb_run_close(run);
    bench_end(&bench);
    machine_check_empty();
}

static void lack_of_memory_recovers_wherever_it_shows(void **state)
{
    (void)state;
    for (int call = 1; call <= 6; call++) { /* scratch of queues, then arenas */
        char fail[32];
        snprintf(fail, sizeof fail, "cudaMalloc:%d", call);
        memory_is_named(fail);
    }
    memory_is_named("cublasCreate:2=3");    /* CUBLAS_STATUS_ALLOC_FAILED */
    memory_is_named("ncclCommInitAll:1=1"); /* ncclUnhandledCudaError */
    memory_is_named("cudaHostAlloc:2=2");   /* cudaErrorMemoryAllocation, pinned */
    memory_is_named("cudaStreamCreateWithFlags:3=2");
    memory_is_named("cudaEventCreate:4=2");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_label_on_a_gpu_leaves_the_weights),
        cmocka_unit_test(wrong_label_on_the_cpu_leaves_the_weights),
        cmocka_unit_test(lost_gpu_allows_closing_only),
        cmocka_unit_test(arena_beyond_a_gpu_is_out_of_memory),
        cmocka_unit_test(lack_of_memory_recovers_wherever_it_shows),
        cmocka_unit_test(any_failing_call_is_reported_and_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
