/* Live toggles: resolve, plan, admit, move, and only then forget the old. A refused change leaves the run as it was. */
#include "engine/exec/move.h"

#include "engine/base/clock.h"
#include "engine/base/text.h"

enum mgb_status mgb_run_plan_change(struct mgb_run *run, struct mgb_setting **out,
                                    struct mgb_effective *effective,
                                    const struct mgb_optimizer *optimizer)
{
    MGB_TRY(mgb_settings_get(&run->settings, out, effective, optimizer, run->setting));
    MGB_TRY(mgb_run_prepare(run, *out));
    const struct mgb_plan *old = mgb_setting_plan(run->setting), *new = mgb_setting_plan(*out);
    int64_t limit = (*out)->effective.gpu_memory;
    return mgb_plan_admit(new, mgb_plan_same_lasting(old, new) ? NULL : old, limit);
}

/* Puts the step arenas back that a refused change may have freed. */
static enum mgb_status change_undo(struct mgb_run *run, enum mgb_status status)
{
    char message[1024];
    struct mgb_oom oom = mgb_oom_get();
    mgb_format(message, sizeof message, "%s", mgb_message_get());
    if (!run->dead && mgb_run_arrange_step(run, run->setting) != MGB_OK)
        run->dead = true;
    if (status == MGB_OOM)
        (void)mgb_fail_oom(oom.device, oom.needed, oom.available, "");
    return mgb_fail(status, "%s", message);
}

static enum mgb_status setting_adopt(struct mgb_run *run, struct mgb_setting *setting,
                                     struct mgb_change *change)
{
    enum mgb_status status = mgb_run_move(run, run->setting, setting, change);
    if (status != MGB_OK)
        return change_undo(run, status);
    /* Queues that both use stay. A failure to bind shows at the next step. */
    for (int i = 0; i < setting->programs.count; i++)
        if (setting->programs.at[i]->plan->kind == MGB_PLAN_TRAIN)
            (void)mgb_program_bind(setting->programs.at[i], false);
    run->pending = false;
    mgb_setting_unbind(run->setting);
    mgb_site_trim(run->site);
    run->setting = setting;
    return MGB_OK;
}

/* Values of every variable and slot, read from one site and written to another. */
struct snapshot {
    int slots;
    float **values; /* variable * (1 + slots) + 1 + slot; NULL: it has none */
    int count;
};

static void snapshot_done(struct snapshot *snapshot)
{
    for (int i = 0; i < snapshot->count; i++)
        mgb_release(snapshot->values[i]);
    mgb_release(snapshot->values);
}

static enum mgb_status snapshot_take(struct mgb_run *run, struct snapshot *out)
{
    struct mgb_held held;
    out->slots = mgb_optimizer_slots(&run->optimizer);
    out->count = mgb_graph_variable_count(run->graph) * (1 + out->slots);
    out->values = mgb_alloc(((size_t)out->count + 1) * sizeof *out->values);
    if (!out->values) {
        out->count = 0;
        return mgb_fail(MGB_NO_MEMORY, "no memory to keep the weights");
    }
    for (int i = 0; i < out->count; i++) {
        int variable = i / (1 + out->slots), slot = i % (1 + out->slots) - 1;
        if (!mgb_held_find(run, variable, slot < 0 ? MGB_ROLE_MASTER : MGB_ROLE_SLOT, slot, &held))
            continue;
        out->values[i] = mgb_alloc((size_t)held.storage->bytes);
        if (!out->values[i])
            return mgb_fail(MGB_NO_MEMORY, "no memory to keep the weights");
        MGB_TRY(mgb_run_read(run, out->values[i], variable, slot));
    }
    return MGB_OK;
}

static enum mgb_status snapshot_write(struct mgb_run *run, const struct snapshot *snapshot)
{
    for (int i = 0; i < snapshot->count; i++)
        if (snapshot->values[i])
            MGB_TRY(mgb_run_write(run, snapshot->values[i], i / (1 + snapshot->slots),
                                  i % (1 + snapshot->slots) - 1));
    return MGB_OK;
}

/* What a run is on: exchanged as a whole. */
struct footing {
    struct mgb_site *site;
    struct mgb_settings settings;
    struct mgb_setting *setting;
};

static void footing_exchange(struct mgb_run *run, struct footing *other)
{
    struct footing held = {run->site, run->settings, run->setting};
    run->site = other->site;
    run->settings = other->settings;
    run->setting = other->setting;
    *other = held;
}

static void footing_done(struct footing *footing)
{
    mgb_settings_done(&footing->settings);
    mgb_site_close(footing->site);
    mgb_release(footing->site);
}

static enum mgb_status footing_fill(struct mgb_run *run, struct mgb_effective *effective,
                                    const struct snapshot *snapshot)
{
    MGB_TRY(mgb_settings_get(&run->settings, &run->setting, effective, &run->optimizer, NULL));
    MGB_TRY(mgb_run_prepare(run, run->setting));
    MGB_TRY(mgb_run_arrange_lasting(run, mgb_setting_plan(run->setting)));
    MGB_TRY(mgb_run_arrange_step(run, run->setting));
    MGB_TRY(mgb_run_initialise(run));
    return snapshot_write(run, snapshot);
}

/* Another memory limit or way to copy needs the devices opened anew: the values travel through host memory. */
static enum mgb_status devices_reopen(struct mgb_run *run, struct mgb_change *change,
                                      struct mgb_effective *effective,
                                      const struct mgb_backend_options *options)
{
    int64_t start = mgb_clock_ns();
    struct snapshot snapshot = {0};
    struct footing other = {.site = mgb_alloc(sizeof *other.site)};
    enum mgb_status status = other.site
                                 ? snapshot_take(run, &snapshot)
                                 : mgb_fail(MGB_NO_MEMORY, "no memory to open the devices again");
    if (status == MGB_OK)
        status =
            mgb_site_open(other.site, run->backend, &run->topology, options, run->site->canaries);
    if (status != MGB_OK) {
        mgb_effective_done(effective);
        mgb_release(other.site);
        snapshot_done(&snapshot);
        return status;
    }
    mgb_settings_init(&other.settings, other.site, run->graph);
    mgb_run_free_prefetch(run);
    footing_exchange(run, &other);
    status = footing_fill(run, effective, &snapshot);
    if (status != MGB_OK)
        footing_exchange(run, &other);
    else
        run->pending = false;
    for (int i = 0; status == MGB_OK && i < snapshot.count; i++)
        if (snapshot.values[i])
            change->moved_bytes +=
                mgb_graph_variable_at(run->graph, i / (1 + snapshot.slots)).bytes;
    change->copied_bytes = change->moved_bytes;
    change->move_ns = mgb_clock_ns() - start;
    footing_done(&other);
    snapshot_done(&snapshot);
    return status;
}

enum mgb_status mgb_devices_change(struct mgb_run *run, struct mgb_change *change,
                                   struct mgb_effective *effective,
                                   const struct mgb_optimizer *optimizer)
{
    struct mgb_backend_options options = mgb_effective_options(effective);
    if (!mgb_options_equal(&options, &run->site->options))
        return devices_reopen(run, change, effective, &options);
    struct mgb_setting *setting;
    int64_t start = mgb_clock_ns();
    enum mgb_status status = mgb_run_plan_change(run, &setting, effective, optimizer);
    change->plan_ns = mgb_clock_ns() - start;
    return status == MGB_OK ? setting_adopt(run, setting, change) : status;
}

static enum mgb_status change_make(struct mgb_run *run, struct mgb_change *change,
                                   struct mgb_effective *effective,
                                   const struct mgb_optimizer *optimizer)
{
    if (mgb_setting_serves(run->setting, effective, optimizer, run->graph)) {
        mgb_setting_set_graph(run->setting, effective->graph);
        mgb_effective_done(effective);
        return MGB_OK;
    }
    change->changed = true;
    change->gradients_dropped = run->pending;
    return run->stage->change(run, change, effective, optimizer);
}

enum mgb_status mgb_run_set(struct mgb_run *run, struct mgb_change *change,
                            const struct mgb_placement *placement, uint64_t fresh)
{
    struct mgb_effective effective;
    int64_t start = mgb_clock_ns();
    *change = (struct mgb_change){0};
    MGB_TRY(mgb_run_usable(run));
    MGB_TRY(mgb_placement_resolve(&effective, placement, fresh, run->graph, &run->topology,
                                  run->cores));
    MGB_TRY(change_make(run, change, &effective, &run->optimizer));
    run->asked = *placement;
    change->total_ns = run->play_virtual ? change->move_ns : mgb_clock_ns() - start;
    return MGB_OK;
}

enum mgb_status mgb_run_set_optimizer(struct mgb_run *run, const struct mgb_optimizer *optimizer)
{
    struct mgb_effective effective;
    struct mgb_change change = {0};
    MGB_TRY(mgb_run_usable(run));
    MGB_TRY(
        mgb_placement_resolve(&effective, &run->asked, 0, run->graph, &run->topology, run->cores));
    MGB_TRY(change_make(run, &change, &effective, optimizer));
    mgb_setting_set_optimizer(run->setting, optimizer);
    if (optimizer->kind != run->optimizer.kind)
        run->updates = 0; /* its state starts anew */
    run->optimizer = *optimizer;
    return MGB_OK;
}
