/* One node of the graph on one stage: asks the facts with the layouts that its inputs really have, lets views be views and
 * results overwrite what nobody reads any more, finds places for the outputs and adds the task. */
#include "engine/plan/build.h"

struct placing { /* one node on one stage, while it is placed */
    struct mgb_planner *planner;
    struct mgb_stage *stage;
    const struct mgb_node *node;
    struct mgb_node_use use;
    struct mgb_operator_facts facts;
    struct mgb_operand outputs[MGB_MAX_OUTPUTS];
};

void mgb_plan_seat(struct mgb_planner *planner, struct mgb_stage *stage, int tensor,
                   struct mgb_operand at)
{
    stage->tensors[tensor] = at;
    planner->drafts.at[at.buffer].pending += stage->reads[tensor];
}

void mgb_plan_read(struct mgb_planner *planner, struct mgb_stage *stage, int tensor)
{
    stage->reads[tensor]--;
    planner->drafts.at[stage->tensors[tensor].buffer].pending--;
}

/* CPU queues have a team of threads; it is part of the facts, since a primitive is made for a fixed count. */
static int threads_of(const struct mgb_planner *planner, int device)
{
    const struct mgb_device *d = &planner->request->topology->devices[device];
    const struct mgb_effective *placement = planner->placement;
    if (d->class == MGB_CLASS_CUDA ||
        (d->class == MGB_CLASS_SIMULATED && d->name.kind != MGB_DEVICE_CPU))
        return 1;
    bool tower_here = placement->tower_count == 1 && placement->tower_device[0] == device;
    return d->name.kind == MGB_DEVICE_CPU && !tower_here ? placement->cpu_threads
                                                         : placement->threads;
}

/* The variable whose gradient this tensor is and that still lacks it, from `from` on; -1: none. */
static int gradient_find(const struct placing *p, int tensor, int from)
{
    const struct mgb_planner *planner = p->planner;
    if (tensor < 0)
        return -1;
    for (int v = planner->gradient_first[tensor]; v >= 0; v = planner->gradient_next[v])
        if (v >= from && planner->bucket_of[v] >= 0 &&
            mgb_plan_concerns(planner, p->stage, planner->buckets.at[planner->bucket_of[v]].scope))
            return v;
    return -1;
}

static struct mgb_operand gradient_part(const struct placing *p, int variable)
{
    const struct mgb_planner *planner = p->planner;
    const struct mgb_bucket *bucket = &planner->buckets.at[planner->bucket_of[variable]];
    return mgb_plan_part(bucket->buffers[p->stage->class], planner->bucket_offset[variable],
                         planner->graph->variables[variable].info.bytes);
}

/* Where an output has to be, when it is a gradient of a variable or a result; else nowhere in particular. */
static struct mgb_operand output_fixed(const struct placing *p, int tensor)
{
    int variable = gradient_find(p, tensor, 0);
    if (variable >= 0)
        return gradient_part(p, variable);
    struct mgb_operand rows = mgb_plan_packed_place(p->planner, p->stage, tensor);
    if (rows.buffer >= 0)
        return rows;
    int result = p->planner->result_of[tensor];
    if (result >= 0 && p->stage->results >= 0)
        return mgb_plan_part(p->stage->results, (int64_t)result * MGB_ALIGNMENT,
                             mgb_tensor_bytes(p->planner->graph, tensor, p->use.rows));
    return mgb_plan_nowhere();
}

static void use_fill(struct placing *p, int node)
{
    const struct mgb_planner *planner = p->planner;
    p->use = (struct mgb_node_use){
        .graph = planner->graph,
        .node = node,
        .rows = p->stage->rows,
        .threads = threads_of(planner, p->stage->device),
        .precision = mgb_precision_on(&planner->request->topology->devices[p->stage->device],
                                      planner->plan->precision),
        .training = mgb_node_trains(planner->graph, node, planner->training)};
    for (int i = 0; i < p->node->input_count && i < MGB_MAX_INPUTS; i++)
        p->use.in_layout[i] = p->stage->tensors[p->node->inputs[i]].layout;
    int exchanged = mgb_plan_exchanged(planner, node);
    for (int o = 0; o < p->node->output_count && o < MGB_MAX_OUTPUTS; o++) {
        int tensor = p->node->outputs[o];
        p->use.plain[o] =
            tensor >= 0 && (planner->joined[tensor] || planner->returned[tensor] ||
                            (exchanged >= 0 && (o == exchanged || o == exchanged + 1)) ||
                            p->node->kind == MGB_OP_EMBEDDING_UNPACK ||
                            mgb_plan_packed_place(planner, p->stage, tensor).buffer >= 0 ||
                            gradient_find(p, tensor, 0) >= 0 || planner->result_of[tensor] >= 0);
    }
}

static enum mgb_status inputs_check(const struct placing *p)
{
    if (p->node->input_count > MGB_MAX_INPUTS)
        return mgb_fail(MGB_UNSUPPORTED, "%s '%s' has %d inputs; at most %d are possible",
                        mgb_op_name(p->node->kind), p->node->name, p->node->input_count,
                        MGB_MAX_INPUTS);
    for (int i = 0; i < p->node->input_count; i++)
        if (p->stage->tensors[p->node->inputs[i]].buffer < 0)
            return mgb_fail(MGB_STATE, "plan of '%s': input %d of '%s' has no place",
                            p->planner->graph->name, i, p->node->name);
    return MGB_OK;
}

static void inputs_read(struct placing *p)
{
    for (int i = 0; i < p->node->input_count; i++)
        mgb_plan_read(p->planner, p->stage, p->node->inputs[i]);
}

/* A result may take over its input's bytes: same size, made by an operator here, nobody reads them later. */
static bool output_overwrites(const struct placing *p, int64_t bytes)
{
    if (p->facts.in_place < 0 || p->facts.in_place >= p->node->input_count)
        return false;
    const struct mgb_operand *in = &p->stage->tensors[p->node->inputs[p->facts.in_place]];
    const struct mgb_draft *draft = &p->planner->drafts.at[in->buffer];
    return draft->overwritten && draft->pending == 0 && in->bytes == bytes && in->offset == 0 &&
           p->planner->buffers.at[in->buffer].bytes == bytes;
}

/* What towers exchange travels as one: the second output follows the first in its buffer. */
static struct mgb_operand output_exchanged(const struct placing *p, int o)
{
    int first = mgb_plan_exchanged(p->planner, p->use.node);
    int64_t bytes = p->facts.out_bytes[o];
    if (first < 0 || o < first || o > first + 1)
        return mgb_plan_nowhere();
    if (o == first + 1)
        return mgb_plan_part(p->outputs[first].buffer, mgb_plan_align(bytes), bytes);
    int buffer = mgb_plan_add_buffer(p->planner, p->node->name, p->stage->class, p->stage->place,
                                     MGB_MEMORY_ACTIVATIONS, mgb_plan_align(bytes) + bytes);
    return mgb_plan_part(buffer, 0, bytes);
}

static void output_place(struct placing *p, int o)
{
    int tensor = p->node->outputs[o];
    struct mgb_operand at = output_fixed(p, tensor);
    int64_t bytes = p->facts.out_bytes[o];
    if (at.buffer < 0)
        at = output_exchanged(p, o);
    if (at.buffer < 0 && o == 0 && output_overwrites(p, bytes)) {
        at = p->stage->tensors[p->node->inputs[p->facts.in_place]];
    } else if (at.buffer < 0) {
        const char *name =
            o == 0 ? p->node->name : mgb_plan_name(p->planner, "%s.%d", p->node->name, o);
        at = mgb_plan_part(mgb_plan_add_buffer(p->planner, name, p->stage->class, p->stage->place,
                                               MGB_MEMORY_ACTIVATIONS, bytes),
                           0, bytes);
        p->planner->drafts.at[at.buffer].overwritten = true;
    }
    at.layout = p->facts.out_layout[o];
    p->outputs[o] = at;
}

/* The stage's rows among those of all towers that move the same statistics. */
static float moving_share(const struct placing *p)
{
    const struct mgb_planner *planner = p->planner;
    int variable = gradient_find(p, p->node->outputs[0], 0), rows = 0;
    bool alone = variable < 0 || planner->placement->strategy == MGB_INDEPENDENT;
    for (int c = 0; !alone && c < planner->plan->class_count; c++)
        if (mgb_plan_concerns(planner, &planner->stages[c], mgb_plan_scope(planner, variable)))
            rows += planner->stages[c].rows * planner->plan->classes[c].tower_count;
    return alone ? 1.0f : (float)p->stage->rows / (float)rows;
}

static float node_scale(const struct placing *p)
{
    const struct mgb_node *node = p->node;
    if (node->kind == MGB_OP_BATCH_MOVING)
        return moving_share(p);
    if (node->kind == MGB_OP_BATCH_NORM_GRAD && p->planner->placement->bn == MGB_BN_SYNC)
        return (float)p->stage->rows / (float)p->planner->plan->global_rows;
    if (!mgb_op_begins_gradients(node->kind))
        return 1;
    return node->a.loss.weight / (float)p->planner->plan->global_rows;
}

static enum mgb_phase node_phase(const struct placing *p, int node)
{
    bool forward = p->node->section == MGB_SECTION_FORWARD || p->planner->answers[node];
    if (forward && !p->stage->again)
        return MGB_PHASE_FORWARD;
    return MGB_PHASE_BACKWARD;
}

static int task_add(struct placing *p, int node)
{
    struct mgb_planner *planner = p->planner;
    const char *name =
        p->stage->again ? mgb_plan_name(planner, "%s again", p->node->name) : p->node->name;
    int index = mgb_plan_add_task(planner, MGB_TASK_COMPUTE, node_phase(p, node), p->stage->class,
                                  p->stage->place, name);
    for (int i = 0; i < p->node->input_count; i++)
        mgb_plan_add_operand(planner, p->stage->tensors[p->node->inputs[i]]);
    struct mgb_task *task = &planner->tasks.at[index];
    task->node = node;
    task->rows = p->stage->rows;
    task->scale = node_scale(p);
    task->flops = mgb_node_flops(planner->graph, p->node, p->stage->rows);
    task->input_count = p->node->input_count;
    for (int o = 0; o < p->node->output_count; o++) {
        if (p->node->outputs[o] < 0)
            continue;
        mgb_plan_add_operand(planner, p->outputs[o]);
        task->plain |= p->use.plain[o] ? 1u << o : 0;
        task->output_count++;
        task->plain |= (unsigned)p->use.plain[o] << o;
    }
    if (p->facts.workspace_bytes > 0) {
        int buffer = mgb_plan_add_buffer(
            planner, mgb_plan_name(planner, "%s workspace", p->node->name), p->stage->class,
            p->stage->place, MGB_MEMORY_WORKSPACE, p->facts.workspace_bytes);
        mgb_plan_add_operand(planner, mgb_plan_whole(planner, buffer));
    }
    return index;
}

/* Copies inside the device: a view that must lie elsewhere, a gradient that belongs to several variables. */
static void fixed_copy(struct placing *p, int node, struct mgb_operand to, struct mgb_operand from)
{
    p->stage->last = mgb_plan_add_copy(p->planner, node_phase(p, node), p->stage->class,
                                       p->stage->place, p->stage->place, to, from,
                                       mgb_plan_name(p->planner, "%s copy", p->node->name));
    p->planner->tasks.at[p->stage->last].rows = p->stage->rows;
}

static void gradients_spread(struct placing *p, int node, int tensor)
{
    int variable = gradient_find(p, tensor, 0);
    while (variable >= 0) {
        variable = gradient_find(p, tensor, variable + 1);
        if (variable >= 0)
            fixed_copy(p, node, gradient_part(p, variable), p->stage->tensors[tensor]);
    }
}

/* Output `o` is a view of an input: nothing runs, unless it has a place of its own. */
static void view_place(struct placing *p, int node, int o)
{
    int tensor = p->node->outputs[o], input = p->facts.alias + o;
    if (tensor < 0 || input >= p->node->input_count)
        return;
    struct mgb_operand fixed = output_fixed(p, tensor);
    struct mgb_operand at = p->stage->tensors[p->node->inputs[input]];
    at.layout = p->facts.out_layout[o];
    if (fixed.buffer >= 0)
        fixed_copy(p, node, fixed, at);
    mgb_plan_seat(p->planner, p->stage, tensor, fixed.buffer >= 0 ? fixed : at);
    gradients_spread(p, node, tensor);
}

enum mgb_status mgb_plan_node(struct mgb_planner *planner, struct mgb_stage *stage, int node)
{
    struct placing p = {.planner = planner, .stage = stage, .node = &planner->graph->nodes[node]};
    if (p.node->kind == MGB_OP_INPUT || p.node->kind == MGB_OP_READ)
        return MGB_OK;
    MGB_TRY(inputs_check(&p));
    use_fill(&p, node);
    MGB_TRY(planner->facts.describe(planner->facts.context, stage->device, &p.use, &p.facts));
    if (p.facts.alias >= 0) {
        for (int o = 0; o < p.node->output_count; o++)
            view_place(&p, node, o);
        inputs_read(&p);
        return MGB_OK;
    }
    inputs_read(&p);
    for (int o = 0; o < p.node->output_count; o++)
        if (p.node->outputs[o] >= 0)
            output_place(&p, o);
    if (planner->failed)
        return MGB_OK;
    stage->last = task_add(&p, node);
    for (int o = 0; o < p.node->output_count; o++)
        if (p.node->outputs[o] >= 0)
            mgb_plan_seat(planner, stage, p.node->outputs[o], p.outputs[o]);
    for (int o = 0; o < p.node->output_count; o++)
        if (p.node->outputs[o] >= 0)
            gradients_spread(&p, node, p.node->outputs[o]);
    return MGB_OK;
}
