/* Order in the flat form: for every task, how far each queue has come when it has ended (a vector clock with an entry a
 * queue; Mattern 1989). Members of a collective end together. */
#include "engine/plan/verify.h"

#include <string.h>

struct lane {
    int device, from; /* from -1: the compute queue */
};

static enum mgb_status lanes_number(struct mgb_verifier *v)
{
    mgb_vector(struct lane) lanes = {0};
    mgb_vector(int) turns = {0};
    enum mgb_status status = MGB_OK;
    for (int i = 0; i < v->flat_count && status == MGB_OK; i++) {
        struct mgb_verify_task *f = &v->flats[i];
        int q = 0;
        while (q < lanes.count && (lanes.at[q].device != f->device || lanes.at[q].from != f->from))
            q++;
        if (q == lanes.count && (!mgb_vector_push(&lanes, ((struct lane){f->device, f->from})) ||
                                 !mgb_vector_push(&turns, 0)))
            status =
                mgb_fail(MGB_NO_MEMORY, "verifying a step plan: the host's memory is exhausted");
        else
            *f = (struct mgb_verify_task){f->task, f->tower, f->device, f->from, q, ++turns.at[q]};
    }
    v->queue_count = lanes.count;
    mgb_vector_done(&lanes);
    mgb_vector_done(&turns);
    return status;
}

static void clock_join(struct mgb_verifier *v, int into, int from)
{
    int *a = v->clocks + (size_t)into * (size_t)v->queue_count;
    const int *b = v->clocks + (size_t)from * (size_t)v->queue_count;
    for (int q = 0; q < v->queue_count; q++)
        a[q] = b[q] > a[q] ? b[q] : a[q];
}

/* The flat tasks that `wait` of flat task `i` means. */
static enum mgb_status wait_join(struct mgb_verifier *v, int i, const struct mgb_wait *wait)
{
    const struct mgb_verify_task *f = &v->flats[i];
    char name[160];
    if (wait->task < 0 || wait->task >= f->task)
        return mgb_fail(MGB_CORRUPT, "plan: %s waits for t%d, which is not before it",
                        mgb_verify_name(name, v, i), wait->task);
    int class = v->plan->tasks[wait->task].class;
    if (wait->tower != MGB_EACH_TOWER && class != MGB_ROOT &&
        class != v->plan->tasks[f->task].class)
        return mgb_fail(MGB_CORRUPT, "plan: %s waits for its own instance of t%d and has none",
                        mgb_verify_name(name, v, i), wait->task);
    for (int k = v->first[wait->task]; k < v->first[wait->task + 1]; k++)
        if (wait->tower == MGB_EACH_TOWER || class == MGB_ROOT || v->flats[k].tower == f->tower)
            clock_join(v, i, k);
    return MGB_OK;
}

static enum mgb_status task_clock(struct mgb_verifier *v, int i, int *newest)
{
    const struct mgb_task *task = &v->plan->tasks[v->flats[i].task];
    int queue = v->flats[i].queue;
    if (task->wait_begin < 0 || task->wait_count < 0 ||
        task->wait_begin + task->wait_count > v->plan->wait_count)
        return mgb_fail(MGB_CORRUPT, "plan: task t%d '%s': waits out of range", v->flats[i].task,
                        task->name);
    if (newest[queue] >= 0)
        clock_join(v, i, newest[queue]);
    newest[queue] = i;
    for (int k = 0; k < task->wait_count; k++)
        MGB_TRY(wait_join(v, i, &v->plan->waits[task->wait_begin + k]));
    v->clocks[(size_t)i * (size_t)v->queue_count + (size_t)queue] = v->flats[i].turn;
    return MGB_OK;
}

/* Flat tasks begin .. end - 1 are one collective: all towers once, the same bytes, one end. */
static enum mgb_status collective_meet(struct mgb_verifier *v, int begin, int end)
{
    const struct mgb_task *first = &v->plan->tasks[v->flats[begin].task];
    int64_t bytes = v->plan->operands[first->operand_begin].bytes;
    if (end - begin != v->kept_count)
        return mgb_fail(MGB_CORRUPT,
                        "plan: collective %d '%s' is incomplete: %d of %d towers take part",
                        first->collective, first->name, end - begin, v->kept_count);
    for (int i = begin; i < end; i++) {
        const struct mgb_task *task = &v->plan->tasks[v->flats[i].task];
        for (int k = begin; k < i; k++)
            if (v->flats[k].tower == v->flats[i].tower)
                return mgb_fail(MGB_CORRUPT, "plan: tower %d takes part twice in collective %d",
                                v->flats[i].tower, first->collective);
        if (v->plan->operands[task->operand_begin].bytes != bytes)
            return mgb_fail(MGB_CORRUPT, "plan: collective %d '%s' has parts of unequal size",
                            first->collective, first->name);
        clock_join(v, begin, i);
    }
    for (int i = begin + 1; i < end; i++)
        clock_join(v, i, begin);
    return MGB_OK;
}

static int collective_of(const struct mgb_verifier *v, int flat)
{
    const struct mgb_task *task = &v->plan->tasks[v->flats[flat].task];
    return task->kind == MGB_TASK_ALLREDUCE ? task->collective : -1;
}

static enum mgb_status clocks_fill(struct mgb_verifier *v, int *newest, bool *met)
{
    for (int i = 0; i < v->flat_count; i++) {
        MGB_TRY(task_clock(v, i, newest));
        int collective = collective_of(v, i), begin = i;
        if (collective < 0 || (i + 1 < v->flat_count && collective_of(v, i + 1) == collective))
            continue;
        while (begin > 0 && collective_of(v, begin - 1) == collective)
            begin--;
        if (collective >= v->plan->collective_count || met[collective])
            return mgb_fail(MGB_CORRUPT, "plan: collective %d is issued in pieces", collective);
        met[collective] = true;
        MGB_TRY(collective_meet(v, begin, i + 1));
    }
    return MGB_OK;
}

enum mgb_status mgb_verify_clock(struct mgb_verifier *v)
{
    MGB_TRY(lanes_number(v));
    size_t entries = (size_t)v->flat_count * (size_t)v->queue_count;
    v->clocks = mgb_alloc((entries + 1) * sizeof *v->clocks);
    int *newest = mgb_alloc(((size_t)v->queue_count + 1) * sizeof *newest);
    bool *met = mgb_alloc((size_t)v->plan->collective_count + 1);
    enum mgb_status status = MGB_OK;
    if (!v->clocks || !newest || !met) {
        status = mgb_fail(MGB_NO_MEMORY, "verifying a step plan: the host's memory is exhausted");
    } else {
        memset(newest, -1, (size_t)v->queue_count * sizeof *newest);
        status = clocks_fill(v, newest, met);
    }
    mgb_release(newest);
    mgb_release(met);
    return status;
}
