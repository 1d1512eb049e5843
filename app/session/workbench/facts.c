/* See facts.h. */
#include "app/session/workbench/facts_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void facts_free(void *part)
{
    struct mgb_facts *facts = part;
    if (facts->memory)
        mgb_bench_pool_done(facts->memory);
    free(facts->memory);
    free(facts);
}

static struct mgb_facts *facts_new(void)
{
    struct mgb_facts *facts = calloc(1, sizeof *facts);
    struct mgb_bench_pool *pool = calloc(1, sizeof *pool);
    if (!facts || !pool) {
        free(facts);
        free(pool);
        return NULL;
    }
    atomic_init(&facts->shared.holders, 1);
    facts->shared.free = facts_free;
    facts->memory = pool;
    return facts;
}

static void text_set(char *out, size_t size, const char *text)
{
    snprintf(out, size, "%s", text ? text : "");
}

static bool is_simulated(const struct mgb_facts_request *request)
{
    bool simulated = request->backend && strcmp(request->backend, "sim") == 0;
    for (int i = 0; i < request->topology->device_count; i++)
        simulated = simulated || request->topology->devices[i].class == MGB_CLASS_SIMULATED;
    return simulated;
}

static void head_fill(struct mgb_facts *facts, const struct mgb_facts_request *request)
{
    const struct mgb_effective *e = request->effective;
    text_set(facts->model, sizeof facts->model, request->model);
    text_set(facts->data, sizeof facts->data, request->data);
    text_set(facts->backend, sizeof facts->backend, request->backend);
    text_set(facts->machine, sizeof facts->machine, request->topology->machine);
    text_set(facts->remark, sizeof facts->remark, request->remark);
    text_set(facts->gave_way, sizeof facts->gave_way, e->gave_way);
    facts->simulated = is_simulated(request);
    facts->asked = *request->asked;
    facts->strategy = e->strategy;
    facts->batch_mode = e->batch_mode;
    facts->batch_per_gpu = e->batch_per_gpu;
    facts->global_batch = e->global_batch;
    facts->threads = e->threads;
    facts->oversubscribed = e->oversubscribed;
    for (int i = 0; i < e->tower_count; i++)
        facts->gpus += request->topology->devices[e->tower_device[i]].name.kind == MGB_DEVICE_GPU;
}

static enum mgb_status facts_fill(struct facts_work *work)
{
    head_fill(work->facts, work->request);
    mgb_facts_add_options(work);
    mgb_facts_add_title(work);
    mgb_facts_add_devices(work);
    MGB_TRY(mgb_facts_add_links(work));
    MGB_TRY(mgb_facts_add_variables(work));
    MGB_TRY(mgb_facts_add_tasks(work));
    return work->pool->failed
               ? mgb_fail(MGB_NO_MEMORY, "describing a placement: memory is exhausted")
               : MGB_OK;
}

enum mgb_status mgb_facts_make(struct mgb_facts **out, const struct mgb_facts_request *request)
{
    struct mgb_facts *facts = facts_new();
    if (!facts)
        return mgb_fail(MGB_NO_MEMORY, "describing a placement: memory is exhausted");
    struct facts_work work = {facts, facts->memory, request};
    enum mgb_status status = facts_fill(&work);
    if (status == MGB_OK)
        *out = facts;
    else
        mgb_shared_drop(facts);
    return status;
}

int mgb_facts_find_device(const struct mgb_facts *facts, const char *name)
{
    for (int i = 0; i < facts->device_count; i++)
        if (strcmp(facts->devices[i].name, name) == 0)
            return i;
    return -1;
}
