/* The words of scaling, against numbers worked out by hand; ecosystem.md 5.2 item 12. */
#include "tests/support/check.h"

#include "db/scaling.h"
#include <math.h>

#define MS 1e6

static void near(struct mgb_maybe_real got, double want)
{
    assert_true(got.known);
    assert_true(fabs(got.value - want) < 1e-9 * fmax(1, fabs(want)));
}

static const struct mgb_scaling_point one_32 = {1, 32, 100 * MS}, one_128 = {1, 128, 320 * MS},
                                      four_128 = {4, 128, 125 * MS}, four_32 = {4, 32, 50 * MS};

static void throughput_is_examples_over_seconds_and_no_mean_of_rates(void **state)
{
    (void)state;
    const int64_t wall_ns[] = {100000000, 100000000, 100000000, 200000000};
    int64_t timed_ns = 0;
    for (int i = 0; i < 4; i++)
        timed_ns += wall_ns[i];
    near(mgb_scaling_throughput(4 * 64, timed_ns), 512);
    assert_false(mgb_scaling_throughput(64, 0).known);
}

static void weak_and_strong_are_different_questions(void **state)
{
    (void)state;
    near(mgb_scaling_weak(&one_32, &four_128), 0.8);
    near(mgb_scaling_strong(&one_128, &four_128), 0.64);
    near(mgb_scaling_strong(&one_32, &four_32), 0.5);
    assert_false(mgb_scaling_weak(&one_128, &four_128).known);
    assert_false(mgb_scaling_strong(&one_32, &four_128).known);
    assert_false(mgb_scaling_weak(&four_32, &four_128).known);
}

static void an_epoch_counts_its_short_last_step(void **state)
{
    (void)state;
    near(mgb_scaling_epoch_ns(&one_32, 1000), 32 * 100 * MS);
    near(mgb_scaling_epoch_ns(&four_128, 1000), 8 * 125 * MS);
    near(mgb_scaling_epoch_ns(&one_32, 1024), 32 * 100 * MS);
    near(mgb_scaling_epoch(&one_32, &four_128, 1000), 3200.0 / (4 * 1000));
    /* With one batch the efficiency of an epoch is the strong one of a step. */
    near(mgb_scaling_epoch(&one_128, &four_128, 1000), 0.64);
}

static void the_batch_effect_is_not_the_gpus(void **state)
{
    (void)state;
    struct mgb_scaling_split split = mgb_scaling_separate(&one_32, &four_128, &one_128);
    near(split.speedup, 3.2);
    near(split.batch_effect, 1.25);
    near(split.gpu_effect, 2.56);
    assert_true(split.batch_first);
    split = mgb_scaling_separate(&one_32, &four_128, &four_32);
    near(split.speedup, 3.2);
    near(split.gpu_effect, 2);
    near(split.batch_effect, 1.6);
    assert_false(split.batch_first);
}

static void a_corner_that_ran_out_of_memory_leaves_the_speed_up(void **state)
{
    (void)state;
    struct mgb_scaling_point oom = {1, 128, 0}, other = {2, 64, 90 * MS};
    struct mgb_scaling_split split = mgb_scaling_separate(&one_32, &four_128, &oom);
    near(split.speedup, 3.2);
    assert_false(split.batch_effect.known || split.gpu_effect.known);
    split = mgb_scaling_separate(&one_32, &four_128, &other);
    assert_false(split.batch_effect.known || split.gpu_effect.known);
    assert_false(mgb_scaling_separate(&oom, &four_128, NULL).speedup.known);
    assert_false(mgb_scaling_strong(&oom, &four_128).known);
}

static void merging_costs_what_independent_towers_do_not(void **state)
{
    (void)state;
    struct mgb_scaling_point independent = {4, 128, 100 * MS};
    struct mgb_scaling_exchange exchange = mgb_scaling_exchange(&four_128, &independent);
    near(exchange.cost_ns, 25 * MS);
    near(exchange.share, 0.2);
    assert_false(mgb_scaling_exchange(&four_128, &four_32).cost_ns.known);
}

static void a_cost_that_may_be_none_is_not_told(void **state)
{
    (void)state;
    assert_true(mgb_scaling_exchange_told(10, 97, 103, 88, 92));  /* 10 +- 3.6 */
    assert_false(mgb_scaling_exchange_told(10, 94, 106, 82, 98)); /* 10 +- 10 */
    assert_false(mgb_scaling_exchange_told(-10, 97, 103, 107, 113));
    assert_true(mgb_scaling_exchange_told(1, 0, 0, 0, 0));
    assert_false(mgb_scaling_exchange_told(0, 0, 0, 0, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(throughput_is_examples_over_seconds_and_no_mean_of_rates),
        cmocka_unit_test(weak_and_strong_are_different_questions),
        cmocka_unit_test(an_epoch_counts_its_short_last_step),
        cmocka_unit_test(the_batch_effect_is_not_the_gpus),
        cmocka_unit_test(a_corner_that_ran_out_of_memory_leaves_the_speed_up),
        cmocka_unit_test(merging_costs_what_independent_towers_do_not),
        cmocka_unit_test(a_cost_that_may_be_none_is_not_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
