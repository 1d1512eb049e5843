/* The plan tells the truth: planned bytes by link against a counting copy function, planned memory against canaries. */
#include "tests/support/check.h"
#include "tests/support/counting_backend.h"
#include "tests/support/draws.h"
#include "tests/support/model.h"
#include "tests/support/training.h"

#include <stdio.h>
#include <string.h>

static const char *const strategies[] = {"outputs", "gradients", "allreduce", "independent"};

/* What a ring all-reduce of `payload` bytes in `towers` devices moves in all: every tower passes on 2 (n - 1) of n parts. */
static int64_t ring_total(int64_t payload, int towers)
{
    return 2 * (towers - 1) * payload;
}

/* What a placement has besides places, in turn; `staged` has no meaning for mirrors. */
static void ways_add(char *options, size_t size, int number, int strategy)
{
    static const char *const ways[] = {"", " wire_type=f16", " stale=true",
                                       " stale=true wire_type=bf16"};
    size_t used = strlen(options);
    used +=
        (size_t)snprintf(options + used, size - used, "%s", strategy < 3 ? ways[number % 4] : "");
    if (strategy < 2 && number % 5 > 2)
        snprintf(options + used, size - used, " staged=true");
}

static void link_check(const struct mgb_plan *plan, int from, int to, const char *options)
{
    int64_t planned = 0;
    for (int i = 0; i < plan->traffic_count; i++)
        if (plan->traffic[i].from == from && plan->traffic[i].to == to)
            planned += plan->traffic[i].bytes;
    if (planned != counting_copied(from, to))
        fail_msg("%s: %lld bytes planned from device %d to %d, %lld copied", options,
                 (long long)planned, from, to, (long long)counting_copied(from, to));
}

static void traffic_check(struct mgb_graph *graph, const char *options)
{
    struct training training = {.graph = graph,
                                .options = options,
                                .optimizer = training_sgd(0.1f, 0.9f),
                                .play_on = &counting_backend};
    struct mgb_run *run = training_open(&training);
    training_step(run, 1, NULL);
    counting_reset();
    training_step(run, 1, NULL);
    const struct mgb_plan *plan = mgb_run_plan(run);
    if (counting_reduced() == 0) {
        for (int from = 0; from < mgb_run_topology(run)->device_count; from++)
            for (int to = 0; to < mgb_run_topology(run)->device_count; to++)
                link_check(plan, from, to, options);
    } else {
        int64_t planned = 0;
        for (int i = 0; i < plan->traffic_count; i++)
            planned += plan->traffic[i].bytes;
        assert_int_equal(planned,
                         counting_all_copied() + ring_total(counting_reduced(), plan->tower_count));
    }
    mgb_run_close(run);
}

static void planned_bytes_by_link_are_what_a_counter_saw(void **state)
{
    (void)state;
    for (int number = 0; number < 3; number++) {
        struct mgb_graph *graph = draw_model(number);
        for (int i = 0; i < 24; i++) {
            char options[512];
            int used = snprintf(options, sizeof options, "gpus=%d global_batch=%d strategy=%s",
                                1 + i % 4, 3 + i, strategies[i % 3]);
            if (i % 3 < 2)
                draw_places(options + used, sizeof options - (size_t)used, strategies[i % 3],
                            1 + i % 4, i);
            ways_add(options, sizeof options, i / 3, i % 3);
            traffic_check(graph, options);
        }
        mgb_graph_free(graph);
    }
}

/* Bytes of pieces one after another, each on a 64-byte boundary. */
static int64_t packed(const int64_t *pieces, int count)
{
    int64_t bytes = 0;
    for (int i = 0; i < count; i++)
        bytes = (bytes + 63) / 64 * 64 + pieces[i];
    return bytes;
}

/* The MLP (12 inputs, dense 8, dense 3) on three towers of 4 rows: what crosses between /cpu:0 and a tower. Weights travel in
 * the order of definition, gradients in that of readiness, the two results (loss, accuracy) together. */
static void five_placements_follow_their_closed_forms(void **state)
{
    (void)state;
    struct mgb_graph *graph = draw_model(0);
    const int64_t image = 4 * 12 * 4, label = 4 * 4, logits = 4 * 3 * 4;
    const int64_t w = packed((int64_t[]){12 * 8 * 4, 8 * 4, 8 * 3 * 4, 3 * 4}, 4);
    const int64_t g = packed((int64_t[]){8 * 3 * 4, 3 * 4, 12 * 8 * 4, 8 * 4}, 4),
                  results = packed((int64_t[]){4, 4}, 2);
    const struct {
        const char *options;
        int64_t down[3], up[3]; /* from /cpu:0 to a tower, from a tower to /cpu:0 */
    } cases[] = {
        /* Weights and everything that meets on /cpu:0: fetch, rows, gradient of the logits; logits and gradients back. */
        {"gpus=3 batch=4 weights_at=/cpu:0 merge_at=/cpu:0",
         {w + image + logits, w + image + logits, w + image + logits},
         {logits + g, logits + g, logits + g}},
        {"gpus=3 batch=4 strategy=gradients weights_at=/cpu:0 sum_at=/cpu:0",
         {w + image + label, w + image + label, w + image + label},
         {g + results, g + results, g + results}},
        /* The sum goes back to where the weights are. */
        {"gpus=3 batch=4 strategy=gradients weights_at=/gpu:0 sum_at=/cpu:0 update_at=/gpu:0",
         {g + image + label, image + label, image + label},
         {g + results, g + results, g + results}},
        /* Labels of the whole batch go where the loss is taken. */
        {"gpus=3 batch=4 weights_at=/gpu:0 merge_at=/gpu:0",
         {image + 3 * label, image, image},
         {results, 0, 0}},
        {"gpus=3 batch=4 strategy=independent",
         {image + label, image + label, image + label},
         {results, results, results}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct training training = {.graph = graph,
                                    .options = cases[i].options,
                                    .optimizer = training_sgd(0.1f, 0),
                                    .play_on = &counting_backend};
        struct mgb_run *run = training_open(&training);
        counting_reset();
        training_step(run, 1, NULL);
        for (int t = 0; t < 3; t++) {
            assert_int_equal(counting_copied(0, 1 + t), cases[i].down[t]);
            assert_int_equal(counting_copied(1 + t, 0), cases[i].up[t]);
        }
        mgb_run_close(run);
    }
    mgb_graph_free(graph);
}

/* Bytes that a buffer's padding, or a scratchpad used in part, may leave untouched at the end of an arena. */
#define UNTOUCHED 4096

static void planned_memory_is_what_canaries_saw(void **state)
{
    (void)state;
    for (int number = 0; number < 3; number++) {
        struct mgb_graph *graph = draw_model(number);
        for (int i = 0; i < 16; i++) {
            char options[512];
            int used = snprintf(options, sizeof options, "gpus=%d global_batch=%d strategy=%s",
                                1 + i % 4, 5 + 3 * i, strategies[i % 4]);
            if (i % 4 < 2)
                draw_places(options + used, sizeof options - (size_t)used, strategies[i % 4],
                            1 + i % 4, i);
            ways_add(options, sizeof options, i / 2, i % 4);
            if (i / 4 % 2)
                strcat(options, " recompute=block");
            struct training training = {.graph = graph,
                                        .options = options,
                                        .optimizer = training_sgd(0.1f, 0.9f),
                                        .guarded = true};
            struct mgb_run *run = training_open(&training);
            training_step(run, 2, NULL);
            struct mgb_memory_use uses[64];
            int count;
            assert_ok(mgb_run_memory(run, uses, 64, &count));
            for (int d = 0; d < count; d++) {
                if (uses[d].measured_peak_bytes > uses[d].planned_bytes ||
                    uses[d].measured_peak_bytes < uses[d].planned_bytes - UNTOUCHED)
                    fail_msg("%s: device %d: %lld bytes planned, %lld touched", options, d,
                             (long long)uses[d].planned_bytes,
                             (long long)uses[d].measured_peak_bytes);
                assert_true(uses[d].held_bytes >= uses[d].measured_peak_bytes);
            }
            mgb_run_close(run);
        }
        mgb_graph_free(graph);
    }
}

/* "VmHWM:" and such of this process, in bytes. */
static int64_t status_read(const char *key)
{
    char line[256];
    long long kib = -1;
    FILE *file = fopen("/proc/self/status", "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file))
        if (strncmp(line, key, strlen(key)) == 0)
            sscanf(line + strlen(key), " %lld", &kib);
    fclose(file);
    return kib * 1024;
}

static int64_t planned_total(struct mgb_run *run)
{
    struct mgb_memory_use uses[64];
    int count;
    int64_t bytes = 0;
    assert_ok(mgb_run_memory(run, uses, 64, &count));
    for (int d = 0; d < count; d++)
        bytes += uses[d].planned_bytes;
    return bytes;
}

static void the_process_grows_by_what_is_planned(void **state)
{
    (void)state;
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
    skip(); /* their shadow grows too */
#endif
    struct mgb_graph *graph = model_mnist_cnn();
    struct training training = {
        .graph = graph, .options = "gpus=2 batch=128", .optimizer = training_sgd(0.1f, 0.9f)};
    struct mgb_run *run =
        training_open(&training); /* kernels, threads and pages of code come with the first run */
    training_step(run, 1, NULL);
    mgb_run_close(run);
    int64_t before = status_read("VmRSS:");
    FILE *clear = fopen("/proc/self/clear_refs", "w"); /* 5: the high-water mark starts anew */
    if (!clear || fputs("5", clear) < 0 || fclose(clear) != 0)
        skip();
    run = training_open(&training);
    training_step(run, 2, NULL);
    int64_t planned = planned_total(run), grown = status_read("VmHWM:") - before;
    print_message("planned %.1f MiB, grown by %.1f MiB\n", (double)planned / (1 << 20),
                  (double)grown / (1 << 20));
    assert_true(planned > 100 << 20);
    assert_true(grown < planned + planned / 20 && grown > planned - planned / 20);
    mgb_run_close(run);
    mgb_graph_free(graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(planned_bytes_by_link_are_what_a_counter_saw),
        cmocka_unit_test(five_placements_follow_their_closed_forms),
        cmocka_unit_test(the_process_grows_by_what_is_planned),
        cmocka_unit_test(planned_memory_is_what_canaries_saw),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
