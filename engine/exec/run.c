/* Opens and closes a run and answers what it consists of. */
#include "engine/exec/logical.h"
#include "engine/exec/run_state.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_METRICS 64

int mgb_run_count_cores(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0)
        return 1;
    int count = CPU_COUNT(&set);
    return count > 0 ? count : 1;
}

int mgb_run_options_cores(const struct mgb_run_options *options)
{
    if (options->cores > 0)
        return options->cores;
    return options->play_virtual ? options->play_virtual->cores : mgb_run_count_cores();
}

enum mgb_status mgb_run_usable(const struct mgb_run *run)
{
    if (!run->dead)
        return MGB_OK;
    return mgb_fail(MGB_DEVICE,
                    "a device of this run has failed for good; close it and start again");
}

enum mgb_status mgb_run_needs_values(const struct mgb_run *run, const char *what)
{
    MGB_TRY(mgb_run_usable(run));
    return run->play_virtual
               ? mgb_fail(MGB_UNSUPPORTED, "%s: a simulated run has no values, only times", what)
               : MGB_OK;
}

enum mgb_status mgb_run_failed(struct mgb_run *run, enum mgb_status status)
{
    run->dead = run->dead || status == MGB_DEVICE || status == MGB_TIMEOUT;
    run->stuck = run->stuck || status == MGB_TIMEOUT;
    return status;
}

struct mgb_backend_options mgb_effective_options(const struct mgb_effective *effective)
{
    return (struct mgb_backend_options){.gpu_memory = effective->gpu_memory,
                                        .logical = effective->logical,
                                        .peer_access = effective->peer_access,
                                        .pinned = effective->pinned};
}

bool mgb_options_equal(const struct mgb_backend_options *a, const struct mgb_backend_options *b)
{
    return a->gpu_memory == b->gpu_memory && a->logical == b->logical &&
           a->peer_access == b->peer_access && a->pinned == b->pinned;
}

enum mgb_status mgb_run_arrange_lasting(struct mgb_run *run, const struct mgb_plan *plan)
{
    for (int i = 0; i < plan->use_count; i++)
        MGB_TRY(mgb_site_resize(run->site, MGB_ARENA_LASTING, plan->uses[i].device,
                                plan->uses[i].lasting_bytes));
    return MGB_OK;
}

enum mgb_status mgb_run_arrange_step(struct mgb_run *run, const struct mgb_setting *setting)
{
    for (int device = 0; device < run->topology.device_count; device++)
        MGB_TRY(mgb_site_resize(run->site, MGB_ARENA_STEP, device,
                                mgb_setting_step_bytes(setting, device)));
    return MGB_OK;
}

static enum mgb_status results_make(struct mgb_run *run)
{
    int metrics = mgb_graph_metric_count(run->graph);
    size_t variables = (size_t)mgb_graph_variable_count(run->graph) + 1;
    run->metrics = mgb_alloc(((size_t)metrics + 1) * sizeof *run->metrics);
    run->times = mgb_alloc((size_t)run->topology.device_count * sizeof *run->times);
    if (run->guarded)
        run->gradients = mgb_alloc(variables * sizeof *run->gradients);
    if (!run->metrics || !run->times || (run->guarded && !run->gradients))
        return mgb_fail(MGB_NO_MEMORY, "no memory for a run");
    return metrics <= MAX_METRICS
               ? MGB_OK
               : mgb_fail(MGB_UNSUPPORTED, "model '%s' has %d metrics, at most %d are possible",
                          mgb_graph_name(run->graph), metrics, MAX_METRICS);
}

static enum mgb_status source_open(struct mgb_run *run, struct mgb_source *source)
{
    run->source = source;
    if (source)
        return MGB_OK;
    MGB_TRY(mgb_source_random(&run->own_source, run->graph, run->seed));
    run->source = &run->own_source;
    return MGB_OK;
}

static enum mgb_status devices_find(struct mgb_run *run, const struct mgb_run_options *options)
{
    run->backend = options->play_on;
    MGB_TRY(run->backend ? run->backend->probe(&run->topology)
                         : mgb_backend_choose(&run->backend, &run->topology, options->backend,
                                              run->remark, sizeof run->remark));
    return mgb_topology_share(&run->topology, &run->asked);
}

/* How the backend goes about it, behind why it was chosen. */
static void note_add(struct mgb_run *run)
{
    char note[sizeof run->remark] = "";
    size_t used = strlen(run->remark);
    if (run->backend->note)
        run->backend->note(run->site->context, note, sizeof note);
    if (*note)
        snprintf(run->remark + used, sizeof run->remark - used, "%s%s", used ? "; " : "", note);
}

static enum mgb_status devices_begin(struct mgb_run *run, struct mgb_effective *effective)
{
    struct mgb_backend_options backend = mgb_effective_options(effective);
    bool canaries = run->guarded || getenv("MGBENCH_CANARIES") != NULL;
    run->site = mgb_alloc(sizeof *run->site);
    enum mgb_status status =
        run->site ? mgb_site_open(run->site, run->backend, &run->topology, &backend, canaries)
                  : mgb_fail(MGB_NO_MEMORY, "no memory for a run");
    if (status != MGB_OK) {
        mgb_effective_done(effective);
        return status;
    }
    mgb_settings_init(&run->settings, run->site, run->graph);
    if (run->guarded && !run->backend->can(run->site->context, MGB_CAN_PROTECT, 0, 0)) {
        mgb_effective_done(effective);
        return mgb_fail(MGB_UNSUPPORTED,
                        "a guarded run needs memory that can be closed, which backend %s lacks",
                        run->backend->name);
    }
    MGB_TRY(mgb_settings_get(&run->settings, &run->setting, effective, &run->optimizer, NULL));
    MGB_TRY(mgb_run_prepare(run, run->setting));
    note_add(run);
    MGB_TRY(mgb_run_arrange_lasting(run, mgb_setting_plan(run->setting)));
    MGB_TRY(mgb_run_arrange_step(run, run->setting));
    return mgb_run_initialise(run);
}

static const char *devices_name(const struct mgb_run *run)
{
    return run->backend->name;
}

const struct mgb_stage mgb_stage_devices = {
    .find = devices_find,
    .begin = devices_begin,
    .prepare = mgb_devices_prepare,
    .step = mgb_devices_step,
    .change = mgb_devices_change,
    .name = devices_name,
};

/* Devices, placement, plans, memory, weights: in the order in which a user would want to hear what is wrong. */
static enum mgb_status run_begin(struct mgb_run *run, const struct mgb_run_options *options)
{
    MGB_TRY(run->stage->find(run, options));
    MGB_TRY(results_make(run));
    MGB_TRY(source_open(run, options->source));
    struct mgb_effective effective;
    MGB_TRY(mgb_placement_resolve(&effective, &run->asked, options->fresh, run->graph,
                                  &run->topology, run->cores));
    return run->stage->begin(run, &effective);
}

enum mgb_status mgb_run_open(struct mgb_run **out, const struct mgb_run_options *options)
{
    struct mgb_run *run = mgb_alloc(sizeof *run);
    if (!run)
        return mgb_fail(MGB_NO_MEMORY, "no memory for a run");
    run->graph = options->graph;
    run->play_virtual = options->play_virtual;
    run->stage = run->play_virtual ? &mgb_stage_virtual : &mgb_stage_devices;
    run->asked = options->placement;
    run->optimizer = options->optimizer;
    run->seed = options->seed;
    mgb_loss_scale_set(&run->loss_scale, 0.0f, 0);
    run->cores = mgb_run_options_cores(options);
    run->step_timeout_ns = options->step_timeout_ns;
    run->guarded = options->guarded && !run->play_virtual;
    enum mgb_status status = run_begin(run, options);
    if (status != MGB_OK) {
        mgb_run_close(run);
        return status;
    }
    *out = run;
    return MGB_OK;
}

static void memory_free(struct mgb_run *run)
{
    for (int i = 0; run->gradients && i < mgb_graph_variable_count(run->graph); i++)
        mgb_release(run->gradients[i]);
    mgb_release(run->gradients);
    mgb_release(run->metrics);
    mgb_release(run->times);
    mgb_release(run->trace);
}

void mgb_run_close(struct mgb_run *run)
{
    if (!run)
        return;
    if (run->stuck)
        return; /* its threads still use all of it; the program is about to end */
    mgb_run_free_prefetch(run);
    mgb_settings_done(&run->settings);
    if (run->site) {
        mgb_site_close(run->site);
        mgb_release(run->site);
    }
    if (run->own_source.close)
        mgb_source_close(&run->own_source);
    memory_free(run);
    mgb_topology_done(&run->topology);
    mgb_release(run);
}

void mgb_run_stop(struct mgb_run *run)
{
    atomic_store(&run->stop, true);
}

void mgb_run_clear_stop(struct mgb_run *run)
{
    atomic_store(&run->stop, false);
}

const struct mgb_placement *mgb_run_placement(const struct mgb_run *run)
{
    return &run->asked;
}

const struct mgb_effective *mgb_run_effective(const struct mgb_run *run)
{
    return &run->setting->effective;
}

const struct mgb_plan *mgb_run_plan(const struct mgb_run *run)
{
    return mgb_setting_plan(run->setting);
}

const struct mgb_topology *mgb_run_topology(const struct mgb_run *run)
{
    return &run->topology;
}

const char *mgb_run_backend(const struct mgb_run *run)
{
    return run->stage->name(run);
}

const char *mgb_run_remark(const struct mgb_run *run)
{
    return run->remark;
}

int64_t mgb_run_step_index(const struct mgb_run *run)
{
    return run->step;
}

int64_t mgb_run_epoch(const struct mgb_run *run)
{
    return run->position.epoch;
}
