/* What every flat task touches, spelled out, and whether it may: work stays on its own device, copies run along their
 * link, lasting bytes are written by updates and moves only. */
#include "engine/plan/verify.h"

static enum mgb_status no_memory(void)
{
    return mgb_fail(MGB_NO_MEMORY, "verifying a step plan: the host's memory is exhausted");
}

static enum mgb_status access_add(struct mgb_verifier *v, int flat, const struct mgb_operand *o,
                                  int tower, bool write)
{
    const struct mgb_plan *plan = v->plan;
    const struct mgb_buffer *b = &plan->buffers[o->buffer];
    int64_t begin = b->offset + o->offset;
    int owner = b->class == MGB_ROOT ? -1 : tower;
    if (owner >= 0)
        begin += b->stride * plan->towers[owner].instance;
    if (o->row_bytes > 0 && v->flats[flat].tower >= 0)
        begin += o->row_bytes * plan->towers[v->flats[flat].tower].first_row;
    struct mgb_verify_access access = {.flat = flat,
                                       .buffer = o->buffer,
                                       .tower = owner,
                                       .arena = b->arena,
                                       .begin = begin,
                                       .end = begin + o->bytes,
                                       .device = b->device == MGB_SELF ? plan->towers[owner].device
                                                                       : b->device,
                                       .write = write};
    return mgb_vector_push(&v->accesses, access) ? MGB_OK : no_memory();
}

/* One operand, or one for each kept tower of its class. */
static enum mgb_status operand_add(struct mgb_verifier *v, int flat, const struct mgb_operand *o,
                                   bool write)
{
    const struct mgb_plan *plan = v->plan;
    if (o->tower != MGB_EACH_TOWER)
        return access_add(v, flat, o, o->tower >= 0 ? o->tower : v->flats[flat].tower, write);
    for (int t = 0; t < plan->tower_count; t++)
        if (v->kept[t] && plan->towers[t].class == plan->buffers[o->buffer].class)
            MGB_TRY(access_add(v, flat, o, t, write));
    return MGB_OK;
}

/* Bit 0: operand k is read; bit 1: it is written. */
static int operand_use(const struct mgb_plan *plan, const struct mgb_task *task, int k)
{
    int slots = mgb_optimizer_slots(&plan->optimizer), item = 2 + slots;
    switch (task->kind) {
    case MGB_TASK_COMPUTE:
        return k < task->input_count ? 1 : 2;
    case MGB_TASK_COPY:
    case MGB_TASK_REDUCE:
    case MGB_TASK_NORM:
    case MGB_TASK_CLIP:
    case MGB_TASK_CAST:
        return k == 0 ? 2 : 1;
    case MGB_TASK_MERGE:
        return k < 2 ? 2 : 1;
    case MGB_TASK_ALLREDUCE:
        return 3;
    case MGB_TASK_FILL:
        return 2;
    case MGB_TASK_UPDATE: /* weight, gradient, slots; a factor may follow the last */
        if (task->states)
            return k % 2 == 1 ? 1 : 3;
        return k % item == 1 || (k % item == 0 && k + item > task->operand_count) ? 1 : 3;
    }
    return 3;
}

static enum mgb_status place_check(const struct mgb_verifier *v, const struct mgb_verify_access *a,
                                   int operand)
{
    const struct mgb_verify_task *f = &v->flats[a->flat];
    const struct mgb_task *task = &v->plan->tasks[f->task];
    bool moves = task->kind == MGB_TASK_COPY && task->queue == MGB_QUEUE_COPY && operand == 1;
    int allowed = moves ? f->from : f->device;
    char name[160];
    if (a->device != allowed)
        return mgb_fail(MGB_CORRUPT, "plan: %s on device %d touches buffer b%d '%s' on device %d",
                        mgb_verify_name(name, v, a->flat), allowed, a->buffer,
                        v->plan->buffers[a->buffer].name, a->device);
    if (!a->write || a->arena == MGB_ARENA_STEP)
        return MGB_OK;
    bool replica = v->plan->staged && task->phase == MGB_PHASE_FETCH &&
                   v->plan->buffers[a->buffer].category == MGB_MEMORY_REPLICAS;
    bool returns = task->kind == MGB_TASK_COPY && (task->phase == MGB_PHASE_UPDATE || replica);
    bool moving = v->plan->kind == MGB_PLAN_MOVE && a->arena == MGB_ARENA_LASTING;
    if (moving || (v->plan->kind == MGB_PLAN_TRAIN && (task->kind == MGB_TASK_UPDATE || returns)))
        return MGB_OK;
    return mgb_fail(MGB_CORRUPT,
                    "plan: %s writes buffer b%d '%s', which lasts: only updates and moves may",
                    mgb_verify_name(name, v, a->flat), a->buffer, v->plan->buffers[a->buffer].name);
}

static enum mgb_status task_collect(struct mgb_verifier *v, int flat)
{
    const struct mgb_task *task = &v->plan->tasks[v->flats[flat].task];
    for (int write = 0; write < 2; write++)
        for (int k = 0; k < task->operand_count; k++) {
            if (!(operand_use(v->plan, task, k) & (write ? 2 : 1)))
                continue;
            int before = v->accesses.count;
            MGB_TRY(operand_add(v, flat, &v->plan->operands[task->operand_begin + k], write));
            for (int i = before; i < v->accesses.count; i++)
                MGB_TRY(place_check(v, &v->accesses.at[i], k));
        }
    return MGB_OK;
}

enum mgb_status mgb_verify_collect(struct mgb_verifier *v)
{
    for (int i = 0; i < v->flat_count; i++)
        MGB_TRY(task_collect(v, i));
    return MGB_OK;
}
