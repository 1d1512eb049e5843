/* Areas of the workspace that gru and its gradient have beside those of recurrent.h. */
#ifndef MGB_HOST_OPS_GRU_H
#define MGB_HOST_OPS_GRU_H

#include "engine/host/ops/recurrent.h"

enum {
    MGB_GRU_RESET = MGB_AREA_OWN, /* r h of one position; its gradient */
    MGB_GRU_STATE_GATES,          /* gradients of the gates as the state sees them, all positions */
    MGB_GRU_CANDIDATE,            /* gradient of the candidate alone, all positions */
    MGB_GRU_RESETS,               /* r h of all positions */
    MGB_GRU_PART,                 /* part of a weight gradient */
};

#endif
