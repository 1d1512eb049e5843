/* A run in virtual time: placement, plans and admission as on devices, but a step is played on a clock, from the plan alone.
 * Knows no machine, no backend, no values. */
#include "engine/exec/run_state.h"

#include "engine/base/memory.h"
#include <math.h>
#include <string.h>

enum mgb_status mgb_virtual_topology(struct mgb_topology *out,
                                     const struct mgb_virtual *play_virtual)
{
    const struct mgb_topology *from = play_virtual->topology;
    size_t devices = (size_t)from->device_count, links = (size_t)from->link_count;
    *out = (struct mgb_topology){0};
    struct mgb_device *device = mgb_alloc((devices + 1) * sizeof *device);
    struct mgb_link *link = mgb_alloc((links + 1) * sizeof *link);
    if (!device || !link) {
        mgb_release(device);
        mgb_release(link);
        return mgb_fail(MGB_NO_MEMORY, "no memory for %zu simulated devices", devices);
    }
    memcpy(device, from->devices, devices * sizeof *device);
    if (links > 0)
        memcpy(link, from->links, links * sizeof *link);
    *out = *from;
    out->devices = device;
    out->links = link;
    return MGB_OK;
}

static enum mgb_status virtual_find(struct mgb_run *run, const struct mgb_run_options *options)
{
    return mgb_virtual_topology(&run->topology, options->play_virtual);
}

static enum mgb_status virtual_begin(struct mgb_run *run, struct mgb_effective *effective)
{
    mgb_settings_init_virtual(&run->settings, run->play_virtual, &run->topology, run->graph);
    MGB_TRY(mgb_settings_get(&run->settings, &run->setting, effective, &run->optimizer, NULL));
    return mgb_run_prepare(run, run->setting);
}

static enum mgb_status virtual_prepare(struct mgb_run *run, const struct mgb_step_request *request)
{
    (void)request;
    return mgb_run_prepare(run, run->setting);
}

static enum mgb_status plan_play(struct mgb_run *run, struct mgb_virtual_step *out,
                                 const struct mgb_plan *plan, const struct mgb_effective *effective,
                                 bool trace)
{
    struct mgb_virtual_request request = {
        .plan = plan, .placement = effective, .step = run->step, .trace = trace};
    return run->play_virtual->play(run->play_virtual->context, out, &request);
}

static enum mgb_status virtual_step(struct mgb_run *run, struct mgb_step_result *result,
                                    struct mgb_batch_request batch, float lr, bool trace)
{
    const struct mgb_program *program =
        mgb_setting_find(run->setting, MGB_PLAN_TRAIN, (int)batch.rows);
    struct mgb_virtual_step step;
    if (!program)
        return mgb_fail(MGB_STATE, "no plan was prepared for a batch of %lld rows",
                        (long long)batch.rows);
    MGB_TRY(plan_play(run, &step, program->plan, &run->setting->effective, trace));
    *result = (struct mgb_step_result){
        .index = run->step,
        .epoch = batch.epoch,
        .start_ns = run->virtual_ns,
        .wall_ns = step.wall_ns,
        .gap_ns = run->last_end_ns ? run->virtual_ns - run->last_end_ns : 0,
        .rows = (int)batch.rows,
        .loss = (double)NAN,
        .device_count = program->plan->use_count,
        .devices = step.devices,
        .task_count = trace ? step.task_count : 0,
        .tasks = trace ? step.tasks : NULL,
        .plan = program->plan,
        .lr = lr};
    run->virtual_ns += step.wall_ns;
    run->last_end_ns = run->virtual_ns;
    return MGB_OK;
}

/* Every copy of the move plan, those in place included: nothing lies anywhere in virtual time. */
static void bytes_count(struct mgb_change *change, const struct mgb_plan *plan,
                        const struct mgb_flat *flat)
{
    for (int i = 0; i < flat->count; i++) {
        const struct mgb_task *task = &plan->tasks[flat->tasks[i].task];
        if (task->kind != MGB_TASK_COPY)
            continue;
        change->copied_bytes += task->bytes;
        if (flat->tasks[i].from >= 0 && flat->tasks[i].from != flat->tasks[i].device)
            change->moved_bytes += task->bytes;
    }
}

static enum mgb_status virtual_move(struct mgb_run *run, const struct mgb_setting *to,
                                    struct mgb_change *change)
{
    const struct mgb_plan *from = mgb_setting_plan(run->setting), *new = mgb_setting_plan(to);
    struct mgb_plan *plan;
    struct mgb_flat flat;
    struct mgb_virtual_step step;
    if (mgb_plan_same_lasting(from, new))
        return MGB_OK;
    MGB_TRY(mgb_plan_make_move(&plan, from, new));
    enum mgb_status status = mgb_plan_expand(&flat, plan);
    if (status == MGB_OK) {
        status = plan_play(run, &step, plan, &to->effective, false);
        bytes_count(change, plan, &flat);
        mgb_flat_done(&flat);
    }
    if (status == MGB_OK) {
        change->move_ns = step.wall_ns;
        run->virtual_ns += step.wall_ns;
    }
    run->play_virtual->forget(run->play_virtual->context, plan);
    mgb_plan_free(plan);
    return status;
}

static enum mgb_status virtual_change(struct mgb_run *run, struct mgb_change *change,
                                      struct mgb_effective *effective,
                                      const struct mgb_optimizer *optimizer)
{
    struct mgb_setting *setting;
    MGB_TRY(mgb_run_plan_change(run, &setting, effective, optimizer));
    MGB_TRY(virtual_move(run, setting, change));
    run->pending = false;
    run->setting = setting;
    return MGB_OK;
}

static const char *virtual_name(const struct mgb_run *run)
{
    return run->play_virtual->name;
}

const struct mgb_stage mgb_stage_virtual = {
    .find = virtual_find,
    .begin = virtual_begin,
    .prepare = virtual_prepare,
    .step = virtual_step,
    .change = virtual_change,
    .name = virtual_name,
};
