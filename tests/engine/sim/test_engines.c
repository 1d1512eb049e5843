/* Replay and the event engine are one clock: on plans of random models under random placements, on machines where nothing
 * is shared, they give the same nanosecond for every task. */
#include "engine/graph/graph.h"
#include "engine/sim/program.h"
#include "tests/engine/sim/rigged.h"
#include "tests/support/check.h"
#include "tests/support/draws.h"
#include <stdio.h>
#include <string.h>

struct drawn {
    struct mgb_graph *graph;
    struct mgb_effective placement;
    struct mgb_plan *plan;
};

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

/* False where the draw is no placement. */
static bool drawn_make(struct drawn *out, const struct mgb_topology *topology, int gpus, int number)
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
    const struct mgb_plan_request request = {.kind = MGB_PLAN_TRAIN,
                                             .graph = out->graph,
                                             .topology = topology,
                                             .placement = &out->placement,
                                             .optimizer = mgb_optimizer_default(MGB_ADAM),
                                             .rows = out->placement.global_batch};
    assert_ok(mgb_plan_make(&out->plan, &request));
    return true;
}

static void drawn_done(struct drawn *drawn)
{
    mgb_plan_free(drawn->plan);
    mgb_effective_done(&drawn->placement);
    mgb_graph_free(drawn->graph);
}

static void steps_equal(const struct mgb_virtual_step *a, const struct mgb_virtual_step *b,
                        int devices)
{
    assert_int_equal(a->wall_ns, b->wall_ns);
    assert_int_equal(a->task_count, b->task_count);
    assert_memory_equal(a->tasks, b->tasks, (size_t)a->task_count * sizeof *a->tasks);
    assert_memory_equal(a->devices, b->devices, (size_t)devices * sizeof *a->devices);
}

/* Wires for every pair, as many engines as there are devices: nobody is in anybody's way. */
static struct mgb_machine *wide_machine(int gpus)
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

static void replay_and_events_agree_where_nothing_is_shared(void **state)
{
    (void)state;
    int played = 0;
    for (int number = 0; number < draw_count(40, 400); number++) {
        int gpus = 1 + number / 4 % 4;
        struct mgb_machine *machine = wide_machine(gpus);
        struct mgb_sim *replay = rigged_open(machine, MGB_SIM_REPLAY),
                       *events = rigged_open(machine, MGB_SIM_EVENTS);
        struct drawn drawn;
        if (drawn_make(&drawn, mgb_sim_virtual(replay)->topology, gpus, number)) {
            struct mgb_virtual_step a = rigged_play(replay, drawn.plan, &drawn.placement),
                                    b = rigged_play(events, drawn.plan, &drawn.placement);
            steps_equal(&a, &b, drawn.plan->use_count);
            assert_true(a.wall_ns > 11000);
            drawn_done(&drawn);
            played++;
        }
        mgb_sim_close(replay);
        mgb_sim_close(events);
        mgb_machine_free(machine);
    }
    assert_true(played > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(replay_and_events_agree_where_nothing_is_shared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
