/* The flat tasks of a plan, in the order in which they are issued. */
#include "app/session/tasks.h"
#include "app/session/workbench/facts_private.h"

static void task_fill(struct mgb_facts_task *out, const struct mgb_task *task,
                      const struct mgb_flat_task *flat)
{
    *out = (struct mgb_facts_task){
        .kind = mgb_task_kind_name(task->kind),
        .phase = task->phase,
        .device = flat->device,
        .from = flat->from,
        .tower = flat->tower,
        .copy_queue = task->queue == MGB_QUEUE_COPY,
        .bytes = task->bytes,
    };
}

static enum mgb_status tasks_fill(struct facts_work *work, const struct mgb_flat *flat)
{
    const struct mgb_plan *plan = work->request->plan;
    int count = flat->count < MGB_FACTS_MOST_TASKS ? flat->count : MGB_FACTS_MOST_TASKS;
    struct session_task_waits waits;
    const char **names = mgb_bench_pool_get(work->pool, (size_t)plan->task_count * sizeof *names);
    struct mgb_facts_task *tasks = mgb_bench_pool_get(work->pool, (size_t)count * sizeof *tasks);
    if (!names || !tasks)
        return MGB_OK; /* the pool knows */
    MGB_TRY(mgb_session_task_waits_make(&waits, plan, flat, count));
    for (int i = 0; i < count; i++) {
        int number = flat->tasks[i].task;
        task_fill(&tasks[i], &plan->tasks[number], &flat->tasks[i]);
        if (!names[number])
            names[number] = mgb_bench_pool_text(work->pool, plan->tasks[number].name);
        tasks[i].name = names[number];
        tasks[i].wait_count = waits.begin[i + 1] - waits.begin[i];
    }
    mgb_session_task_waits_done(&waits);
    work->facts->tasks = tasks;
    work->facts->task_count = count;
    return MGB_OK;
}

enum mgb_status mgb_facts_add_tasks(struct facts_work *work)
{
    const struct mgb_plan *plan = work->request->plan;
    struct mgb_flat flat;
    MGB_TRY(mgb_plan_expand(&flat, plan));
    work->facts->all_tasks = flat.count;
    for (int i = 0; i < plan->task_count; i++)
        work->facts->flops += plan->tasks[i].flops * (flat.first[i + 1] - flat.first[i]);
    enum mgb_status status = tasks_fill(work, &flat);
    mgb_flat_done(&flat);
    return status;
}
