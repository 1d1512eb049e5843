/* Bytes over each link in a step. Copies count on their own link; an all-reduce on the links of its algorithm: a ring in
 * tower order (auto, ring, nccl) moves every element twice round but for two parts, a tree (tree, hierarchical) moves it
 * once up and once down between tower t and tower (t - 1) / 2. */
#include "engine/plan/build.h"

#include <stdlib.h>

static int traffic_compare(const void *a, const void *b)
{
    const struct mgb_traffic *x = a, *y = b;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    return (x->to > y->to) - (x->to < y->to);
}

/* Elements of part `part` when `count` are cut into `parts`, the first ones larger by one. */
static int64_t part_count(int64_t count, int64_t parts, int64_t part)
{
    return count / parts + (part < count % parts);
}

/* Of numbers of `size` bytes tower t sends its right neighbour all parts but one while summing and all but one while spreading. */
static int64_t ring_bytes(int64_t bytes, int64_t size, int towers, int t)
{
    int64_t count = bytes / size;
    return size * (2 * count - part_count(count, towers, (t + 1) % towers) -
                   part_count(count, towers, (t + 2) % towers));
}

static bool tree_like(enum mgb_allreduce algorithm)
{
    return algorithm == MGB_ALLREDUCE_TREE || algorithm == MGB_ALLREDUCE_HIERARCHICAL;
}

static void link_add(struct mgb_planner *planner, int from, int to, int64_t bytes)
{
    if (bytes > 0)
        planner->plan->traffic[planner->plan->traffic_count++] =
            (struct mgb_traffic){from, to, bytes};
}

struct payload {         /* of a collective */
    int64_t bytes, size; /* size of a number */
};

static void collectives_count(struct mgb_planner *planner, const struct payload *payload)
{
    const struct mgb_plan *plan = planner->plan;
    for (int t = 0; t < plan->tower_count && plan->collective_count > 0; t++) {
        int64_t ring = 0, tree = 0;
        for (int k = 0; k < plan->collective_count; k++) {
            ring += ring_bytes(payload[k].bytes, payload[k].size, plan->tower_count, t);
            tree += payload[k].bytes;
        }
        int next = plan->towers[(t + 1) % plan->tower_count].device, here = plan->towers[t].device;
        if (!tree_like(plan->algorithm)) {
            link_add(planner, here, next, ring);
        } else if (t > 0) {
            link_add(planner, here, plan->towers[(t - 1) / 2].device, tree);
            link_add(planner, plan->towers[(t - 1) / 2].device, here, tree);
        }
    }
}

/* Copies, summed by queue; a queue of a class is one link a tower. */
static void copies_count(struct mgb_planner *planner, const int64_t *bytes)
{
    const struct mgb_plan *plan = planner->plan;
    for (int q = 0; q < planner->queues.count; q++) {
        const struct mgb_lane *lane = &planner->queues.at[q];
        if (lane->kind != MGB_QUEUE_COPY || bytes[q] == 0)
            continue;
        if (lane->class == MGB_ROOT)
            link_add(planner, lane->from, lane->device, bytes[q]);
        for (int t = 0; lane->class != MGB_ROOT && t < plan->tower_count; t++)
            if (plan->towers[t].class == lane->class)
                link_add(planner, lane->from == MGB_SELF ? plan->towers[t].device : lane->from,
                         lane->device == MGB_SELF ? plan->towers[t].device : lane->device,
                         bytes[q]);
    }
}

static size_t traffic_room(const struct mgb_planner *planner)
{
    size_t room = 2 * (size_t)planner->plan->tower_count + 1;
    for (int q = 0; q < planner->queues.count; q++)
        room += planner->queues.at[q].class == MGB_ROOT
                    ? 1
                    : (size_t)planner->plan->classes[planner->queues.at[q].class].tower_count;
    return room;
}

static void traffic_merge(struct mgb_plan *plan)
{
    int kept = 0;
    if (plan->traffic_count > 0)
        qsort(plan->traffic, (size_t)plan->traffic_count, sizeof *plan->traffic, traffic_compare);
    for (int i = 0; i < plan->traffic_count; i++) {
        if (kept > 0 && traffic_compare(&plan->traffic[kept - 1], &plan->traffic[i]) == 0)
            plan->traffic[kept - 1].bytes += plan->traffic[i].bytes;
        else
            plan->traffic[kept++] = plan->traffic[i];
    }
    plan->traffic_count = kept;
}

enum mgb_status mgb_plan_traffic(struct mgb_planner *planner)
{
    struct mgb_plan *plan = planner->plan;
    plan->traffic = mgb_plan_alloc(planner, traffic_room(planner), sizeof *plan->traffic);
    int64_t *bytes = mgb_alloc(((size_t)planner->queues.count + 1) * sizeof *bytes);
    struct payload *payload = mgb_alloc(((size_t)plan->collective_count + 1) * sizeof *payload);
    if (!plan->traffic || !bytes || !payload) {
        planner->failed = true;
    } else {
        for (int i = 0; i < planner->tasks.count; i++) {
            const struct mgb_task *task = &planner->tasks.at[i];
            if (task->kind == MGB_TASK_COPY)
                bytes[planner->queue_of[i]] += task->bytes;
            if (task->kind == MGB_TASK_ALLREDUCE)
                payload[task->collective] = (struct payload){
                    task->bytes, plan->wire_type == MGB_WIRE_F32 || task->states ? 4 : 2};
        }
        copies_count(planner, bytes);
        collectives_count(planner, payload);
        traffic_merge(plan);
    }
    mgb_release(bytes);
    mgb_release(payload);
    return MGB_OK;
}
