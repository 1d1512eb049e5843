/* Making a plan: the list of passes, and handing over what they built. */
#include "engine/base/text.h"
#include "engine/plan/build.h"

#include <string.h>

static mgb_pass *const passes[] = {
    mgb_plan_classes, mgb_plan_needs,   mgb_plan_recompute, mgb_plan_homes,   mgb_plan_buckets,
    mgb_plan_input,   mgb_plan_fetch,   mgb_plan_forward,   mgb_plan_join,    mgb_plan_head,
    mgb_plan_results, mgb_plan_scatter, mgb_plan_backward,  mgb_plan_receive, mgb_plan_clip,
    mgb_plan_update,  mgb_plan_stage,   mgb_plan_keep,      mgb_plan_queues,  mgb_plan_lifetimes,
    mgb_plan_layout,  mgb_plan_order,   mgb_plan_peak,      mgb_plan_traffic,
};

static enum mgb_status no_memory(void)
{
    return mgb_fail(MGB_NO_MEMORY, "making a step plan: the host's memory is exhausted");
}

/* A model that is written for so many rows gets them on every tower or is refused, the sizes named. */
static enum mgb_status fixed_batch_check(const struct mgb_plan_request *request)
{
    const char *input;
    int fixed = mgb_graph_fixed_batch(request->graph, &input), rows = request->rows;
    int towers = request->placement->tower_count, least = rows / towers, more = rows % towers > 0;
    char sizes[48], mend[112];
    if (fixed == 0 || (int64_t)fixed * towers == rows)
        return MGB_OK;
    mgb_format(sizes, sizeof sizes, more ? "%d and %d" : "%d each", least + more, least);
    if (rows < request->placement->global_batch)
        mgb_format(mend, sizeof mend,
                   "it is the last batch of the data: give data of a multiple of %lld rows",
                   (long long)fixed * towers);
    else if (more || least == 0)
        mgb_format(mend, sizeof mend, "give batch = %d", fixed);
    else
        mgb_format(mend, sizeof mend, "give batch = %d, or declare it for %d", fixed, least);
    return mgb_fail(MGB_INVALID,
                    "model '%s': input '%s' is declared for a batch of %d on every GPU, but %d "
                    "row%s on %d GPU%s are %s; %s",
                    request->graph->name, input, fixed, rows, rows == 1 ? "" : "s", towers,
                    towers == 1 ? "" : "s", towers == 1 ? "another size" : sizes, mend);
}

static enum mgb_status request_check(const struct mgb_plan_request *request)
{
    const struct mgb_graph *graph = request->graph;
    if (!graph->finished)
        return mgb_fail(MGB_STATE, "planning '%s': the graph is not finished", graph->name);
    if (request->kind == MGB_PLAN_MOVE)
        return mgb_fail(MGB_STATE, "planning '%s': moves are made by mgb_plan_make_move",
                        graph->name);
    if (request->rows < 1 || request->rows > request->placement->global_batch)
        return mgb_fail(MGB_INVALID, "planning '%s': %d rows do not fit the global batch of %d",
                        graph->name, request->rows, request->placement->global_batch);
    if (request->placement->tower_count < 1)
        return mgb_fail(MGB_INVALID, "planning '%s': a placement needs at least one tower",
                        graph->name);
    return fixed_batch_check(request);
}

/* Room for one element of each vector, so that index 0 always exists. */
bool mgb_planner_reserve(struct mgb_planner *p)
{
    return mgb_vector_reserve(&p->tasks, 1) && mgb_vector_reserve(&p->buffers, 1) &&
           mgb_vector_reserve(&p->drafts, 1) && mgb_vector_reserve(&p->operands, 1) &&
           mgb_vector_reserve(&p->waits, 1) && mgb_vector_reserve(&p->extras, 1) &&
           mgb_vector_reserve(&p->storages, 1) && mgb_vector_reserve(&p->results, 1) &&
           mgb_vector_reserve(&p->commits, 1) && mgb_vector_reserve(&p->bundles, 1) &&
           mgb_vector_reserve(&p->buckets, 1) && mgb_vector_reserve(&p->queues, 1);
}

void mgb_planner_done(struct mgb_planner *p)
{
    mgb_vector_done(&p->tasks);
    mgb_vector_done(&p->buffers);
    mgb_vector_done(&p->drafts);
    mgb_vector_done(&p->operands);
    mgb_vector_done(&p->waits);
    mgb_vector_done(&p->extras);
    mgb_vector_done(&p->storages);
    mgb_vector_done(&p->results);
    mgb_vector_done(&p->commits);
    mgb_vector_done(&p->bundles);
    mgb_vector_done(&p->buckets);
    mgb_vector_done(&p->queues);
}

void mgb_plan_fill(struct mgb_planner *p)
{
    struct mgb_plan *plan = p->plan;
#define HAND_OVER(array, number)                                                                   \
    do {                                                                                           \
        plan->number = p->array.count;                                                             \
        plan->array = mgb_plan_alloc(p, (size_t)p->array.count, sizeof *p->array.at);              \
        if (plan->array && p->array.count > 0)                                                     \
            memcpy(plan->array, p->array.at, (size_t)p->array.count * sizeof *p->array.at);        \
    } while (0)
    HAND_OVER(tasks, task_count);
    HAND_OVER(buffers, buffer_count);
    HAND_OVER(operands, operand_count);
    HAND_OVER(waits, wait_count);
    HAND_OVER(storages, storage_count);
    HAND_OVER(results, result_count);
#undef HAND_OVER
}

static enum mgb_status passes_run(struct mgb_planner *planner)
{
    if (!mgb_planner_reserve(planner))
        planner->failed = true;
    for (size_t i = 0; i < sizeof passes / sizeof *passes && !planner->failed; i++)
        MGB_TRY(passes[i](planner));
    if (!planner->failed)
        mgb_plan_fill(planner);
    return planner->failed ? no_memory() : MGB_OK;
}

static void planner_init(struct mgb_planner *planner, struct mgb_plan *plan,
                         const struct mgb_plan_request *request)
{
    const struct mgb_effective *placement = request->placement;
    plan->kind = request->kind;
    plan->graph = request->graph;
    plan->topology = request->topology;
    plan->strategy = placement->strategy;
    plan->global_rows = request->rows;
    plan->tower_count = placement->tower_count;
    plan->algorithm = placement->allreduce;
    plan->wire_type = placement->wire_type;
    plan->staged = placement->staged;
    plan->stale = placement->stale;
    plan->precision = placement->precision;
    plan->optimizer = request->optimizer;
    plan->threads = placement->threads;
    plan->cpu_threads = placement->cpu_threads;
    *planner = (struct mgb_planner){.request = request,
                                    .graph = request->graph,
                                    .placement = placement,
                                    .plan = plan,
                                    .pool = plan->memory,
                                    .mirrored = placement->home == NULL,
                                    .facts = request->facts ? *request->facts : mgb_plain_facts(),
                                    .training = request->kind == MGB_PLAN_TRAIN};
}

/* A plan and the pool that owns all of it but itself. */
enum mgb_status mgb_plan_begin(struct mgb_plan **out)
{
    struct mgb_plan *plan = mgb_alloc(sizeof *plan);
    struct mgb_pool *pool = mgb_alloc(sizeof *pool);
    if (!plan || !pool) {
        mgb_release(plan);
        mgb_release(pool);
        return no_memory();
    }
    mgb_pool_init(pool);
    plan->memory = pool;
    *out = plan;
    return MGB_OK;
}

enum mgb_status mgb_plan_make(struct mgb_plan **out, const struct mgb_plan_request *request)
{
    struct mgb_plan *plan;
    struct mgb_planner planner;
    MGB_TRY(request_check(request));
    MGB_TRY(mgb_plan_begin(&plan));
    planner_init(&planner, plan, request);
    enum mgb_status status = passes_run(&planner);
    mgb_planner_done(&planner);
    if (status != MGB_OK) {
        mgb_plan_free(plan);
        return status;
    }
    *out = plan;
    return MGB_OK;
}

void mgb_plan_free(struct mgb_plan *plan)
{
    if (!plan)
        return;
    mgb_pool_done(plan->memory);
    mgb_release(plan->memory);
    mgb_release(plan);
}
