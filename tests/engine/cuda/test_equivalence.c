/* Placement never changes the arithmetic on GPUs (design.md, invariants), on 1 to 8 fake ones: places on GPUs bit for bit,
 * live toggles among them; across tower counts and strategies, and where /cpu:0 works beside GPUs, to 1e-5 for one step and
 * 1e-4 for weights after 20 steps of plain SGD. */
#include "tests/engine/cuda/machine.h"
#include "tests/engine/cuda/models.h"

#include "engine/base/random.h"
#include "tests/support/check.h"
#include "tests/support/draws.h"
#include "tests/support/training.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STEPS 3
#define ROWS 23 /* batches of 10, 10 and 3: uneven for every tower count, too few for eight */
#define MOST_GPUS 8
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define STRIDE 2 /* of models, in the short form */
#else
#define STRIDE 1
#endif

struct outcome {
    double losses[STEPS];
    uint64_t digest;
};

static struct mgb_run *run_open(struct training training, const char *options)
{
    struct mgb_run *run = NULL;
    training.options = options;
    if (training_try_open(&run, &training) != MGB_OK)
        fail_msg("%s: %s", options, mgb_message_get());
    return run;
}

static struct outcome run_once(const struct training *training, const char *options)
{
    struct outcome outcome;
    struct mgb_check check;
    struct mgb_run *run = run_open(*training, options);
    training_step(run, STEPS, outcome.losses);
    outcome.digest = training_digest(run);
    assert_ok(mgb_run_check(run, &check));
    mgb_check_done(&check);
    mgb_run_close(run);
    return outcome;
}

static void outcomes_compare(const struct outcome *wanted, const struct outcome *got,
                             const char *options)
{
    assert_true(isfinite(wanted->losses[STEPS - 1]));
    for (int i = 0; i < STEPS; i++)
        if (memcmp(&wanted->losses[i], &got->losses[i], sizeof got->losses[i]) != 0)
            fail_msg("%s: loss of step %d is %.17g, not %.17g", options, i, got->losses[i],
                     wanted->losses[i]);
    if (wanted->digest != got->digest)
        fail_msg("%s: other weights after %d steps", options, STEPS);
}

/* " name=/gpu:K", spread where that is possible, or nothing. */
static size_t place_draw(char *out, size_t size, const char *name, uint32_t bits, int gpus,
                         bool spread)
{
    int pick = (int)mgb_random_below(bits, (uint32_t)(gpus + 2));
    if (pick < gpus)
        return (size_t)snprintf(out, size, " %s=/gpu:%d", name, pick);
    return spread && pick == gpus ? (size_t)snprintf(out, size, " %s=spread", name) : 0;
}

/* Places among GPUs and ways of copying, by number. */
static void places_draw(char *out, size_t size, bool outputs, int gpus, int number)
{
    static const char *const names[] = {"weights_at", "sum_at", "update_at", "join_at", "loss_at"};
    struct mgb_random4 a = mgb_random_at(21, (uint64_t)number, 0),
                       b = mgb_random_at(22, (uint64_t)number, 0);
    size_t used = 0;
    out[0] = '\0';
    for (int i = 0; i < (outputs ? 5 : 3); i++)
        used += place_draw(out + used, size - used, names[i], i < 4 ? a.v[i] : b.v[0], gpus, i < 2);
    if (b.v[1] & 1)
        used += (size_t)snprintf(out + used, size - used, " relocation=clone");
    if (b.v[1] & 2)
        used += (size_t)snprintf(out + used, size - used, " peer_access=false");
    if (b.v[1] & 4)
        used += (size_t)snprintf(out + used, size - used, " pinned=false");
    if (!outputs && (b.v[1] & 8))
        snprintf(out + used, size - used, " bucket_mib=0.0001 overlap=%s",
                 b.v[1] & 16 ? "true" : "false");
}

/* Everything on the first GPU. */
static void base_write(char *out, size_t size, bool outputs, int gpus)
{
    snprintf(
        out, size,
        "gpus=%d global_batch=10 strategy=%s weights_at=/gpu:0 sum_at=/gpu:0 update_at=/gpu:0%s",
        gpus, outputs ? "outputs" : "gradients", outputs ? " join_at=/gpu:0 loss_at=/gpu:0" : "");
}

/* The short form tries everything with the first model, and a third each with the others. */
static bool is_left_out(int number, int which)
{
    return !draw_long() && number > 0 && which % (MACHINE_MODELS - 1) != number - 1;
}

/* The body for every model, its data in an order that epochs change. */
static void each_model(void (*body)(const struct training *training, int number))
{
    machine_set("8", NULL);
    for (int number = 0; number < MACHINE_MODELS; number += draw_long() ? 1 : STRIDE) {
        struct mgb_graph *graph = machine_model(number);
        struct training_data data = training_data_make(graph, ROWS, true, 3);
        struct training training = {.graph = graph,
                                    .source = &data.source,
                                    .optimizer = training_sgd(0.1f, 0.9f),
                                    .seed = 5,
                                    .play_on = machine_cuda()};
        training.optimizer.clip_norm = number % 2 ? 0.5f : 0.0f;
        body(&training, number);
        training_data_done(&data);
        mgb_graph_free(graph);
        machine_check_empty();
    }
}

static void places_compare(const struct training *training, int number)
{
    char base[192], places[224], options[448];
    for (int gpus = 1; gpus <= MOST_GPUS; gpus++)
        for (int outputs = 0; outputs < 2 && (draw_long() || (gpus - 1) % MACHINE_MODELS == number);
             outputs++) {
            base_write(base, sizeof base, outputs, gpus);
            struct outcome wanted = run_once(training, base);
            for (int i = 0; i < draw_count(1, 20); i++) {
                places_draw(places, sizeof places, outputs, gpus, 1000 * number + 100 * gpus + i);
                snprintf(options, sizeof options, "%s%s", base, places);
                struct outcome got = run_once(training, options);
                outcomes_compare(&wanted, &got, options);
            }
        }
}

static void places_on_1_to_8_gpus_never_change_a_bit(void **state)
{
    (void)state;
    each_model(places_compare);
}

static const char *const ways[] = {
    "bucket_mib=25 overlap=true",     "bucket_mib=25 overlap=false",
    "bucket_mib=0.0001 overlap=true", "bucket_mib=0.0001 overlap=false",
    "bucket_mib=0.001 overlap=true",  "bucket_mib=0.01 peer_access=false",
};
#define WAYS ((int)(sizeof ways / sizeof ways[0]))

static void ways_compare(const struct training *training, int number)
{
    for (int gpus = draw_long() ? 2 : 2 + 2 * number; gpus <= MOST_GPUS;
         gpus += draw_long() ? 1 : 8) {
        struct outcome wanted = {.digest = 0};
        for (int i = 0; i < WAYS; i++) {
            if (i > 0 && is_left_out(number, i))
                continue;
            char options[160];
            snprintf(options, sizeof options, "gpus=%d global_batch=10 strategy=allreduce %s", gpus,
                     ways[i]);
            struct outcome got = run_once(training, options);
            wanted = i == 0 ? got : wanted;
            outcomes_compare(&wanted, &got, options);
        }
    }
}

static void buckets_and_overlap_of_an_allreduce_neither(void **state)
{
    (void)state;
    each_model(ways_compare);
}

/* A run whose places change before every step against one whose places stay. */
static void toggles_compare(const struct training *training, int number)
{
    int gpus = 1 + 2 * number, steps = draw_count(number ? 2 : 6, 60); /* 1, 3, 5 and 7 */
    char base[192], places[224], options[448];
    for (int outputs = 0; outputs < 2; outputs++) {
        base_write(base, sizeof base, outputs, gpus);
        struct mgb_run *still = run_open(*training, base), *moving = run_open(*training, base);
        for (int i = 0; i < steps; i++) {
            double wanted, got;
            places_draw(places, sizeof places, outputs, gpus, 31 * gpus + i);
            snprintf(options, sizeof options, "%s relocation=nil peer_access=nil pinned=nil%s",
                     strstr(base, "weights_at"), places);
            training_set(moving, options);
            training_step(still, 1, &wanted);
            training_step(moving, 1, &got);
            if (memcmp(&got, &wanted, sizeof got) != 0)
                fail_msg("%s, step %d after%s: loss %.17g, not %.17g", base, i, places, got,
                         wanted);
        }
        assert_true(training_digest(still) == training_digest(moving));
        mgb_run_close(still);
        mgb_run_close(moving);
    }
}

static void toggling_in_mid_run_changes_nothing(void **state)
{
    (void)state;
    each_model(toggles_compare);
}

/* Across strategies and tower counts, all on GPUs, and with work at /cpu:0. */
static const char *const far[] = {
    "gpus=1 weights_at=/gpu:0 update_at=/gpu:0",
    "gpus=2 strategy=outputs join_at=/gpu:1 loss_at=/gpu:0",
    "gpus=3 strategy=gradients sum_at=/gpu:0 update_at=/gpu:1",
    "gpus=4 strategy=allreduce",
    "gpus=8 strategy=allreduce bucket_mib=0.0001",
    "gpus=7 strategy=gradients sum_at=spread weights_at=spread",
    "gpus=2 strategy=outputs join_at=/cpu:0 loss_at=/cpu:0",
    "gpus=6 strategy=outputs loss_at=/cpu:0 update_at=/cpu:0",
    "gpus=5 strategy=outputs join_at=/cpu:0 loss_at=/gpu:2 sum_at=/cpu:0",
    "gpus=3 strategy=gradients sum_at=/cpu:0 update_at=/cpu:0 weights_at=/cpu:0",
    "gpus=4 strategy=gradients weights_at=/cpu:0 cpu_merge=true",
    "gpus=0",
};
#define FAR ((int)(sizeof far / sizeof far[0]))

static void options_write(char *out, size_t size, const struct training *training, int number)
{
    snprintf(out, size, "global_batch=10 %s%s", far[number],
             draw_sees_towers(training->graph) && number > 0 && number + 1 < FAR ? " bn=sync" : "");
}

static void difference_check(const float *a, const float *b, int64_t count, double most,
                             const char *options, const char *what)
{
    double difference = training_difference(a, b, count);
    if (!(difference <= most))
        fail_msg("%s: %s differ by %g", options, what, difference);
}

/* From the same weights and rows, one step of plain SGD: its loss, and the weights, which are the gradient's image. */
static void far_compare(const struct training *training, int number)
{
    struct training plain = *training;
    float *wanted[2] = {NULL, NULL};
    double loss = 0;
    int64_t count;
    int further = draw_long() || number == 0 ? 19 : 4;
    plain.optimizer = training_sgd(0.1f, 0);
    for (int i = 0; i < FAR; i++) {
        char options[224];
        double got;
        if (i > 0 && is_left_out(number, i))
            continue;
        options_write(options, sizeof options, training, i);
        struct mgb_run *run = run_open(plain, options);
        for (int late = 0; late < 2; late++) {
            training_step(run, late ? further : 1, late ? NULL : &got);
            float *weights = training_weights(run, &count);
            if (i == 0)
                wanted[late] = weights;
            else
                difference_check(wanted[late], weights, count, late ? 1e-4 : 1e-5, options,
                                 late ? "later weights" : "weights after one step");
            if (i > 0)
                free(weights);
        }
        loss = i == 0 ? got : loss;
        if (!(fabs(got - loss) <= 1e-5 * fabs(loss)))
            fail_msg("%s: loss %.9g, not %.9g", options, got, loss);
        mgb_run_close(run);
    }
    free(wanted[0]);
    free(wanted[1]);
}

static void towers_strategies_and_work_at_the_cpu_agree_closely(void **state)
{
    (void)state;
    each_model(far_compare);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(places_on_1_to_8_gpus_never_change_a_bit),
        cmocka_unit_test(buckets_and_overlap_of_an_allreduce_neither),
        cmocka_unit_test(toggling_in_mid_run_changes_nothing),
        cmocka_unit_test(towers_strategies_and_work_at_the_cpu_agree_closely),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
