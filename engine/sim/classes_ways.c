/* What the tasks of a plan in class form take: queues of every lane and tower, towers that are alike, times alone. */
#include "engine/sim/classes.h"

#include "engine/plan/build.h"
#include <string.h>

#define KINDS_MOST 16 /* looked through; what is like none of them is one of its own */

static enum mgb_status no_memory(void)
{
    return mgb_fail(MGB_NO_MEMORY, "simulating tower classes: the host's memory is exhausted");
}

static void *array_make(struct mgb_sim_classes *k, int count, size_t size)
{
    return mgb_pool_alloc(&k->ways.pool, ((size_t)count + 1) * size);
}

/* Batches that are there before the step take no time, and are in nobody's way. */
static void lanes_size(struct mgb_sim_classes *k, const struct mgb_sim *sim)
{
    for (int i = 0; i < k->plan->task_count; i++) {
        struct mgb_sim_item *item = &k->items[i];
        struct mgb_sim_lane *lane = &k->lanes[item->lane];
        item->free = sim->machine->host.inputs_ready && lane->copies &&
                     k->plan->tasks[i].phase == MGB_PHASE_INPUT;
        if (!item->free)
            lane->count = item->count;
    }
    for (int l = 0; l < k->lane_count; l++) {
        k->lanes[l].first = k->ways.queue_count;
        k->ways.queue_count += k->lanes[l].count;
    }
}

static void queue_set(struct mgb_sim_queue *queue, const struct mgb_sim_lane *lane, int self)
{
    int device = lane->device == MGB_SELF ? self : lane->device;
    int from = lane->from == -2 ? -1 : lane->from == MGB_SELF ? self : lane->from;
    *queue = (struct mgb_sim_queue){.device = device, .from = from, .copies = lane->copies};
}

static enum mgb_status queues_make(struct mgb_sim_classes *k, const struct mgb_sim *sim)
{
    const struct mgb_plan *plan = k->plan;
    lanes_size(k, sim);
    k->ways.queues = array_make(k, k->ways.queue_count, sizeof *k->ways.queues);
    if (!k->ways.queues)
        return no_memory();
    for (int l = 0; l < k->lane_count; l++)
        if (k->lanes[l].class == MGB_ROOT && k->lanes[l].count > 0)
            queue_set(&k->ways.queues[k->lanes[l].first], &k->lanes[l], MGB_SELF);
    for (int l = 0; l < k->lane_count; l++)
        for (int t = 0;
             k->lanes[l].class != MGB_ROOT && k->lanes[l].count > 0 && t < plan->tower_count; t++)
            if (plan->towers[t].class == k->lanes[l].class)
                queue_set(&k->ways.queues[k->lanes[l].first + plan->towers[t].instance],
                          &k->lanes[l], plan->towers[t].device);
    return mgb_sim_queues_add(&k->ways, sim);
}

static enum mgb_status shared_check(const struct mgb_sim_classes *k, const struct mgb_sim *sim)
{
    char from[MGB_DEVICE_NAME_MAX], to[MGB_DEVICE_NAME_MAX];
    const struct mgb_sim_queue *queue = k->ways.queues;
    const struct mgb_machine_device *devices = sim->machine->devices;
    if (!k->ways.shared)
        return MGB_OK;
    while (!queue->shares && !queue->queues)
        queue++;
    mgb_device_format(to, devices[queue->device].device.name);
    mgb_device_format(from, devices[queue->from < 0 ? 0 : queue->from].device.name);
    return mgb_fail(
        MGB_UNSUPPORTED,
        "tower classes on machine '%s': %s %s%s%s shared with others; use the engine "
        "of events, or a placement whose GPUs do not share wires, engines or cores",
        sim->machine->name, queue->copies ? "what copies need from" : "what computes on",
        queue->copies ? from : to, queue->copies ? " to " : "", queue->copies ? to : " is");
}

static bool same_ways(const struct mgb_sim_classes *k, const struct mgb_sim *sim, int a, int b)
{
    const struct mgb_tower *x = &k->plan->towers[a], *y = &k->plan->towers[b];
    if (sim->profile[x->device] != sim->profile[y->device])
        return false;
    for (int l = 0; l < k->lane_count; l++) {
        const struct mgb_sim_lane *lane = &k->lanes[l];
        if (lane->class != x->class || lane->count == 0)
            continue;
        const struct mgb_sim_queue *one = &k->ways.queues[lane->first + x->instance],
                                   *two = &k->ways.queues[lane->first + y->instance];
        if (one->rate < two->rate || one->rate > two->rate || one->latency_ns != two->latency_ns)
            return false;
    }
    return true;
}

/* Kinds by their first towers, and how many are of each. */
static void kinds_find(struct mgb_sim_classes *k, const struct mgb_sim *sim)
{
    const struct mgb_plan *plan = k->plan;
    int *kind_of = k->kind_of;
    for (int t = 0; t < plan->tower_count; t++) {
        int class = plan->towers[t].class, looked = 0, found = -1;
        kind_of[t] = -1;
        if (k->crowds[class].member_begin == k->crowds[class].member_end)
            continue;
        for (int n = k->kind_count - 1; n >= 0 && found < 0 && looked < KINDS_MOST; n--) {
            if (k->kinds[n].class != class)
                continue;
            looked++;
            if (same_ways(k, sim, k->kinds[n].tower, t))
                found = n;
        }
        if (found < 0) {
            found = k->kind_count++;
            k->kinds[found] = (struct mgb_sim_kind){.class = class, .tower = t};
        }
        kind_of[t] = found;
        k->kinds[found].count++;
    }
}

static int block_up(int count)
{
    return (count + MGB_SIM_BLOCK - 1) / MGB_SIM_BLOCK * MGB_SIM_BLOCK;
}

static void order_fill(struct mgb_sim_classes *k)
{
    const int *kind_of = k->kind_of;
    for (int n = 0; n < k->kind_count; n++) {
        k->kinds[n].begin = k->order_count;
        k->order_count += block_up(k->alike ? 1 : k->kinds[n].count);
        k->kinds[n].count = 0;
    }
    for (int t = 0; t < k->plan->tower_count; t++) {
        if (kind_of[t] < 0)
            continue;
        struct mgb_sim_kind *kind = &k->kinds[kind_of[t]];
        if (!k->alike || kind->count == 0)
            k->order[kind->begin + kind->count++] = t;
    }
    for (int n = 0; n < k->kind_count; n++)
        for (int at = k->kinds[n].count; at < block_up(k->kinds[n].count); at++)
            k->order[k->kinds[n].begin + at] = k->order[k->kinds[n].begin + at - 1];
}

static enum mgb_status kinds_make(struct mgb_sim_classes *k, const struct mgb_sim *sim)
{
    int towers = k->plan->tower_count;
    struct mgb_sim_kind *found = k->kinds = mgb_alloc((size_t)towers * sizeof *k->kinds);
    k->kind_of = array_make(k, towers, sizeof *k->kind_of);
    if (found && k->kind_of)
        kinds_find(k, sim);
    k->kinds = array_make(k, k->kind_count, sizeof *k->kinds);
    if (found && k->kinds)
        memcpy(k->kinds, found, (size_t)k->kind_count * sizeof *found);
    mgb_release(found);
    size_t most = (size_t)towers + MGB_SIM_BLOCK * ((size_t)k->kind_count + 1);
    k->order = mgb_pool_alloc(&k->ways.pool, most * sizeof *k->order);
    if (!found || !k->kind_of || !k->kinds || !k->order)
        return no_memory();
    order_fill(k);
    return MGB_OK;
}

/* Before what is drawn; whole ns for copies. */
static double item_ns(const struct mgb_sim_classes *k, const struct mgb_sim *sim, int i, int tower)
{
    const struct mgb_sim_item *item = &k->items[i];
    const struct mgb_sim_lane *lane = &k->lanes[item->lane];
    if (item->free || item->meet >= 0)
        return 0;
    int instance = tower >= 0 && item->class != MGB_ROOT ? k->plan->towers[tower].instance : 0;
    const struct mgb_sim_queue *queue = &k->ways.queues[lane->first + instance];
    if (lane->copies)
        return (double)(queue->latency_ns +
                        mgb_sim_round((double)k->plan->tasks[i].bytes / queue->rate));
    return mgb_sim_task_ns(sim, k->plan, i, queue->device);
}

static enum mgb_status times_add(struct mgb_sim_classes *k, const struct mgb_sim *sim)
{
    bool drawn = sim->machine->step_sigma > 0;
    k->single_ns = array_make(k, k->plan->task_count, sizeof *k->single_ns);
    if (!k->single_ns)
        return no_memory();
    for (int i = 0; i < k->plan->task_count; i++)
        if (k->items[i].class == MGB_ROOT)
            k->single_ns[i] = item_ns(k, sim, i, -1);
    for (int n = 0; n < k->kind_count; n++) {
        struct mgb_sim_kind *kind = &k->kinds[n];
        const struct mgb_sim_crowd *crowd = &k->crowds[kind->class];
        int count = crowd->member_end - crowd->member_begin;
        kind->ns = array_make(k, count, sizeof *kind->ns);
        if (!kind->ns)
            return no_memory();
        for (int m = 0; m < count; m++) {
            struct mgb_sim_member *member = &k->members[crowd->member_begin + m];
            const struct mgb_sim_lane *lane = &k->lanes[k->items[member->item].lane];
            kind->ns[m] = item_ns(k, sim, member->item, kind->tower);
            member->slowed = sim->slowness && !lane->copies;
            member->drawn = drawn && lane->from == -2;
        }
    }
    return MGB_OK;
}

static enum mgb_status meets_cost(struct mgb_sim_classes *k, const struct mgb_sim *sim)
{
    struct mgb_sim_ring ring;
    if (k->meet_count == 0)
        return MGB_OK;
    MGB_TRY(mgb_sim_ring_make(&ring, sim, &k->ways.how, k->plan));
    for (int m = 0; m < k->meet_count; m++)
        k->meets[m].ns = mgb_sim_round(mgb_sim_allreduce_ns(
            &ring, sim->machine, k->plan->algorithm, k->plan->tasks[k->meets[m].begin].bytes));
    return MGB_OK;
}

/* As the flat form: what is computed next beside an all-reduce takes longer by its share. */
static enum mgb_status shares_add(struct mgb_sim_classes *k, const struct mgb_sim *sim)
{
    double share = sim->machine->collective.compute_share;
    size_t keys = (size_t)sim->machine->device_count + (size_t)k->plan->class_count;
    if (share <= 0 || k->meet_count == 0)
        return MGB_OK;
    int *next = mgb_alloc(keys * sizeof *next);
    if (!next)
        return no_memory();
    memset(next, -1, keys * sizeof *next);
    for (int i = k->plan->task_count - 1; i >= 0; i--) {
        const struct mgb_sim_item *item = &k->items[i];
        int device = k->lanes[item->lane].device;
        int key = device == MGB_SELF ? sim->machine->device_count + item->class : device;
        if (k->plan->tasks[i].kind == MGB_TASK_COMPUTE)
            next[key] = i;
        else if (item->meet >= 0 && next[key] >= 0)
            k->items[next[key]].extra_ns += mgb_sim_round(share * (double)k->meets[item->meet].ns);
    }
    mgb_release(next);
    return MGB_OK;
}

static enum mgb_status scratch_make(struct mgb_sim_classes *k, const struct mgb_sim *sim)
{
    int tasks = k->plan->task_count;
    k->ready = array_make(k, k->member_count, sizeof *k->ready);
    k->most = array_make(k, k->member_count, sizeof *k->most);
    k->ends = array_make(k, tasks, sizeof *k->ends);
    k->starts = array_make(k, tasks, sizeof *k->starts);
    k->rows = array_make(k, k->member_count * MGB_SIM_BLOCK, sizeof *k->rows);
    k->row_starts = array_make(k, k->member_count * MGB_SIM_BLOCK, sizeof *k->row_starts);
    k->carried = mgb_pool_alloc(
        &k->ways.pool, ((size_t)k->slot_count * (size_t)k->order_count + 1) * sizeof *k->carried);
    k->finish = array_make(k, k->backups ? k->order_count : 0, sizeof *k->finish);
    k->dropped = array_make(k, k->backups ? k->order_count : 0, sizeof *k->dropped);
    k->late = array_make(k, k->backups ? k->plan->tower_count : 0, sizeof *k->late);
    bool made = k->ready && k->most && k->ends && k->starts && k->rows && k->row_starts &&
                k->carried && k->finish && k->dropped && k->late;
    if (sim->machine->step_sigma > 0) {
        k->drawn = array_make(k, sim->machine->device_count, sizeof *k->drawn);
        made &= k->drawn != NULL;
    }
    return made ? MGB_OK : no_memory();
}

enum mgb_status mgb_sim_classes_cost(struct mgb_sim_classes *k, const struct mgb_sim *sim)
{
    const struct mgb_machine *machine = sim->machine;
    bool meets = k->meet_count > 0;
    k->ways.step_ns = mgb_sim_round(machine->host.step_us * 1e3);
    k->ways.submit_ns = mgb_sim_is_submitted(&k->ways, machine) ? machine->host.submit_us * 1e3 : 0;
    k->alike =
        !sim->slowness && machine->step_sigma <= 0 && k->ways.submit_ns <= 0 && k->backups == 0;
    MGB_TRY(queues_make(k, sim));
    MGB_TRY(shared_check(k, sim));
    MGB_TRY(kinds_make(k, sim));
    MGB_TRY(times_add(k, sim));
    if (meets)
        MGB_TRY(meets_cost(k, sim));
    MGB_TRY(shares_add(k, sim));
    return scratch_make(k, sim);
}
