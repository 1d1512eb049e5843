/* A placement resolved and planned for tests, and the facts of it. Nothing is opened. */
#ifndef TESTS_APP_SESSION_WORKBENCH_PLACED_H
#define TESTS_APP_SESSION_WORKBENCH_PLACED_H

#include "app/session/workbench/facts.h"
#include "tests/support/check.h"
#include "tests/support/plan.h"
#include "tests/support/training.h"

struct placed {
    const struct mgb_graph *graph;
    struct mgb_topology topology;
    struct mgb_placement asked;
    struct mgb_effective effective;
    struct mgb_plan *plan;
    struct mgb_facts *facts;
};

/* On a machine of `gpus` GPUs; `options`: "gpus=2 cpu_merge=false". */
static inline void placed_make(struct placed *out, const struct mgb_graph *graph, int gpus,
                               const char *options, struct mgb_optimizer optimizer)
{
    *out = (struct placed){.graph = graph};
    plan_machine_make(&out->topology, gpus);
    mgb_placement_init(&out->asked);
    placement_apply(&out->asked, options);
    assert_ok(mgb_placement_resolve(&out->effective, &out->asked, 0, graph, &out->topology, 2));
    struct mgb_plan_request plan = {.kind = MGB_PLAN_TRAIN,
                                    .graph = graph,
                                    .topology = &out->topology,
                                    .placement = &out->effective,
                                    .optimizer = optimizer,
                                    .rows = out->effective.global_batch};
    assert_ok(mgb_plan_make(&out->plan, &plan));
    struct mgb_facts_request request = {.model = "drawn",
                                        .data = "random",
                                        .backend = "host",
                                        .remark = "",
                                        .graph = graph,
                                        .topology = &out->topology,
                                        .asked = &out->asked,
                                        .effective = &out->effective,
                                        .plan = out->plan};
    assert_ok(mgb_facts_make(&out->facts, &request));
}

static inline void placed_done(struct placed *placed)
{
    mgb_shared_drop(placed->facts);
    mgb_plan_free(placed->plan);
    mgb_effective_done(&placed->effective);
    mgb_topology_done(&placed->topology);
}

#endif
