/* How fast the simulator is: each line a case, its figures as name=value, what the issue asks for beside them.
 *     bench_sim [case]
 * Cases: events, replay, step, sweep, classes, jitter. Plans are of scripts/models/resnet.lua (depth 50) and
 * inception_v3.lua; machines are made here: one like a server of four P100 whose pairs share an uplink, and one of as many
 * GPUs as wanted, each with a wire of its own. Jitter means that every step is drawn and played anew. Times are of the process, which other programs
 * disturb less. */
#include "engine/base/memory.h"
#include "engine/sim/program.h"
#include "tests/app/script/script_model.h"
#include "tests/support/check.h"
#include <mgb/plan.h>
#include <mgb/sim.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int64_t cpu_ns(void)
{
    struct timespec at;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &at);
    return (int64_t)at.tv_sec * 1000000000 + at.tv_nsec;
}

static struct mgb_machine *machine_make(int gpus, int switches)
{
    struct mgb_machine *m = mgb_machine_block(sizeof *m);
    assert_non_null(m);
    snprintf(m->name, sizeof m->name, "bench");
    m->source = mgb_copy_string("made for a bench");
    m->device_count = gpus + 1;
    m->switch_count = switches;
    m->devices = mgb_machine_block((size_t)m->device_count * sizeof *m->devices);
    m->switches = mgb_machine_block(((size_t)switches + 1) * sizeof *m->switches);
    m->wires = mgb_machine_block((size_t)(gpus + switches) * sizeof *m->wires);
    assert_true(m->source && m->devices && m->wires && m->switches);
    for (int d = 0; d <= gpus; d++)
        m->devices[d] = (struct mgb_machine_device){
            .device = {.name = {.kind = d ? MGB_DEVICE_GPU : MGB_DEVICE_CPU,
                                .index = d ? d - 1 : 0},
                       .class = MGB_CLASS_SIMULATED,
                       .physical = d},
            .tflops = {d ? 9.3 : 1},
            .memory_gbps = d ? 730 : 60,
            .launch_us = d ? 4 : 0,
            .board = -1};
    for (int s = 0; s < switches; s++) {
        snprintf(m->switches[s], sizeof m->switches[s], "sw%d", s);
        m->wires[m->wire_count++] =
            (struct mgb_machine_wire){.a = 0, .b = gpus + 1 + s, .gbps = 12, .kind = "pcie"};
    }
    for (int d = 1; d <= gpus; d++)
        m->wires[m->wire_count++] =
            (struct mgb_machine_wire){.a = switches ? gpus + 1 + (d - 1) * switches / gpus : 0,
                                      .b = d,
                                      .gbps = 12,
                                      .latency_us = 2,
                                      .kind = "pcie"};
    m->host.cores = 32;
    m->collective.start_us = 10;
    m->collective.hop_us = 3;
    return m;
}

struct world {
    const struct mgb_graph *graph;
    struct mgb_machine *machine;
    struct mgb_sim *sim;
    struct mgb_effective placement;
    struct mgb_plan *plan;
    int64_t plan_ns;
};

static void world_plan(struct world *w, const char *options)
{
    struct mgb_placement asked;
    char text[256], *rest;
    int64_t start = cpu_ns();
    snprintf(text, sizeof text, "%s", options);
    mgb_placement_init(&asked);
    for (char *word = strtok_r(text, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        char *value = strchr(word, '=');
        *value++ = '\0';
        assert_ok(mgb_placement_set(&asked, word, value));
    }
    const struct mgb_virtual *face = mgb_sim_virtual(w->sim);
    assert_ok(mgb_placement_resolve(&w->placement, &asked, 0, w->graph, face->topology, 32));
    const struct mgb_plan_request request = {.kind = MGB_PLAN_TRAIN,
                                             .graph = w->graph,
                                             .topology = face->topology,
                                             .placement = &w->placement,
                                             .facts = face->facts,
                                             .optimizer = mgb_optimizer_default(MGB_SGD),
                                             .rows = w->placement.global_batch};
    assert_ok(mgb_plan_make(&w->plan, &request));
    w->plan_ns = cpu_ns() - start;
}

static void world_open(struct world *w, const struct mgb_graph *graph, struct mgb_machine *machine,
                       enum mgb_sim_engine engine)
{
    *w = (struct world){.graph = graph, .machine = machine};
    if (!machine->ends)
        assert_ok(mgb_machine_check(machine));
    assert_ok(
        mgb_sim_open(&w->sim, machine, &(struct mgb_sim_options){.engine = engine, .seed = 1}));
}

static int64_t world_play(struct world *w, int64_t step, int64_t *wall_ns)
{
    const struct mgb_virtual *face = mgb_sim_virtual(w->sim);
    struct mgb_virtual_step out;
    int64_t start = cpu_ns();
    assert_ok(face->play(
        face->context, &out,
        &(struct mgb_virtual_request){.plan = w->plan, .placement = &w->placement, .step = step}));
    *wall_ns = out.wall_ns;
    return cpu_ns() - start;
}

static void world_unplan(struct world *w)
{
    const struct mgb_virtual *face = mgb_sim_virtual(w->sim);
    face->forget(face->context, w->plan);
    mgb_plan_free(w->plan);
    mgb_effective_done(&w->placement);
}

static void world_close(struct world *w)
{
    mgb_sim_close(w->sim);
    mgb_machine_free(w->machine);
}

/* The best of some steps, each drawn and played anew; the first one compiles. */
static void steps_time(struct world *w, const char *name, const char *goal, int steps)
{
    int64_t wall, first = world_play(w, 0, &wall), best = INT64_MAX;
    struct mgb_sim_effort before = mgb_sim_effort_get(w->sim), after = before;
    for (int n = 1; n <= steps; n++) {
        int64_t ns = world_play(w, n, &wall);
        best = ns < best ? ns : best;
    }
    after = mgb_sim_effort_get(w->sim);
    double tasks = (double)(after.tasks - before.tasks) / steps;
    double events = (double)(after.events - before.events) / steps;
    printf("%s: plan_ms=%.2f compile_and_play_ms=%.3f play_ms=%.3f tasks=%.0f M_tasks_per_s=%.1f "
           "M_events_per_s=%.1f step_ms=%.3f (goal: %s)\n",
           name, (double)w->plan_ns * 1e-6, (double)first * 1e-6, (double)best * 1e-6, tasks,
           tasks * 1e3 / (double)best, events * 1e3 / (double)best, (double)wall * 1e-6, goal);
}

static void case_run(const struct mgb_graph *graph, const char *name, const char *goal,
                     struct mgb_machine *machine, enum mgb_sim_engine engine, const char *options)
{
    struct world w;
    machine->step_sigma = 0.01;
    world_open(&w, graph, machine, engine);
    world_plan(&w, options);
    steps_time(&w, name, goal, 20);
    world_unplan(&w);
    world_close(&w);
}

static void events_use(void *context, const struct mgb_graph *graph)
{
    (void)context;
    case_run(graph, "events, 8 GPUs, weights on /cpu:0", "10 M events/s", machine_make(8, 4),
             MGB_SIM_EVENTS, "strategy=gradients gpus=8 batch=32 weights_at=/cpu:0");
    case_run(graph, "events, 8 GPUs, all-reduce", "10 M events/s", machine_make(8, 4),
             MGB_SIM_EVENTS, "strategy=allreduce gpus=8 batch=32");
}

/* The sweep itself, without what a step shows: times drawn, phases of devices. */
static void replay_time(const struct mgb_graph *graph)
{
    struct world w;
    struct mgb_sim_program *program;
    int64_t best = INT64_MAX;
    world_open(&w, graph, machine_make(8, 0), MGB_SIM_REPLAY);
    world_plan(&w, "strategy=allreduce gpus=8 batch=32");
    const struct mgb_virtual_request request = {.plan = w.plan, .placement = &w.placement};
    assert_ok(mgb_sim_compile(&program, w.sim, &request));
    for (int n = 0; n < 50; n++) {
        int64_t start = cpu_ns();
        for (int k = 0; k < 20; k++)
            mgb_sim_replay(program, program->ns);
        int64_t ns = (cpu_ns() - start) / 20;
        best = ns < best ? ns : best;
    }
    printf("replay, 8 GPUs, all-reduce, the sweep alone: sweep_us=%.2f tasks=%d M_tasks_per_s=%.0f "
           "(goal: 200 M operators/s)\n",
           (double)best * 1e-3, program->count, program->count * 1e3 / (double)best);
    mgb_sim_program_free(program);
    world_unplan(&w);
    world_close(&w);
}

static void replay_use(void *context, const struct mgb_graph *graph)
{
    (void)context;
    replay_time(graph);
    case_run(graph, "replay, 8 GPUs, all-reduce", "200 M operators/s", machine_make(8, 0),
             MGB_SIM_REPLAY, "strategy=allreduce gpus=8 batch=32");
}

static void step_use(void *context, const struct mgb_graph *graph)
{
    (void)context;
    case_run(graph, "step, inception_v3 on 4 GPUs that share uplinks, weights on /cpu:0", "10 ms",
             machine_make(4, 2), MGB_SIM_AUTO,
             "strategy=gradients gpus=4 batch=32 weights_at=/cpu:0");
}

/* 5 homes and strategies x 4 sizes x 25 batches: each resolved, planned, compiled and played. */
static void sweep_use(void *context, const struct mgb_graph *graph)
{
    static const char *const places[] = {
        "strategy=outputs weights_at=/cpu:0", "strategy=outputs weights_at=/gpu:0",
        "strategy=gradients weights_at=/cpu:0", "strategy=gradients weights_at=/gpu:0",
        "strategy=allreduce"};
    (void)context;
    struct world w;
    int64_t start = cpu_ns(), plan_ns = 0, play_ns = 0, wall;
    int points = 0;
    world_open(&w, graph, machine_make(4, 2), MGB_SIM_AUTO);
    for (int p = 0; p < 5; p++)
        for (int gpus = 1; gpus <= 4; gpus++)
            for (int batch = 8; batch <= 200; batch += 8, points++) {
                char options[128];
                snprintf(options, sizeof options, "%s gpus=%d batch=%d", places[p], gpus, batch);
                world_plan(&w, options);
                plan_ns += w.plan_ns;
                play_ns += world_play(&w, 0, &wall);
                world_unplan(&w);
            }
    double ms = (double)(cpu_ns() - start) * 1e-6;
    printf("sweep of inception_v3: points=%d total_ms=%.0f plan_ms=%.2f compile_and_play_ms=%.2f "
           "(goal: 500 points in 1000 ms)\n",
           points, ms, (double)plan_ns * 1e-6 / points, (double)play_ns * 1e-6 / points);
    world_close(&w);
}

static void many_time(const struct mgb_graph *graph, int gpus, double sigma, const char *goal)
{
    struct world w;
    char options[64];
    int64_t wall, start = cpu_ns();
    struct mgb_machine *machine = machine_make(gpus, 0);
    machine->step_sigma = machine->device_sigma = sigma;
    world_open(&w, graph, machine, MGB_SIM_AUTO);
    int64_t open_ns = cpu_ns() - start;
    snprintf(options, sizeof options, "strategy=allreduce gpus=%d batch=32", gpus);
    world_plan(&w, options);
    int64_t first_ns = world_play(&w, 0, &wall);
    int64_t next_ns = sigma > 0 ? world_play(&w, 1, &wall) : first_ns;
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    struct mgb_sim_effort effort = mgb_sim_effort_get(w.sim);
    printf("resnet50 on %d GPUs, sigma %.2f: machine_ms=%.1f plan_ms=%.1f compile_and_play_ms=%.1f "
           "play_ms=%.1f tasks=%lld engine=%s step_ms=%.3f peak_MiB=%ld (goal: %s)\n",
           gpus, sigma, (double)open_ns * 1e-6, (double)w.plan_ns * 1e-6, (double)first_ns * 1e-6,
           (double)next_ns * 1e-6, (long long)(effort.tasks / (sigma > 0 ? 2 : 1)),
           effort.engine == MGB_SIM_CLASSES ? "classes" : "other", (double)wall * 1e-6,
           usage.ru_maxrss / 1024, goal);
    world_unplan(&w);
    world_close(&w);
}

static void classes_use(void *context, const struct mgb_graph *graph)
{
    (void)context;
    many_time(graph, 10000, 0, "100 ms");
}

static void jitter_use(void *context, const struct mgb_graph *graph)
{
    (void)context;
    many_time(graph, 100000, 0.02, "500 ms, 1024 MiB");
}

static const struct {
    const char *name, *model;
    void (*use)(void *context, const struct mgb_graph *graph);
} cases[] = {{"events", "'resnet', { depth = 50 }", events_use},
             {"replay", "'resnet', { depth = 50 }", replay_use},
             {"step", "'inception_v3'", step_use},
             {"sweep", "'inception_v3'", sweep_use},
             {"classes", "'resnet', { depth = 50 }", classes_use},
             {"jitter", "'resnet', { depth = 50 }", jitter_use}};

/* Each in a process of its own, so that peak memory is its own. */
static void case_fork(int i)
{
    fflush(stdout);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        script_model_use(cases[i].model, 1, cases[i].use, NULL);
        fflush(stdout);
        _exit(0);
    }
    int status;
    assert_true(waitpid(child, &status, 0) == child && status == 0);
}

int main(int argc, char **argv)
{
    int ran = 0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (argc < 2 || strcmp(argv[1], cases[i].name) == 0) {
            case_fork((int)i);
            ran++;
        }
    if (ran == 0)
        fprintf(stderr, "usage: %s [events|replay|step|sweep|classes|jitter]\n", argv[0]);
    return ran > 0 ? 0 : 2;
}
