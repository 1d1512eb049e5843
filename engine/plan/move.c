/* The plan that carries weights and slots from one placement's lasting arenas to another's: a copy for every storage of the
 * new one, from the authoritative storage of the old one (or from the tower's own mirror, where that has the same values),
 * zeroes for slots that the old one lacks. */
#include "engine/plan/build.h"

#include <string.h>

struct route {  /* towers of the new placement that move alike */
    int class;  /* in the new plan */
    int own;    /* class of its device in the old plan, -1: it had no tower */
    int source; /* its device, when values come from there; else -1 */
};

struct move {
    struct mgb_planner planner;
    const struct mgb_plan *from, *to;
    struct route *routes; /* by class of the move */
    int *tower_at;        /* by device: tower of the old plan + 1 */
    bool *sources;        /* by device */
    int *
        taken; /* by buffer of the old plan: buffer of the move + 1, of its authoritative instance */
};

static bool mirrors(const struct mgb_plan *plan)
{
    return plan->strategy == MGB_ALLREDUCE || plan->strategy == MGB_INDEPENDENT;
}

/* Mirrors may stay where they are when they are all equal, or when they may differ. */
static bool mirrors_stay(const struct move *m)
{
    return mirrors(m->from) && mirrors(m->to) &&
           (m->from->strategy == MGB_ALLREDUCE || m->to->strategy == MGB_INDEPENDENT);
}

static enum mgb_role role_before(enum mgb_role role)
{
    return role == MGB_ROLE_SLOT ? MGB_ROLE_SLOT : MGB_ROLE_MASTER;
}

/* The authoritative storage of the old plan that `storage` is filled from; NULL: it starts as zero. */
static const struct mgb_storage *source_find(const struct move *m,
                                             const struct mgb_storage *storage)
{
    if (storage->role == MGB_ROLE_SLOT && m->from->optimizer.kind != m->to->optimizer.kind)
        return NULL;
    for (int i = 0; i < m->from->storage_count; i++) {
        const struct mgb_storage *s = &m->from->storages[i];
        if (s->variable == storage->variable && s->role == role_before(storage->role) &&
            s->slot == storage->slot)
            return s;
    }
    return NULL;
}

/* The mirror of the same values in a class of the old plan, or NULL. */
static const struct mgb_storage *mirror_find(const struct move *m,
                                             const struct mgb_storage *storage, int class)
{
    enum mgb_role role = storage->role == MGB_ROLE_SLOT ? MGB_ROLE_SLOT : MGB_ROLE_REPLICA;
    for (int i = 0; class >= 0 && i < m->from->storage_count; i++) {
        const struct mgb_storage *s = &m->from->storages[i];
        if (s->variable == storage->variable && s->role == role && s->slot == storage->slot &&
            s->tower == MGB_EACH_TOWER && m->from->buffers[s->buffer].class == class)
            return s;
    }
    return NULL;
}

static void sources_mark(struct move *m)
{
    for (int t = 0; t < m->from->tower_count; t++)
        m->tower_at[m->from->towers[t].device] = t + 1;
    for (int i = 0; i < m->from->storage_count; i++) {
        const struct mgb_storage *s = &m->from->storages[i];
        if (s->tower != MGB_EACH_TOWER)
            m->sources[mgb_plan_place(m->from, s->buffer, s->tower).device] = true;
    }
}

static struct route route_of(const struct move *m, int tower)
{
    const struct mgb_tower *t = &m->to->towers[tower];
    int before = m->tower_at[t->device] - 1;
    return (struct route){.class = t->class,
                          .own =
                              before >= 0 && mirrors_stay(m) ? m->from->towers[before].class : -1,
                          .source = m->sources[t->device] ? t->device : -1};
}

static int route_find(struct move *m, struct route route)
{
    struct mgb_plan *plan = m->planner.plan;
    for (int c = 0; c < plan->class_count; c++)
        if (m->routes[c].class == route.class && m->routes[c].own == route.own &&
            m->routes[c].source == route.source)
            return c;
    m->routes[plan->class_count] = route;
    return plan->class_count++;
}

/* The towers of the new plan, in classes of those that move alike. */
static void towers_route(struct move *m)
{
    struct mgb_plan *plan = m->planner.plan;
    for (int t = 0; t < plan->tower_count; t++) {
        struct mgb_tower *tower = &plan->towers[t];
        *tower = m->to->towers[t];
        int before = plan->class_count;
        tower->class = route_find(m, route_of(m, t));
        struct mgb_class *class = &plan->classes[tower->class];
        if (plan->class_count > before) {
            *class =
                (struct mgb_class){.rows = tower->rows, .first_tower = t, .lead = tower->device};
            m->planner.stages[tower->class] =
                (struct mgb_stage){.class = tower->class, .device = tower->device, .tower = t};
        }
        tower->instance = class->tower_count++;
    }
}

/* A buffer of the move that stands for one of another plan, or for an instance of it on a fixed device. */
static int buffer_stand_in(struct move *m, const struct mgb_buffer *of, enum mgb_arena_kind arena,
                           int class, struct mgb_place place)
{
    int buffer =
        mgb_plan_add_buffer(&m->planner, of->name, class, place.device, of->category, of->bytes);
    struct mgb_buffer *b = &m->planner.buffers.at[buffer];
    b->arena = arena;
    b->offset = place.offset;
    b->first = 0;
    return buffer;
}

static struct mgb_operand storage_part(int buffer, const struct mgb_storage *storage)
{
    return mgb_plan_part(buffer, storage->offset, storage->bytes);
}

/* Fills `dst`, which is at `place` (MGB_SELF or a device) for `class`. */
static void storage_fill(struct move *m, const struct mgb_storage *storage, int class, int place,
                         struct mgb_operand dst)
{
    const struct mgb_storage *source = source_find(m, storage);
    const struct mgb_storage *mirror =
        class < 0 ? NULL : mirror_find(m, storage, m->routes[class].own);
    const char *name =
        mgb_plan_name(&m->planner, "move %s", m->to->graph->variables[storage->variable].info.name);
    if (!source) {
        mgb_plan_add_task(&m->planner, MGB_TASK_FILL, MGB_PHASE_FETCH, class, place, name);
        mgb_plan_add_operand(&m->planner, dst);
        return;
    }
    if (mirror) {
        struct mgb_place own = {MGB_SELF, MGB_ARENA_OLD, m->from->buffers[mirror->buffer].offset};
        int buffer =
            buffer_stand_in(m, &m->from->buffers[mirror->buffer], MGB_ARENA_OLD, class, own);
        mgb_plan_add_copy(&m->planner, MGB_PHASE_FETCH, class, place, MGB_SELF, dst,
                          storage_part(buffer, mirror), name);
        return;
    }
    struct mgb_place at = mgb_plan_place(m->from, source->buffer, source->tower);
    if (m->taken[source->buffer] == 0)
        m->taken[source->buffer] =
            1 + buffer_stand_in(m, &m->from->buffers[source->buffer], MGB_ARENA_OLD, MGB_ROOT, at);
    mgb_plan_add_copy(&m->planner, MGB_PHASE_FETCH, class, place, at.device, dst,
                      storage_part(m->taken[source->buffer] - 1, source), name);
}

/* Tower 0's mirror is listed by itself and again with its class. */
static bool storage_is_listed_again(const struct mgb_plan *plan, int index)
{
    const struct mgb_storage *s = &plan->storages[index];
    for (int i = 0; s->tower >= 0 && i < plan->storage_count; i++)
        if (plan->storages[i].buffer == s->buffer && plan->storages[i].offset == s->offset &&
            plan->storages[i].tower == MGB_EACH_TOWER)
            return true;
    return false;
}

/* Instances of a buffer of the new plan, one for each way its towers go; their storages are filled one by one. */
static void buffer_move(struct move *m, int number, int class)
{
    const struct mgb_buffer *of = &m->to->buffers[number];
    int buffer = -1;
    for (int i = 0; i < m->to->storage_count; i++) {
        if (m->to->storages[i].buffer != number || storage_is_listed_again(m->to, i))
            continue;
        if (buffer < 0)
            buffer = buffer_stand_in(m, of, MGB_ARENA_LASTING, class,
                                     (struct mgb_place){of->device, of->arena, of->offset});
        storage_fill(m, &m->to->storages[i], class, of->device,
                     storage_part(buffer, &m->to->storages[i]));
    }
}

static void buffers_move(struct move *m)
{
    for (int b = 0; b < m->to->buffer_count && !m->planner.failed; b++) {
        if (m->to->buffers[b].arena != MGB_ARENA_LASTING)
            continue;
        if (m->to->buffers[b].class == MGB_ROOT)
            buffer_move(m, b, MGB_ROOT);
        for (int c = 0; m->to->buffers[b].class != MGB_ROOT && c < m->planner.plan->class_count;
             c++)
            if (m->routes[c].class == m->to->buffers[b].class)
                buffer_move(m, b, c);
    }
    int end = m->planner.tasks.count > 0 ? m->planner.tasks.count - 1 : 0;
    for (int b = 0; b < m->planner.buffers.count; b++)
        m->planner.buffers.at[b].last = end;
}

/* Lasting bytes of a plan on `device`; devices are asked for in rising order, as `uses` has them. */
static int64_t lasting_next(const struct mgb_plan *plan, int device, int *at)
{
    while (*at < plan->use_count && plan->uses[*at].device < device)
        ++*at;
    bool there = *at < plan->use_count && plan->uses[*at].device == device;
    return there ? plan->uses[*at].lasting_bytes : 0;
}

/* Both sides count: the old arena goes only when the move is done. */
static void uses_fill(struct move *m)
{
    struct mgb_plan *plan = m->planner.plan;
    int devices = plan->topology->device_count, new = 0, old = 0;
    plan->uses = mgb_plan_alloc(&m->planner, (size_t)devices, sizeof *plan->uses);
    for (int d = 0; plan->uses && d < devices; d++) {
        int64_t after = lasting_next(m->to, d, &new), before = lasting_next(m->from, d, &old);
        if (after + before > 0)
            plan->uses[plan->use_count++] = (struct mgb_device_use){
                .device = d, .lasting_bytes = after, .peak_bytes = after + before};
    }
}

static bool move_init(struct move *m)
{
    struct mgb_plan *plan = m->planner.plan;
    size_t devices = (size_t)plan->topology->device_count, towers = (size_t)plan->tower_count;
    plan->towers = mgb_plan_alloc(&m->planner, towers, sizeof *plan->towers);
    plan->classes = mgb_plan_alloc(&m->planner, towers, sizeof *plan->classes);
    m->planner.stages = mgb_plan_alloc(&m->planner, towers, sizeof *m->planner.stages);
    m->routes = mgb_plan_alloc(&m->planner, towers, sizeof *m->routes);
    m->tower_at = mgb_plan_alloc(&m->planner, devices, sizeof *m->tower_at);
    m->sources = mgb_plan_alloc(&m->planner, devices, sizeof *m->sources);
    m->taken = mgb_plan_alloc(&m->planner, (size_t)m->from->buffer_count, sizeof *m->taken);
    return mgb_planner_reserve(&m->planner) && !m->planner.failed;
}

static void move_build(struct move *m)
{
    if (!move_init(m)) {
        m->planner.failed = true;
        return;
    }
    sources_mark(m);
    towers_route(m);
    buffers_move(m);
    uses_fill(m);
    if (!m->planner.failed)
        mgb_plan_queues(&m->planner);
    if (!m->planner.failed)
        mgb_plan_traffic(&m->planner);
    if (!m->planner.failed)
        mgb_plan_fill(&m->planner);
}

enum mgb_status mgb_plan_make_move(struct mgb_plan **out, const struct mgb_plan *from,
                                   const struct mgb_plan *to)
{
    struct mgb_plan *plan;
    MGB_TRY(mgb_plan_begin(&plan));
    plan->kind = MGB_PLAN_MOVE;
    plan->graph = to->graph;
    plan->topology = to->topology;
    plan->strategy = to->strategy;
    plan->global_rows = to->global_rows;
    plan->tower_count = to->tower_count;
    plan->optimizer = to->optimizer;
    plan->algorithm = to->algorithm;
    plan->threads = to->threads;
    plan->cpu_threads = to->cpu_threads;
    struct move m = {.planner = {.plan = plan, .pool = plan->memory, .graph = to->graph},
                     .from = from,
                     .to = to};
    move_build(&m);
    bool failed = m.planner.failed;
    mgb_planner_done(&m.planner);
    if (failed) {
        mgb_plan_free(plan);
        return mgb_fail(MGB_NO_MEMORY, "planning a move: the host's memory is exhausted");
    }
    *out = plan;
    return MGB_OK;
}
