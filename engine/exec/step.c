/* The step loop: a batch, a program, the results. Nothing is allocated here once the loop runs. */
#include "engine/exec/run_state.h"

#include "engine/base/clock.h"
#include "engine/base/text.h"
#include <math.h>
#include <string.h>

struct mgb_batch_request mgb_position_batch(const struct mgb_run *run, struct mgb_position at)
{
    int64_t rows = run->setting->effective.global_batch;
    if (run->source->rows > 0 && at.first + rows > run->source->rows)
        rows = run->source->rows - at.first;
    return (struct mgb_batch_request){.epoch = at.epoch, .first = at.first, .rows = rows};
}

struct mgb_position mgb_position_after(const struct mgb_run *run, struct mgb_position at)
{
    if (run->source->rows == 0)
        return at;
    at.first += mgb_position_batch(run, at).rows;
    if (at.first >= run->source->rows)
        at = (struct mgb_position){.epoch = at.epoch + 1};
    return at;
}

/* The short last batch of so many rows, when there is one. */
static enum mgb_status rest_prepare(struct mgb_run *run, struct mgb_setting *setting, int rest)
{
    struct mgb_program *program;
    return rest == 0 ? MGB_OK
                     : mgb_setting_program(&run->settings, setting, &program, MGB_PLAN_TRAIN, rest);
}

/* This epoch's short last batch may differ from later ones': the batch may have changed in mid-epoch. */
enum mgb_status mgb_run_prepare(struct mgb_run *run, struct mgb_setting *setting)
{
    int64_t rows = run->source->rows, batch = setting->effective.global_batch;
    if (rows == 0)
        return MGB_OK;
    int now = (int)((rows - run->position.first) % batch), later = (int)(rows % batch);
    mgb_setting_trim(setting, MGB_PLAN_TRAIN, now, later);
    MGB_TRY(rest_prepare(run, setting, now));
    return rest_prepare(run, setting, later);
}

void *mgb_run_input(const struct mgb_run *run, int slot, int index)
{
    const struct mgb_plan *plan = mgb_setting_plan(run->setting);
    int buffer = plan->input_buffer[index];
    struct mgb_place place = mgb_plan_place(plan, buffer, MGB_ROOT);
    place.offset += slot * plan->buffers[buffer].flip;
    return mgb_program_address(run->setting->programs.at[0], place);
}

enum mgb_status mgb_run_make_prefetch(struct mgb_run *run, struct mgb_prefetch **out,
                                      const struct mgb_source *source)
{
    int inputs = mgb_graph_input_count(run->graph);
    void **slots = mgb_alloc(2 * ((size_t)inputs + 1) * sizeof *slots);
    if (!slots)
        return mgb_fail(MGB_NO_MEMORY, "no memory to read ahead");
    for (int slot = 0; slot < 2; slot++)
        for (int i = 0; i < inputs; i++)
            slots[slot * inputs + i] = mgb_run_input(run, slot, i);
    enum mgb_status status = mgb_prefetch_make(out, source, run->seed, inputs, slots);
    mgb_release(slots);
    return status;
}

void mgb_run_free_prefetch(struct mgb_run *run)
{
    mgb_prefetch_free(run->prefetch);
    run->prefetch = NULL;
}

/* Everything that the loop needs is made before it starts. */
enum mgb_status mgb_devices_prepare(struct mgb_run *run, const struct mgb_step_request *request)
{
    int most = 0;
    MGB_TRY(mgb_run_prepare(run, run->setting));
    MGB_TRY(mgb_run_arrange_step(run, run->setting));
    for (int i = 0; i < run->setting->programs.count; i++) {
        struct mgb_program *program = run->setting->programs.at[i];
        if (program->plan->kind != MGB_PLAN_TRAIN)
            continue;
        MGB_TRY(mgb_program_bind(program, request->trace_every > 0));
        most = program->count > most ? program->count : most;
    }
    if (request->trace_every > 0 && most > run->trace_capacity) {
        struct mgb_task_time *grown = mgb_realloc(run->trace, (size_t)most * sizeof *grown);
        if (!grown)
            return mgb_fail(MGB_NO_MEMORY, "no memory for the trace of %d tasks", most);
        run->trace = grown;
        run->trace_capacity = most;
    }
    return run->prefetch ? MGB_OK : mgb_run_make_prefetch(run, &run->prefetch, run->source);
}

enum mgb_status mgb_run_read_results(struct mgb_run *run, const struct mgb_program *program,
                                     double *loss, double *metrics)
{
    *loss = 0.0;
    for (int i = 0; i < mgb_graph_metric_count(run->graph); i++)
        metrics[i] = 0.0;
    for (int i = 0; i < program->reading_count; i++) {
        const struct mgb_reading *reading = &program->readings[i];
        float value;
        MGB_TRY(run->backend->read(run->site->context, 0, &value, reading->address, sizeof value));
        if (reading->metric)
            metrics[reading->index] += (double)value;
        else
            *loss += (double)run->graph->losses[reading->index].weight * (double)value;
    }
    return MGB_OK;
}

enum mgb_status mgb_run_play(struct mgb_run *run, struct mgb_program *program,
                             const struct mgb_play *play)
{
    if (run->guarded)
        return mgb_program_play_guarded(program, play, mgb_run_keep_gradients, run);
    return mgb_program_play(program, play);
}

/* Keras 2: the rate after `updates` steps. */
static float rate_of(const struct mgb_run *run, const float *given)
{
    float lr = given ? *given : run->optimizer.lr;
    return run->optimizer.decay > 0.0f
               ? (float)((double)lr / (1.0 + (double)run->optimizer.decay * (double)run->updates))
               : lr;
}

static enum mgb_status batch_get(struct mgb_run *run, struct mgb_batch_request batch)
{
    int slot = run->slot;
    MGB_TRY(mgb_prefetch_wait(run->prefetch, slot, batch));
    if (!run->guarded) /* its arenas are closed while tasks run */
        mgb_prefetch_begin(run->prefetch, 1 - slot,
                           mgb_position_batch(run, mgb_position_after(run, run->position)));
    return MGB_OK;
}

/* Steps that were to be replayed and cannot be: the placement in effect says so from now on. */
static void replay_tell(struct mgb_run *run, const struct mgb_program *program)
{
    struct mgb_effective *effective = &run->setting->effective;
    size_t used = strlen(effective->gave_way);
    if (!program->replay_refusal[0] || effective->graph == MGB_CHOICE_NO)
        return;
    mgb_format(effective->gave_way + used, sizeof effective->gave_way - used, "%s%s",
               used ? "\n" : "", program->replay_refusal);
    mgb_setting_set_graph(run->setting, MGB_CHOICE_NO);
}

/* Plays one batch and fills in what was measured. */
enum mgb_status mgb_devices_step(struct mgb_run *run, struct mgb_step_result *result,
                                 struct mgb_batch_request batch, float lr, bool trace)
{
    struct mgb_program *program = mgb_setting_find(run->setting, MGB_PLAN_TRAIN, (int)batch.rows);
    if (!program || program->generation != run->site->generation)
        return mgb_fail(MGB_STATE, "no plan was prepared for a batch of %lld rows",
                        (long long)batch.rows);
    struct mgb_play play = {
        .slot = run->slot,
        .trace = trace,
        .hold = program->plan->stale && !run->pending,
        .timeout_ns = run->step_timeout_ns,
        .values = {.step = run->step, .seed = run->seed, .lr = lr, .updates = run->updates}};
    int64_t start = mgb_clock_ns();
    MGB_TRY(batch_get(run, batch));
    int64_t input = mgb_clock_ns();
    mgb_program_set_loss_scale(program, mgb_loss_scale_get(&run->loss_scale, program));
    MGB_TRY(mgb_run_play(run, program, &play));
    replay_tell(run, program);
    double loss;
    bool skipped;
    MGB_TRY(mgb_run_read_results(run, program, &loss, run->metrics));
    MGB_TRY(mgb_program_skipped(program, &skipped));
    int64_t end = mgb_clock_ns();
    MGB_TRY(mgb_program_times(program, run->times, start, input, end));
    if (trace)
        MGB_TRY(mgb_program_trace(program, run->trace, start));
    int metrics = mgb_graph_metric_count(run->graph);
    for (int i = 0; i < metrics; i++)
        run->metrics[i] /= (double)batch.rows;
    *result = (struct mgb_step_result){.index = run->step,
                                       .epoch = batch.epoch,
                                       .start_ns = start,
                                       .wall_ns = end - start,
                                       .gap_ns = run->last_end_ns ? start - run->last_end_ns : 0,
                                       .rows = (int)batch.rows,
                                       .loss = loss / (double)batch.rows,
                                       .metric_count = metrics,
                                       .metrics = run->metrics,
                                       .device_count = program->plan->use_count,
                                       .devices = run->times,
                                       .task_count = trace ? program->count : 0,
                                       .tasks = trace ? run->trace : NULL,
                                       .plan = program->plan,
                                       .lr = lr,
                                       .loss_scale = program->loss_scale,
                                       .skipped = skipped};
    run->last_end_ns = end;
    return MGB_OK;
}

static enum mgb_status step_run(struct mgb_run *run, struct mgb_step_result *result,
                                const struct mgb_step_request *request, int64_t done)
{
    struct mgb_batch_request batch = mgb_position_batch(run, run->position);
    bool trace = request->trace_every > 0 && run->step % request->trace_every == 0;
    float lr = rate_of(run, request->lr ? &request->lr[done] : NULL);
    enum mgb_status status = run->stage->step(run, result, batch, lr, trace);
    bool stale = mgb_setting_plan(run->setting)->stale, held = stale && !run->pending;
    run->pending = stale && status == MGB_OK;
    if (status != MGB_OK)
        return mgb_run_failed(run, status);
    run->position = mgb_position_after(run, run->position);
    result->epoch_end = run->position.epoch != batch.epoch;
    run->slot = 1 - run->slot;
    run->step++;
    run->updates += !held && !result->skipped;
    if (result->loss_scale > 0)
        mgb_loss_scale_judge(&run->loss_scale, result->skipped);
    return MGB_OK;
}

enum mgb_status mgb_run_step(struct mgb_run *run, int64_t *done,
                             const struct mgb_step_request *request,
                             const struct mgb_step_sink *sink)
{
    *done = 0;
    MGB_TRY(mgb_run_usable(run));
    MGB_TRY(run->stage->prepare(run, request));
    while (*done < request->steps) {
        struct mgb_step_result result;
        if (atomic_load(&run->stop))
            return mgb_fail(MGB_INTERRUPTED, "stopped after step %lld", (long long)run->step);
        MGB_TRY(step_run(run, &result, request, *done));
        ++*done;
        bool goes_on = !sink || !sink->step || sink->step(sink->context, &result);
        if (!goes_on)
            return mgb_fail(MGB_INTERRUPTED, "stopped after step %lld", (long long)run->step);
        if (request->whole_epoch && result.epoch_end)
            break;
    }
    return MGB_OK;
}
