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

/* Without weights: the scale of every gradient is 1. */
static double loss_of(struct reference *reference)
{
    const struct mgb_graph *graph = reference->graph;
    double sum = 0;
    int last = 0;
    for (int i = 0; i < graph->loss_count; i++) {
        int node = graph->tensors[graph->losses[i].tensor].node;
        last = node > last ? node : last;
    }
    reference_play(reference, last + 1);
    for (int i = 0; i < graph->loss_count; i++)
        sum += reference->value[graph->losses[i].tensor][0];
    return sum;
}

/* A few elements of a variable: (loss(w + h) - loss(w - h)) / 2h, in double. */
static void slopes_check(struct reference *reference, const char *model,
                         const struct mgb_node *read)
{
    const double h = 1e-6;
    int tensor = read->outputs[0],
        gradient = reference->graph->variables[read->a.variable].gradient;
    int64_t count = reference->counts[tensor];
    for (int64_t i = 0; i < count; i += count / 3 + 1) {
        double *w = &reference->value[tensor][i], at = *w, wanted = reference->value[gradient][i];
        *w = at + h;
        double slope = loss_of(reference);
        *w = at - h;
        slope = (slope - loss_of(reference)) / (2 * h);
        *w = at;
        if (fabs(slope - wanted) > 1e-5 * (1 + fabs(wanted)))
            fail_msg("%s, variable '%s' element %d: gradient %.9g, slope %.9g", model, read->name,
                     (int)i, wanted, slope);
    }
}

static void gradients_are_the_slopes_of_the_loss(void **state)
{
    (void)state;
    for (int m = 0; m < conformance_model_count; m++) {
        struct mgb_graph *graph = conformance_models[m].make();
        struct reference reference = reference_make(graph, 2);
        int checked = 0;
        reference_fill(&reference, 3);
        reference_play(&reference, graph->node_count);
        for (int n = 0; n < graph->node_count; n++) {
            const struct mgb_node *node = &graph->nodes[n];
            if (node->kind != MGB_OP_READ || graph->variables[node->a.variable].gradient < 0 ||
                graph->variables[node->a.variable].info.state)
                continue;
            slopes_check(&reference, conformance_models[m].name, node);
            checked++;
        }
        assert_true(checked > 0);
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
