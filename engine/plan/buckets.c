/* Which gradients travel together. Variables are taken in the order in which backward finishes their gradients; a bucket
 * holds those that go the same way, up to the bucket size. */
#include "engine/plan/build.h"

#include <stdlib.h>

struct ready {
    int node, variable;
};

static int ready_compare(const void *a, const void *b)
{
    const struct ready *x = a, *y = b;
    if (x->node != y->node)
        return x->node < y->node ? -1 : 1;
    return x->variable < y->variable ? -1 : x->variable > y->variable;
}

static int64_t bucket_limit(const struct mgb_planner *planner)
{
    bool chosen = planner->placement->strategy == MGB_GRADIENTS ||
                  planner->placement->strategy == MGB_ALLREDUCE;
    return chosen && planner->placement->bucket_bytes > 0 ? planner->placement->bucket_bytes
                                                          : MGB_BUNDLE_BYTES;
}

/* The newest bucket that goes the variable's way and has room, or a new one. */
static int bucket_choose(struct mgb_planner *planner, struct ready ready)
{
    const struct mgb_effective *placement = planner->placement;
    const struct mgb_variable_info *info = &planner->graph->variables[ready.variable].info;
    bool alone = mgb_plan_packs(planner, ready.variable);
    struct mgb_bucket like = {.table = alone ? ready.variable : -1,
                              .scope = mgb_plan_scope(planner, ready.variable),
                              .states = mgb_plan_moves(planner, ready.variable),
                              .sum = planner->mirrored ? -1 : placement->sum[ready.variable],
                              .update = planner->mirrored ? -1 : placement->update[ready.variable]};
    for (int k = alone ? -1 : planner->buckets.count - 1; k >= 0; k--) {
        const struct mgb_bucket *bucket = &planner->buckets.at[k];
        if (bucket->table >= 0 || bucket->scope != like.scope || bucket->sum != like.sum ||
            bucket->update != like.update || bucket->states != like.states)
            continue;
        if (mgb_plan_align(bucket->bytes) + info->bytes <= bucket_limit(planner))
            return k;
        break;
    }
    if (!mgb_vector_push(&planner->buckets, like)) {
        planner->failed = true;
        return 0;
    }
    return planner->buckets.count - 1;
}

static void buckets_fill(struct mgb_planner *planner, const struct ready *list, int count)
{
    for (int i = 0; i < count && !planner->failed; i++) {
        int v = list[i].variable, k = bucket_choose(planner, list[i]);
        struct mgb_bucket *bucket = &planner->buckets.at[k];
        planner->bucket_of[v] = k;
        planner->bucket_offset[v] = mgb_plan_align(bucket->bytes);
        bucket->bytes = planner->bucket_offset[v] + planner->graph->variables[v].info.bytes;
        bucket->ready = list[i].node;
        bucket->count++;
    }
    for (int k = 0; k < planner->buckets.count; k++) {
        planner->buckets.at[k].first = planner->member_count;
        for (int i = 0; i < count; i++)
            if (planner->bucket_of[list[i].variable] == k)
                planner->members[planner->member_count++] = list[i].variable;
    }
}

static void bucket_store(struct mgb_planner *planner, struct mgb_bucket *bucket, int number)
{
    struct mgb_plan *plan = planner->plan;
    bucket->buffers = mgb_plan_alloc(planner, (size_t)plan->class_count, sizeof *bucket->buffers);
    bucket->arrivals = mgb_plan_alloc(planner, (size_t)plan->class_count, sizeof *bucket->arrivals);
    bucket->wires = mgb_plan_alloc(planner, (size_t)plan->class_count, sizeof *bucket->wires);
    bucket->packed = mgb_plan_alloc(planner, (size_t)plan->class_count, sizeof *bucket->packed);
    bucket->total = mgb_plan_nowhere();
    if (planner->failed)
        return;
    bool collective = planner->placement->strategy == MGB_ALLREDUCE && plan->tower_count > 1;
    const char *name = mgb_plan_name(planner, "gradients %d", number);
    for (int c = 0; c < plan->class_count; c++) {
        const struct mgb_stage *stage = &planner->stages[c];
        bool takes_part =
            mgb_plan_concerns(planner, stage, bucket->scope) && (stage->rows > 0 || collective);
        bucket->arrivals[c] = bucket->wires[c] = -1;
        int64_t bytes = takes_part ? mgb_plan_bucket_bytes(planner, bucket, stage) : 0;
        bucket->buffers[c] = takes_part ? mgb_plan_add_buffer(planner, name, c, MGB_SELF,
                                                              MGB_MEMORY_GRADIENTS, bytes)
                                        : -1;
    }
}

/* Stale: every plan of the placement has room for the gradients of the step before, whether it makes any or not. */
static void pending_store(struct mgb_planner *planner, struct mgb_bucket *bucket, int number)
{
    bucket->pending = mgb_plan_alloc(planner, (size_t)planner->owners, sizeof *bucket->pending);
    const char *name = mgb_plan_name(planner, "pending %d", number);
    for (int k = 0; bucket->pending && k < planner->owners; k++)
        bucket->pending[k] = mgb_plan_add_lasting(planner, name, planner->mirrored ? k : MGB_ROOT,
                                                  planner->mirrored ? MGB_SELF : bucket->update,
                                                  MGB_MEMORY_GRADIENTS, bucket->bytes);
}

static void buckets_forget(struct mgb_planner *planner)
{
    planner->buckets.count = planner->member_count = 0;
    for (int v = 0; v < planner->graph->variable_count; v++)
        planner->bucket_of[v] = -1;
}

/* Which variables a tensor is the gradient of, in their order. */
static void gradients_index(struct mgb_planner *planner)
{
    const struct mgb_graph *graph = planner->graph;
    size_t tensors = (size_t)graph->tensor_count, variables = (size_t)graph->variable_count;
    int *first = mgb_plan_alloc(planner, tensors, sizeof *first);
    int *next = mgb_plan_alloc(planner, variables, sizeof *next);
    planner->gradient_first = first;
    planner->gradient_next = next;
    for (int t = 0; first && t < graph->tensor_count; t++)
        first[t] = -1;
    for (int v = graph->variable_count - 1; first && next && v >= 0; v--) {
        int tensor = graph->variables[v].gradient;
        if (tensor < 0)
            continue;
        next[v] = first[tensor];
        first[tensor] = v;
    }
}

enum mgb_status mgb_plan_buckets(struct mgb_planner *planner)
{
    const struct mgb_graph *graph = planner->graph;
    size_t variables = (size_t)graph->variable_count;
    planner->bucket_of = mgb_plan_alloc(planner, variables, sizeof *planner->bucket_of);
    planner->bucket_offset = mgb_plan_alloc(planner, variables, sizeof *planner->bucket_offset);
    planner->members = mgb_plan_alloc(planner, variables, sizeof *planner->members);
    struct ready *list = mgb_plan_alloc(planner, variables, sizeof *list);
    gradients_index(planner);
    if (planner->failed)
        return MGB_OK;
    int count = 0;
    for (int v = 0; v < graph->variable_count; v++) {
        planner->bucket_of[v] = -1;
        if ((planner->training || planner->plan->stale) && planner->bundle_of[v] >= 0 &&
            mgb_plan_changes(planner, v))
            list[count++] = (struct ready){graph->tensors[graph->variables[v].gradient].node, v};
    }
    if (count > 0)
        qsort(list, (size_t)count, sizeof *list, ready_compare);
    buckets_fill(planner, list, count);
    for (int k = 0; planner->plan->stale && k < planner->buckets.count && !planner->failed; k++)
        pending_store(planner, &planner->buckets.at[k], k);
    if (!planner->training)
        buckets_forget(planner);
    for (int k = 0; k < planner->buckets.count && !planner->failed; k++)
        bucket_store(planner, &planner->buckets.at[k], k);
    return MGB_OK;
}
