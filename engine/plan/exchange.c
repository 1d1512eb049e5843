/* Batch norm over the global batch (bn = sync): what every tower has computed of its own rows goes to a meeting place, is
 * made that of all towers there, in tower order, and comes back. Statistics are merged by rows; the sums that the gradient
 * needs are added. The towers' tensors are seated anew, so that whoever reads them later reads those of all rows. */
#include "engine/plan/build.h"

int mgb_plan_exchanged(const struct mgb_planner *planner, int node)
{
    const struct mgb_plan *plan = planner->plan;
    enum mgb_op_kind kind = planner->graph->nodes[node].kind;
    bool stats = kind == MGB_OP_BATCH_STATS, sums = kind == MGB_OP_BATCH_NORM_SUMS;
    bool several = plan->tower_count > 1 && plan->towers[1].rows > 0;
    if ((!stats && !sums) || planner->placement->bn != MGB_BN_SYNC || !several ||
        !mgb_node_trains(planner->graph, node, planner->training))
        return -1;
    return stats ? 0 : 2;
}

int mgb_plan_meeting(const struct mgb_effective *placement)
{
    return placement->sum_at >= 0 ? placement->sum_at : MGB_HOST_DEVICE;
}

/* Two tensors of all towers, exchanged as one: `second` follows `first` in a buffer. */
struct exchange {
    struct mgb_planner *planner;
    enum mgb_phase phase;
    int first, second; /* tensors */
    int meeting;       /* device */
    int64_t bytes;     /* of each */
    const char *name;
    int *arrivals; /* by class: buffer where the merge reads it; -1: without rows */
};

static struct mgb_operand both_of(const struct exchange *e, int buffer)
{
    return mgb_plan_part(buffer, 0, mgb_plan_align(e->bytes) + e->bytes);
}

static int both_add(const struct exchange *e, int class, int place,
                    enum mgb_memory_category category)
{
    return mgb_plan_add_buffer(e->planner, e->name, class, place, category,
                               mgb_plan_align(e->bytes) + e->bytes);
}

static void class_send(const struct exchange *e, int class)
{
    struct mgb_stage *stage = &e->planner->stages[class];
    int own = stage->tensors[e->first].buffer;
    e->arrivals[class] = own;
    if (stage->device == e->meeting)
        return;
    e->arrivals[class] = both_add(e, class, e->meeting, MGB_MEMORY_MERGE);
    int task = mgb_plan_add_copy(e->planner, e->phase, class, e->meeting, MGB_SELF,
                                 both_of(e, e->arrivals[class]), both_of(e, own), e->name);
    e->planner->tasks.at[task].rows = stage->rows;
}

static void sources_add(const struct exchange *e,
                        struct mgb_operand (*part)(const struct exchange *, int buffer))
{
    for (int c = 0; c < e->planner->plan->class_count; c++) {
        if (e->arrivals[c] < 0)
            continue;
        struct mgb_operand from = part(e, e->arrivals[c]);
        from.tower = MGB_EACH_TOWER;
        mgb_plan_add_operand(e->planner, from);
    }
}

static struct mgb_operand first_of(const struct exchange *e, int buffer)
{
    return mgb_plan_part(buffer, 0, e->bytes);
}

static struct mgb_operand second_of(const struct exchange *e, int buffer)
{
    return mgb_plan_part(buffer, mgb_plan_align(e->bytes), e->bytes);
}

/* The buffer that holds both of all towers. */
static int all_combine(const struct exchange *e, bool stats)
{
    struct mgb_planner *planner = e->planner;
    int buffer = both_add(e, MGB_ROOT, e->meeting, MGB_MEMORY_MERGE);
    int task = mgb_plan_add_task(planner, stats ? MGB_TASK_MERGE : MGB_TASK_REDUCE, e->phase,
                                 MGB_ROOT, e->meeting, e->name);
    planner->tasks.at[task].rows = planner->plan->global_rows;
    if (!stats) {
        mgb_plan_add_operand(planner, both_of(e, buffer));
        sources_add(e, both_of);
        return buffer;
    }
    mgb_plan_add_operand(planner, first_of(e, buffer));
    mgb_plan_add_operand(planner, second_of(e, buffer));
    sources_add(e, first_of);
    sources_add(e, second_of);
    return buffer;
}

/* What the stage's later nodes read is no longer its own. */
static void tensor_reseat(const struct exchange *e, struct mgb_stage *stage, int tensor,
                          struct mgb_operand at)
{
    e->planner->drafts.at[stage->tensors[tensor].buffer].pending -= stage->reads[tensor];
    mgb_plan_seat(e->planner, stage, tensor, at);
}

static void class_receive(const struct exchange *e, int class, int all)
{
    struct mgb_stage *stage = &e->planner->stages[class];
    int buffer = all;
    if (stage->device != e->meeting) {
        buffer = both_add(e, class, MGB_SELF, MGB_MEMORY_ACTIVATIONS);
        int task = mgb_plan_add_copy(e->planner, e->phase, class, MGB_SELF, e->meeting,
                                     both_of(e, buffer), both_of(e, all), e->name);
        e->planner->tasks.at[task].rows = stage->rows;
    }
    tensor_reseat(e, stage, e->first, first_of(e, buffer));
    tensor_reseat(e, stage, e->second, second_of(e, buffer));
}

static bool is_read(const struct exchange *e)
{
    const int *reads = e->planner->stages[0].reads; /* towers with rows come first and read alike */
    return reads[e->first] > 0 || reads[e->second] > 0;
}

void mgb_plan_exchange(struct mgb_planner *planner, int node)
{
    const struct mgb_node *n = &planner->graph->nodes[node];
    int classes = planner->plan->class_count, at = mgb_plan_exchanged(planner, node);
    if (at < 0 || n->outputs[at] < 0 || planner->failed)
        return;
    bool stats = n->kind == MGB_OP_BATCH_STATS;
    struct exchange e = {.planner = planner,
                         .phase = n->section == MGB_SECTION_FORWARD ? MGB_PHASE_FORWARD
                                                                    : MGB_PHASE_BACKWARD,
                         .first = n->outputs[at],
                         .second = n->outputs[at + 1],
                         .meeting = mgb_plan_meeting(planner->placement),
                         .bytes = mgb_tensor_bytes(planner->graph, n->outputs[at], 1),
                         .name = mgb_plan_name(planner, "exchange %s", n->name),
                         .arrivals = mgb_plan_alloc(planner, (size_t)classes, sizeof *e.arrivals)};
    if (!e.arrivals || !is_read(&e))
        return;
    for (int c = 0; c < classes; c++) {
        e.arrivals[c] = -1;
        if (planner->stages[c].rows > 0)
            class_send(&e, c);
    }
    int all = all_combine(&e, stats);
    for (int c = 0; c < classes; c++)
        if (planner->stages[c].rows > 0)
            class_receive(&e, c, all);
}
