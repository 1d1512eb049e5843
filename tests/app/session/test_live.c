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
        struct session_held_list held = {0};
        assert_true(mgb_session_live_add(live, &held, &p.result));
        for (int u = 0; u < p.plan->use_count; u++)
            for (int c = 0; c < MGB_MEMORY_CATEGORY_COUNT; c++)
                if (live[u].peak[c] != p.plan->uses[u].peak[c])
                    fail_msg("strategy %d, device %d, %s: %lld held, %lld planned", strategy,
                             p.plan->uses[u].device,
                             mgb_memory_category_name((enum mgb_memory_category)c),
                             (long long)live[u].peak[c], (long long)p.plan->uses[u].peak[c]);
        free(held.at);
        played_done(&p);
    }
}

/* What a list says was held of a kind, at the end of what it tells. */
static int64_t held_last(const struct session_held_list *list, int device,
                         enum mgb_memory_category category, int64_t *most)
{
    int64_t bytes = 0, at = -1;
    *most = 0;
    for (size_t i = 0; i < list->count; i++) {
        const struct session_held *held = &list->at[i];
        if (held->device != device || held->category != category)
            continue;
        assert_true(held->at_ns > at); /* one a moment, in order */
        assert_true(held->bytes >= 0);
        at = held->at_ns;
        bytes = held->bytes;
        *most = bytes > *most ? bytes : *most;
    }
    return bytes;
}

static void what_is_held_when_peaks_as_planned_and_ends_with_what_lasts(void **state)
{
    (void)state;
    struct played p = played_make(MGB_OUTPUTS, 1);
    struct session_held_list held = {0};
    p.result.wall_ns = p.flat.count;
    assert_true(mgb_session_live_add(NULL, &held, &p.result));
    for (int u = 0; u < p.plan->use_count; u++) {
        const struct mgb_device_use *use = &p.plan->uses[u];
        int64_t most;
        for (int c = 0; c < MGB_MEMORY_CATEGORY_COUNT; c++) {
            (void)held_last(&held, use->device, (enum mgb_memory_category)c, &most);
            assert_int_equal(most, use->peak[c]);
        }
        int64_t weights = held_last(&held, use->device, MGB_MEMORY_WEIGHTS, &most);
        assert_int_equal(weights, use->peak[MGB_MEMORY_WEIGHTS]);
        assert_int_equal(held_last(&held, use->device, MGB_MEMORY_WORKSPACE, &most), 0);
    }
    for (size_t i = 0; i < held.count; i++)
        assert_true(held.at[i].at_ns >= 0 && held.at[i].at_ns <= p.result.wall_ns);
    free(held.at);
    played_done(&p);
}

static void asked_steps_and_the_own_one_are_traced_and_no_others(void **state)
{
    (void)state;
    struct played p = played_make(MGB_OUTPUTS, 1);
    struct session_trace trace = {0};
    mgb_session_trace_begin(&trace, p.plan, 10);
    mgb_session_trace_ask(&trace, 5, 8);
    for (int64_t done = 0; done < 30;) {
        bool traced;
        int64_t alike = mgb_session_trace_alike(&trace, done, &traced);
        assert_true(alike >= 1);
        for (; alike > 0 && done < 30; alike--, done++)
            assert_int_equal(traced, done == 8 || (done >= 15 && done <= 18));
    }
    mgb_session_trace_ask(&trace, 0, 0);
    bool traced;
    assert_int_equal(mgb_session_trace_alike(&trace, 9, &traced), 1);
    assert_false(traced);
    assert_int_equal(mgb_session_trace_alike(&trace, 10, &traced), 1);
    assert_true(traced);
    assert_int_equal(mgb_session_trace_alike(&trace, 11, &traced), INT64_MAX);
    mgb_session_trace_done(&trace);
    played_done(&p);
}

static void slow_traced_steps_are_told_by_medians(void **state)
{
    (void)state;
    struct played p = played_make(MGB_OUTPUTS, 1);
    struct session_trace trace = {0};
    mgb_session_trace_begin(&trace, p.plan, 1);
    for (int i = 0; i < 200; i++) {
        p.result.task_count = i % 4 ? 0 : p.flat.count;
        p.result.wall_ns = i == 100 ? 100000 : i % 4 ? 1000 : 1200;
        mgb_session_trace_add(&trace, &p.result, i == 0);
        if (i < 8)
            assert_true(mgb_session_trace_cost(&trace) == 0); /* too few */
    }
    assert_true(mgb_session_trace_cost(&trace) > 0.199 && mgb_session_trace_cost(&trace) < 0.201);
    mgb_session_trace_done(&trace);
    played_done(&p);
}

/* The longest way from the start to a task through its waits: no cycles, and only numbers of tasks. */
static void each_task_names_the_ones_it_waits_for(void **state)
{
    (void)state;
    for (int strategy = MGB_OUTPUTS; strategy <= MGB_INDEPENDENT; strategy++) {
        struct played p = played_make((enum mgb_strategy)strategy, 1);
        struct session_trace trace = {0};
        mgb_session_trace_begin(&trace, p.plan, 3);
        const struct session_task_texts *texts = mgb_session_task_texts(&trace, p.plan);
        assert_non_null(texts);
        assert_ptr_equal(texts, mgb_session_task_texts(&trace, p.plan));
        assert_int_equal(texts->count, p.flat.count);
        int waits = 0;
        for (int i = 0; i < texts->count; i++) {
            const struct mgb_task *task = &p.plan->tasks[p.flat.tasks[i].task];
            assert_string_equal(texts->name[i], task->name);
            assert_true(texts->name[i] != task->name);
            const char *at = texts->waits_for[i];
            assert_int_equal(*at, '[');
            for (at++; *at != ']'; waits++) {
                char *end;
                long number = strtol(at, &end, 10);
                assert_true(end > at && number >= 0 && number < texts->count && number != i);
                if (task->kind != MGB_TASK_ALLREDUCE)
                    assert_true(number < i);
                at = *end == ',' ? end + 1 : end;
            }
            assert_string_equal(at, "]");
        }
        assert_true(waits > 0 || strategy == MGB_INDEPENDENT);
        mgb_session_trace_done(&trace);
        played_done(&p);
    }
}

static void tasks_at_one_moment_hold_more_than_the_planned_order_does(void **state)
{
    (void)state;
    struct played p = played_make(MGB_OUTPUTS, 0);
    struct session_live live[8] = {0};
    struct session_held_list held = {0};
    assert_true(mgb_session_live_add(live, &held, &p.result));
    int gpu = 1;
    assert_int_equal(p.plan->uses[gpu].device, PLAN_GPU(0));
    assert_true(live[gpu].peak[MGB_MEMORY_ACTIVATIONS] > 0);
    assert_true(live[gpu].peak[MGB_MEMORY_ACTIVATIONS] >=
                p.plan->uses[gpu].peak[MGB_MEMORY_ACTIVATIONS]);
    free(held.at);
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
    mgb_session_trace_add(&trace, &p.result, true);
    int64_t once = mgb_session_trace_link(&trace, 0).value;
    assert_true(mgb_session_trace_link(&trace, 0).known);
    for (int i = 0; i < p.flat.count; i++)
        p.times[i].duration_ns = 3;
    mgb_session_trace_add(&trace, &p.result, true);
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
    mgb_session_trace_add(&trace, &other.result, true);
    p.result.task_count = 0;
    mgb_session_trace_add(&trace, &p.result, true);
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
        cmocka_unit_test(what_is_held_when_peaks_as_planned_and_ends_with_what_lasts),
        cmocka_unit_test(asked_steps_and_the_own_one_are_traced_and_no_others),
        cmocka_unit_test(slow_traced_steps_are_told_by_medians),
        cmocka_unit_test(each_task_names_the_ones_it_waits_for),
        cmocka_unit_test(untraced_steps_and_other_plans_do_not_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
