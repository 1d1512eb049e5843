/* The rest of the fixture's bench: what toggles would change, tasks, a traced step, a sweep. */
#include "tests/app/tui/fixture_parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static struct mgb_pressed_row *row_add(struct mgb_pressed *p, enum mgb_option_id option,
                                       int direction, const char *now, const char *next,
                                       enum mgb_pressed_from from)
{
    struct mgb_pressed_row *row = &p->rows[p->count++];
    *row = (struct mgb_pressed_row){.option = option,
                                    .direction = direction,
                                    .from = from,
                                    .ratio = NAN,
                                    .low = NAN,
                                    .high = NAN};
    snprintf(row->now, sizeof row->now, "%s", now);
    snprintf(row->next, sizeof row->next, "%s", next);
    snprintf(row->value, sizeof row->value, "%s%s", strlen(next) > 3 && next[3] == ':' ? "/" : "",
             next);
    return row;
}

static void row_measure(struct mgb_pressed_row *row, double ratio, const char *verdict)
{
    row->ratio = ratio, row->low = ratio - .004, row->high = ratio + .004, row->segments = 2;
    snprintf(row->verdict, sizeof row->verdict, "%s", verdict);
}

static void row_plan(struct mgb_pressed_row *row, int64_t traffic, int64_t gpu, int64_t cpu)
{
    row->traffic_change = traffic, row->gpu_change = gpu, row->cpu_change = cpu;
}

static void toggles_fill(struct mgb_pressed *p, int gpus)
{
    char now[16], fewer[16];
    snprintf(now, sizeof now, "%d", gpus);
    snprintf(fewer, sizeof fewer, "%d", gpus - 1);
    struct mgb_pressed_row *row =
        row_add(p, MGB_OPTION_CPU_RELOCATION, 1, "cpu:0", "gpu:0", MGB_PRESSED_MEASURED);
    row_measure(row, 1.37, "slower");
    row_plan(row, -190000000, 203423744, -204472320);
    row = row_add(p, MGB_OPTION_CPU_MERGE, 1, "cpu:0", "gpu:0", MGB_PRESSED_PLANNED);
    row_plan(row, 190000000, 31457280, -31457280);
    for (int i = 0; i < 2; i++)
        snprintf(p->rows[i].value, sizeof p->rows[i].value, "false");
    row = row_add(p, MGB_OPTION_STRATEGY, 1, "outputs", "gradients", MGB_PRESSED_MEASURED);
    row_measure(row, .981, "faster");
    row = row_add(p, MGB_OPTION_GPUS, -1, now, fewer, MGB_PRESSED_MEASURED);
    row_measure(row, 1.331, "slower");
    row = row_add(p, MGB_OPTION_GPUS, 1, now, "", MGB_PRESSED_REFUSED);
    snprintf(row->reason, sizeof row->reason, "this machine has %d GPUs", gpus);
    row = row_add(p, MGB_OPTION_BATCH, -1, "32", "16", MGB_PRESSED_MEASURED);
    row_measure(row, 1.002, "same");
    row = row_add(p, MGB_OPTION_BATCH, 1, "32", "64", MGB_PRESSED_OOM);
    snprintf(row->reason, sizeof row->reason, "/gpu:0 needs 17.1 GiB, 15.9 GiB are free");
    row_plan(row, 0, 2791728742, 0);
    row = row_add(p, MGB_OPTION_PEER_ACCESS, 1, "off", "on", MGB_PRESSED_SAME);
}

static void others_fill(struct mgb_pressed *p)
{
    row_plan(row_add(p, MGB_OPTION_SUM_AT, 1, "cpu:0", "gpu:0", MGB_PRESSED_PLANNED), -286000000,
             95420416, -95420416);
    row_plan(row_add(p, MGB_OPTION_UPDATE_AT, 1, "cpu:0", "gpu:0", MGB_PRESSED_PLANNED), 95000000,
             190840832, -190840832);
    struct mgb_pressed_row *row = row_add(p, MGB_OPTION_ALLREDUCE, 1, "", "", MGB_PRESSED_PARKED);
    snprintf(row->reason, sizeof row->reason, "n/a under outputs");
    row = row_add(p, MGB_OPTION_BUCKET_MIB, 1, "", "", MGB_PRESSED_PARKED);
    snprintf(row->reason, sizeof row->reason, "n/a under outputs");
    row_add(p, MGB_OPTION_RELOCATION, 1, "move", "clone", MGB_PRESSED_SAME);
    row = row_add(p, MGB_OPTION_WIRE_TYPE, 1, "f32", "f16", MGB_PRESSED_MEASURED);
    row_measure(row, .91, "faster");
    row_add(p, MGB_OPTION_STAGED, 1, "false", "true", MGB_PRESSED_NONE);
    row = row_add(p, MGB_OPTION_PRECISION, 1, "f32", "tf32", MGB_PRESSED_REFUSED);
    snprintf(row->reason, sizeof row->reason, "tf32 needs compute capability 8.0; /gpu:0 has 6.0");
    row_plan(row_add(p, MGB_OPTION_RECOMPUTE, 1, "none", "block", MGB_PRESSED_PLANNED), 0,
             -1610612736, 0);
    row = row_add(p, MGB_OPTION_HOSTS, 1, "1", "", MGB_PRESSED_REFUSED);
    snprintf(row->reason, sizeof row->reason, "this machine has 1 host");
}

void fixture_pressed_fill(struct fixture *f, int gpus)
{
    struct mgb_pressed *p = &f->pressed;
    fixture_part_init(&p->shared);
    toggles_fill(p, gpus);
    others_fill(p);
    f->snapshot.pressed = p;
}

static int tower_fill(struct mgb_bench_task *out, int device, bool slowest)
{
    static const struct {
        enum mgb_phase phase;
        const char *name, *kind;
        int64_t begin_us, end_us, bytes;
    } parts[] = {{MGB_PHASE_INPUT, "images", "copy", 0, 5000, 34334208},
                 {MGB_PHASE_FETCH, "weights", "copy", 5000, 9000, 95420416},
                 {MGB_PHASE_FORWARD, "mixed_5b/branch_1/conv", "compute", 9000, 82000, 0},
                 {MGB_PHASE_JOIN, "outputs", "copy", 82000, 83000, 128000},
                 {MGB_PHASE_BACKWARD, "mixed_5b/branch_1/conv", "compute", 84000, 236000, 0},
                 {MGB_PHASE_SUM, "gradients", "copy", 236000, 238000, 95420416}};
    int n = (int)(sizeof parts / sizeof *parts);
    for (int i = 0; i < n; i++) {
        bool from_host = i < 2;
        out[i] = (struct mgb_bench_task){.device = parts[i].bytes && !from_host ? 0 : device,
                                         .from = !parts[i].bytes ? -1
                                                 : from_host     ? 0
                                                                 : device,
                                         .phase = parts[i].phase,
                                         .begin_ns = parts[i].begin_us * 1000,
                                         .end_ns = parts[i].end_us * 1000 +
                                                   (slowest && i >= 4 ? 4000000 : 0),
                                         .bytes = parts[i].bytes,
                                         .critical = slowest,
                                         .name = parts[i].name,
                                         .kind = parts[i].kind};
    }
    return n;
}

static void task_of_traced(struct mgb_facts_task *out, const struct mgb_bench_task *in)
{
    *out = (struct mgb_facts_task){.name = in->name,
                                   .kind = in->kind,
                                   .phase = in->phase,
                                   .device = in->device,
                                   .from = in->from,
                                   .tower = in->device     ? in->device - 1
                                            : in->from > 0 ? in->from - 1
                                                           : -1,
                                   .copy_queue = in->from >= 0,
                                   .bytes = in->bytes,
                                   .wait_count = in->from >= 0 ? 1 : 0};
}

void fixture_tasks_fill(struct fixture *f, int gpus)
{
    struct mgb_bench_traced *t = &f->traced;
    fixture_part_init(&t->shared);
    t->step = 180, t->wall_ns = 247800000, t->at = f->traced_tasks;
    t->at[t->count++] = (struct mgb_bench_task){.device = 0,
                                                .from = -1,
                                                .phase = MGB_PHASE_UPDATE,
                                                .begin_ns = 242000000,
                                                .end_ns = 247800000,
                                                .critical = true,
                                                .name = "sgd",
                                                .kind = "update"};
    for (int to_host = 1; to_host >= 0; to_host--) /* by device: what arrives at the host first */
        for (int i = 1; i <= gpus; i++) {
            struct mgb_bench_task tower[8];
            int n = tower_fill(tower, i, i == gpus);
            for (int k = 0; k < n; k++)
                if ((tower[k].device == 0) == (to_host == 1))
                    t->at[t->count++] = tower[k];
        }
    t->critical_ns[MGB_PHASE_INPUT] = 5000000, t->critical_ns[MGB_PHASE_FETCH] = 4000000;
    t->critical_ns[MGB_PHASE_FORWARD] = 73000000, t->critical_ns[MGB_PHASE_JOIN] = 1000000;
    t->critical_ns[MGB_PHASE_BACKWARD] = 156000000, t->critical_ns[MGB_PHASE_SUM] = 2000000;
    t->critical_ns[MGB_PHASE_UPDATE] = 5800000, t->critical_gap_ns = 1000000;
    snprintf(t->bound, sizeof t->bound, "backward on gpu:%d, 156 of 248 ms", gpus - 1);
    f->snapshot.traced = t;
    for (int i = 0; i < t->count; i++)
        task_of_traced(&f->tasks[i], &t->at[i]);
    f->facts.tasks = f->tasks;
    f->facts.task_count = t->count;
    f->facts.all_tasks = t->count;
}

void fixture_sweep_fill(struct fixture *f)
{
    static const char *const values[FIXTURE_CELLS][2] = {{"1", "false"}, {"1", "true"},
                                                         {"2", "false"}, {"2", "true"},
                                                         {"4", "false"}, {"4", "true"}};
    struct mgb_bench_sweep *s = &f->sweep;
    fixture_part_init(&s->shared);
    snprintf(s->name, sizeof s->name, "scaling");
    snprintf(s->cell, sizeof s->cell, "gpus=4 cpu_relocation=true");
    s->position = 6, s->total = 8, s->elapsed_s = 131, s->left_s = 52;
    s->column_count = 2, s->row_count = FIXTURE_CELLS, s->rows = f->cells;
    snprintf(s->columns[0], sizeof s->columns[0], "gpus");
    snprintf(s->columns[1], sizeof s->columns[1], "cpu_relocation");
    snprintf(s->best, sizeof s->best,
             "Fastest so far: gpus=4 cpu_relocation=false, 1.871 ms an example");
    for (int i = 0; i < FIXTURE_CELLS; i++) {
        struct mgb_bench_cell *c = &f->cells[i];
        for (int k = 0; k < 2; k++)
            snprintf(c->values[k], sizeof c->values[k], "%s", values[i][k]);
        bool oom = i == 3;
        snprintf(c->outcome, sizeof c->outcome, "%s", oom ? "oom" : "ok");
        snprintf(c->verdict, sizeof c->verdict, "%s",
                 oom      ? ""
                 : i == 0 ? "base"
                 : i == 1 ? "same"
                 : i == 5 ? "refused"
                          : "faster");
        if (i == 5)
            snprintf(c->reason, sizeof c->reason, "refused: repetition 2 never became steady");
        snprintf(c->placement, sizeof c->placement, "gpus=%s batch=32 strategy=outputs",
                 values[i][0]);
        c->number = i + 1, c->repetitions = !oom;
        if (oom)
            snprintf(c->message, sizeof c->message, "/gpu:0 needs 17.1 GiB, 15.9 GiB are free");
        c->step_ms = oom ? NAN : 223 + 4 * i, c->low_ms = c->step_ms - 1,
        c->high_ms = c->step_ms + 1;
        c->example_ms = c->step_ms / 128;
        c->ratio = oom ? NAN : i == 0 ? 1 : 1 / (double)(1 + i / 2) + .01 * (i % 2);
        c->resumed = i == 1, c->best = i == 4;
    }
    f->snapshot.sweep = s;
}
