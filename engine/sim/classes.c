/* A plan in class form made ready for playing: which tasks are played once and which by every tower, on which queues, after
 * what. */
#include "engine/sim/classes.h"

#include "engine/base/hash.h"
#include "engine/plan/build.h"
#include <string.h>

static enum mgb_status no_memory(void)
{
    return mgb_fail(MGB_NO_MEMORY, "simulating tower classes: the host's memory is exhausted");
}

static bool has_own_end(const struct mgb_task *task)
{
    return task->device == MGB_SELF || (task->queue == MGB_QUEUE_COPY && task->from == MGB_SELF);
}

/* Devices that the root uses, and classes that are no crowd because of them. */
static void common_mark(bool *common, bool *alone, const struct mgb_plan *plan)
{
    common[MGB_HOST_DEVICE] = true;
    for (int i = 0; i < plan->task_count; i++) {
        const struct mgb_task *task = &plan->tasks[i];
        if (task->class != MGB_ROOT && task->device == MGB_SELF && task->from < 0)
            continue;
        if (task->device >= 0)
            common[task->device] = true;
        if (task->from >= 0)
            common[task->from] = true;
    }
    for (int t = 0; t < plan->tower_count; t++)
        alone[plan->towers[t].class] |= common[plan->towers[t].device];
    for (int i = 0; i < plan->task_count; i++)
        if (plan->tasks[i].class != MGB_ROOT && !has_own_end(&plan->tasks[i]))
            alone[plan->tasks[i].class] = true;
}

static enum mgb_status alone_check(const bool *alone, const struct mgb_plan *plan)
{
    for (int c = 0; c < plan->class_count; c++)
        if (alone[c] && plan->classes[c].tower_count > 1)
            return mgb_fail(
                MGB_UNSUPPORTED,
                "tower classes: what %d towers do meets on one device's queue, where one has to "
                "wait for the other; use the engine of events, or strategy = \"allreduce\" or "
                "\"independent\"",
                plan->classes[c].tower_count);
    return MGB_OK;
}

static void items_fill(struct mgb_sim_classes *k, const bool *alone)
{
    for (int i = 0; i < k->plan->task_count; i++) {
        const struct mgb_task *task = &k->plan->tasks[i];
        struct mgb_sim_item *item = &k->items[i];
        bool single = task->class == MGB_ROOT || alone[task->class];
        *item =
            (struct mgb_sim_item){.class = single ? MGB_ROOT : task->class,
                                  .tower = -1,
                                  .member = -1,
                                  .before = -1,
                                  .first = k->flat_count,
                                  .count = 1,
                                  .meet = task->kind == MGB_TASK_ALLREDUCE ? task->collective : -1};
        if (single && task->class != MGB_ROOT)
            item->tower = k->plan->classes[task->class].first_tower;
        if (!single)
            item->count = k->plan->classes[task->class].tower_count;
        k->flat_count += item->count;
    }
}

/* Lanes by (class, device, from); a table of numbers + 1 with open addressing. */
struct numbering {
    struct mgb_sim_classes *k;
    int *table;
    size_t size;
};

static int lane_number(struct numbering *n, struct mgb_sim_lane lane)
{
    int words[3] = {lane.class, lane.device, lane.from};
    size_t at = (size_t)mgb_hash(0, words, sizeof words) & (n->size - 1);
    for (; n->table[at]; at = (at + 1) & (n->size - 1)) {
        const struct mgb_sim_lane *l = &n->k->lanes[n->table[at] - 1];
        if (l->class == lane.class && l->device == lane.device && l->from == lane.from)
            return n->table[at] - 1;
    }
    n->k->lanes[n->k->lane_count] = lane;
    n->table[at] = ++n->k->lane_count;
    return n->table[at] - 1;
}

/* As the flat form has it: copies from a device, what goes on beside computing from the device itself, computing -1. */
static struct mgb_sim_lane lane_of(const struct mgb_sim_classes *k, const struct mgb_sim *sim,
                                   int i)
{
    const struct mgb_task *task = &k->plan->tasks[i];
    const struct mgb_sim_item *item = &k->items[i];
    int self = item->tower >= 0 ? k->plan->towers[item->tower].device : MGB_SELF;
    int device = task->device == MGB_SELF ? self : task->device;
    int from = task->from == MGB_SELF ? self : task->from;
    bool copies = task->kind == MGB_TASK_COPY && task->queue == MGB_QUEUE_COPY;
    bool sums = sim->machine->host.sums_apart && task->kind == MGB_TASK_REDUCE &&
                task->device != MGB_HOST_DEVICE;
    bool apart = task->queue == MGB_QUEUE_COPY || sums;
    /* MGB_SELF is -1 as well: a crowd's computing is told from what goes on beside it by -2. */
    return (struct mgb_sim_lane){.class = item->class,
                                 .device = device,
                                 .from = copies  ? from
                                         : apart ? device
                                                 : -2,
                                 .last = -1,
                                 .copies = copies};
}

static enum mgb_status lanes_number(struct mgb_sim_classes *k, const struct mgb_sim *sim)
{
    struct numbering n = {.k = k, .size = 16};
    while (n.size < 2 * (size_t)k->plan->task_count)
        n.size *= 2;
    n.table = mgb_alloc(n.size * sizeof *n.table);
    k->lanes = mgb_pool_alloc(&k->ways.pool, ((size_t)k->plan->task_count + 1) * sizeof *k->lanes);
    if (!n.table || !k->lanes) {
        mgb_release(n.table);
        return no_memory();
    }
    for (int i = 0; i < k->plan->task_count; i++) {
        struct mgb_sim_item *item = &k->items[i];
        item->lane = lane_number(&n, lane_of(k, sim, i));
        item->before = k->lanes[item->lane].last;
        k->lanes[item->lane].last = i;
    }
    mgb_release(n.table);
    return MGB_OK;
}

/* What each item waits for besides the one before it. */
struct waiting {
    struct mgb_sim_classes *k;
    const struct mgb_sim *sim;
    int *last;  /* by device, then by class: the newest item of its compute queue; -1 */
    int *apart; /* likewise: the newest sum that has left it; -1 */
    bool failed;
};

static void wait_add(struct waiting *w, int i, int on, bool own)
{
    const struct mgb_sim_item *item = &w->k->items[i], *other = &w->k->items[on];
    if (item->lane == other->lane && (own || other->class == MGB_ROOT))
        return;
    if (!mgb_vector_push(&w->k->waits, (struct mgb_sim_await){on, own && other->class != MGB_ROOT}))
        w->failed = true;
}

static int compute_key(const struct waiting *w, int class, int device)
{
    return device == MGB_SELF ? w->sim->machine->device_count + class : device;
}

static void newest_add(struct waiting *w, int i, const int *newest, int class, int device)
{
    int on = newest[compute_key(w, class, device)];
    if (on >= 0)
        wait_add(w, i, on, device == MGB_SELF);
}

/* Copies between GPUs that also wait for what was queued before them, and sums that have left their compute queue: as the
 * flat form has them. */
static void machine_waits_add(struct waiting *w, int i, const struct mgb_task *task)
{
    const struct mgb_sim_item *item = &w->k->items[i];
    const struct mgb_sim_lane *lane = &w->k->lanes[item->lane];
    enum mgb_copy_wait which = w->sim->machine->host.copy_waits;
    if (lane->copies && lane->from != MGB_HOST_DEVICE && lane->device != MGB_HOST_DEVICE) {
        if (which != MGB_COPY_WAITS_NONE)
            newest_add(w, i, w->last, item->class, lane->from);
        if (which == MGB_COPY_WAITS_BOTH)
            newest_add(w, i, w->last, item->class, lane->device);
    }
    if (w->sim->machine->host.sums_apart && task->kind == MGB_TASK_REDUCE &&
        lane->device != MGB_HOST_DEVICE) {
        newest_add(w, i, w->last, item->class, lane->device);
        w->apart[compute_key(w, item->class, lane->device)] = i;
    } else if (lane->from == -2 && task->class == MGB_ROOT && task->kind != MGB_TASK_COMPUTE) {
        newest_add(w, i, w->apart, item->class, lane->device);
    }
}

static void waits_fill(struct waiting *w)
{
    struct mgb_sim_classes *k = w->k;
    for (int i = 0; i < k->plan->task_count; i++) {
        const struct mgb_task *task = &k->plan->tasks[i];
        k->items[i].wait_begin = k->waits.count;
        for (int n = 0; n < task->wait_count; n++) {
            const struct mgb_wait *wait = &k->plan->waits[task->wait_begin + n];
            bool each = wait->tower == MGB_EACH_TOWER;
            wait_add(w, i, wait->task, !each && k->plan->tasks[wait->task].class != MGB_ROOT);
        }
        machine_waits_add(w, i, task);
        if (k->lanes[k->items[i].lane].from == -2)
            w->last[compute_key(w, k->items[i].class, k->lanes[k->items[i].lane].device)] = i;
    }
    k->items[k->plan->task_count].wait_begin = k->waits.count;
}

static enum mgb_status waits_add(struct mgb_sim_classes *k, const struct mgb_sim *sim)
{
    size_t keys = (size_t)sim->machine->device_count + (size_t)k->plan->class_count;
    struct waiting w = {.k = k, .sim = sim, .last = mgb_alloc(2 * keys * sizeof *w.last)};
    if (!w.last)
        return no_memory();
    memset(w.last, -1, 2 * keys * sizeof *w.last);
    w.apart = w.last + keys;
    waits_fill(&w);
    mgb_release(w.last);
    return w.failed ? no_memory() : MGB_OK;
}

static enum mgb_status items_add(struct mgb_sim_classes *k, const struct mgb_sim *sim)
{
    const struct mgb_plan *plan = k->plan;
    bool *common = mgb_alloc((size_t)sim->machine->device_count + 1);
    bool *alone = mgb_alloc((size_t)plan->class_count + 1);
    k->items = mgb_pool_alloc(&k->ways.pool, ((size_t)plan->task_count + 1) * sizeof *k->items);
    enum mgb_status status = common && alone && k->items ? MGB_OK : no_memory();
    if (status == MGB_OK) {
        common_mark(common, alone, plan);
        status = alone_check(alone, plan);
    }
    if (status == MGB_OK)
        items_fill(k, alone);
    mgb_release(common);
    mgb_release(alone);
    return status;
}

static enum mgb_status classes_fill(struct mgb_sim_classes *k, const struct mgb_sim *sim)
{
    MGB_TRY(items_add(k, sim));
    MGB_TRY(lanes_number(k, sim));
    MGB_TRY(waits_add(k, sim));
    MGB_TRY(mgb_sim_classes_order(k));
    MGB_TRY(mgb_sim_classes_cost(k, sim));
    return mgb_sim_classes_spans(k);
}

enum mgb_status mgb_sim_classes_make(struct mgb_sim_classes **out, const struct mgb_sim *sim,
                                     const struct mgb_virtual_request *request)
{
    struct mgb_sim_classes *k = mgb_alloc(sizeof *k);
    if (!k)
        return no_memory();
    k->plan = k->ways.plan = request->plan;
    k->ways.how.peer = request->placement->peer_access;
    k->ways.how.pinned = request->placement->pinned;
    k->ways.graph = request->placement->graph;
    k->backups = sim->options.backups;
    mgb_pool_init(&k->ways.pool);
    enum mgb_status status = classes_fill(k, sim);
    if (status == MGB_OK)
        *out = k;
    else
        mgb_sim_classes_free(k);
    return status;
}

void mgb_sim_classes_free(struct mgb_sim_classes *k)
{
    if (!k)
        return;
    mgb_vector_done(&k->waits);
    mgb_release(k->trace);
    mgb_pool_done(&k->ways.pool);
    mgb_release(k);
}
