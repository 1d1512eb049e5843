/* What the plan declares, against itself: buffers that live at the same time lie apart and inside their arena, tasks use
 * buffers within their lifetimes, and no update starts before the last gradient of the step is complete. */
#include "engine/plan/verify.h"

#include <stdlib.h>

struct extent { /* an instance of a buffer */
    int device, buffer, tower;
    enum mgb_arena_kind arena;
    int64_t begin, end;
};

static int extent_compare(const void *left, const void *right)
{
    const struct extent *a = left, *b = right;
    if (a->device != b->device)
        return a->device < b->device ? -1 : 1;
    if (a->arena != b->arena)
        return a->arena < b->arena ? -1 : 1;
    if (a->begin != b->begin)
        return a->begin < b->begin ? -1 : 1;
    return (a->buffer > b->buffer) - (a->buffer < b->buffer);
}

static struct extent extent_of(const struct mgb_plan *plan, int buffer, int tower)
{
    const struct mgb_buffer *b = &plan->buffers[buffer];
    int64_t begin = b->offset + (tower >= 0 ? b->stride * plan->towers[tower].instance : 0);
    return (struct extent){.device = b->device == MGB_SELF ? plan->towers[tower].device : b->device,
                           .buffer = buffer,
                           .tower = tower,
                           .arena = b->arena,
                           .begin = begin,
                           .end = begin + b->flip + b->bytes};
}

static enum mgb_status arena_check(const struct mgb_plan *plan, const struct extent *e)
{
    if (e->arena == MGB_ARENA_OLD)
        return MGB_OK;
    for (int i = 0; i < plan->use_count; i++) {
        const struct mgb_device_use *use = &plan->uses[i];
        if (use->device == e->device &&
            e->end <= (e->arena == MGB_ARENA_STEP ? use->step_bytes : use->lasting_bytes))
            return MGB_OK;
    }
    return mgb_fail(MGB_CORRUPT, "plan: buffer b%d '%s' reaches beyond its arena on device %d",
                    e->buffer, plan->buffers[e->buffer].name, e->device);
}

static enum mgb_status extents_check(const struct mgb_plan *plan, const struct extent *list,
                                     int count)
{
    for (int i = 0; i < count; i++) {
        MGB_TRY(arena_check(plan, &list[i]));
        const struct mgb_buffer *a = &plan->buffers[list[i].buffer];
        for (int k = i + 1; k < count && list[k].device == list[i].device &&
                            list[k].arena == list[i].arena && list[k].begin < list[i].end;
             k++) {
            const struct mgb_buffer *b = &plan->buffers[list[k].buffer];
            if (a->arena != MGB_ARENA_OLD && a->first <= b->last && b->first <= a->last)
                return mgb_fail(
                    MGB_CORRUPT,
                    "plan: buffers overlap while both live: b%d '%s' and b%d '%s' on device %d",
                    list[i].buffer, a->name, list[k].buffer, b->name, list[i].device);
        }
    }
    return MGB_OK;
}

static enum mgb_status lifetimes_check(const struct mgb_verifier *v)
{
    for (int i = 0; i < v->accesses.count; i++) {
        const struct mgb_verify_access *a = &v->accesses.at[i];
        const struct mgb_buffer *b = &v->plan->buffers[a->buffer];
        char name[160];
        if (v->flats[a->flat].task < b->first || v->flats[a->flat].task > b->last)
            return mgb_fail(
                MGB_CORRUPT, "plan: %s uses buffer b%d '%s' outside of its life from t%d to t%d",
                mgb_verify_name(name, v, a->flat), a->buffer, b->name, b->first, b->last);
    }
    return MGB_OK;
}

enum mgb_status mgb_verify_layout(const struct mgb_verifier *v)
{
    const struct mgb_plan *plan = v->plan;
    mgb_vector(struct extent) list = {0};
    bool room = true;
    for (int b = 0; b < plan->buffer_count; b++) {
        int class = plan->buffers[b].class;
        if (class == MGB_ROOT)
            room &= mgb_vector_push(&list, extent_of(plan, b, -1));
        for (int t = 0; class != MGB_ROOT && t < plan->tower_count; t++)
            if (v->kept[t] && plan->towers[t].class == class)
                room &= mgb_vector_push(&list, extent_of(plan, b, t));
    }
    enum mgb_status status = lifetimes_check(v);
    if (!room)
        status = mgb_fail(MGB_NO_MEMORY, "verifying a step plan: the host's memory is exhausted");
    if (list.count > 0)
        qsort(list.at, (size_t)list.count, sizeof *list.at, extent_compare);
    if (status == MGB_OK)
        status = extents_check(plan, list.at, list.count);
    mgb_vector_done(&list);
    return status;
}

/* A stale update uses the sums of the step before; only what may fail is behind it. */
static bool makes_gradients(const struct mgb_plan *plan, const struct mgb_task *task)
{
    return (task->phase == MGB_PHASE_SUM && !plan->stale) || task->phase == MGB_PHASE_BACKWARD;
}

enum mgb_status mgb_verify_commit(const struct mgb_verifier *v)
{
    char one[160], two[160];
    for (int u = 0; u < v->flat_count; u++) {
        if (v->plan->tasks[v->flats[u].task].kind != MGB_TASK_UPDATE)
            continue;
        for (int i = 0; i < v->flat_count; i++)
            if (makes_gradients(v->plan, &v->plan->tasks[v->flats[i].task]) &&
                !mgb_verify_before(v, i, u))
                return mgb_fail(MGB_CORRUPT,
                                "plan: an update comes too early: %s may start before %s has ended",
                                mgb_verify_name(one, v, u), mgb_verify_name(two, v, i));
    }
    return MGB_OK;
}
