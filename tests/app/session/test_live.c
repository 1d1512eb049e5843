/* Measured memory by category: tasks that run one after the other, in the plan's order, hold just what was planned; tasks
 * at one moment hold all. */
#include "tests/support/check.h"

#include "app/session/trace.h"
#include "tests/support/model.h"
#include "tests/support/plan.h"
#include <stdlib.h>
#include <string.h>

struct played {
    struct mgb_graph *graph;
    struct plan_world world;
    struct mgb_plan *plan;
    struct mgb_flat flat;
    struct mgb_task_time *times;
    struct mgb_step_result result;
};

/* `spacing` 0: all at once; 1: one after the other. */
static struct played played_make(enum mgb_strategy strategy, int64_t spacing)
{
    struct played p = {.graph = model_mlp()};
    p.plan = plan_make(&p.world, p.graph,
                       &(struct plan_setup){.strategy = strategy,
                                            .gpus = 3,
                                            .batch = 8,
                                            .home = PLAN_CPU,
                                            .join = PLAN_CPU,
                                            .loss = PLAN_CPU,
                                            .sum = PLAN_CPU,
                                            .update = PLAN_CPU});
    assert_ok(mgb_plan_expand(&p.flat, p.plan));
    p.times = calloc((size_t)p.flat.count, sizeof *p.times);
    assert_non_null(p.times);
    for (int i = 0; i < p.flat.count; i++)
        p.times[i] = (struct mgb_task_time){.task = p.flat.tasks[i].task,
                                            .tower = p.flat.tasks[i].tower,
                                            .device = p.flat.tasks[i].device,
                                            .from = p.flat.tasks[i].from,
                                            .start_ns = i * spacing,
                                            .duration_ns = 1};
    p.result = (struct mgb_step_result){
        .plan = p.plan, .task_count = p.flat.count, .tasks = p.times, .index = 1};
    return p;
}

static void played_done(struct played *p)
{
    free(p->times);
    mgb_flat_done(&p->flat);
    mgb_plan_free(p->plan);
    plan_world_done(&p->world);
    mgb_graph_free(p->graph);
}

static void tasks_one_after_the_other_hold_what_was_planned(void **state)
{
    (void)state;
    for (int strategy = MGB_OUTPUTS; strategy <= MGB_INDEPENDENT; strategy++) {
        struct played p = played_make((enum mgb_strategy)strategy, 1);
        struct session_live live[8] = {0};
        assert_true(mgb_session_live_add(live, &p.result));
        for (int u = 0; u < p.plan->use_count; u++)
            for (int c = 0; c < MGB_MEMORY_CATEGORY_COUNT; c++)
                if (live[u].peak[c] != p.plan->uses[u].peak[c])
                    fail_msg("strategy %d, device %d, %s: %lld held, %lld planned", strategy,
                             p.plan->uses[u].device,
                             mgb_memory_category_name((enum mgb_memory_category)c),
                             (long long)live[u].peak[c], (long long)p.plan->uses[u].peak[c]);
        played_done(&p);
    }
}

static void tasks_at_one_moment_hold_more_than_the_planned_order_does(void **state)
{
    (void)state;
    struct played p = played_make(MGB_OUTPUTS, 0);
    struct session_live live[8] = {0};
    assert_true(mgb_session_live_add(live, &p.result));
    int gpu = 1;
    assert_int_equal(p.plan->uses[gpu].device, PLAN_GPU(0));
    assert_true(live[gpu].peak[MGB_MEMORY_ACTIVATIONS] > 0);
    assert_true(live[gpu].peak[MGB_MEMORY_ACTIVATIONS] >=
                p.plan->uses[gpu].peak[MGB_MEMORY_ACTIVATIONS]);
    played_done(&p);
}

static void a_trace_means_over_its_steps_and_takes_the_largest_peak(void **state)
{
    (void)state;
    struct played p = played_make(MGB_OUTPUTS, 1);
    struct session_trace trace = {0};
    mgb_session_trace_begin(&trace, p.plan, 3);
    assert_int_equal(trace.own_step, 1);
    assert_false(mgb_session_trace_link(&trace, 0).known);
    assert_false(mgb_session_trace_peak(&trace, 0, MGB_MEMORY_INPUT).known);
    mgb_session_trace_add(&trace, &p.result);
    int64_t once = mgb_session_trace_link(&trace, 0).value;
    assert_true(mgb_session_trace_link(&trace, 0).known);
    for (int i = 0; i < p.flat.count; i++)
        p.times[i].duration_ns = 3;
    mgb_session_trace_add(&trace, &p.result);
    assert_int_equal(mgb_session_trace_link(&trace, 0).value, 2 * once);
    assert_true(mgb_session_trace_peak(&trace, 0, MGB_MEMORY_INPUT).known);
    mgb_session_trace_done(&trace);
    played_done(&p);
}

static void untraced_steps_and_other_plans_do_not_count(void **state)
{
    (void)state;
    struct played p = played_make(MGB_OUTPUTS, 1), other = played_make(MGB_OUTPUTS, 1);
    struct session_trace trace = {0};
    mgb_session_trace_begin(&trace, p.plan, 0);
    assert_int_equal(trace.own_step, -1);
    mgb_session_trace_add(&trace, &other.result);
    p.result.task_count = 0;
    mgb_session_trace_add(&trace, &p.result);
    assert_int_equal(trace.steps, 0);
    mgb_session_trace_done(&trace);
    played_done(&p);
    played_done(&other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tasks_one_after_the_other_hold_what_was_planned),
        cmocka_unit_test(tasks_at_one_moment_hold_more_than_the_planned_order_does),
        cmocka_unit_test(a_trace_means_over_its_steps_and_takes_the_largest_peak),
        cmocka_unit_test(untraced_steps_and_other_plans_do_not_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
