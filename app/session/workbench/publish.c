/* From what the workbench's thread knows to what everybody sees. */
#include "app/session/workbench/commands.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SECOND_NS INT64_C(1000000000)

void mgb_bench_set_state(struct mgb_workbench *bench, enum mgb_bench_state state, const char *doing)
{
    bench->state = state;
    snprintf(bench->draft->doing, sizeof bench->draft->doing, "%s", doing);
    mgb_bench_publish(bench);
}

/* "4 x P100"; CPU devices are called what they are. */
static void devices_write(char *out, size_t size, const struct mgb_facts *facts)
{
    int count = 0, gpu = -1;
    for (int i = 0; i < facts->device_count; i++) {
        if (facts->devices[i].tower_rows <= 0)
            continue;
        count++;
        if (facts->devices[i].class != MGB_CLASS_CPU)
            gpu = i;
    }
    if (gpu >= 0)
        snprintf(out, size, "%d x %.50s", count, facts->devices[gpu].label);
    else
        snprintf(out, size, "%d CPU device%s", count, count == 1 ? "" : "s");
}

/* Planned bytes are known before anything is measured. */
static void memory_plan(struct mgb_bench_segment *segment, const struct mgb_facts *facts)
{
    segment->memory_count = 0;
    for (int i = 0; i < facts->device_count && segment->memory_count < MGB_BENCH_DEVICES; i++) {
        const struct mgb_facts_device *device = &facts->devices[i];
        if (!device->used)
            continue;
        struct mgb_bench_memory *row = &segment->memory[segment->memory_count++];
        *row = (struct mgb_bench_memory){
            .planned = device->planned_bytes, .peak = -1, .capacity = device->capacity_bytes};
        snprintf(row->device, sizeof row->device, "%s", device->name);
    }
}

/* What the next segment is held against: one that was left in its warm-up gives way to the measured one before it. */
static bool is_kept(const struct mgb_snapshot *draft)
{
    return draft->now.figures.steps > 0 || !(draft->before.figures.steps > 0);
}

static void segment_begin(struct mgb_workbench *bench, const struct mgb_facts *facts, int number)
{
    struct mgb_snapshot *blank = mgb_snapshot_make();
    struct mgb_snapshot *draft = bench->draft;
    bool goes_on = number > 1 && draft->now.number == number - 1;
    if (goes_on && is_kept(draft))
        draft->before = draft->now;
    if (blank) {
        draft->now = blank->now;
        if (!goes_on)
            draft->before = blank->before;
        draft->answer = blank->answer;
        draft->phases = blank->phases;
        draft->verified = blank->verified;
        mgb_shared_drop(blank);
    }
    bench->segment = number;
    bench->stepped = false;
    bench->trace.tries = 0;
    bench->trace.done = false;
    bench->point_due = number > 0;
    bench->piece_steps = 1;
    bench->segment_at_ns = session_clock_ns();
    draft->now.number = number;
    if (number)
        mgb_live_begin_segment(bench->live, number, facts,
                               bench->request.warmup > 0 ? bench->request.warmup : 0);
    if (number <= 1)
        bench->previous.number = 0;
}

static void identity_read(struct mgb_workbench *bench)
{
    struct script_figures figures = {0};
    if (!bench->session || bench->inner.figures(bench->session, &figures) != MGB_OK)
        return;
    bench->figures = figures;
    bench->draft->now.run_id = figures.run_id;
    bench->draft->now.segment_id = figures.segment_id;
    bench->draft->now.figures = figures;
}

void mgb_bench_adopt(struct mgb_workbench *bench, struct mgb_facts *facts, int number)
{
    struct mgb_snapshot *draft = bench->draft;
    if (number != bench->segment || number <= 1)
        segment_begin(bench, facts, number);
    mgb_shared_drop(draft->facts);
    draft->facts = facts;
    draft->now.gpus = facts->gpus;
    draft->now.batch_per_gpu = facts->batch_per_gpu;
    draft->now.global_batch = facts->global_batch;
    draft->now.traffic_bytes = facts->traffic_bytes;
    snprintf(draft->now.title, sizeof draft->now.title, "%s", facts->title);
    devices_write(draft->devices, sizeof draft->devices, facts);
    memory_plan(&draft->now, facts);
    identity_read(bench);
    bench->memory_at_ns = 0;
    struct script_open_request request = bench->request;
    request.placement = bench->asked;
    mgb_presser_begin(bench->presser, facts, &request, number ? draft->now.segment_id : 0);
}

void mgb_bench_disown(struct mgb_workbench *bench)
{
    struct mgb_snapshot *draft = bench->draft;
    mgb_shared_drop(draft->facts);
    mgb_shared_drop(draft->pressed);
    draft->facts = NULL;
    draft->pressed = NULL;
    draft->devices[0] = '\0';
    segment_begin(bench, NULL, 0);
}

static void memory_row(struct mgb_workbench *bench, const char *device,
                       const struct mgb_memory_use *use)
{
    struct mgb_bench_segment *now = &bench->draft->now;
    for (int i = 0; i < now->memory_count; i++)
        if (strcmp(now->memory[i].device, device) == 0) {
            now->memory[i].held = use->held_bytes;
            now->memory[i].peak = bench->stepped ? use->measured_peak_bytes : -1;
        }
}

static void sensed_row(struct mgb_workbench *bench, const char *device, int index)
{
    struct mgb_bench_segment *now = &bench->draft->now;
    struct mgb_sensed sensed;
    if (!bench->inner.sensed || !bench->inner.sensed(bench->session, index, &sensed))
        return;
    for (int i = 0; i < now->memory_count; i++)
        if (strcmp(now->memory[i].device, device) == 0)
            mgb_bench_sensed_write(now->memory[i].sensed, sizeof now->memory[i].sensed, &sensed);
}

void mgb_bench_measure(struct mgb_workbench *bench, bool at_once)
{
    struct mgb_memory_use uses[MGB_BENCH_DEVICES];
    int64_t now = session_clock_ns();
    int count;
    if (!bench->session || (!at_once && now - bench->memory_at_ns < SECOND_NS))
        return;
    bench->memory_at_ns = now;
    struct mgb_run *run = bench->inner.engine(bench->session);
    if (mgb_run_memory(run, uses, MGB_BENCH_DEVICES, &count) != MGB_OK)
        return;
    for (int i = 0; i < count && i < MGB_BENCH_DEVICES; i++) {
        char name[MGB_DEVICE_NAME_MAX];
        mgb_device_format(name, mgb_run_topology(run)->devices[uses[i].device].name);
        memory_row(bench, name, &uses[i]);
        sensed_row(bench, name, uses[i].device);
    }
}

void mgb_bench_settle(struct mgb_workbench *bench)
{
    struct script_figures figures = {0};
    mgb_bench_measure(bench, true);
    if (!bench->session || !bench->stepped ||
        bench->inner.figures(bench->session, &figures) != MGB_OK)
        return;
    bench->figures = bench->draft->now.figures = figures;
    mgb_live_warmup(bench->live, figures.warmup_steps);
    bench->history_steps = -1; /* other steps may be those of the warm-up */
}

static void history_refresh(struct mgb_workbench *bench)
{
    struct mgb_snapshot *draft = bench->draft;
    draft->step = mgb_live_steps(bench->live);
    if (draft->step == bench->history_steps)
        return;
    bench->history_steps = draft->step;
    mgb_shared_drop(draft->history);
    mgb_shared_drop(draft->traced);
    draft->history = mgb_live_history(bench->live);
    draft->traced = mgb_live_traced(bench->live);
    mgb_live_phases(bench->live, &draft->phases);
}

/* Once a second; told to the log once a run. On CPU devices any number of processors may be this program's own load. */
static void busy_look(struct mgb_workbench *bench)
{
    const struct mgb_snapshot *draft = bench->draft;
    int64_t now = session_clock_ns();
    double load;
    int cpus = (int)sysconf(_SC_NPROCESSORS_ONLN);
    bool host = draft->facts && strcmp(draft->facts->backend, "host") == 0;
    if (draft->facts && draft->facts->simulated) { /* what happens here does not touch it */
        bench->crowd.text[0] = '\0';
        return;
    }
    if (now - bench->crowd.at_ns < SECOND_NS)
        return;
    bench->crowd.at_ns = now;
    if (getloadavg(&load, 1) != 1 ||
        !mgb_answer_busy(bench->crowd.text, sizeof bench->crowd.text, load, host ? cpus : 1, cpus))
        return;
    if (bench->crowd.run != draft->now.run_id || !draft->now.run_id)
        mgb_bench_say(bench, MGB_LINE_WARNING, "%s: others are computing, times will scatter",
                      bench->crowd.text);
    bench->crowd.run = draft->now.run_id;
}

static void answer_refresh(struct mgb_workbench *bench)
{
    struct mgb_snapshot *draft = bench->draft;
    if (bench->session && draft->now.segment_id) {
        (bench->state == MGB_BENCH_RUNNING ? mgb_judge_desk_ask : mgb_judge_desk_ask_all)(
            bench->desk, draft->now.run_id, draft->now.segment_id, draft->before.segment_id,
            draft->now.figures.steps);
        (void)mgb_judge_desk_look(bench->desk, &draft->answer, draft->now.segment_id,
                                  draft->before.segment_id);
        mgb_answer_doubt(&draft->answer, &draft->now);
        if (draft->answer.there && *draft->answer.verdict) {
            busy_look(bench);
            mgb_answer_blame(&draft->answer, bench->crowd.text);
        }
    }
    bool fresh = false;
    const struct mgb_pressed *pressed =
        draft->facts ? mgb_presser_look(bench->presser, &fresh) : NULL;
    if (pressed) {
        mgb_shared_drop(draft->pressed);
        draft->pressed = pressed;
    }
}

static void draft_refresh(struct mgb_workbench *bench)
{
    struct mgb_snapshot *draft = bench->draft;
    draft->version++;
    draft->state = bench->state;
    history_refresh(bench);
    if (bench->session && bench->stepped) {
        draft->now.figures = bench->figures;
        draft->now.run_id = bench->figures.run_id;
        draft->now.segment_id = bench->figures.segment_id;
    }
    answer_refresh(bench);
    if (bench->state == MGB_BENCH_RUNNING)
        mgb_observer_look(&bench->observer, &draft->observer_share, session_clock_ns());
    else
        mgb_observer_rest(&bench->observer);
    draft->recorded = bench->session && draft->now.run_id != 0 && mgb_hub_recorded(bench->hub);
}

void mgb_bench_publish(struct mgb_workbench *bench)
{
    char message[256];
    draft_refresh(bench);
    bool complete = mgb_hub_log_complete(bench->hub, message, sizeof message);
    snprintf(bench->draft->log_message, sizeof bench->draft->log_message, "%s",
             mgb_hub_log_stopped(bench->hub) ? message : "");
    struct mgb_snapshot *next = mgb_snapshot_copy(bench->draft);
    const struct mgb_snapshot *old = NULL;
    pthread_mutex_lock(&bench->lock); /* who looks waits for it: nothing that takes long */
    bench->draft->undo_count = bench->undo_count;
    if (next) {
        next->undo_count = bench->undo_count;
        old = bench->snapshot;
        bench->snapshot = next;
    }
    if (bench->settled) {
        bench->doing = bench->busy = 0;
        bench->starting = false;
    }
    bench->settled = false;
    bench->log_incomplete = !complete;
    memcpy(bench->log_message, message, sizeof message);
    pthread_mutex_unlock(&bench->lock);
    mgb_shared_drop(old);
    bench->published_at_ns = session_clock_ns();
    if (bench->options.changed)
        bench->options.changed(bench->options.context);
}
