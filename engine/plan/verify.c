/* The structural check of a plan: reads its flat form and applies the rules one after the other. */
#include "engine/plan/verify.h"

#include <stdio.h>

char *mgb_verify_name(char out[160], const struct mgb_verifier *v, int flat)
{
    const struct mgb_verify_task *f = &v->flats[flat];
    const char *name = v->plan->tasks[f->task].name;
    if (f->tower < 0)
        snprintf(out, 160, "task t%d '%s'", f->task, name ? name : "");
    else
        snprintf(out, 160, "task t%d '%s' of tower %d", f->task, name ? name : "", f->tower);
    return out;
}

bool mgb_verify_before(const struct mgb_verifier *v, int a, int b)
{
    return a < b && v->clocks[(size_t)b * (size_t)v->queue_count + (size_t)v->flats[a].queue] >=
                        v->flats[a].turn;
}

static enum mgb_status no_memory(void)
{
    return mgb_fail(MGB_NO_MEMORY, "verifying a step plan: the host's memory is exhausted");
}

static int64_t flat_total(const struct mgb_plan *plan)
{
    int64_t total = 0;
    for (int i = 0; i < plan->task_count; i++)
        total +=
            plan->tasks[i].class == MGB_ROOT ? 1 : plan->classes[plan->tasks[i].class].tower_count;
    return total;
}

static void towers_choose(struct mgb_verifier *v)
{
    const struct mgb_plan *plan = v->plan;
    bool all = flat_total(plan) <= MGB_VERIFY_TASKS;
    for (int t = 0; t < plan->tower_count; t++) {
        int instance = plan->towers[t].instance,
            count = plan->classes[plan->towers[t].class].tower_count;
        v->kept[t] = all || instance < 2 || instance == count - 1;
        v->kept_count += v->kept[t];
    }
}

static void gathered_mark(struct mgb_verifier *v)
{
    for (int i = 0; v->kept_count < v->plan->tower_count && i < v->plan->operand_count; i++)
        if (v->plan->operands[i].row_bytes > 0)
            v->gathered[v->plan->operands[i].buffer] = true;
}

static void flat_add(struct mgb_verifier *v, int task, int tower)
{
    const struct mgb_task *t = &v->plan->tasks[task];
    int self = tower < 0 ? -1 : v->plan->towers[tower].device;
    v->flats[v->flat_count++] =
        (struct mgb_verify_task){.task = task,
                                 .tower = tower,
                                 .device = t->device == MGB_SELF ? self : t->device,
                                 .from = t->queue == MGB_QUEUE_COMPUTE ? -1
                                         : t->from == MGB_SELF         ? self
                                                                       : t->from};
}

/* Kept towers by class: list[begin[c]] .. list[begin[c + 1]]. */
static void kept_sort(const struct mgb_verifier *v, int *list, int *begin)
{
    const struct mgb_plan *plan = v->plan;
    for (int t = 0; t < plan->tower_count; t++)
        if (v->kept[t])
            begin[plan->towers[t].class + 1]++;
    for (int c = 0; c < plan->class_count; c++)
        begin[c + 1] += begin[c];
    for (int t = plan->tower_count - 1; t >= 0; t--)
        if (v->kept[t])
            list[--begin[plan->towers[t].class + 1]] = t;
    for (int c = 0; c < plan->class_count; c++)
        begin[c] = begin[c + 1];
    begin[plan->class_count] = v->kept_count;
}

static enum mgb_status flats_fill(struct mgb_verifier *v)
{
    const struct mgb_plan *plan = v->plan;
    int *list = mgb_alloc(((size_t)plan->tower_count + 1) * sizeof *list);
    int *begin = mgb_alloc(((size_t)plan->class_count + 2) * sizeof *begin);
    int64_t total = 0;
    if (list && begin) {
        kept_sort(v, list, begin);
        for (int i = 0; i < plan->task_count; i++) {
            int class = plan->tasks[i].class;
            total += class == MGB_ROOT ? 1 : begin[class + 1] - begin[class];
        }
        v->flats = mgb_alloc(((size_t)total + 1) * sizeof *v->flats);
    }
    for (int i = 0; v->flats && i < plan->task_count; i++) {
        int class = plan->tasks[i].class;
        v->first[i] = v->flat_count;
        if (class == MGB_ROOT)
            flat_add(v, i, -1);
        for (int k = class == MGB_ROOT ? 0 : begin[class];
             class != MGB_ROOT && k < begin[class + 1]; k++)
            flat_add(v, i, list[k]);
    }
    v->first[plan->task_count] = v->flat_count;
    mgb_release(list);
    mgb_release(begin);
    return v->flats ? MGB_OK : no_memory();
}

static enum mgb_status rules_apply(struct mgb_verifier *v)
{
    MGB_TRY(flats_fill(v));
    MGB_TRY(mgb_verify_clock(v));
    MGB_TRY(mgb_verify_collect(v));
    MGB_TRY(mgb_verify_races(v));
    MGB_TRY(mgb_verify_contents(v));
    MGB_TRY(mgb_verify_layout(v));
    MGB_TRY(mgb_verify_commit(v));
    MGB_TRY(mgb_verify_rows(v));
    return mgb_verify_updates(v);
}

enum mgb_status mgb_plan_verify(const struct mgb_plan *plan)
{
    struct mgb_verifier v = {.plan = plan};
    MGB_TRY(mgb_verify_shape(plan));
    v.kept = mgb_alloc(((size_t)plan->tower_count + 1) * sizeof *v.kept);
    v.first = mgb_alloc(((size_t)plan->task_count + 1) * sizeof *v.first);
    v.gathered = mgb_alloc(((size_t)plan->buffer_count + 1) * sizeof *v.gathered);
    enum mgb_status status = MGB_OK;
    if (v.kept && v.first && v.gathered) {
        towers_choose(&v);
        gathered_mark(&v);
        status = rules_apply(&v);
    } else {
        status = no_memory();
    }
    mgb_release(v.kept);
    mgb_release(v.first);
    mgb_release(v.gathered);
    mgb_release(v.flats);
    mgb_release(v.clocks);
    mgb_vector_done(&v.accesses);
    return status;
}
