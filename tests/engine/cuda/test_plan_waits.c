/* Every wait that the planner adds is needed: without any one of them the verifier turns the plan down, over models and
 * placements on GPUs. The table at the end counts them by what waits for what. (test_waits takes the same waits, and the
 * backend's own, from steps that run.) */
#include "tests/engine/cuda/machine.h"
#include "tests/engine/cuda/models.h"

#include "tests/support/check.h"
#include "tests/support/draws.h"
#include "tests/support/training.h"
#include <mgb/plan.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const placements[] = {
    "gpus=1",
    "gpus=2 strategy=outputs cpu_merge=false",
    "gpus=3 strategy=outputs cpu_merge=true cpu_relocation=true",
    "gpus=3 strategy=outputs join_at=/gpu:1 loss_at=/gpu:2 sum_at=/gpu:0 update_at=/cpu:0",
    "gpus=3 strategy=gradients",
    "gpus=3 strategy=gradients merge_at=/gpu:1 bucket_mib=0.0001",
    "gpus=2 strategy=gradients sum_at=/gpu:0 update_at=/cpu:0 weights_at=/gpu:1",
    "gpus=3 strategy=gradients sum_at=spread weights_at=spread bucket_mib=0.0001",
    "gpus=3 strategy=gradients overlap=false bucket_mib=0.0001",
    "gpus=3 strategy=gradients wire_type=f16 sum_at=/cpu:0",
    "gpus=3 strategy=gradients stale=true",
    "gpus=3 strategy=outputs staged=true cpu_relocation=true",
    "gpus=4 strategy=allreduce",
    "gpus=8 strategy=allreduce bucket_mib=0.0001",
    "gpus=2 strategy=allreduce overlap=false bucket_mib=0.0001",
    "gpus=3 strategy=allreduce stale=true wire_type=bf16",
    "gpus=3 strategy=independent",
    "gpus=0",
};
#define PLACEMENTS ((int)(sizeof placements / sizeof placements[0]))

#define KINDS 10
static const char *const kind_names[KINDS] = {"compute", "copy", "reduce", "allreduce", "fill",
                                              "norm",    "clip", "update", "cast",      "merge"};
static int added[KINDS][KINDS], refused[KINDS][KINDS];

/* A plan whose waits may be changed. */
struct copy {
    struct mgb_plan plan;
    struct mgb_task *tasks;
    struct mgb_wait *waits;
};

static void *duplicate(const void *from, size_t bytes)
{
    void *copy = malloc(bytes + 1);
    assert_non_null(copy);
    memcpy(copy, from, bytes);
    return copy;
}

static void copy_make(struct copy *copy, const struct mgb_plan *plan)
{
    copy->plan = *plan;
    copy->tasks = duplicate(plan->tasks, (size_t)plan->task_count * sizeof *plan->tasks);
    copy->waits = duplicate(plan->waits, (size_t)plan->wait_count * sizeof *plan->waits);
    copy->plan.tasks = copy->tasks;
    copy->plan.waits = copy->waits;
}

static int plan_try(const struct mgb_plan *whole, int model, const char *options)
{
    struct copy copy;
    int missed = 0;
    assert_ok(mgb_plan_verify(whole));
    copy_make(&copy, whole);
    for (int i = 0; i < copy.plan.task_count; i++) {
        struct mgb_task *task = &copy.tasks[i];
        struct mgb_wait *waits = &copy.waits[task->wait_begin];
        for (int k = 0; k < task->wait_count; k++) {
            struct mgb_wait left_out = waits[k], last = waits[--task->wait_count];
            const struct mgb_task *on = &copy.tasks[left_out.task];
            waits[k] = last;
            added[task->kind][on->kind]++;
            if (mgb_plan_verify(&copy.plan) == MGB_CORRUPT) {
                refused[task->kind][on->kind]++;
            } else {
                print_message("model %d, %s: t%d '%s' need not wait for t%d '%s'\n", model, options,
                              i, task->name, left_out.task, on->name);
                missed++;
            }
            waits[task->wait_count++] = last;
            waits[k] = left_out;
        }
    }
    free(copy.tasks);
    free(copy.waits);
    return missed;
}

static int model_try(int number)
{
    struct mgb_graph *graph = machine_model(number);
    struct training training = {
        .graph = graph, .optimizer = training_sgd(0.1f, 0.9f), .play_on = machine_cuda()};
    char options[192];
    int missed = 0;
    machine_set("8", NULL);
    for (int i = 0; i < PLACEMENTS; i++)
        for (int wide = 0; wide < (draw_long() ? 4 : 1); wide++) {
            int pick = draw_long() ? wide : (i + number) % 4;
            training.optimizer.clip_norm = pick & 1 ? 0.5f : 0.0f;
            snprintf(options, sizeof options, "global_batch=10 %s%s", placements[i],
                     draw_sees_towers(graph) && (pick & 2) && i < PLACEMENTS - 2 ? " bn=sync" : "");
            training.options = options;
            struct mgb_run *run = training_open(&training);
            missed += plan_try(mgb_run_plan(run), number, options);
            mgb_run_close(run);
        }
    mgb_graph_free(graph);
    return missed;
}

static void no_wait_can_go_without_the_verifier_noticing(void **state)
{
    (void)state;
    int missed = 0, total = 0;
    for (int number = 0; number < MACHINE_MODELS; number++)
        missed += model_try(number);
    print_message("%-24s %6s %8s\n", "what waits for what", "added", "refused");
    for (int a = 0; a < KINDS; a++)
        for (int b = 0; b < KINDS; b++) {
            if (added[a][b] > 0)
                print_message("%-10s for %-9s %6d %8d\n", kind_names[a], kind_names[b], added[a][b],
                              refused[a][b]);
            total += added[a][b];
        }
    assert_int_equal(missed, 0);
    assert_true(total > 500);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_wait_can_go_without_the_verifier_noticing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
