/* The verifier turns down every kind of broken plan: each test breaks a good one in one place. */
#include "engine/graph/graph.h"
#include "tests/support/check.h"
#include "tests/support/model.h"
#include "tests/support/plan.h"

struct fixture {
    struct mgb_graph *graph;
    struct plan_world world;
    struct mgb_plan *plan;
};

static const struct plan_setup meeting = {
    .strategy = MGB_GRADIENTS, .gpus = 3, .batch = 7, .home = 1, .original = 1, .update = 1};
static const struct plan_setup mirrored = {.strategy = MGB_ALLREDUCE, .gpus = 3, .batch = 7};
static const struct plan_setup spread = {.strategy = MGB_GRADIENTS,
                                         .gpus = 2,
                                         .batch = 7,
                                         .home = PLAN_SPREAD,
                                         .original = PLAN_SPREAD,
                                         .sum = PLAN_SPREAD,
                                         .update = PLAN_SPREAD};
static const struct plan_setup joining = {.strategy = MGB_OUTPUTS,
                                          .gpus = 2,
                                          .batch = 7,
                                          .home = 1,
                                          .original = 1,
                                          .join = 0,
                                          .loss = 1,
                                          .sum = 0,
                                          .update = 1};

static struct fixture fixture_make(const struct plan_setup *setup)
{
    struct fixture f = {.graph = model_mlp()};
    f.plan = plan_make(&f.world, f.graph, setup);
    assert_ok(mgb_plan_verify(f.plan));
    return f;
}

static void fixture_reject(struct fixture *f, const char *words)
{
    assert_status(mgb_plan_verify(f->plan), MGB_CORRUPT);
    assert_message(words);
    mgb_plan_free(f->plan);
    plan_world_done(&f->world);
    mgb_graph_free(f->graph);
}

static struct mgb_operand *operand_of(struct mgb_plan *plan, int task, int k)
{
    assert_true(task >= 0 && k < plan->tasks[task].operand_count);
    return &plan->operands[plan->tasks[task].operand_begin + k];
}

static void drops_no_wait_unnoticed(void **state)
{
    (void)state;
    static const struct plan_setup *const setups[] = {&meeting, &mirrored, &spread, &joining};
    int caught = 0;
    for (int s = 0; s < 4; s++) {
        struct fixture f = fixture_make(setups[s]);
        for (int i = 0; i < f.plan->task_count; i++) {
            struct mgb_task *task = &f.plan->tasks[i];
            struct mgb_wait *waits = &f.plan->waits[task->wait_begin];
            for (int k = 0; k < task->wait_count; k++, caught++) { /* the others imply none */
                struct mgb_wait left_out = waits[k], last = waits[--task->wait_count];
                waits[k] = last;
                assert_status(mgb_plan_verify(f.plan), MGB_CORRUPT);
                waits[task->wait_count++] = last;
                waits[k] = left_out;
            }
        }
        assert_ok(mgb_plan_verify(f.plan));
        mgb_plan_free(f.plan);
        plan_world_done(&f.world);
        mgb_graph_free(f.graph);
    }
    assert_true(caught > 20);
}

static void a_wait_for_a_later_task(void **state)
{
    (void)state;
    struct fixture f = fixture_make(&meeting);
    f.plan->waits[0].task = f.plan->task_count - 1;
    fixture_reject(&f, "not before it");
}

static void a_use_before_definition(void **state)
{
    (void)state;
    struct fixture f = fixture_make(&meeting);
    int task = plan_find_task(f.plan, MGB_TASK_COMPUTE, MGB_PHASE_FORWARD, 0);
    struct mgb_operand *x = operand_of(f.plan, task, 0);
    int other =
        plan_find_task(f.plan, MGB_TASK_COMPUTE, MGB_PHASE_BACKWARD, 4); /* same class, later */
    const struct mgb_operand *late = operand_of(f.plan, other, f.plan->tasks[other].input_count);
    assert_int_equal(f.plan->tasks[task].class, f.plan->tasks[other].class);
    f.plan->buffers[late->buffer].first = 0;
    x->buffer = late->buffer;
    x->offset = late->offset;
    x->bytes = 4;
    fixture_reject(&f, "");
}

static void a_read_of_what_nothing_wrote(void **state)
{
    (void)state;
    struct fixture f = fixture_make(&meeting);
    int task = plan_find_task(f.plan, MGB_TASK_COPY, MGB_PHASE_INPUT, 0);
    operand_of(f.plan, task, 0)->bytes -= 48; /* a row less arrives than is read */
    operand_of(f.plan, task, 1)->bytes -= 48;
    fixture_reject(&f, "before it is defined");
}

static void buffers_on_each_other(void **state)
{
    (void)state;
    struct fixture f = fixture_make(&meeting);
    int forward = plan_find_task(f.plan, MGB_TASK_COMPUTE, MGB_PHASE_FORWARD, 0);
    int in = operand_of(f.plan, forward, 0)->buffer, out = operand_of(f.plan, forward, 3)->buffer;
    f.plan->buffers[out].offset = f.plan->buffers[in].offset;
    fixture_reject(&f, "");
}

static void a_lifetime_that_is_too_short(void **state)
{
    (void)state;
    struct fixture f = fixture_make(&meeting);
    int forward = plan_find_task(f.plan, MGB_TASK_COMPUTE, MGB_PHASE_FORWARD, 0);
    f.plan->buffers[operand_of(f.plan, forward, 3)->buffer].last--;
    fixture_reject(&f, "outside of its life");
}

static void a_buffer_beyond_its_arena(void **state)
{
    (void)state;
    struct fixture f = fixture_make(&meeting);
    int forward = plan_find_task(f.plan, MGB_TASK_COMPUTE, MGB_PHASE_FORWARD, 0);
    f.plan->buffers[operand_of(f.plan, forward, 3)->buffer].offset += 1 << 20;
    fixture_reject(&f, "beyond its arena");
}

static void a_task_without_a_device(void **state)
{
    (void)state;
    struct fixture f = fixture_make(&meeting);
    f.plan->tasks[plan_find_task(f.plan, MGB_TASK_REDUCE, MGB_PHASE_SUM, 0)].device = MGB_SELF;
    fixture_reject(&f, "has no device");
}

static void a_tensor_without_a_device(void **state)
{
    (void)state;
    struct fixture f = fixture_make(&meeting);
    int reduce = plan_find_task(f.plan, MGB_TASK_REDUCE, MGB_PHASE_SUM, 0);
    f.plan->buffers[operand_of(f.plan, reduce, 0)->buffer].device = 99;
    fixture_reject(&f, "has no device");
}

static void an_operand_without_a_buffer(void **state)
{
    (void)state;
    struct fixture f = fixture_make(&meeting);
    operand_of(f.plan, 0, 0)->buffer = -1;
    fixture_reject(&f, "has no buffer");
}

static void an_operator_that_reads_another_device(void **state)
{
    (void)state; /* tower 1 reads the weights at their home, not its own copy */
    struct fixture f = fixture_make(&meeting);
    int other = f.plan->towers[1].class,
        fetch = plan_find_task(f.plan, MGB_TASK_COPY, MGB_PHASE_FETCH, 0);
    int replica = operand_of(f.plan, fetch, 0)->buffer,
        master = operand_of(f.plan, fetch, 1)->buffer;
    for (int i = 0; i < f.plan->task_count; i++)
        for (int k = 0; f.plan->tasks[i].class == other && k < f.plan->tasks[i].operand_count; k++)
            if (f.plan->tasks[i].kind == MGB_TASK_COMPUTE &&
                operand_of(f.plan, i, k)->buffer == replica)
                operand_of(f.plan, i, k)->buffer = master;
    fixture_reject(&f, "touches buffer");
}

static void an_unequal_copy(void **state)
{
    (void)state;
    struct fixture f = fixture_make(&meeting);
    operand_of(f.plan, plan_find_task(f.plan, MGB_TASK_COPY, MGB_PHASE_SUM, 0), 0)->bytes -= 4;
    fixture_reject(&f, "equal size");
}

static void a_weight_written_by_an_operator(void **state)
{
    (void)state;
    struct fixture f = fixture_make(&mirrored);
    int forward = plan_find_task(f.plan, MGB_TASK_COMPUTE, MGB_PHASE_FORWARD, 0);
    struct mgb_operand *out = operand_of(f.plan, forward, 3);
    out->buffer = operand_of(f.plan, forward, 1)->buffer;
    out->offset = 0;
    fixture_reject(&f, "only updates and moves");
}

static void a_collective_that_a_tower_misses(void **state)
{
    (void)state;
    struct fixture f = fixture_make(&mirrored);
    f.plan->tasks[plan_find_task(f.plan, MGB_TASK_ALLREDUCE, MGB_PHASE_SUM, 0)].kind =
        MGB_TASK_FILL;
    fixture_reject(&f, "incomplete");
}

static void an_update_before_the_last_gradient(void **state)
{
    (void)
        state; /* each update needs only its own gradients, but has to wait for the other device's too */
    struct fixture f = fixture_make(&spread);
    int update = plan_find_task(f.plan, MGB_TASK_UPDATE, MGB_PHASE_UPDATE, 0);
    struct mgb_task *task = &f.plan->tasks[update];
    int kept = 0;
    for (int k = 0; k < task->wait_count; k++) {
        struct mgb_wait wait = f.plan->waits[task->wait_begin + k];
        if (f.plan->tasks[wait.task].kind != MGB_TASK_REDUCE)
            f.plan->waits[task->wait_begin + kept++] = wait;
    }
    assert_true(kept < task->wait_count);
    task->wait_count = kept;
    fixture_reject(&f, "too early");
}

static void rows_that_nobody_takes(void **state)
{
    (void)state;
    struct fixture f = fixture_make(&meeting);
    f.plan->global_rows++;
    fixture_reject(&f, "of 8 rows");
}

static void a_result_that_did_not_arrive(void **state)
{
    (void)state;
    struct fixture f = fixture_make(&meeting);
    f.plan->results[0].part.buffer = f.plan->input_buffer[0];
    fixture_reject(&f, "not there at the end");
}

/* The n-th weight that the first update writes, its gradient after it; plain SGD has no slots. */
static struct mgb_operand *update_item(struct mgb_plan *plan, int n)
{
    return operand_of(plan, plan_find_task(plan, MGB_TASK_UPDATE, MGB_PHASE_UPDATE, 0), 2 * n);
}

static void a_variable_that_is_updated_twice(void **state)
{
    (void)state;
    static const struct plan_setup *const setups[] = {&meeting, &mirrored};
    for (int s = 0; s < 2; s++) {
        struct fixture f = fixture_make(setups[s]);
        update_item(f.plan, 1)[0] = update_item(f.plan, 0)[0];
        update_item(f.plan, 1)[1] = update_item(f.plan, 0)[1];
        fixture_reject(&f, "is updated 2 times in a step, not 1");
    }
}

static void a_variable_that_is_forgotten(void **state)
{
    (void)state; /* at home, mirrored, and on a visit to another device */
    struct plan_setup visiting = meeting;
    visiting.update = 2;
    const struct plan_setup *const setups[] = {&meeting, &mirrored, &visiting};
    for (int s = 0; s < 3; s++) {
        struct fixture f = fixture_make(setups[s]);
        f.plan->tasks[plan_find_task(f.plan, MGB_TASK_UPDATE, MGB_PHASE_UPDATE, 0)].operand_count -=
            2;
        fixture_reject(&f, "is updated 0 times in a step, not 1");
    }
}

static void a_frozen_variable_that_is_updated(void **state)
{
    (void)state;
    struct fixture f = fixture_make(&meeting);
    f.graph->variables[0].info.trainable = false;
    fixture_reject(&f, "not trained, on device 1 is updated 1 times in a step, not 0");
}

static void a_replica_that_misses_the_next_step(void **state)
{
    (void)state;
    struct mgb_plan *plan;
    struct fixture f = {.graph = model_mlp()};
    plan_world_make(&f.world, f.graph, &meeting);
    f.world.placement->staged = true;
    assert_ok(mgb_plan_make(&plan, &f.world.request));
    assert_ok(mgb_plan_verify(plan));
    f.plan = plan;
    int stage = plan_find_task(plan, MGB_TASK_COPY, MGB_PHASE_FETCH, 0);
    operand_of(plan, stage, 0)->bytes = operand_of(plan, stage, 1)->bytes = 4;
    fixture_reject(&f, "is not fetched for the next step");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(drops_no_wait_unnoticed),
        cmocka_unit_test(a_wait_for_a_later_task),
        cmocka_unit_test(a_use_before_definition),
        cmocka_unit_test(a_read_of_what_nothing_wrote),
        cmocka_unit_test(buffers_on_each_other),
        cmocka_unit_test(a_lifetime_that_is_too_short),
        cmocka_unit_test(a_buffer_beyond_its_arena),
        cmocka_unit_test(a_task_without_a_device),
        cmocka_unit_test(a_tensor_without_a_device),
        cmocka_unit_test(an_operand_without_a_buffer),
        cmocka_unit_test(an_operator_that_reads_another_device),
        cmocka_unit_test(an_unequal_copy),
        cmocka_unit_test(a_weight_written_by_an_operator),
        cmocka_unit_test(a_collective_that_a_tower_misses),
        cmocka_unit_test(an_update_before_the_last_gradient),
        cmocka_unit_test(rows_that_nobody_takes),
        cmocka_unit_test(a_result_that_did_not_arrive),
        cmocka_unit_test(a_variable_that_is_updated_twice),
        cmocka_unit_test(a_variable_that_is_forgotten),
        cmocka_unit_test(a_frozen_variable_that_is_updated),
        cmocka_unit_test(a_replica_that_misses_the_next_step),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
