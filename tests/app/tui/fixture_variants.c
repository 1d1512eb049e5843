/* Other states of the fixture's bench. */
#include "tests/app/tui/fixture_parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void segment_clear(struct mgb_bench_segment *segment)
{
    struct script_figures *g = &segment->figures;
    *segment = (struct mgb_bench_segment){0};
    segment->traffic_bytes = -1;
    g->median_ms = g->p95_ms = g->mean_ms = g->ci95_low_ms = g->ci95_high_ms = NAN;
    g->examples_per_s = g->loss = g->noise = g->worst_ratio = g->unaccounted_ms = NAN;
    g->unaccounted_share = g->first_ratio = NAN;
    g->steady = -1, g->outliers = g->outliers_far = -1, g->outcome = "ok", g->log_complete = true;
}

static void answer_clear(struct mgb_bench_answer *answer)
{
    *answer = (struct mgb_bench_answer){
        .ratio = NAN, .low = NAN, .high = NAN, .speedup = NAN, .efficiency = NAN};
}

void fixture_set_ready(struct fixture *fixture)
{
    struct mgb_snapshot *s = &fixture->snapshot;
    s->state = MGB_BENCH_READY;
    s->step = 0, s->recorded = false, s->undo_count = 0;
    segment_clear(&s->now);
    segment_clear(&s->before);
    answer_clear(&s->answer);
    s->phases = (struct mgb_bench_phases){.slowest = -1};
    s->history = NULL, s->traced = NULL, s->sweep = NULL;
    s->verified = (struct mgb_bench_verified){0};
    for (int i = 0; i < fixture->pressed.count; i++)
        if (fixture->pressed.rows[i].from == MGB_PRESSED_MEASURED)
            fixture->pressed.rows[i].from = MGB_PRESSED_PLANNED;
}

void fixture_set_empty(struct fixture *fixture)
{
    fixture_set_ready(fixture);
    struct mgb_snapshot *s = &fixture->snapshot;
    s->state = MGB_BENCH_EMPTY;
    s->facts = NULL, s->pressed = NULL;
    s->devices[0] = '\0';
}

void fixture_set_warmup(struct fixture *fixture)
{
    struct mgb_bench_segment *now = &fixture->snapshot.now;
    struct mgb_bench_segment kept = *now;
    segment_clear(now);
    now->figures.warmup_steps = 2, now->figures.loss = 6.9;
    now->run_id = kept.run_id, now->segment_id = kept.segment_id, now->number = kept.number;
    now->gpus = kept.gpus, now->batch_per_gpu = 32, now->global_batch = kept.global_batch;
    now->traffic_bytes = kept.traffic_bytes, now->memory_count = kept.memory_count;
    memcpy(now->memory, kept.memory, sizeof now->memory);
    answer_clear(&fixture->snapshot.answer);
    fixture->history.count = 102;
}

static const char long_name[] =
    "a_model_whose_name_is_long_\x1b[31m\xff\xc3\xa4_and_goes_on_and_on";

void fixture_set_long_names(struct fixture *fixture)
{
    struct mgb_snapshot *s = &fixture->snapshot;
    snprintf(fixture->facts.model, sizeof fixture->facts.model, "%s", long_name);
    snprintf(fixture->facts.data, sizeof fixture->facts.data, "%s", long_name);
    snprintf(fixture->facts.title, sizeof fixture->facts.title, "%s %s", long_name, long_name);
    snprintf(fixture->facts.remark, sizeof fixture->facts.remark, "%s", long_name);
    snprintf(s->message, sizeof s->message, "%s: %s: %s", long_name, long_name, long_name);
    snprintf(s->answer.reason, sizeof s->answer.reason, "%s %s", long_name, long_name);
    snprintf(s->answer.scaling, sizeof s->answer.scaling, "%s", long_name);
    snprintf(s->verified.text, sizeof s->verified.text, "%s %s", long_name, long_name);
    snprintf(s->phases.bound, sizeof s->phases.bound, "%s", long_name);
    for (int i = 0; i < fixture->facts.device_count; i++) {
        snprintf(fixture->devices[i].label, sizeof fixture->devices[i].label, "%s", long_name);
        snprintf(fixture->devices[i].name, sizeof fixture->devices[i].name, "/host:1000000/gpu:%d",
                 1000000 + i);
        memcpy(s->phases.devices[i].device, fixture->devices[i].name, MGB_DEVICE_NAME_MAX);
    }
    for (int i = 0; i < fixture->facts.variable_count; i++)
        fixture->variables[i].name = long_name;
    for (int i = 0; i < fixture->facts.task_count; i++)
        fixture->tasks[i].name = fixture->traced_tasks[i].name = long_name;
    for (int i = 0; i < fixture->pressed.count; i++) {
        struct mgb_pressed_row *row = &fixture->pressed.rows[i];
        snprintf(row->now, sizeof row->now, "%.50s", long_name);
        snprintf(row->next, sizeof row->next, "%.50s", long_name);
        snprintf(row->reason, sizeof row->reason, "%s", long_name);
    }
}

void fixture_set_unknown(struct fixture *fixture)
{
    struct mgb_snapshot *s = &fixture->snapshot;
    int numbers[2] = {s->before.number, s->now.number};
    segment_clear(&s->now);
    segment_clear(&s->before);
    s->before.number = numbers[0], s->now.number = numbers[1];
    s->now.figures.steps = s->before.figures.steps = 9;
    answer_clear(&s->answer);
    s->phases = (struct mgb_bench_phases){.slowest = -1};
    for (int i = 0; i < fixture->pressed.count; i++) {
        struct mgb_pressed_row *row = &fixture->pressed.rows[i];
        row->ratio = row->low = row->high = NAN;
        row->traffic_change = row->gpu_change = row->cpu_change = 0;
    }
    fixture->sweep.elapsed_s = fixture->sweep.left_s = NAN;
    for (int i = 0; i < FIXTURE_CELLS; i++) {
        struct mgb_bench_cell *c = &fixture->cells[i];
        c->step_ms = c->low_ms = c->high_ms = c->ratio = NAN;
    }
}

void fixture_set_host(struct fixture *fixture)
{
    for (int i = 0; i < fixture->facts.device_count; i++) {
        struct mgb_facts_device *d = &fixture->devices[i];
        d->class = MGB_CLASS_CPU;
        snprintf(d->label, sizeof d->label, "Intel Xeon E5-2698 v4, 40 cores");
        d->uuid[0] = d->pci[0] = '\0';
    }
    snprintf(fixture->facts.backend, sizeof fixture->facts.backend, "host");
    snprintf(fixture->snapshot.devices, sizeof fixture->snapshot.devices, "%d CPU devices",
             fixture->facts.gpus);
}
