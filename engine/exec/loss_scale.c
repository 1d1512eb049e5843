/* Dynamic loss scaling: gradients of f16 products are kept in its range by a factor that goes out again at the update. As
 * PyTorch's GradScaler: halved when a gradient is not finite, and that update left out; doubled after 2000 good steps. */
#include "engine/exec/run_state.h"

#include <math.h>

#define GOOD_STEPS 2000
/* Where PyTorch goes on without an end: a power of two is exact to multiply with and to divide by between these. */
#define LEAST_SCALE 0x1p-24f
#define MOST_SCALE 0x1p40f

float mgb_loss_scale_get(const struct mgb_loss_scale *scale, const struct mgb_program *program)
{
    return program->plan->precision == MGB_PRECISION_F16 ? scale->scale : 0.0f;
}

void mgb_loss_scale_judge(struct mgb_loss_scale *scale, bool skipped)
{
    if (skipped) {
        scale->scale = fmaxf(scale->scale / 2.0f, LEAST_SCALE);
        scale->good = 0;
    } else if (++scale->good == GOOD_STEPS) {
        scale->scale = fminf(scale->scale * 2.0f, MOST_SCALE);
        scale->good = 0;
    }
}

void mgb_loss_scale_set(struct mgb_loss_scale *scale, float stored, int good)
{
    scale->scale =
        stored > 0.0f ? fminf(fmaxf(stored, LEAST_SCALE), MOST_SCALE) : MGB_LOSS_SCALE_FIRST;
    scale->good = stored > 0.0f && good > 0 && good < GOOD_STEPS ? good : 0;
}

float mgb_program_scale(const struct mgb_program *program, const struct mgb_task *task)
{
    bool begins = program->loss_scale > 0.0f &&
                  mgb_op_begins_gradients(program->plan->graph->nodes[task->node].kind);
    return begins ? task->scale * program->loss_scale : task->scale;
}

void mgb_program_set_loss_scale(struct mgb_program *program, float scale)
{
    if (program->loss_scale == scale)
        return;
    program->loss_scale = scale;
    mgb_program_drop_replays(program); /* kernels have it in their arguments */
    for (int i = 0; i < program->count; i++) {
        struct mgb_command *command = &program->commands[i];
        for (int flip = 0; flip < 2 && command->task->kind == MGB_TASK_COMPUTE; flip++)
            command->launch[flip].scale = mgb_program_scale(program, command->task);
    }
}

struct mgb_clip mgb_program_clip(const struct mgb_program *program)
{
    float norm = program->plan->optimizer.clip_norm;
    return (struct mgb_clip){.norm = norm > 0.0f ? norm : INFINITY, .scale = program->loss_scale};
}

/* Towers that exchange gradients have factors alike; independent ones skip by themselves, and count as one. */
enum mgb_status mgb_program_skipped(const struct mgb_program *program, bool *skipped)
{
    const struct mgb_site *site = program->site;
    bool alike = program->plan->strategy != MGB_INDEPENDENT;
    *skipped = false;
    for (int i = 0; i < program->count && program->loss_scale > 0.0f; i++) {
        const struct mgb_command *command = &program->commands[i];
        float factor;
        if (command->task->kind != MGB_TASK_CLIP)
            continue;
        MGB_TRY(site->backend->read(site->context, command->device, &factor,
                                    program->addresses[0][command->slot_begin], sizeof factor));
        *skipped = *skipped || factor < 0.0f;
        if (alike)
            break;
    }
    return MGB_OK;
}
