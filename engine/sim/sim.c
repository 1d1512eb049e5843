/* The simulator as a run sees it: opened on a machine, it plays plans, keeping each compiled until it is forgotten, and its
 * times while nothing is drawn by chance. */
#include "engine/sim/classes.h"

#include "engine/base/clock.h"
#include "engine/plan/build.h"
#include <string.h>

static bool same_factors(const struct mgb_machine_device *a, const struct mgb_machine_device *b)
{
    if (a->factor_count != b->factor_count)
        return false;
    for (int i = 0; i < a->factor_count && a->factors != b->factors; i++)
        if (strcmp(a->factors[i].kind, b->factors[i].kind) != 0 ||
            a->factors[i].speed != b->factors[i].speed)
            return false;
    return true;
}

static bool same_curve(const struct mgb_curve *a, const struct mgb_curve *b)
{
    size_t bytes = (size_t)a->count * sizeof *a->at;
    return a->count == b->count && memcmp(a->at, b->at, bytes) == 0 &&
           memcmp(a->value, b->value, bytes) == 0;
}

static bool same_profile(const struct mgb_machine_device *a, const struct mgb_machine_device *b)
{
    return memcmp(a->tflops, b->tflops, sizeof a->tflops) == 0 &&
           a->memory_gbps == b->memory_gbps && a->launch_us == b->launch_us &&
           a->speed == b->speed && same_curve(&a->compute, &b->compute) &&
           same_curve(&a->memory, &b->memory) && same_factors(a, b);
}

#define PROFILES_MOST 16 /* looked through; what is like none of them is one of its own */

/* Devices mostly are like the one before them. */
static enum mgb_status profiles_make(struct mgb_sim *sim)
{
    const struct mgb_machine *machine = sim->machine;
    int found[PROFILES_MOST], count = 0;
    sim->profile = mgb_alloc((size_t)machine->device_count * sizeof *sim->profile);
    if (!sim->profile)
        return mgb_fail(MGB_NO_MEMORY, "opening a simulator: the host's memory is exhausted");
    for (int d = 1; d < machine->device_count; d++) { /* /cpu:0, device 0, is like no other */
        int i = count - 1;
        while (i >= 0 && !same_profile(&machine->devices[found[i]], &machine->devices[d]))
            i--;
        sim->profile[d] = i >= 0 ? found[i] : d;
        if (i < 0 && count < PROFILES_MOST)
            found[count++] = d;
    }
    return MGB_OK;
}

static struct mgb_sim_program *program_find(const struct mgb_sim *sim,
                                            const struct mgb_virtual_request *request)
{
    struct mgb_sim_program *program = sim->programs;
    while (program && (program->plan != request->plan ||
                       program->how.peer != request->placement->peer_access ||
                       program->how.pinned != request->placement->pinned ||
                       program->graph != request->placement->graph))
        program = program->next;
    return program;
}

static enum mgb_status devices_check(const struct mgb_sim *sim,
                                     const struct mgb_virtual_request *request)
{
    if (request->plan->topology->device_count <= sim->machine->device_count)
        return MGB_OK;
    return mgb_fail(MGB_INVALID, "a plan for %d devices on machine '%s', which has %d",
                    request->plan->topology->device_count, sim->machine->name,
                    sim->machine->device_count);
}

static enum mgb_status program_get(struct mgb_sim_program **out, struct mgb_sim *sim,
                                   const struct mgb_virtual_request *request)
{
    *out = program_find(sim, request);
    if (*out)
        return MGB_OK;
    MGB_TRY(devices_check(sim, request));
    MGB_TRY(mgb_sim_compile(out, sim, request));
    (*out)->next = sim->programs;
    sim->programs = *out;
    return MGB_OK;
}

static enum mgb_status engine_choose(enum mgb_sim_engine *out, const struct mgb_sim *sim,
                                     const struct mgb_sim_program *program)
{
    switch (sim->options.engine) {
    case MGB_SIM_AUTO:
        *out = program->shared ? MGB_SIM_EVENTS : MGB_SIM_REPLAY;
        return MGB_OK;
    case MGB_SIM_EVENTS:
        *out = MGB_SIM_EVENTS;
        return MGB_OK;
    case MGB_SIM_REPLAY:
        *out = MGB_SIM_REPLAY;
        if (!program->shared)
            return MGB_OK;
        return mgb_fail(MGB_UNSUPPORTED,
                        "replay on machine '%s': copies or cores of this plan are shared; use the "
                        "engine of events",
                        sim->machine->name);
    case MGB_SIM_CLASSES: /* plays no flat plan */
        break;
    }
    return mgb_fail(MGB_STATE, "the engine of tower classes was given a flat plan");
}

/* Times of compute tasks as drawn for this step. */
static const int64_t *times_draw(struct mgb_sim_program *program, const struct mgb_sim *sim,
                                 int64_t step)
{
    int device = -1;
    double factor = 1;
    if (!program->scaled)
        return program->ns;
    for (int i = 0; i < program->count; i++) {
        const struct mgb_sim_queue *queue = &program->queues[program->tasks[i].queue];
        program->scaled[i] = program->ns[i];
        if (queue->from >= 0)
            continue;
        if (queue->device != device)
            factor = mgb_sim_draw(sim->machine->step_sigma, sim->options.seed,
                                  (uint64_t)queue->device, (uint64_t)step);
        device = queue->device;
        program->scaled[i] = mgb_sim_round((double)program->ns[i] * factor);
    }
    return program->scaled;
}

static enum mgb_status program_play(struct mgb_sim_program *program, struct mgb_sim *sim,
                                    int64_t step)
{
    MGB_TRY(engine_choose(&program->engine, sim, program));
    const int64_t *ns = times_draw(program, sim, step);
    if (program->engine == MGB_SIM_EVENTS)
        MGB_TRY(mgb_sim_events_play(program, ns));
    else
        mgb_sim_replay(program, ns);
    program->wall_ns = program->step_ns;
    for (int i = 0; i < program->count; i++)
        program->wall_ns =
            program->ends[i] > program->wall_ns ? program->ends[i] : program->wall_ns;
    mgb_sim_times_fill(program);
    program->played = !program->scaled; /* what is drawn anew is played anew */
    sim->effort.tasks += program->count;
    sim->effort.events += program->events;
    sim->effort.solves += program->solves;
    sim->effort.engine = program->engine;
    return MGB_OK;
}

static struct mgb_sim_classes *classes_find(const struct mgb_sim *sim,
                                            const struct mgb_virtual_request *request)
{
    struct mgb_sim_classes *k = sim->classes;
    while (k && (k->plan != request->plan || k->ways.how.peer != request->placement->peer_access ||
                 k->ways.how.pinned != request->placement->pinned ||
                 k->ways.graph != request->placement->graph))
        k = k->next;
    return k;
}

#define FLAT_TOWERS 64 /* up to so many each task of each tower is played */

/* NULL: the plan is played in its flat form. */
static enum mgb_status classes_get(struct mgb_sim_classes **out, struct mgb_sim *sim,
                                   const struct mgb_virtual_request *request)
{
    bool asked = sim->options.engine == MGB_SIM_CLASSES || sim->options.backups > 0;
    *out = classes_find(sim, request);
    if (*out || (!asked && (sim->options.engine != MGB_SIM_AUTO ||
                            request->plan->tower_count <= FLAT_TOWERS)))
        return MGB_OK;
    if (program_find(sim, request))
        return MGB_OK;
    MGB_TRY(devices_check(sim, request));
    enum mgb_status status = mgb_sim_classes_make(out, sim, request);
    if (status == MGB_UNSUPPORTED && !asked)
        return MGB_OK;
    MGB_TRY(status);
    (*out)->next = sim->classes;
    sim->classes = *out;
    return MGB_OK;
}

static enum mgb_status classes_play(struct mgb_virtual_step *out, struct mgb_sim_classes *k,
                                    struct mgb_sim *sim, const struct mgb_virtual_request *request)
{
    if (!k->played) {
        MGB_TRY(mgb_sim_classes_play(k, sim, request->step));
        MGB_TRY(mgb_sim_classes_times(k, sim));
        k->played = !k->drawn;
        sim->effort.tasks += k->flat_count;
        sim->effort.events += k->flat_count;
        sim->effort.engine = MGB_SIM_CLASSES;
    }
    if (request->trace)
        MGB_TRY(mgb_sim_classes_trace(k, sim));
    *out = (struct mgb_virtual_step){.wall_ns = k->wall_ns,
                                     .devices = k->times,
                                     .wasted_share = k->wasted,
                                     .task_count = request->trace ? k->trace_count : 0,
                                     .tasks = request->trace ? k->trace : NULL};
    return MGB_OK;
}

static enum mgb_status flat_play(struct mgb_virtual_step *out, struct mgb_sim *sim,
                                 const struct mgb_virtual_request *request)
{
    struct mgb_sim_program *program;
    MGB_TRY(program_get(&program, sim, request));
    if (!program->played)
        MGB_TRY(program_play(program, sim, request->step));
    if (request->trace)
        MGB_TRY(mgb_sim_trace_fill(program));
    *out = (struct mgb_virtual_step){.wall_ns = program->wall_ns,
                                     .devices = program->times,
                                     .task_count = request->trace ? program->count : 0,
                                     .tasks = request->trace ? program->trace : NULL};
    return MGB_OK;
}

static enum mgb_status sim_play(void *context, struct mgb_virtual_step *out,
                                const struct mgb_virtual_request *request)
{
    struct mgb_sim *sim = context;
    struct mgb_sim_classes *classes;
    int64_t start = mgb_clock_ns();
    MGB_TRY(classes_get(&classes, sim, request));
    if (classes)
        MGB_TRY(classes_play(out, classes, sim, request));
    else
        MGB_TRY(flat_play(out, sim, request));
    sim->effort.virtual_ns += out->wall_ns;
    sim->effort.real_ns += mgb_clock_ns() - start;
    return MGB_OK;
}

static void sim_forget(void *context, const struct mgb_plan *plan)
{
    struct mgb_sim *sim = context;
    for (struct mgb_sim_program **at = &sim->programs; *at;) {
        struct mgb_sim_program *program = *at;
        if (plan && program->plan != plan) {
            at = &program->next;
            continue;
        }
        *at = program->next;
        mgb_sim_program_free(program);
    }
    for (struct mgb_sim_classes **at = &sim->classes; *at;) {
        struct mgb_sim_classes *classes = *at;
        if (plan && classes->plan != plan) {
            at = &classes->next;
            continue;
        }
        *at = classes->next;
        mgb_sim_classes_free(classes);
    }
}

void mgb_sim_forget_all(struct mgb_sim *sim)
{
    sim_forget(sim, NULL);
}

static enum mgb_status sim_fill(struct mgb_sim *sim)
{
    const struct mgb_machine *machine = sim->machine;
    MGB_TRY(profiles_make(sim));
    MGB_TRY(mgb_sim_slowness_make(sim));
    MGB_TRY(mgb_machine_topology(&sim->topology, machine));
    int cores = machine->host.cores > 0 ? machine->host.cores : machine->devices[0].device.cores;
    sim->facts = mgb_plain_facts();
    sim->face = (struct mgb_virtual){.context = sim,
                                     .name = "sim",
                                     .topology = &sim->topology,
                                     .facts = &sim->facts,
                                     .cores = cores > 0 ? cores : 64,
                                     .play = sim_play,
                                     .forget = sim_forget};
    return MGB_OK;
}

enum mgb_status mgb_sim_open(struct mgb_sim **out, const struct mgb_machine *machine,
                             const struct mgb_sim_options *options)
{
    if (options->backups < 0)
        return mgb_fail(MGB_INVALID, "backups: a number of replicas expected, got %d",
                        options->backups);
    if (options->backups > 0 &&
        (options->engine == MGB_SIM_REPLAY || options->engine == MGB_SIM_EVENTS))
        return mgb_fail(MGB_UNSUPPORTED,
                        "backups = %d: played by the engine of tower classes alone",
                        options->backups);
    struct mgb_sim *sim = mgb_alloc(sizeof *sim);
    if (!sim)
        return mgb_fail(MGB_NO_MEMORY, "opening a simulator: the host's memory is exhausted");
    sim->machine = machine;
    sim->options = *options;
    enum mgb_status status = sim_fill(sim);
    if (status == MGB_OK)
        *out = sim;
    else
        mgb_sim_close(sim);
    return status;
}

void mgb_sim_close(struct mgb_sim *sim)
{
    if (!sim)
        return;
    mgb_sim_forget_all(sim);
    mgb_vector_done(&sim->learned);
    mgb_topology_done(&sim->topology);
    mgb_release(sim->profile);
    mgb_release(sim->slowness);
    mgb_release(sim);
}

const struct mgb_virtual *mgb_sim_virtual(struct mgb_sim *sim)
{
    return &sim->face;
}

struct mgb_sim_effort mgb_sim_effort_get(const struct mgb_sim *sim)
{
    return sim->effort;
}
