/* The CUDA plugin on a real card: the checks that CPU devices pass too, and a small network that must follow the host
 * backend under every strategy that the number of cards allows. */
#include "tests/gpu/card.h"
#include "tests/support/check.h"
#include "tests/support/conformance.h"
#include "tests/support/model.h"
#include "tests/support/training.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { STEPS = 8 };

static const struct {
    int gpus; /* that it takes at least */
    const char *options;
} placements[] = {
    {1, "gpus=1 global_batch=10 strategy=outputs"},
    {1, "gpus=1 global_batch=10 strategy=gradients cpu_relocation=true"},
    {1, "gpus=1 global_batch=10 strategy=gradients sum_at=/cpu:0 update_at=/cpu:0"},
    {0, "gpus=0 global_batch=10"},
    {2, "gpus=2 global_batch=10 strategy=outputs"},
    {2, "gpus=2 global_batch=10 strategy=gradients cpu_merge=false"},
    {2, "gpus=2 global_batch=10 strategy=allreduce"},
    {2, "gpus=2 global_batch=10 strategy=independent"},
    {1, "gpus=4 global_batch=10 strategy=outputs logical=true"},
    {1, "gpus=4 global_batch=10 strategy=gradients logical=true sum_at=/gpu:2"},
    {1, "gpus=4 global_batch=10 strategy=allreduce logical=true"},
};

static void sums_and_updates_are_those_of_the_contract(void **state)
{
    (void)state;
    struct rig rig = rig_open(card.cuda, 0);
    conformance_sums(&rig, 0, 2);
    conformance_sums(&rig, 1, 1);
    conformance_updates(&rig, 1, 1);
    rig_close(&rig);
}

static void events_order_the_card_and_the_host(void **state)
{
    (void)state;
    struct rig rig = rig_open(card.cuda, 0);
    conformance_order(&rig, 1, 0);
    if (card.count > 1)
        conformance_order(&rig, 1, 2);
    rig_close(&rig);
}

static void all_reduce_gives_all_cards_the_same_sum(void **state)
{
    (void)state;
    struct rig rig = rig_open(card.cuda, 0);
    for (int n = 1; n <= card.count; n++)
        conformance_allreduce(&rig, n, 3011);
    rig_close(&rig);
}

static void operators_match_the_reference(void **state)
{
    (void)state;
    struct rig rig = rig_open(card.cuda, 0);
    struct rig_play play = {.device = 1, .threads = 1};
    for (int i = 0; i < conformance_model_count; i++)
        if (!conformance_model_check(&rig, &play, &conformance_models[i]))
            fail_msg("%s: the plugin lacks operators of it", conformance_models[i].name);
    rig_close(&rig);
}

static void losses_of(double losses[STEPS], const struct mgb_graph *graph,
                      struct mgb_source *source, const char *options, const char *backend)
{
    struct training training = {.graph = graph,
                                .source = source,
                                .options = options,
                                .backend = backend,
                                .optimizer = training_sgd(0.2f, 0.9f)};
    struct mgb_run *run = training_open(&training);
    struct mgb_check check;
    training_step(run, STEPS, losses);
    assert_ok(mgb_run_check(run, &check));
    mgb_check_done(&check);
    mgb_run_close(run);
}

static void training_follows_the_host_backend(void **state)
{
    (void)state;
    struct mgb_graph *graph = model_mlp();
    struct training_data data = training_data_make(graph, 40, false, 3);
    for (size_t p = 0; p < sizeof placements / sizeof placements[0]; p++) {
        double host[STEPS], cuda[STEPS];
        if (placements[p].gpus > card.count)
            continue;
        losses_of(host, graph, &data.source, placements[p].options, "host");
        losses_of(cuda, graph, &data.source, placements[p].options, "cuda");
        for (int i = 0; i < STEPS; i++)
            if (!(fabs(host[i] - cuda[i]) <= 1e-4 * fabs(host[i])))
                fail_msg("%s: step %d: loss %.9g on the host, %.9g on the card",
                         placements[p].options, i, host[i], cuda[i]);
    }
    training_data_done(&data);
    mgb_graph_free(graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_and_updates_are_those_of_the_contract),
        cmocka_unit_test(events_order_the_card_and_the_host),
        cmocka_unit_test(all_reduce_gives_all_cards_the_same_sum),
        cmocka_unit_test(operators_match_the_reference),
        cmocka_unit_test(training_follows_the_host_backend),
    };
    int missing = card_find();
    if (missing)
        return missing;
    return cmocka_run_group_tests_name("card", tests, NULL, NULL);
}
