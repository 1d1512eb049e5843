/* The scale of losses where gradients are f16: it falls when they overflow and rises when they have not for long. */
#ifndef MGB_EXEC_LOSS_SCALE_H
#define MGB_EXEC_LOSS_SCALE_H

#include "engine/exec/program.h"

#define MGB_LOSS_SCALE_FIRST 65536.0f

/* Of f16, whose numbers end at 65504 and 6e-8: what losses' gradients are multiplied by. */
struct mgb_loss_scale {
    float scale; /* a power of two */
    int good;    /* steps with finite gradients since it changed */
};

/* The scale under which a program's next step runs, 0 where none is needed; and what comes of that step. */
float mgb_loss_scale_get(const struct mgb_loss_scale *scale, const struct mgb_program *program);
void mgb_loss_scale_judge(struct mgb_loss_scale *scale, bool skipped);
/* As stored after so many good steps; anew where `stored` is 0. */
void mgb_loss_scale_set(struct mgb_loss_scale *scale, float stored, int good);

#endif
