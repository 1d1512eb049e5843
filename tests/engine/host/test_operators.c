/* Every operator of the CPU devices against the naive reference, and the reference's gradients against differences. */
#include "tests/support/check.h"

#include "tests/support/conformance.h"

#include <math.h>
#include <string.h>

static void operators_agree_with_the_reference(int threads)
{
    struct rig rig = rig_open(&mgb_host_backend, 0);
    struct rig_play play = {.device = 1, .threads = threads};
    for (int i = 0; i < conformance_model_count; i++)
        if (!conformance_model_check(&rig, &play, &conformance_models[i]))
            fail_msg("model %s: %s", conformance_models[i].name, mgb_message_get());
    rig_close(&rig);
}

static void operators_agree_with_the_reference_on_one_thread(void **state)
{
    (void)state;
    operators_agree_with_the_reference(1);
}

#ifndef __SANITIZE_THREAD__ /* oneDNN's own team is invisible to ThreadSanitizer */
static void operators_agree_with_the_reference_on_two_threads(void **state)
{
    (void)state;
    operators_agree_with_the_reference(2);
}
#endif

static double loss_of(struct reference *reference)
{
    const struct mgb_graph *graph = reference->graph;
    reference_play(reference, graph->node_count);
    return reference->value[graph->losses[0].tensor][0];
}

/* A few elements of every variable: (loss(w + h) - loss(w - h)) / 2h, in double. */
static void gradients_are_the_slopes_of_the_loss(void **state)
{
    (void)state;
    const double h = 1e-6;
    for (int m = 0; m < conformance_model_count; m++) {
        struct mgb_graph *graph = conformance_models[m].make();
        struct reference reference = reference_make(graph, 2);
        reference_fill(&reference, 3);
        for (int n = 0; n < graph->node_count; n++) {
            const struct mgb_node *node = &graph->nodes[n];
            if (node->kind != MGB_OP_READ || graph->variables[node->a.variable].gradient < 0)
                continue;
            int tensor = node->outputs[0], gradient = graph->variables[node->a.variable].gradient;
            for (int64_t i = 0; i < reference.counts[tensor];
                 i += reference.counts[tensor] / 3 + 1) {
                double *w = &reference.value[tensor][i], at = *w, slope;
                (void)loss_of(&reference);
                double wanted = reference.value[gradient][i];
                *w = at + h;
                slope = loss_of(&reference);
                *w = at - h;
                slope = (slope - loss_of(&reference)) / (2 * h);
                *w = at;
                if (fabs(slope - wanted) > 1e-5 * (1 + fabs(wanted)))
                    fail_msg("%s, variable '%s' element %d: gradient %.9g, slope %.9g",
                             conformance_models[m].name, node->name, (int)i, wanted, slope);
            }
        }
        reference_free(&reference);
        mgb_graph_free(graph);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operators_agree_with_the_reference_on_one_thread),
#ifndef __SANITIZE_THREAD__
        cmocka_unit_test(operators_agree_with_the_reference_on_two_threads),
#endif
        cmocka_unit_test(gradients_are_the_slopes_of_the_loss),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
