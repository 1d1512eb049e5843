/* Which activations are dropped and made again. Forward operators fall into blocks; what another block, the head or the
 * host reads is kept, and so is what has no batch axis (batch statistics among it: they are small, and moving them twice
 * would be wrong). What is left inside of a block and read by gradients is dropped (Chen et al., 2016, arXiv:1604.06174).
 *
 * Blocks are the model's scopes: operators in a row under one outermost scope. The other candidate are runs of sqrt(n)
 * operators; of both the one is taken that is estimated to hold less, in bytes an example. */
#include "engine/plan/recompute.h"

#include <string.h>

static bool node_computes(const struct mgb_planner *planner, int n)
{
    const struct mgb_node *node = &planner->graph->nodes[n];
    return planner->runs[n] && node->section == MGB_SECTION_FORWARD && node->kind != MGB_OP_INPUT &&
           node->kind != MGB_OP_READ;
}

static size_t scope_length(const char *name)
{
    const char *end = strchr(name, '/');
    return end ? (size_t)(end - name) : 0;
}

static bool scope_equal(const char *a, const char *b)
{
    size_t length = scope_length(a);
    return length == scope_length(b) && strncmp(a, b, length) == 0;
}

static int blocks_by_scope(const struct mgb_planner *planner, int *block)
{
    const char *before = NULL;
    int count = 0;
    for (int n = 0; n < planner->graph->node_count; n++) {
        block[n] = -1;
        if (!node_computes(planner, n))
            continue;
        const char *name = planner->graph->nodes[n].name;
        count += !before || !scope_equal(before, name);
        before = name;
        block[n] = count - 1;
    }
    return count;
}

static int blocks_by_count(const struct mgb_planner *planner, int *block)
{
    int count = 0, each = 1;
    for (int n = 0; n < planner->graph->node_count; n++)
        count += node_computes(planner, n);
    while (each * each < count)
        each++;
    count = 0;
    for (int n = 0; n < planner->graph->node_count; n++)
        block[n] = node_computes(planner, n) ? count++ / each : -1;
    return (count + each - 1) / each;
}

/* Whoever makes what leaves its block is not run again, for it would write that a second time too. */
static void kept_mark(const struct mgb_planner *planner, const struct mgb_rerun *r, bool *kept)
{
    const struct mgb_graph *graph = planner->graph;
    memset(kept, 0, (size_t)graph->node_count * sizeof *kept);
    for (int i = 0; i < graph->tensor_count; i++)
        kept[graph->tensors[i].node] |=
            !graph->tensors[i].batched || planner->joined[i] || planner->result_of[i] >= 0;
    for (int n = 0; n < graph->node_count; n++)
        for (int i = 0; planner->runs[n] && i < graph->nodes[n].input_count; i++) {
            int maker = graph->tensors[graph->nodes[n].inputs[i]].node;
            bool leaves = graph->nodes[n].section == MGB_SECTION_HEAD ||
                          (r->block[n] >= 0 && r->block[n] != r->block[maker]);
            kept[maker] |= leaves || r->block[maker] < 0;
        }
}

static int64_t row_bytes(const struct mgb_planner *planner, int tensor)
{
    const struct mgb_graph *graph = planner->graph;
    return graph->tensors[tensor].batched ? mgb_tensor_bytes(graph, tensor, 1) : 0;
}

/* The last block's gradients come first: dropping its activations would gain nothing. */
static void again_mark(const struct mgb_planner *planner, struct mgb_rerun *r, const bool *kept)
{
    const struct mgb_graph *graph = planner->graph;
    memset(r->again, 0, (size_t)graph->node_count * sizeof *r->again);
    memset(r->second, 0, (size_t)graph->tensor_count * sizeof *r->second);
    for (int n = graph->node_count - 1; n >= 0; n--) {
        const struct mgb_node *node = &graph->nodes[n];
        if (r->block[n] < 0 || r->block[n] == r->count - 1 || kept[n])
            continue;
        for (int o = 0; o < node->output_count; o++)
            r->again[n] |= node->outputs[o] >= 0 &&
                           (r->back[node->outputs[o]] > 0 || r->second[node->outputs[o]] > 0);
        for (int i = 0; r->again[n] && i < node->input_count; i++)
            r->second[node->inputs[i]]++;
    }
}

/* A block is left alone where its second run would hold as much before it as it drops. */
static void losing_clear(const struct mgb_planner *planner, struct mgb_rerun *r, int64_t *gain)
{
    const struct mgb_graph *graph = planner->graph;
    memset(gain, 0, (size_t)r->count * sizeof *gain);
    for (int n = 0; n < graph->node_count; n++) {
        const struct mgb_node *node = &graph->nodes[n];
        for (int o = 0; r->again[n] && o < node->output_count; o++)
            if (node->outputs[o] >= 0 && r->back[node->outputs[o]] > 0)
                gain[r->block[n]] += row_bytes(planner, node->outputs[o]);
        for (int i = 0; r->again[n] && i < node->input_count; i++) {
            int input = node->inputs[i];
            if (!r->again[graph->tensors[input].node] && r->back[input] == 0)
                gain[r->block[n]] -= row_bytes(planner, input);
        }
    }
    memset(r->second, 0, (size_t)graph->tensor_count * sizeof *r->second);
    for (int n = 0; n < graph->node_count; n++) {
        r->again[n] = r->again[n] && gain[r->block[n]] > 0;
        for (int i = 0; r->again[n] && i < graph->nodes[n].input_count; i++)
            r->second[graph->nodes[n].inputs[i]]++;
    }
}

/* What is held for backward, an example: all that is kept, and of the blocks that are made whole one after the other the
 * largest. `inside` is room for a figure a block. */
static int64_t held_bytes(const struct mgb_planner *planner, const struct mgb_rerun *r,
                          int64_t *inside)
{
    const struct mgb_graph *graph = planner->graph;
    int64_t held = 0, most = 0;
    memset(inside, 0, (size_t)r->count * sizeof *inside);
    for (int i = 0; i < graph->tensor_count; i++) {
        int maker = graph->tensors[i].node, block = r->block[maker];
        bool forward = graph->nodes[maker].section == MGB_SECTION_FORWARD;
        if (!forward || (r->back[i] == 0 && (r->again[maker] || r->second[i] == 0)))
            continue;
        if (r->again[maker] || (block >= 0 && block == r->count - 1))
            inside[block] += row_bytes(planner, i);
        else
            held += row_bytes(planner, i);
    }
    for (int b = 0; b < r->count; b++)
        most = inside[b] > most ? inside[b] : most;
    return held + most;
}

static int64_t plan_blocks(const struct mgb_planner *planner, struct mgb_rerun *r, bool by_scope,
                           bool *kept, int64_t *sums)
{
    r->count = by_scope ? blocks_by_scope(planner, r->block) : blocks_by_count(planner, r->block);
    kept_mark(planner, r, kept);
    again_mark(planner, r, kept);
    losing_clear(planner, r, sums);
    return held_bytes(planner, r, sums);
}

bool mgb_recompute_choose(struct mgb_planner *planner, struct mgb_rerun *out)
{
    size_t nodes = (size_t)planner->graph->node_count;
    bool *kept = mgb_plan_alloc(planner, nodes, sizeof *kept);
    int64_t *sums = mgb_plan_alloc(planner, nodes, sizeof *sums);
    if (planner->failed)
        return false;
    int64_t by_scope = plan_blocks(planner, out, true, kept, sums);
    int64_t by_count = plan_blocks(planner, out, false, kept, sums);
    if (by_scope <= by_count)
        (void)plan_blocks(planner, out, true, kept, sums);
    for (size_t n = 0; n < nodes; n++)
        if (out->again[n])
            return true;
    return false;
}
