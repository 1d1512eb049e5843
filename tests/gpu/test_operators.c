/* Every operator on a card against the host backend, tensor by tensor: inputs and weights drawn anew at each start, outputs
 * full of NaN before, everything twice; and in each reduced precision of products against the host's f32. */
#include "tests/gpu/card.h"
#include "tests/support/check.h"
#include "tests/support/conformance.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const precision_names[] = {[MGB_PRECISION_F32] = "f32",
                                              [MGB_PRECISION_TF32] = "tf32",
                                              [MGB_PRECISION_BF16] = "bf16",
                                              [MGB_PRECISION_F16] = "f16"};

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

/* Of products in a reduced precision, by what chains of them leave: tens of roundings, gradients that nearly cancel. As a
 * part of the norm of all that an operator gives: 2 % in TF32 and f16, 10 % in bf16; where a relu or a maximum went another way
 * (a value is 0 on one side only) gradients may be off by half. */
static void rounding_compare(const char *model, const struct reference *reference,
                             const struct rig_values *host, const struct rig_values *cuda,
                             enum mgb_precision precision)
{
    static const double most[] = {
        [MGB_PRECISION_TF32] = 0.02, [MGB_PRECISION_BF16] = 0.1, [MGB_PRECISION_F16] = 0.02};
    const struct mgb_graph *graph = reference->graph;
    bool part = conformance_parts(reference, host, cuda);
    for (int n = 0; n < graph->node_count; n++) {
        const struct mgb_node *node = &graph->nodes[n];
        double apart = conformance_distance(reference, node, cuda, host);
        double limit = part && node->section != MGB_SECTION_FORWARD ? 0.5 : most[precision];
        if (node->kind != MGB_OP_MAX_POOL2D && !(apart <= limit))
            fail_msg("%s in %s: %s '%s' is off by %.3g (MGB_SEED=%u)", model,
                     precision_names[precision], mgb_op_name(node->kind), node->name, apart,
                     card.seed);
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
                          int64_t rows, unsigned seed, enum mgb_precision precision)
{
    struct mgb_graph *graph = model->make();
    struct reference reference = reference_make(graph, rows);
    struct rig_values host = {0}, cuda = {0}, again = {0};
    struct rig_play play = {.device = 1, .threads = 1, .plain = true};
    reference.first_row = seed % 1000;
    reference.step = seed % 7;
    reference.scale = 0.25f;
    reference_fill(&reference, seed);
    assert_ok(rig_run(&host, &both->host, &reference, &play));
    play.precision = precision;
    assert_ok(rig_run(&cuda, &both->cuda, &reference, &play));
    assert_ok(rig_run(&again, &both->cuda, &reference, &play));
    if (precision == MGB_PRECISION_F32)
        values_compare(model->name, &reference, &host, &cuda, 1e-4);
    else
        rounding_compare(model->name, &reference, &host, &cuda, precision);
    bits_compare(model->name, &reference, &cuda, &again);
    rig_values_free(&host);
    rig_values_free(&cuda);
    rig_values_free(&again);
    reference_free(&reference);
    mgb_graph_free(graph);
}

/* Those that multiply matrices, without maxima and absolute values after it, where rounding may decide otherwise; of a relu it
 * decides little, and gradients behind one have a limit of their own. */
static bool is_smooth(const char *model)
{
    static const char *const smooth[] = {
        "dense",    "positions", "mlp",   "conv", "conv_groups", "attention", "attention_small",
        "matrices", "tied",      "words", "lstm", "lstm_short",  "gru",       "gru_before"};
    for (size_t i = 0; i < sizeof smooth / sizeof smooth[0]; i++)
        if (strcmp(smooth[i], model) == 0)
            return true;
    return false;
}

static void models_compare(int draws, enum mgb_precision precision)
{
    struct both both = {rig_open(&mgb_host_backend, 0), rig_open(card.cuda, 0)};
    for (int i = 0; i < conformance_model_count; i++)
        for (int draw = 0; draw < draws; draw++) {
            if (precision != MGB_PRECISION_F32 && !is_smooth(conformance_models[i].name))
                continue;
            model_compare(&both, &conformance_models[i], draw % 2 ? card_count(67, 3) : 5,
                          card.seed + (unsigned)(997 * draw + i), precision);
        }
    rig_close(&both.host);
    rig_close(&both.cuda);
}

static void operators_match_the_host_backend_and_repeat_to_the_bit(void **state)
{
    (void)state;
    models_compare(card_count(8, 1), MGB_PRECISION_F32);
}

static void in_tf32_within_its_rounding(void **state)
{
    (void)state;
    models_compare(card_count(4, 1), MGB_PRECISION_TF32);
}

static void in_bf16_within_its_rounding(void **state)
{
    (void)state;
    models_compare(card_count(4, 1), MGB_PRECISION_BF16);
}

static void in_f16_within_its_rounding(void **state)
{
    (void)state;
    models_compare(card_count(4, 1), MGB_PRECISION_F16);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operators_match_the_host_backend_and_repeat_to_the_bit),
        cmocka_unit_test(in_tf32_within_its_rounding),
        cmocka_unit_test(in_bf16_within_its_rounding),
        cmocka_unit_test(in_f16_within_its_rounding),
    };
    int missing = card_find();
    if (missing)
        return missing;
    return cmocka_run_group_tests_name("operators", tests, NULL, NULL);
}
