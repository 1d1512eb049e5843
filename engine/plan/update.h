/* Questions about updates that clipping and updating both ask. */
#ifndef MGB_PLAN_UPDATE_H
#define MGB_PLAN_UPDATE_H

#include "engine/plan/plan.h"

/* Is `variable` trained by the optimizer, and updated at `device` (-1: on every tower, mirrored)? */
bool mgb_plan_updates(const struct mgb_planner *planner, int variable, int device);
bool mgb_plan_updates_here(const struct mgb_planner *planner, int device);
/* Mirrored: does every tower of the class have gradients to apply? */
bool mgb_plan_class_updates(const struct mgb_planner *planner, const struct mgb_stage *stage);
/* Where the complete gradient of a variable is when it is applied; `stage`: that class's own; NULL: the root's. */
struct mgb_operand mgb_plan_gradient(const struct mgb_planner *planner,
                                     const struct mgb_stage *stage, int variable);

#endif
