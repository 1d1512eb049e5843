/* The value a key gives each placement option. */
#include "tests/support/check.h"

#include "app/session/workbench/workbench.h"
#include <stdio.h>
#include <string.h>

static struct mgb_facts_device devices[5];

/* Facts of four GPUs beside a CPU, two of them in use, under `strategy`. */
static struct mgb_facts facts_make(enum mgb_strategy strategy)
{
    struct mgb_facts facts = {.strategy = strategy,
                              .gpus = 2,
                              .batch_per_gpu = 32,
                              .global_batch = 64,
                              .threads = 2,
                              .device_count = 5,
                              .devices = devices};
    snprintf(devices[0].name, sizeof devices[0].name, "/cpu:0");
    for (int i = 1; i < 5; i++)
        snprintf(devices[i].name, sizeof devices[i].name, "/gpu:%d", i - 1);
    snprintf(facts.options[MGB_OPTION_WEIGHTS_AT].effective, 96, "/gpu:0");
    snprintf(facts.options[MGB_OPTION_JOIN_AT].effective, 96, "/cpu:0");
    snprintf(facts.options[MGB_OPTION_PEER_ACCESS].effective, 96, "false");
    return facts;
}

struct toggled {
    struct mgb_facts facts;
    struct mgb_placement asked;
    char value[512], reason[240];
};

static struct toggled toggled_make(enum mgb_strategy strategy)
{
    struct toggled t = {.facts = facts_make(strategy)};
    mgb_placement_init(&t.asked);
    return t;
}

/* Presses the key, and takes over what it gives. */
static const char *press(struct toggled *t, enum mgb_option_id option, int direction)
{
    if (!mgb_toggle_next(t->value, sizeof t->value, t->reason, sizeof t->reason, option, direction,
                         &t->facts, &t->asked))
        return "refused";
    assert_ok(mgb_placement_set(&t->asked, mgb_placement_options()[option].name, t->value));
    return t->value;
}

static void gpus_double_and_halve_between_one_and_what_there_is(void **state)
{
    (void)state;
    struct toggled t = toggled_make(MGB_OUTPUTS);
    assert_string_equal(press(&t, MGB_OPTION_GPUS, 1), "4");
    assert_string_equal(press(&t, MGB_OPTION_GPUS, 1), "refused");
    assert_string_equal(t.reason, "this machine has 4 GPUs");
    assert_string_equal(press(&t, MGB_OPTION_GPUS, -1), "2");
    assert_string_equal(press(&t, MGB_OPTION_GPUS, -1), "1");
    assert_string_equal(press(&t, MGB_OPTION_GPUS, -1), "refused");
    t.facts.device_count = 4; /* three GPUs */
    assert_ok(mgb_placement_set(&t.asked, "gpus", "2"));
    assert_string_equal(press(&t, MGB_OPTION_GPUS, 1), "3");
    assert_string_equal(press(&t, MGB_OPTION_GPUS, -1), "2");
}

static void listed_gpus_keep_their_order(void **state)
{
    (void)state;
    struct toggled t = toggled_make(MGB_OUTPUTS);
    assert_ok(mgb_placement_set(&t.asked, "gpus", "{2,0}"));
    assert_string_equal(press(&t, MGB_OPTION_GPUS, 1), "{2,0,1,3}");
    assert_string_equal(press(&t, MGB_OPTION_GPUS, -1), "{2,0}");
    assert_string_equal(press(&t, MGB_OPTION_GPUS, -1), "{2}");
}

static void batches_double_and_halve(void **state)
{
    (void)state;
    struct toggled t = toggled_make(MGB_OUTPUTS);
    assert_string_equal(press(&t, MGB_OPTION_BATCH, 1), "64");
    assert_string_equal(press(&t, MGB_OPTION_BATCH, 1), "128");
    assert_ok(mgb_placement_set(&t.asked, "batch", "1"));
    assert_string_equal(press(&t, MGB_OPTION_BATCH, -1), "refused");
    assert_string_equal(t.reason, "1 example is the least");
    assert_string_equal(press(&t, MGB_OPTION_GLOBAL_BATCH, -1), "32");
    assert_ok(mgb_placement_set(&t.asked, "global_batch", "2"));
    assert_string_equal(press(&t, MGB_OPTION_GLOBAL_BATCH, -1), "refused");
}

static void places_go_between_the_cpu_and_the_first_gpu(void **state)
{
    (void)state;
    struct toggled t = toggled_make(MGB_OUTPUTS);
    assert_string_equal(press(&t, MGB_OPTION_WEIGHTS_AT, 1), "/cpu:0");
    assert_string_equal(press(&t, MGB_OPTION_WEIGHTS_AT, 1), "/gpu:0");
    assert_string_equal(press(&t, MGB_OPTION_WEIGHTS_AT, -1), "/cpu:0");
    assert_string_equal(press(&t, MGB_OPTION_WEIGHTS_AT, -1), "spread");
    assert_string_equal(press(&t, MGB_OPTION_WEIGHTS_AT, 1), "/cpu:0");
    assert_string_equal(press(&t, MGB_OPTION_MERGE_AT, 1), "/gpu:0"); /* in effect: join_at */
    assert_ok(mgb_placement_set(&t.asked, "gpus", "{3,1}"));
    assert_ok(mgb_placement_set(&t.asked, "weights_at", "/cpu:0"));
    assert_string_equal(press(&t, MGB_OPTION_WEIGHTS_AT, 1), "/gpu:3");
}

static void names_go_round_and_switches_flip(void **state)
{
    (void)state;
    struct toggled t = toggled_make(MGB_OUTPUTS);
    assert_string_equal(press(&t, MGB_OPTION_STRATEGY, 1), "gradients");
    assert_string_equal(press(&t, MGB_OPTION_STRATEGY, -1), "outputs");
    assert_string_equal(press(&t, MGB_OPTION_STRATEGY, -1), "independent");
    assert_string_equal(press(&t, MGB_OPTION_STRATEGY, 1), "outputs");
    assert_string_equal(press(&t, MGB_OPTION_STALE, 1), "true");
    assert_string_equal(press(&t, MGB_OPTION_STALE, 1), "false");
    assert_string_equal(press(&t, MGB_OPTION_PEER_ACCESS, 1), "true"); /* auto chose false */
    assert_string_equal(press(&t, MGB_OPTION_PEER_ACCESS, 1), "false");
    assert_string_equal(press(&t, MGB_OPTION_PEER_ACCESS, 1), "auto");
}

static void what_means_nothing_under_the_strategy_is_refused(void **state)
{
    (void)state;
    struct toggled t = toggled_make(MGB_ALLREDUCE);
    assert_string_equal(press(&t, MGB_OPTION_WEIGHTS_AT, 1), "refused");
    assert_string_equal(t.reason, "n/a under allreduce");
    assert_ok(mgb_placement_set(&t.asked, "strategy", "gradients")); /* waits to be in force */
    assert_string_equal(press(&t, MGB_OPTION_WEIGHTS_AT, 1), "/cpu:0");
    assert_string_equal(press(&t, MGB_OPTION_ALLREDUCE, 1), "refused");
}

static void every_option_gives_a_value_that_can_be_set_or_a_reason(void **state)
{
    (void)state;
    for (int strategy = MGB_OUTPUTS; strategy <= MGB_INDEPENDENT; strategy++)
        for (int id = 0; id < MGB_OPTION_COUNT; id++) {
            struct toggled t = toggled_make((enum mgb_strategy)strategy);
            for (int i = 0; i < 8; i++)
                if (strcmp(press(&t, (enum mgb_option_id)id, i < 4 ? 1 : -1), "refused") == 0)
                    assert_int_not_equal(strlen(t.reason), 0);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gpus_double_and_halve_between_one_and_what_there_is),
        cmocka_unit_test(listed_gpus_keep_their_order),
        cmocka_unit_test(batches_double_and_halve),
        cmocka_unit_test(places_go_between_the_cpu_and_the_first_gpu),
        cmocka_unit_test(names_go_round_and_switches_flip),
        cmocka_unit_test(what_means_nothing_under_the_strategy_is_refused),
        cmocka_unit_test(every_option_gives_a_value_that_can_be_set_or_a_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
