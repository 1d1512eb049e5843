/* Which rows each tower takes and which towers are alike. Sizes differ by at most one row and the first towers take the
 * extra ones; a tower whose device hosts root work (or that has variables of its own) is a class by itself. */
#include "engine/plan/build.h"

struct class_key {
    int rows, rooted, tower;
};

static void device_mark(struct mgb_planner *planner, int device)
{
    if (device >= 0)
        planner->rooted[device] = true;
}

static void roots_mark(struct mgb_planner *planner)
{
    const struct mgb_effective *placement = planner->placement;
    device_mark(planner, MGB_HOST_DEVICE);
    if (placement->bn == MGB_BN_SYNC)
        device_mark(planner, mgb_plan_meeting(placement));
    if (placement->strategy == MGB_OUTPUTS) {
        device_mark(planner, placement->join_at);
        device_mark(planner, placement->loss_at);
    }
    if (planner->mirrored)
        return;
    for (int v = 0; v < planner->graph->variable_count; v++) {
        device_mark(planner, placement->home[v]);
        device_mark(planner, placement->update[v]);
        device_mark(planner, placement->sum[v]);
        if (placement->relocated && placement->relocation == MGB_CLONE)
            device_mark(planner, placement->original[v]);
    }
}

static bool twins_find(const struct mgb_graph *graph)
{
    for (int v = 0; v < graph->variable_count; v++)
        if (graph->variables[v].info.tower >= 0)
            return true;
    return false;
}

static bool key_equal(struct class_key a, struct class_key b)
{
    return a.rows == b.rows && a.rooted == b.rooted && a.tower == b.tower;
}

static int class_find(struct mgb_plan *plan, struct class_key *keys, struct class_key key)
{
    for (int c = 0; c < plan->class_count; c++)
        if (key_equal(keys[c], key))
            return c;
    keys[plan->class_count] = key;
    return plan->class_count++;
}

/* Rows of tower `t` when `rows` are split over `towers`. */
static int rows_split(int rows, int towers, int t)
{
    return rows / towers + (t < rows % towers);
}

static void towers_class(struct mgb_planner *planner, struct class_key *keys)
{
    struct mgb_plan *plan = planner->plan;
    bool twins = twins_find(planner->graph);
    for (int t = 0, row = 0; t < plan->tower_count; t++) {
        struct mgb_tower *tower = &plan->towers[t];
        tower->device = planner->placement->tower_device[t];
        tower->rows = rows_split(plan->global_rows, plan->tower_count, t);
        tower->first_row = row;
        row += tower->rows;
        struct class_key key = {tower->rows, planner->rooted[tower->device] ? tower->device : -1,
                                twins ? t : -1};
        int before = plan->class_count;
        tower->class = class_find(plan, keys, key);
        struct mgb_class *class = &plan->classes[tower->class];
        if (plan->class_count > before)
            *class =
                (struct mgb_class){.rows = tower->rows, .first_tower = t, .lead = tower->device};
        tower->instance = class->tower_count++;
    }
}

static void stage_fill(struct mgb_planner *planner, struct mgb_stage *stage)
{
    const struct mgb_graph *graph = planner->graph;
    stage->last = stage->results = -1;
    stage->tensors = mgb_plan_alloc(planner, (size_t)graph->tensor_count, sizeof *stage->tensors);
    stage->weights = mgb_plan_alloc(planner, (size_t)graph->variable_count, sizeof *stage->weights);
    stage->reads = mgb_plan_alloc(planner, (size_t)graph->tensor_count, sizeof *stage->reads);
    for (int i = 0; stage->tensors && i < graph->tensor_count; i++)
        stage->tensors[i] = mgb_plan_nowhere();
    for (int v = 0; stage->weights && v < graph->variable_count; v++)
        stage->weights[v] = mgb_plan_nowhere();
}

static void stages_make(struct mgb_planner *planner)
{
    struct mgb_plan *plan = planner->plan;
    planner->stages = mgb_plan_alloc(planner, (size_t)plan->class_count, sizeof *planner->stages);
    for (int c = 0; planner->stages && c < plan->class_count; c++) {
        const struct mgb_class *class = &plan->classes[c];
        planner->stages[c] = (struct mgb_stage){.class = c,
                                                .device = class->lead,
                                                .place = MGB_SELF,
                                                .tower = class->first_tower,
                                                .rows = class->rows};
        stage_fill(planner, &planner->stages[c]);
    }
    int head =
        planner->placement->strategy == MGB_OUTPUTS ? planner->placement->loss_at : MGB_HOST_DEVICE;
    planner->root = (struct mgb_stage){
        .class = MGB_ROOT, .device = head, .place = head, .rows = plan->global_rows};
    stage_fill(planner, &planner->root);
}

enum mgb_status mgb_plan_classes(struct mgb_planner *planner)
{
    struct mgb_plan *plan = planner->plan;
    size_t towers = (size_t)plan->tower_count;
    planner->rooted =
        mgb_plan_alloc(planner, (size_t)plan->topology->device_count, sizeof *planner->rooted);
    plan->towers = mgb_plan_alloc(planner, towers, sizeof *plan->towers);
    struct class_key *keys = mgb_alloc(towers * sizeof *keys);
    struct mgb_class *classes = mgb_alloc(towers * sizeof *classes);
    plan->classes = classes;
    if (planner->failed || !keys || !classes) {
        planner->failed = true;
    } else {
        roots_mark(planner);
        towers_class(planner, keys);
        plan->classes = mgb_plan_alloc(planner, (size_t)plan->class_count, sizeof *plan->classes);
        for (int c = 0; plan->classes && c < plan->class_count; c++)
            plan->classes[c] = classes[c];
    }
    mgb_release(keys);
    mgb_release(classes);
    if (!planner->failed)
        stages_make(planner);
    planner->owners = planner->mirrored ? plan->class_count : 1;
    return MGB_OK;
}
