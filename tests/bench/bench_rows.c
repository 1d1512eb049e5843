/* See bench_rows.h. */
#include "tests/bench/bench_rows.h"

#include "db/draw.h"

static const char *const names[] = {"/gpu:0", "/gpu:1", "/gpu:2", "/gpu:3",
                                    "/gpu:4", "/gpu:5", "/gpu:6", "/gpu:7"};

const struct mgb_record_run *bench_run(void)
{
    static const struct mgb_record_machine machine = {.key = "bench", .name = "bench"};
    static const struct mgb_record_model model = {
        .name = "bench", .options = "{}", .graph_digest = "0"};
    static const struct mgb_record_run run = {
        .machine = &machine,
        .model = &model,
        .backend = "host",
        .seed = {1, true},
        .script = "placement.lua",
        .script_digest = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
        .command = "mgbench run mnist_cnn --gpus 8 --batch 32 --cpu-merge --cpu-relocation",
        .program_version = "0.1.0"};
    return &run;
}

struct mgb_record_segment bench_segment(int64_t run, int devices)
{
    return (struct mgb_record_segment){.run = run,
                                       .asked = {.gpus = {devices, true}, .cpu_merge = {1, true}},
                                       .effective = {.strategy = "outputs",
                                                     .gpus = {devices, true},
                                                     .gpu_list = "[\"/gpu:0\",\"/gpu:1\"]",
                                                     .batch_mode = "weak",
                                                     .batch_per_gpu = {32, true},
                                                     .global_batch = {32 * devices, true},
                                                     .cpu_relocation = {run % 2, true},
                                                     .cpu_merge = {run / 2 % 2, true},
                                                     .weights_at = "/gpu:0",
                                                     .join_at = "/cpu:0",
                                                     .loss_at = "/cpu:0",
                                                     .sum_at = "/cpu:0",
                                                     .update_at = "/gpu:0",
                                                     .relocation = "move",
                                                     .precision = "f32"},
                                       .warmup_rule = "fixed"};
}

const struct mgb_record_memory_total *bench_totals(void)
{
    static const struct mgb_record_memory_total totals[] = {
        {.device = "/cpu:0", .planned_bytes = {1 << 28, true}, .peak_bytes = {1 << 28, true}},
        {.device = "/gpu:0", .planned_bytes = {1 << 28, true}, .peak_bytes = {1 << 28, true}},
        {.device = "/gpu:1", .planned_bytes = {1 << 28, true}, .peak_bytes = {1 << 28, true}}};
    return totals;
}

/* Phases of some milliseconds, some partly behind others, two that this placement lacks. */
static void device_fill(struct mgb_record_step_device *out, uint64_t draw)
{
    for (int phase = 0; phase < MGB_PHASE_COUNT; phase++) {
        int64_t busy = phase == MGB_PHASE_FETCH || phase == MGB_PHASE_SUM
                           ? 0
                           : 50000 + (int64_t)(draw >> (phase * 4) & 0x7fffff);
        out->busy_ns[phase] = busy;
        out->exposed_ns[phase] = phase % 2 ? busy / 3 : busy;
    }
}

size_t bench_step(struct mgb_record *out, int64_t segment, int64_t step, int devices)
{
    uint64_t draw = mgb_draw_at(1, (uint64_t)segment, (uint64_t)step);
    int64_t wall = 20000000 + (int64_t)(draw % 5000000);
    out[0] = (struct mgb_record){.kind = MGB_RECORD_STEP,
                                 .step = {.segment = segment,
                                          .step = step,
                                          .start_ns = step * 26000000,
                                          .wall_ns = wall,
                                          .epoch = step / 1000,
                                          .examples = 32 * devices,
                                          .loss = 1.0 / (double)(step + 1) + (double)wall * 1e-9,
                                          .has_loss = true}};
    for (int i = 0; i < devices; i++) {
        out[1 + i] = (struct mgb_record){.kind = MGB_RECORD_STEP_DEVICE,
                                         .step_device = {.segment = segment,
                                                         .step = step,
                                                         .device = names[i],
                                                         .finish_ns = wall / 2,
                                                         .has_finish = true}};
        device_fill(&out[1 + i].step_device, mgb_draw_at(2, draw, (uint64_t)i));
    }
    return (size_t)devices + 1;
}
