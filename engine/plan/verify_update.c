/* Every trained variable is updated exactly once a step, in each of its mirrors, and nothing else is: neither what is frozen
 * nor a second time. A weight that visits the optimizer on another device counts there, and must come back. Early fetched
 * replicas are copied after their master's update. */
#include "engine/plan/verify.h"

struct range {
    int device, flat; /* the task that writes it */
    enum mgb_arena_kind arena;
    int64_t begin, end;
    const struct mgb_verify_access
        *from; /* of a copy: what it reads; NULL: the optimizer writes it */
};

struct updates {
    const struct mgb_verifier *v;
    mgb_vector(
        struct range) ranges; /* what updates write, and copies of the update and fetch phases */
};

static enum mgb_status range_add(struct updates *u, const struct mgb_verify_access *a,
                                 const struct mgb_verify_access *from)
{
    struct range range = {a->device, a->flat, a->arena, a->begin, a->end, from};
    return mgb_vector_push(&u->ranges, range)
               ? MGB_OK
               : mgb_fail(MGB_NO_MEMORY, "verifying a step plan: the host's memory is exhausted");
}

/* A task's reads come before its writes: a copy's source is the access before. Of an update only weights matter here: those
 * of its writes that come first and then every further group of them. */
static enum mgb_status ranges_collect(struct updates *u)
{
    const struct mgb_verifier *v = u->v;
    int slots = mgb_optimizer_slots(&v->plan->optimizer), place = 0, flat = -1;
    for (int i = 0; i < v->accesses.count; i++) {
        const struct mgb_verify_access *a = &v->accesses.at[i];
        const struct mgb_task *task = &v->plan->tasks[v->flats[a->flat].task];
        if (!a->write)
            continue;
        place = a->flat == flat ? place + 1 : 0;
        flat = a->flat;
        if (task->kind == MGB_TASK_UPDATE && place % (task->states ? 1 : 1 + slots) == 0)
            MGB_TRY(range_add(u, a, NULL));
        if (task->kind == MGB_TASK_COPY && i > 0)
            MGB_TRY(range_add(u, a, a - 1));
    }
    return MGB_OK;
}

static bool covers(const struct range *r, int device, enum mgb_arena_kind arena, int64_t begin,
                   int64_t end)
{
    return r->device == device && r->arena == arena && r->begin < end && begin < r->end;
}

/* How often the optimizer has changed what lies in the range by the end of the step; *last is the newest such task. */
static int updates_count(const struct updates *u, int device, enum mgb_arena_kind arena,
                         int64_t begin, int64_t end, bool follow, int *last)
{
    int count = 0;
    for (int i = 0; i < u->ranges.count; i++) {
        const struct range *r = &u->ranges.at[i];
        int ignored = -1;
        if (!covers(r, device, arena, begin, end))
            continue;
        int64_t off = r->from ? r->from->begin - r->begin : 0;
        int here = !r->from ? 1
                   : follow ? updates_count(u, r->from->device, r->from->arena, begin + off,
                                            end + off, false, &ignored)
                            : 0;
        if (here > 0)
            *last = r->flat;
        count += here;
    }
    return count;
}

static bool variable_trains(const struct mgb_plan *plan, const struct mgb_storage *s)
{
    const struct mgb_variable *v = &plan->graph->variables[s->variable];
    bool mirrored = plan->strategy == MGB_ALLREDUCE || plan->strategy == MGB_INDEPENDENT;
    if (mirrored && v->info.twin >= 0)
        v = &plan->graph->variables[v->info.twin];
    return (v->info.state ? !v->info.frozen : v->info.trainable) && v->gradient >= 0;
}

/* Towers without rows train nothing by themselves; the variable of such a tower alone has no gradient. */
static bool owner_trains(const struct mgb_plan *plan, const struct mgb_storage *s, int tower)
{
    int owner = tower >= 0 ? tower : plan->graph->variables[s->variable].info.tower;
    bool alone = tower < 0 || plan->strategy == MGB_INDEPENDENT;
    return owner < 0 || owner >= plan->tower_count || !alone || plan->towers[owner].rows > 0;
}

static enum mgb_status replica_check(const struct updates *u, const struct mgb_storage *s,
                                     int tower, struct mgb_place at, int last)
{
    const struct mgb_plan *plan = u->v->plan;
    int copies = 0;
    bool late = true;
    for (int i = 0; i < u->ranges.count; i++) {
        const struct range *r = &u->ranges.at[i];
        if (!covers(r, at.device, at.arena, at.offset, at.offset + s->bytes))
            continue;
        copies++;
        late = late && mgb_verify_before(u->v, last, r->flat);
    }
    if (copies == 1 && late)
        return MGB_OK;
    return mgb_fail(MGB_CORRUPT, "plan: the replica of '%s' for tower %d is %s",
                    plan->graph->variables[s->variable].info.name, tower,
                    copies == 0   ? "not fetched for the next step"
                    : copies == 1 ? "fetched before the update has ended"
                                  : "fetched more than once");
}

static enum mgb_status storage_check(const struct updates *u, const struct mgb_storage *s,
                                     int tower)
{
    const struct mgb_plan *plan = u->v->plan;
    struct mgb_place at = mgb_plan_place(plan, s->buffer, tower);
    bool replica = plan->staged && s->role == MGB_ROLE_REPLICA, trains = variable_trains(plan, s);
    int last = -1, wanted = trains && owner_trains(plan, s, tower);
    at.offset += s->offset;
    if (replica && !wanted)
        return MGB_OK; /* frozen: as the start put it */
    if (replica) {
        for (int i = 0; i < plan->storage_count; i++)
            if (plan->storages[i].variable == s->variable &&
                plan->storages[i].role == MGB_ROLE_MASTER) {
                struct mgb_place home = mgb_plan_place(plan, plan->storages[i].buffer, -1);
                home.offset += plan->storages[i].offset;
                (void)updates_count(u, home.device, home.arena, home.offset, home.offset + s->bytes,
                                    true, &last);
            }
        return last < 0 ? MGB_OK : replica_check(u, s, tower, at, last);
    }
    int count = updates_count(u, at.device, at.arena, at.offset, at.offset + s->bytes, true, &last);
    if (count == wanted)
        return MGB_OK;
    return mgb_fail(MGB_CORRUPT, "plan: '%s'%s on device %d is updated %d times in a step, not %d",
                    plan->graph->variables[s->variable].info.name, trains ? "" : ", not trained,",
                    at.device, count, wanted);
}

static enum mgb_status storages_check(const struct updates *u)
{
    const struct mgb_plan *plan = u->v->plan;
    for (int i = 0; i < plan->storage_count; i++) {
        const struct mgb_storage *s = &plan->storages[i];
        if (s->role != MGB_ROLE_MASTER && s->role != MGB_ROLE_REPLICA)
            continue;
        if (s->tower != MGB_EACH_TOWER) {
            if (s->tower < 0 || u->v->kept[s->tower])
                MGB_TRY(storage_check(u, s, s->tower));
            continue;
        }
        for (int t = 0; t < plan->tower_count; t++)
            if (u->v->kept[t] && plan->towers[t].class == plan->buffers[s->buffer].class)
                MGB_TRY(storage_check(u, s, t));
    }
    return MGB_OK;
}

enum mgb_status mgb_verify_updates(const struct mgb_verifier *v)
{
    struct updates u = {.v = v};
    if (v->plan->kind != MGB_PLAN_TRAIN)
        return MGB_OK;
    enum mgb_status status = ranges_collect(&u);
    if (status == MGB_OK)
        status = storages_check(&u);
    mgb_vector_done(&u.ranges);
    return status;
}
