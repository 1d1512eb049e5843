/* The move of weights and slots from one setting's arenas to another's. */
#ifndef MGB_EXEC_MOVE_H
#define MGB_EXEC_MOVE_H

#include "engine/exec/run_state.h"

/* Arenas and values of `from` become those of `to`. On failure all is as it was, unless even going back fails: then the
 * run is dead. Fills in move_ns, moved_bytes and copied_bytes. */
enum mgb_status mgb_run_move(struct mgb_run *run, struct mgb_setting *from, struct mgb_setting *to,
                             struct mgb_change *change);

#endif
