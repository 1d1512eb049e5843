#include "tests/engine/sim/drawn.h"

#include "engine/graph/graph.h"
#include "tests/engine/sim/rigged.h"
#include "tests/support/check.h"
#include "tests/support/draws.h"
#include <stdio.h>
#include <string.h>

static const char *const strategies[] = {"outputs", "gradients", "allreduce", "independent"};

/* Sets "name=value ..." one by one. */
static void options_set(struct mgb_placement *placement, char *options)
{
    for (char *rest, *word = strtok_r(options, " ", &rest); word;
         word = strtok_r(NULL, " ", &rest)) {
        char *value = strchr(word, '=');
        *value++ = '\0';
        assert_ok(mgb_placement_set(placement, word, value));
    }
}

static void plan_fill(struct drawn *out, const struct mgb_topology *topology)
{
    const struct mgb_plan_request request = {.kind = MGB_PLAN_TRAIN,
                                             .graph = out->graph,
                                             .topology = topology,
                                             .placement = &out->placement,
                                             .optimizer = mgb_optimizer_default(MGB_ADAM),
                                             .rows = out->placement.global_batch};
    assert_ok(mgb_plan_make(&out->plan, &request));
}

bool drawn_make(struct drawn *out, const struct mgb_topology *topology, int gpus, int number)
{
    const char *strategy = strategies[number % 4];
    struct mgb_placement placement;
    char places[256] = "", count[16];
    if (number % 4 < 2)
        draw_places(places, sizeof places, strategy, gpus, number / 4);
    snprintf(count, sizeof count, "%d", gpus);
    mgb_placement_init(&placement);
    assert_ok(mgb_placement_set(&placement, "strategy", strategy));
    assert_ok(mgb_placement_set(&placement, "gpus", count));
    assert_ok(mgb_placement_set(&placement, "global_batch", number % 3 ? "12" : "13"));
    options_set(&placement, places);
    out->graph = draw_model(number % 9);
    out->plan = NULL;
    enum mgb_status status =
        mgb_placement_resolve(&out->placement, &placement, 0, out->graph, topology, 4);
    if (status != MGB_OK) {
        mgb_graph_free(out->graph);
        return false;
    }
    plan_fill(out, topology);
    return true;
}

void drawn_done(struct drawn *drawn)
{
    mgb_plan_free(drawn->plan);
    mgb_effective_done(&drawn->placement);
    mgb_graph_free(drawn->graph);
}

void drawn_plan(struct drawn *out, const struct mgb_topology *topology, int gpus,
                const char *strategy)
{
    struct mgb_placement placement;
    char count[16];
    mgb_placement_init(&placement);
    snprintf(count, sizeof count, "%d", gpus);
    assert_ok(mgb_placement_set(&placement, "strategy", strategy));
    assert_ok(mgb_placement_set(&placement, "gpus", count));
    assert_ok(mgb_placement_set(&placement, "batch", "1"));
    assert_ok(mgb_placement_resolve(&out->placement, &placement, 0, out->graph, topology, 4));
    plan_fill(out, topology);
}

struct mgb_machine *drawn_machine(int gpus)
{
    struct mgb_machine *machine = rigged_machine(gpus);
    for (int a = 1; a <= gpus; a++) {
        machine->devices[a].launch_us = 3;
        machine->devices[a].copies_in = machine->devices[a].copies_out = gpus + 1;
        for (int b = a + 1; b <= gpus; b++)
            rigged_wire(machine, a, b, 17);
    }
    machine->host.submit_us = 1.5;
    machine->host.step_us = 11;
    machine->collective.start_us = 4;
    machine->collective.hop_us = 2;
    return machine;
}
