/* What a run would do, without running: the front half of mgb_run_open, up to the step plan. */
#include <mgb/preview.h>

#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "engine/exec/logical.h"
#include "engine/exec/run_state.h"
#include <limits.h>

struct mgb_preview {
    const struct mgb_virtual *play_virtual; /* or NULL */
    const struct mgb_backend *backend;      /* NULL: in virtual time */
    char remark[256];
    struct mgb_topology topology;
    const struct mgb_graph *graph;
    struct mgb_placement asked;
    uint64_t fresh;
    struct mgb_optimizer optimizer;
    int cores;
    struct mgb_effective effective;
    void *context; /* of the backend; NULL before it is opened */
    struct mgb_plan *plan;
    void *kept; /* dropped last */
    void (*drop)(void *kept);
};

enum mgb_status mgb_preview_devices(struct mgb_topology *out, const char **name, char *remark,
                                    size_t size, const char *backend)
{
    const struct mgb_backend *chosen;
    MGB_TRY(mgb_backend_choose(&chosen, out, backend, remark, size));
    *name = chosen->name;
    return MGB_OK;
}

static enum mgb_status describe(void *context, int device, const struct mgb_node_use *use,
                                struct mgb_operator_facts *out)
{
    const struct mgb_preview *preview = context;
    return preview->backend->describe(preview->context, device, use, out);
}

static enum mgb_status plan_make(struct mgb_preview *preview, struct mgb_plan **out,
                                 const struct mgb_effective *effective)
{
    struct mgb_fact_source facts = {.context = preview, .describe = describe};
    if (preview->play_virtual)
        facts = *preview->play_virtual->facts;
    struct mgb_plan_request request = {.kind = MGB_PLAN_TRAIN,
                                       .graph = preview->graph,
                                       .topology = &preview->topology,
                                       .placement = effective,
                                       .facts = &facts,
                                       .optimizer = preview->optimizer,
                                       .rows = effective->global_batch};
    return mgb_plan_make(out, &request);
}

static enum mgb_status devices_find(struct mgb_preview *preview,
                                    const struct mgb_run_options *options)
{
    const struct mgb_backend *given = options->play_on;
    if (preview->play_virtual)
        return mgb_virtual_topology(&preview->topology, preview->play_virtual);
    MGB_TRY(given ? given->probe(&preview->topology)
                  : mgb_backend_choose(&preview->backend, &preview->topology, options->backend,
                                       preview->remark, sizeof preview->remark));
    if (given)
        preview->backend = given;
    return mgb_topology_share(&preview->topology, &preview->asked);
}

static enum mgb_status preview_begin(struct mgb_preview *preview,
                                     const struct mgb_run_options *options)
{
    MGB_TRY(devices_find(preview, options));
    MGB_TRY(mgb_placement_resolve(&preview->effective, &preview->asked, preview->fresh,
                                  preview->graph, &preview->topology, preview->cores));
    struct mgb_backend_options backend = mgb_effective_options(&preview->effective);
    if (preview->backend)
        MGB_TRY(preview->backend->open(&preview->context, &preview->topology, &backend));
    return plan_make(preview, &preview->plan, &preview->effective);
}

enum mgb_status mgb_preview_make(struct mgb_preview **out, const struct mgb_run_options *options)
{
    struct mgb_preview *preview = mgb_alloc(sizeof *preview);
    if (!preview)
        return mgb_fail(MGB_NO_MEMORY, "no memory to plan a run");
    preview->graph = options->graph;
    preview->asked = options->placement;
    preview->fresh = options->fresh;
    preview->optimizer = options->optimizer;
    preview->play_virtual = options->play_virtual;
    preview->cores = mgb_run_options_cores(options);
    enum mgb_status status = preview_begin(preview, options);
    if (status != MGB_OK) {
        mgb_preview_free(preview);
        return status;
    }
    *out = preview;
    return MGB_OK;
}

void mgb_preview_free(struct mgb_preview *preview)
{
    if (!preview)
        return;
    void *kept = preview->kept;
    void (*drop)(void *) = preview->drop;
    if (preview->play_virtual && preview->plan)
        preview->play_virtual->forget(preview->play_virtual->context, preview->plan);
    mgb_plan_free(preview->plan);
    if (preview->context)
        preview->backend->close(preview->context);
    mgb_effective_done(&preview->effective);
    mgb_topology_done(&preview->topology);
    mgb_release(preview);
    if (drop)
        drop(kept);
}

void mgb_preview_keep(struct mgb_preview *preview, void *kept, void (*drop)(void *kept))
{
    preview->kept = kept;
    preview->drop = drop;
}

enum mgb_status mgb_preview_play(struct mgb_preview *preview, struct mgb_virtual_step *out)
{
    const struct mgb_virtual *face = preview->play_virtual;
    struct mgb_virtual_request request = {.plan = preview->plan, .placement = &preview->effective};
    return face ? face->play(face->context, out, &request)
                : mgb_fail(MGB_UNSUPPORTED, "steps on backend %s are measured, not predicted",
                           preview->backend->name);
}

const char *mgb_preview_backend(const struct mgb_preview *preview)
{
    return preview->play_virtual ? preview->play_virtual->name : preview->backend->name;
}

const char *mgb_preview_remark(const struct mgb_preview *preview)
{
    return preview->remark;
}

const struct mgb_topology *mgb_preview_topology(const struct mgb_preview *preview)
{
    return &preview->topology;
}

const struct mgb_effective *mgb_preview_effective(const struct mgb_preview *preview)
{
    return &preview->effective;
}

const struct mgb_plan *mgb_preview_plan(const struct mgb_preview *preview)
{
    return preview->plan;
}

static bool is_limited(const struct mgb_preview *preview)
{
    if (preview->effective.gpu_memory > 0)
        return true;
    for (int i = 0; i < preview->plan->use_count; i++)
        if (preview->topology.devices[preview->plan->uses[i].device].memory_bytes > 0)
            return true;
    return false;
}

/* Whether a step of `batch` examples a GPU is admitted. */
static enum mgb_status batch_try(struct mgb_preview *preview, bool *fits, int64_t batch)
{
    struct mgb_placement asked = preview->asked;
    struct mgb_effective effective;
    struct mgb_plan *plan;
    char number[24];
    mgb_format(number, sizeof number, "%lld", (long long)batch);
    MGB_TRY(mgb_placement_set(&asked, "batch", number));
    MGB_TRY(mgb_placement_resolve(&effective, &asked, preview->fresh, preview->graph,
                                  &preview->topology, preview->cores));
    enum mgb_status status = plan_make(preview, &plan, &effective);
    if (status == MGB_OK) {
        status = mgb_plan_admit(plan, NULL, effective.gpu_memory);
        mgb_plan_free(plan);
    }
    mgb_effective_done(&effective);
    *fits = status == MGB_OK;
    return status == MGB_OOM ? MGB_OK : status;
}

enum mgb_status mgb_preview_largest_batch(struct mgb_preview *preview, int64_t *batch)
{
    if (!is_limited(preview))
        return mgb_fail(MGB_UNSUPPORTED,
                        "no device in use has a memory limit to fit a batch in: give one with "
                        "gpu_memory, as \"4GiB\"");
    const int64_t most = INT_MAX / preview->effective.tower_count; /* more cannot be asked for */
    int64_t fits = 0, fails = 0;                                   /* 0: none known */
    int fixed = mgb_graph_fixed_batch(preview->graph, NULL);
    if (fixed > 0) { /* the only size there is */
        bool good;
        MGB_TRY(batch_try(preview, &good, fixed));
        *batch = good ? fixed : 0;
        return MGB_OK;
    }
    for (int64_t next = 1; fits < most && (!fails || fails - fits > 1);) {
        bool good;
        MGB_TRY(batch_try(preview, &good, next));
        *(good ? &fits : &fails) = next;
        next = fails ? fits + (fails - fits) / 2 : fits * 2;
        next = next > most ? most : next;
    }
    *batch = fits;
    return MGB_OK;
}
