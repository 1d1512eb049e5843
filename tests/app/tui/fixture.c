/* The bench of the fixture: facts, figures of two segments, history, phases. */
#include "tests/app/tui/fixture.h"
#include "tests/app/tui/fixture_parts.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

static const int64_t mib = 1 << 20, gib = 1 << 30;

/* Who holds the facts may do so for longer than the snapshot: all of it goes with the last of the two. */
static void facts_free(void *part)
{
    free((char *)part - offsetof(struct fixture, facts));
}

static void snapshot_free(void *part)
{
    struct fixture *fixture = part;
    mgb_shared_drop(&fixture->facts);
}

static void part_free(void *part)
{
    (void)part; /* it goes with the snapshot */
}

void fixture_part_init(struct mgb_shared *shared)
{
    atomic_init(&shared->holders, 1);
    shared->free = part_free;
}

static void devices_fill(struct fixture *f, int gpus)
{
    f->facts.devices = f->devices;
    f->facts.device_count = gpus + 1;
    for (int i = 0; i <= gpus; i++) {
        struct mgb_facts_device *d = &f->devices[i];
        if (i == 0)
            snprintf(d->name, sizeof d->name, "/cpu:0");
        else
            snprintf(d->name, sizeof d->name, "/gpu:%d", i - 1);
        snprintf(d->label, sizeof d->label, "%s",
                 i ? "Tesla P100-SXM2-16GB" : "Intel Xeon E5-2698 v4, 40 cores");
        if (i) {
            snprintf(d->uuid, sizeof d->uuid, "GPU-1c9b3f5e-0000-4a6b-8d2e-%012d", i - 1);
            snprintf(d->pci, sizeof d->pci, "0000:%02x:00.0", 6 + i);
        }
        d->class = i ? MGB_CLASS_CUDA : MGB_CLASS_CPU;
        d->used = true;
        d->tower_rows = i ? 32 : 0;
        d->capacity_bytes = i ? 16 * gib : 0;
        d->planned[MGB_MEMORY_WEIGHTS] = i ? 0 : 91 * mib;
        d->planned[MGB_MEMORY_REPLICAS] = i ? 91 * mib : 0;
        d->planned[MGB_MEMORY_GRADIENTS] = i ? 91 * mib : 0;
        d->planned[MGB_MEMORY_ACTIVATIONS] = i ? 2600 * mib : 0;
        d->planned[MGB_MEMORY_WORKSPACE] = i ? 150 * mib : 0;
        d->planned[MGB_MEMORY_MERGE] = i ? 0 : 124 * mib;
        d->planned[MGB_MEMORY_INPUT] = i ? 34 * mib : 0;
        d->planned_bytes = i == 0 ? 215 * mib : i == 1 ? 3021 * mib : 2970 * mib;
    }
}

static void links_fill(struct fixture *f, int gpus)
{
    int n = 0;
    for (int i = 1; i <= gpus && n + 2 <= FIXTURE_LINKS; i++) {
        f->links[n++] = (struct mgb_facts_link){
            .from = 0, .to = i, .bytes = 100 * mib, .gbps = 11.7, .latency_us = 9.5, .there = true};
        f->links[n++] = (struct mgb_facts_link){
            .from = i, .to = 0, .bytes = 91 * mib, .gbps = 12.1, .latency_us = 9.1, .there = true};
    }
    if (gpus > 1 && n + 1 <= FIXTURE_LINKS)
        f->links[n++] = (struct mgb_facts_link){
            .from = 1, .to = 2, .gbps = 18.2, .latency_us = 4, .there = true, .peer = true};
    f->facts.links = f->links;
    f->facts.link_count = n;
    f->facts.traffic_bytes = 763000000 * (int64_t)gpus / 4;
}

static void variables_fill(struct fixture *f)
{
    static const char *const layers[] = {"conv", "batch_norm", "mixed_5b/branch_1/conv", "logits"};
    for (int i = 0; i < FIXTURE_VARIABLES; i++) {
        struct mgb_facts_variable *v = &f->variables[i];
        snprintf(f->names[i][0], sizeof f->names[i][0], "%s_%d/%s", layers[i % 4], i / 2,
                 i % 2 ? "bias" : "kernel");
        snprintf(f->names[i][1], sizeof f->names[i][1], i % 2 ? "%d" : "3x3x%dx64", 16 + i);
        *v = (struct mgb_facts_variable){.name = f->names[i][0],
                                         .shape = f->names[i][1],
                                         .bytes = i % 2 ? 4 * (16 + i) : 4 * 9 * 64 * (16 + i),
                                         .role = "master"};
    }
    struct mgb_facts_variable *last = &f->variables[FIXTURE_VARIABLES - 1];
    last[-1].role = "duplicate", last[-1].device = 1;
    last[-1].why = "a second copy of conv_0/kernel on one device";
    last[0].role = "leftover", last[0].why = "left behind by a clone; never used again";
    f->facts.variables = f->variables;
    f->facts.variable_count = FIXTURE_VARIABLES;
    f->facts.distinct_variables = 378;
    f->facts.variable_bytes = 91 * mib;
    f->facts.duplicate_count = 1, f->facts.duplicate_bytes = last[-1].bytes;
    f->facts.leftover_count = 1, f->facts.leftover_bytes = last[0].bytes;
}

static void options_fill(struct mgb_facts *facts, int gpus)
{
    static const char *const effective[MGB_OPTION_COUNT][2] = {
        [MGB_OPTION_BATCH] = {"32", "32"},
        [MGB_OPTION_STRATEGY] = {"", "outputs"},
        [MGB_OPTION_WEIGHTS_AT] = {"/cpu:0", "/cpu:0"},
        [MGB_OPTION_MERGE_AT] = {"", "/cpu:0"},
        [MGB_OPTION_JOIN_AT] = {"", "/cpu:0"},
        [MGB_OPTION_LOSS_AT] = {"", "/cpu:0"},
        [MGB_OPTION_SUM_AT] = {"", "/cpu:0"},
        [MGB_OPTION_UPDATE_AT] = {"", "/cpu:0"},
        [MGB_OPTION_RELOCATION] = {"", "move"},
        [MGB_OPTION_WIRE_TYPE] = {"", "f32"},
        [MGB_OPTION_STAGED] = {"", "false"},
        [MGB_OPTION_STALE] = {"", "false"},
        [MGB_OPTION_PEER_ACCESS] = {"", "off"},
        [MGB_OPTION_PINNED] = {"", "true"},
        [MGB_OPTION_BN] = {"", "tower"},
        [MGB_OPTION_PRECISION] = {"", "f32"},
        [MGB_OPTION_RECOMPUTE] = {"", "none"},
        [MGB_OPTION_GRAPH] = {"", "false"},
        [MGB_OPTION_LOGICAL] = {"", "false"},
        [MGB_OPTION_THREADS] = {"", "10"},
        [MGB_OPTION_HOSTS] = {"", "1"}};
    for (int i = 0; i < MGB_OPTION_COUNT; i++) {
        const char *const *pair = effective[i];
        snprintf(facts->options[i].asked, sizeof facts->options[i].asked, "%s",
                 pair[0] ? pair[0] : "");
        snprintf(facts->options[i].effective, sizeof facts->options[i].effective, "%s",
                 pair[1] ? pair[1] : "");
    }
    snprintf(facts->options[MGB_OPTION_GPUS].asked, 96, "%d", gpus);
    snprintf(facts->options[MGB_OPTION_GPUS].effective, 96, "%d", gpus);
    snprintf(facts->options[MGB_OPTION_GLOBAL_BATCH].effective, 96, "%d", 32 * gpus);
}

static void facts_fill(struct fixture *f, int gpus)
{
    struct mgb_facts *facts = &f->facts;
    fixture_part_init(&facts->shared);
    facts->shared.free = facts_free;
    snprintf(facts->model, sizeof facts->model, "inception_v3");
    snprintf(facts->data, sizeof facts->data, "random");
    snprintf(facts->backend, sizeof facts->backend, "cuda");
    snprintf(facts->title, sizeof facts->title,
             "outputs, weights cpu:0, towers meet cpu:0, %d GPUs x 32", gpus);
    facts->strategy = MGB_OUTPUTS;
    facts->batch_mode = MGB_BATCH_PER_GPU;
    facts->gpus = gpus, facts->batch_per_gpu = 32, facts->global_batch = 32 * gpus;
    facts->threads = 10;
    facts->flops = 17.1e9 * 32 * gpus;
    facts->asked.gpus = gpus, facts->asked.batch = 32;
    facts->asked.given =
        1u << MGB_OPTION_GPUS | 1u << MGB_OPTION_BATCH | 1u << MGB_OPTION_WEIGHTS_AT;
    options_fill(facts, gpus);
    devices_fill(f, gpus);
    links_fill(f, gpus);
    variables_fill(f);
    f->snapshot.facts = facts;
}

static void segment_fill(struct mgb_bench_segment *s, int number, int gpus, double ms, double low,
                         double high)
{
    s->run_id = 412, s->segment_id = 1200 + number, s->number = number;
    s->gpus = gpus, s->batch_per_gpu = 32, s->global_batch = 32 * gpus;
    s->figures = (struct script_figures){.run_id = 412,
                                         .segment_id = 1200 + number,
                                         .steps = 96,
                                         .warmup_steps = 4,
                                         .median_ms = ms,
                                         .p95_ms = high + 4,
                                         .mean_ms = ms + .3,
                                         .ci95_low_ms = low,
                                         .ci95_high_ms = high,
                                         .examples_per_s = 1000.0 * 32 * gpus / ms,
                                         .loss = 6.7312,
                                         .outcome = "ok",
                                         .noise = (high - low) / 2 / ms,
                                         .steady = 1,
                                         .outliers = 1,
                                         .outliers_far = 0,
                                         .worst_ratio = 1.2,
                                         .unaccounted_ms = .1,
                                         .unaccounted_share = .0004,
                                         .first_ratio = 2.1,
                                         .first_phase = "input",
                                         .log_complete = true};
    s->traffic_bytes = (number == 3 ? 763000000 : 573000000) * (int64_t)gpus / 4;
    s->memory_count = gpus + 1;
    for (int i = 0; i <= gpus; i++) {
        struct mgb_bench_memory *m = &s->memory[i];
        if (i == 0)
            snprintf(m->device, sizeof m->device, "/cpu:0");
        else
            snprintf(m->device, sizeof m->device, "/gpu:%d", i - 1);
        int64_t first = number == 3 ? 3021 * mib : 3215 * mib;
        m->planned = i == 0 ? (number == 3 ? 215 * mib : 20 * mib) : i == 1 ? first : 2970 * mib;
        m->held = m->peak = m->planned;
        m->capacity = i ? 16 * gib : 0;
    }
    snprintf(s->title, sizeof s->title, "outputs, weights %s, towers meet cpu:0, %d GPUs x 32",
             number == 3 ? "cpu:0" : "gpu:0", gpus);
}

static void answer_fill(struct mgb_bench_answer *a)
{
    *a = (struct mgb_bench_answer){.there = true,
                                   .ratio = .731,
                                   .low = .728,
                                   .high = .735,
                                   .verdict = "faster",
                                   .now_count = 1,
                                   .before_count = 1,
                                   .speedup = 3.61,
                                   .efficiency = .9025};
    snprintf(a->reason, sizeof a->reason, "27 %% less time a step; the intervals do not touch");
    snprintf(a->scaling, sizeof a->scaling, "weak, against run 398");
}

static void history_fill(struct fixture *f)
{
    fixture_part_init(&f->history.shared);
    f->history.count = 200;
    for (int i = 0; i < 200; i++) {
        bool second = i >= 100;
        double ms =
            (second ? 247.4 : 338.4) + 1.5 * sin(i * 1.7) + (i % 100 < 4 ? 60 - i % 100 * 12 : 0);
        f->history.at[i] = (struct mgb_bench_step){.step = 15 + i,
                                                   .wall_ns = (int64_t)(ms * 1e6),
                                                   .segment = second ? 3 : 2,
                                                   .warmup = i % 100 < 4};
    }
    f->snapshot.history = &f->history;
}

static void phases_fill(struct fixture *f, int gpus)
{
    static const int64_t us[MGB_PHASE_COUNT] = {5000, 4000, 73000, 152000, 1000, 2000, 0, 6000};
    struct mgb_bench_phases *p = &f->snapshot.phases;
    p->wall_ns = 247400000, p->steps = 4;
    p->count = gpus + 1, p->slowest = gpus;
    for (int i = 0; i <= gpus; i++) {
        struct mgb_bench_device_times *d = &p->devices[i];
        snprintf(d->device, sizeof d->device, "%.31s", f->devices[i].name);
        for (int k = 0; k < MGB_PHASE_COUNT && i; k++)
            d->busy_ns[k] = us[k] * 1000;
        d->busy_ns[MGB_PHASE_BACKWARD] += i == gpus && i ? 4000000 : 0;
        d->busy_ns[MGB_PHASE_UPDATE] = i ? 0 : 6000000;
        d->busy_ns[MGB_PHASE_WAIT] = i == 0 ? 241400000 : i == gpus ? 2000000 : 6000000;
        d->exposed_ns[MGB_PHASE_FETCH] = i == gpus ? 1000000 : 0;
        d->exposed_ns[MGB_PHASE_SUM] = i == gpus ? 2000000 : 0;
        d->exposed_ns[MGB_PHASE_UPDATE] = i == 0 ? 1000000 : 0;
        d->finish_ns = i == 0 ? 247400000 : i == gpus ? 247000000 : 243000000;
    }
    snprintf(p->bound, sizeof p->bound, "backward on gpu:%d (98%%)", gpus - 1);
}

struct fixture *fixture_make(int gpus)
{
    struct fixture *f = calloc(1, sizeof *f);
    if (!f)
        return NULL;
    struct mgb_snapshot *s = &f->snapshot;
    atomic_init(&s->shared.holders, 1);
    s->shared.free = snapshot_free;
    s->version = 1, s->state = MGB_BENCH_RUNNING, s->step = 214, s->recorded = true;
    s->undo_count = 2;
    snprintf(s->devices, sizeof s->devices, "%d x P100", gpus);
    facts_fill(f, gpus);
    fixture_pressed_fill(f, gpus);
    segment_fill(&s->now, 3, gpus, 247.4, 247.1, 247.9);
    segment_fill(&s->before, 2, gpus, 338.4, 336.2, 340.3);
    answer_fill(&s->answer);
    history_fill(f);
    phases_fill(f, gpus);
    fixture_tasks_fill(f, gpus);
    fixture_sweep_fill(f);
    s->verified = (struct mgb_bench_verified){.there = true, .equal = true, .steps = 20};
    snprintf(s->verified.text, sizeof s->verified.text,
             "20 steps under 2 and 3: losses and weights equal to the last bit");
    return f;
}

void fixture_free(struct fixture *fixture)
{
    if (fixture)
        mgb_shared_drop(&fixture->snapshot);
}

const struct mgb_snapshot *fixture_snapshot(int gpus)
{
    struct fixture *f = fixture_make(gpus);
    return f ? &f->snapshot : NULL;
}

void fixture_scene(struct tui_scene *out, const struct fixture *fixture)
{
    static const struct mgb_pending nothing;
    *out = (struct tui_scene){
        .snapshot = &fixture->snapshot, .pending = &nothing, .filter = "", .now_ns = 1000000000};
}
