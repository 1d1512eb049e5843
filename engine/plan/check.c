/* The variable check: what one build stores, against what the towers really read. A variable of a later tower that stands
 * where tower 0 has another storage is a duplicate; what a clone left behind is a leftover. */
#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "engine/base/vector.h"
#include "engine/graph/graph.h"
#include <mgb/check.h>

struct findings {
    const struct mgb_plan *plan;
    struct mgb_pool *pool;
    mgb_vector(struct mgb_finding) list;
    bool failed;
};

static const struct mgb_storage *master_find(const struct mgb_plan *plan, int variable)
{
    for (int i = 0; i < plan->storage_count; i++)
        if (plan->storages[i].variable == variable && plan->storages[i].role == MGB_ROLE_MASTER)
            return &plan->storages[i];
    return NULL;
}

static bool storage_same(const struct mgb_storage *a, const struct mgb_storage *b)
{
    return a->buffer == b->buffer && a->offset == b->offset && a->tower == b->tower;
}

static int storage_device(const struct mgb_plan *plan, const struct mgb_storage *storage)
{
    return mgb_plan_place(plan, storage->buffer, storage->tower < 0 ? -1 : storage->tower).device;
}

static const char *why_copy(struct findings *f, const char *text)
{
    const char *copy = mgb_pool_copy(f->pool, text);
    if (!copy)
        f->failed = true;
    return copy ? copy : "";
}

/* Adds bytes to the finding of (variable, device), made when it is new. */
static void finding_add(struct findings *f, struct mgb_finding finding, const char *why)
{
    for (int i = 0; i < f->list.count; i++) {
        struct mgb_finding *known = &f->list.at[i];
        if (known->variable == finding.variable && known->device == finding.device &&
            known->leftover == finding.leftover) {
            known->bytes += finding.bytes;
            return;
        }
    }
    finding.why = why_copy(f, why);
    if (!mgb_vector_push(&f->list, finding))
        f->failed = true;
}

/* All storages of `variable`: they would not be there, had the tower shared `twin`. */
static void duplicate_add(struct findings *f, int variable, int twin, int tower)
{
    const struct mgb_plan *plan = f->plan;
    char why[512], device[MGB_DEVICE_NAME_MAX];
    for (int i = 0; i < plan->storage_count; i++) {
        const struct mgb_storage *s = &plan->storages[i];
        if (s->variable != variable || s->role == MGB_ROLE_LEFTOVER || s->tower == MGB_EACH_TOWER)
            continue;
        int at = storage_device(plan, s);
        mgb_format(why, sizeof why, "tower %d trains '%s' on %s, its own copy of '%s'", tower,
                   plan->graph->variables[variable].info.name,
                   mgb_device_format(device, plan->topology->devices[at].name),
                   plan->graph->variables[twin].info.name);
        finding_add(f,
                    (struct mgb_finding){
                        .variable = variable, .twin = twin, .device = at, .bytes = s->bytes},
                    why);
    }
}

static void duplicates_find(struct findings *f)
{
    const struct mgb_graph *graph = f->plan->graph;
    for (int v = 0; v < graph->variable_count; v++) {
        const struct mgb_storage *first = master_find(f->plan, v);
        if (graph->variables[v].info.twin >= 0 || !first)
            continue;
        for (int t = 1; t < f->plan->tower_count && t < graph->towers_built; t++) {
            int own = mgb_graph_variable_of(graph, v, t);
            const struct mgb_storage *storage = own == v ? first : master_find(f->plan, own);
            if (storage && !storage_same(first, storage))
                duplicate_add(f, own, v, t);
        }
    }
}

static void leftovers_find(struct findings *f)
{
    const struct mgb_plan *plan = f->plan;
    char why[512], device[MGB_DEVICE_NAME_MAX];
    for (int i = 0; i < plan->storage_count; i++) {
        const struct mgb_storage *s = &plan->storages[i];
        if (s->role != MGB_ROLE_LEFTOVER)
            continue;
        int at = storage_device(plan, s);
        mgb_format(why, sizeof why, "the clone of '%s' left the original on %s",
                   plan->graph->variables[s->variable].info.name,
                   mgb_device_format(device, plan->topology->devices[at].name));
        finding_add(f,
                    (struct mgb_finding){.variable = s->variable,
                                         .twin = s->variable,
                                         .leftover = true,
                                         .device = at,
                                         .bytes = s->bytes},
                    why);
    }
}

static void masters_count(struct mgb_check *out, const struct mgb_plan *plan)
{
    const struct mgb_graph *graph = plan->graph;
    for (int v = 0; v < graph->variable_count; v++) {
        const struct mgb_storage *master = master_find(plan, v);
        bool expected = graph->variables[v].info.twin < 0;
        out->variables += master != NULL;
        out->master_bytes += master ? master->bytes : 0;
        out->expected_variables += expected;
        out->expected_bytes += expected ? graph->variables[v].info.bytes : 0;
    }
    bool mirrored = plan->strategy == MGB_ALLREDUCE || plan->strategy == MGB_INDEPENDENT;
    out->replicas_per_variable = mirrored ? plan->tower_count : 1;
}

static void findings_count(struct mgb_check *out)
{
    for (int i = 0; i < out->finding_count; i++) {
        const struct mgb_finding *finding = &out->findings[i];
        *(finding->leftover ? &out->leftover_bytes : &out->duplicate_bytes) += finding->bytes;
        *(finding->leftover ? &out->leftover_count : &out->duplicate_count) += 1;
    }
}

enum mgb_status mgb_check_make(struct mgb_check *out, const struct mgb_plan *plan)
{
    *out = (struct mgb_check){0};
    struct findings f = {.plan = plan, .pool = mgb_alloc(sizeof *f.pool)};
    if (f.pool) {
        mgb_pool_init(f.pool);
        duplicates_find(&f);
        leftovers_find(&f);
        out->memory = f.pool;
        out->findings = mgb_pool_alloc(f.pool, ((size_t)f.list.count + 1) * sizeof *out->findings);
    }
    if (!f.pool || !out->findings || f.failed) {
        mgb_vector_done(&f.list);
        mgb_check_done(out);
        return mgb_fail(MGB_NO_MEMORY, "checking variables: the host's memory is exhausted");
    }
    for (int i = 0; i < f.list.count; i++)
        out->findings[i] = f.list.at[i];
    out->finding_count = f.list.count;
    mgb_vector_done(&f.list);
    masters_count(out, plan);
    findings_count(out);
    return MGB_OK;
}

void mgb_check_done(struct mgb_check *check)
{
    if (check->memory)
        mgb_pool_done(check->memory);
    mgb_release(check->memory);
    *check = (struct mgb_check){0};
}
