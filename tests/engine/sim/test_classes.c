/* Tower classes are the flat plan, not expanded: the same nanosecond for every task of every tower where nothing is shared,
 * with and without slowness by chance; and replicas that a step does not wait for. */
#include "engine/graph/graph.h"
#include "engine/sim/sim.h"
#include "tests/engine/sim/drawn.h"
#include "tests/engine/sim/rigged.h"
#include "tests/support/check.h"
#include "tests/support/draws.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void steps_equal(const struct mgb_virtual_step *a, const struct mgb_virtual_step *b,
                        const struct mgb_plan *plan)
{
    assert_int_equal(a->wall_ns, b->wall_ns);
    assert_int_equal(a->task_count, b->task_count);
    for (int i = 0; i < a->task_count; i++)
        if (memcmp(&a->tasks[i], &b->tasks[i], sizeof a->tasks[i]) != 0)
            fail_msg("task %d '%s' of tower %d: %lld + %lld ns, flat %lld + %lld", i,
                     plan->tasks[b->tasks[i].task].name, b->tasks[i].tower,
                     (long long)a->tasks[i].start_ns, (long long)a->tasks[i].duration_ns,
                     (long long)b->tasks[i].start_ns, (long long)b->tasks[i].duration_ns);
    for (int u = 0; u < plan->use_count; u++)
        if (memcmp(&a->devices[u], &b->devices[u], sizeof a->devices[u]) != 0)
            fail_msg("times of device %d differ", plan->uses[u].device);
}

static struct mgb_virtual_step played(struct mgb_sim *sim, const struct drawn *drawn, int64_t step)
{
    const struct mgb_virtual *face = mgb_sim_virtual(sim);
    struct mgb_virtual_step out;
    assert_ok(face->play(
        face->context, &out,
        &(struct mgb_virtual_request){
            .plan = drawn->plan, .placement = &drawn->placement, .step = step, .trace = true}));
    return out;
}

/* False: the plan has no class form that is exact, and says so. */
static bool both_agree(struct mgb_machine *machine, const struct drawn *drawn)
{
    struct mgb_sim *classes = rigged_open(machine, MGB_SIM_CLASSES),
                   *events = rigged_open(machine, MGB_SIM_EVENTS);
    const struct mgb_virtual *face = mgb_sim_virtual(classes);
    struct mgb_virtual_step step;
    enum mgb_status status = face->play(
        face->context, &step,
        &(struct mgb_virtual_request){.plan = drawn->plan, .placement = &drawn->placement});
    if (status == MGB_UNSUPPORTED)
        assert_message("tower classes");
    else
        assert_ok(status);
    for (int64_t n = 0; status == MGB_OK && n < 2; n++) {
        struct mgb_virtual_step a = played(classes, drawn, n), b = played(events, drawn, n);
        steps_equal(&a, &b, drawn->plan);
        assert_int_equal(mgb_sim_effort_get(classes).engine, MGB_SIM_CLASSES);
    }
    mgb_sim_close(classes);
    mgb_sim_close(events);
    return status == MGB_OK;
}

/* What a machine has that can tell towers apart, by number. */
static void machine_vary(struct mgb_machine *machine, int number)
{
    if (number % 2)
        machine->device_sigma = 0.05;
    if (number / 2 % 2)
        machine->step_sigma = 0.02;
    if (number / 4 % 2)
        machine->host.submit_us = 0;
    machine->host.inputs_ready = number / 8 % 2;
    machine->host.sums_apart = number / 16 % 2;
    machine->host.copy_waits = (enum mgb_copy_wait)(number / 3 % 3);
    if (number / 5 % 2)
        machine->collective.compute_share = 0.15;
    if (number % 3 == 1)
        machine->devices[1].speed = 0.5;
    if (number % 7 == 3)
        machine->wires[1].gbps = 3;
}

static void classes_are_the_flat_plan_where_nothing_is_shared(void **state)
{
    (void)state;
    int agreed = 0, crowds = 0;
    for (int number = 0; number < draw_count(96, 960); number++) {
        int gpus = 1 + number / 4 % 6;
        struct mgb_machine *machine = drawn_machine(gpus);
        struct drawn drawn;
        machine_vary(machine, number * 7 / 3);
        assert_ok(mgb_machine_check(machine));
        struct mgb_topology topology;
        assert_ok(mgb_machine_topology(&topology, machine));
        if (drawn_make(&drawn, &topology, gpus, number)) {
            bool agree = both_agree(machine, &drawn);
            agreed += agree;
            for (int c = 0; agree && c < drawn.plan->class_count; c++)
                crowds += drawn.plan->classes[c].tower_count > 1;
            drawn_done(&drawn);
        }
        mgb_topology_done(&topology);
        mgb_machine_free(machine);
    }
    assert_true(agreed > 20);
    assert_true(crowds > 10);
}

struct many { /* a model of dense layers on many GPUs, all-reduced */
    struct mgb_machine *machine;
    struct mgb_topology topology;
    struct drawn drawn;
};

static void many_make(struct many *out, int gpus, double device_sigma, double step_sigma)
{
    out->machine = rigged_machine(gpus);
    out->machine->device_sigma = device_sigma;
    out->machine->step_sigma = step_sigma;
    for (int w = 0; w < out->machine->wire_count; w++)
        out->machine->wires[w].gbps = 1e6; /* towers' computing is what a step takes */
    assert_ok(mgb_machine_check(out->machine));
    assert_ok(mgb_machine_topology(&out->topology, out->machine));
    out->drawn.graph = rigged_graph(6, 64);
    drawn_plan(&out->drawn, &out->topology, gpus, "allreduce");
}

static void many_done(struct many *many)
{
    drawn_done(&many->drawn);
    mgb_topology_done(&many->topology);
    mgb_machine_free(many->machine);
}

static void sixty_four_towers_with_slowness_are_bit_equal_to_the_event_engine(void **state)
{
    (void)state;
    struct many many;
    many_make(&many, 64, 0.03, 0.02);
    assert_true(both_agree(many.machine, &many.drawn));
    many_done(&many);
}

static void beyond_sixty_four_towers_classes_are_chosen_where_they_are_exact(void **state)
{
    (void)state;
    struct many many;
    many_make(&many, 65, 0, 0);
    struct mgb_sim *sim = rigged_open(many.machine, MGB_SIM_AUTO);
    played(sim, &many.drawn, 0);
    assert_int_equal(mgb_sim_effort_get(sim).engine, MGB_SIM_CLASSES);
    assert_int_equal(mgb_sim_effort_get(sim).tasks, played(sim, &many.drawn, 0).task_count);
    mgb_sim_close(sim);
    many.machine->host.memory_gbps = 1; /* all copies to the host share it */
    sim = rigged_open(many.machine, MGB_SIM_AUTO);
    played(sim, &many.drawn, 0);
    assert_int_equal(mgb_sim_effort_get(sim).engine, MGB_SIM_EVENTS);
    mgb_sim_close(sim);
    many_done(&many);
}

static struct mgb_sim *backups_open(const struct mgb_machine *machine, int backups)
{
    struct mgb_sim *sim = NULL;
    assert_ok(
        mgb_sim_open(&sim, machine, &(struct mgb_sim_options){.seed = 11, .backups = backups}));
    return sim;
}

/* Mean step over `steps` in units of what a step takes without slowness; *wasted likewise. */
static double mean_step(const struct many *many, int backups, int steps, double *wasted)
{
    struct mgb_sim *sim = backups_open(many->machine, backups);
    const struct mgb_virtual *face = mgb_sim_virtual(sim);
    double sum = 0, waste = 0;
    for (int n = 0; n < steps; n++) {
        struct mgb_virtual_step out;
        assert_ok(face->play(face->context, &out,
                             &(struct mgb_virtual_request){.plan = many->drawn.plan,
                                                           .placement = &many->drawn.placement,
                                                           .step = n}));
        sum += (double)out.wall_ns;
        waste += out.wasted_share;
    }
    mgb_sim_close(sim);
    *wasted = waste / steps;
    return sum / steps;
}

/* A step of nothing but towers' computing: the largest of N log-normal times (shared/reference/simulation.md 2.8). */
static void the_mean_step_of_log_normal_towers_is_the_expected_maximum(void **state)
{
    (void)state;
    static const struct {
        int gpus;
        double sigma, expected;
    } rows[] = {{2, 0.05, 1.027}, {8, 0.05, 1.073}, {64, 0.02, 1.048}, {64, 0.10, 1.258}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct many many;
        double wasted, plain;
        many_make(&many, rows[i].gpus, 0, 0);
        plain = mean_step(&many, 0, 1, &wasted);
        many.machine->step_sigma = rows[i].sigma;
        int steps = 400;
        double mean = mean_step(&many, 0, steps, &wasted) / plain;
        /* The maximum spreads no wider than one tower: four standard errors, and what copies take. */
        double error = 4 * rows[i].sigma / sqrt(steps) + 0.002;
        if (fabs(mean - rows[i].expected) > error)
            fail_msg("%d towers, sigma %g: %g, expected %g +- %g", rows[i].gpus, rows[i].sigma,
                     mean, rows[i].expected, error);
        many_done(&many);
    }
}

static int double_order(const void *a, const void *b)
{
    return (*(const double *)a > *(const double *)b) - (*(const double *)a < *(const double *)b);
}

static void with_backups_a_step_is_as_long_as_the_last_one_waited_for(void **state)
{
    (void)state;
    struct many many;
    double wasted, plain;
    many_make(&many, 40, 0, 0);
    plain = mean_step(&many, 0, 1, &wasted);
    many.machine->device_sigma = 0.2;
    double factors[40];
    for (int t = 0; t < 40; t++)
        factors[t] = mgb_sim_draw(0.2, 11, (uint64_t)t + 1, UINT64_MAX);
    qsort(factors, 40, sizeof *factors, double_order);
    for (int b = 0; b < 8; b++) {
        double step = mean_step(&many, b, 1, &wasted) / plain;
        if (fabs(step / factors[39 - b] - 1) > 0.02)
            fail_msg("%d backups: %g, expected %g", b, step, factors[39 - b]);
        if (b == 0)
            assert_true(fabs(wasted) <= 0);
        else if (wasted < 0.8 * b / 40 || wasted > 1.6 * b / 40)
            fail_msg("%d backups waste %g", b, wasted);
    }
    many_done(&many);
}

static void backups_need_replicas_that_meet_in_all_reduces(void **state)
{
    (void)state;
    struct many many;
    struct mgb_sim *sim = NULL;
    many_make(&many, 4, 0, 0);
    assert_int_equal(
        mgb_sim_open(&sim, many.machine,
                     &(struct mgb_sim_options){.engine = MGB_SIM_EVENTS, .backups = 1}),
        MGB_UNSUPPORTED);
    for (int backups = 4; backups > 0; backups -= 3) {
        struct mgb_virtual_step out;
        if (backups == 1) {
            mgb_plan_free(many.drawn.plan);
            mgb_effective_done(&many.drawn.placement);
            drawn_plan(&many.drawn, &many.topology, 4, "gradients");
        }
        sim = backups_open(many.machine, backups);
        const struct mgb_virtual *face = mgb_sim_virtual(sim);
        enum mgb_status status =
            face->play(face->context, &out,
                       &(struct mgb_virtual_request){.plan = many.drawn.plan,
                                                     .placement = &many.drawn.placement});
        assert_true(status == MGB_INVALID || status == MGB_UNSUPPORTED);
        assert_message(backups == 4 ? "at least one" : "all-reduces");
        mgb_sim_close(sim);
    }
    many_done(&many);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(classes_are_the_flat_plan_where_nothing_is_shared),
        cmocka_unit_test(sixty_four_towers_with_slowness_are_bit_equal_to_the_event_engine),
        cmocka_unit_test(beyond_sixty_four_towers_classes_are_chosen_where_they_are_exact),
        cmocka_unit_test(the_mean_step_of_log_normal_towers_is_the_expected_maximum),
        cmocka_unit_test(with_backups_a_step_is_as_long_as_the_last_one_waited_for),
        cmocka_unit_test(backups_need_replicas_that_meet_in_all_reduces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
