/* Every operator on a card against the host backend, tensor by tensor: inputs and weights drawn anew at each start, outputs
 * full of NaN before, everything twice. */
#include "tests/gpu/card.h"
#include "tests/support/check.h"
#include "tests/support/conformance.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct both {
    struct rig host, cuda;
};

static void values_compare(const char *model, const struct reference *reference,
                           const struct rig_values *host, const struct rig_values *cuda,
                           double tolerance)
{
    const struct mgb_graph *graph = reference->graph;
    for (int t = 0; t < graph->tensor_count; t++) {
        const struct mgb_node *node = &graph->nodes[graph->tensors[t].node];
        double most = 1e-6;
        if (!host->value[t] || !cuda->value[t])
            continue;
        for (int64_t i = 0; i < reference->counts[t]; i++)
            most = fmax(most, fabs((double)host->value[t][i]));
        for (int64_t i = 0; i < reference->counts[t]; i++)
            if (!(fabs((double)cuda->value[t][i] - (double)host->value[t][i]) <= tolerance * most))
                fail_msg("%s, %s '%s': element %lld of %lld is %.9g on the card, %.9g on the host "
                         "(largest %.3g, MGB_SEED=%u)",
                         model, mgb_op_name(node->kind), node->name, (long long)i,
                         (long long)reference->counts[t], (double)cuda->value[t][i],
                         (double)host->value[t][i], most, card.seed);
    }
}

static void bits_compare(const char *model, const struct reference *reference,
                         const struct rig_values *a, const struct rig_values *b)
{
    for (int t = 0; t < reference->graph->tensor_count; t++)
        if (a->value[t] && b->value[t] &&
            memcmp(a->value[t], b->value[t], sizeof(float) * (size_t)reference->counts[t]) != 0)
            fail_msg("%s, tensor %d: the second time has other bits (MGB_SEED=%u)", model, t,
                     card.seed);
}

static void model_compare(const struct both *both, const struct conformance_model *model,
                          int64_t rows, unsigned seed)
{
    struct mgb_graph *graph = model->make();
    struct reference reference = reference_make(graph, rows);
    struct rig_values host = {0}, cuda = {0}, again = {0};
    const struct rig_play play = {.device = 1, .threads = 1, .plain = true};
    reference.first_row = seed % 1000;
    reference.step = seed % 7;
    reference.scale = 0.25f;
    reference_fill(&reference, seed);
    assert_ok(rig_run(&host, &both->host, &reference, &play));
    assert_ok(rig_run(&cuda, &both->cuda, &reference, &play));
    assert_ok(rig_run(&again, &both->cuda, &reference, &play));
    values_compare(model->name, &reference, &host, &cuda, 1e-4);
    bits_compare(model->name, &reference, &cuda, &again);
    rig_values_free(&host);
    rig_values_free(&cuda);
    rig_values_free(&again);
    reference_free(&reference);
    mgb_graph_free(graph);
}

static void operators_match_the_host_backend_and_repeat_to_the_bit(void **state)
{
    (void)state;
    struct both both = {rig_open(&mgb_host_backend, 0), rig_open(card.cuda, 0)};
    for (int i = 0; i < conformance_model_count; i++)
        for (int draw = 0; draw < card_count(8, 1); draw++)
            model_compare(&both, &conformance_models[i], draw % 2 ? card_count(67, 3) : 5,
                          card.seed + (unsigned)(997 * draw + i));
    printf("%d models\n", conformance_model_count);
    rig_close(&both.host);
    rig_close(&both.cuda);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operators_match_the_host_backend_and_repeat_to_the_bit),
    };
    int missing = card_find();
    if (missing)
        return missing;
    return cmocka_run_group_tests_name("operators", tests, NULL, NULL);
}
