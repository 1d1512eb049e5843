/* The results file during a sweep: held from its first to its last cell, and watched, for a sweep is made for its record. */
#include "app/session/rows.h"

#include <stdio.h>

enum mgb_status mgb_hub_sweep_hold(void *context)
{
    struct mgb_hub *hub = context;
    struct mgb_recorder *recorder;
    struct mgb_recorder_state state;
    MGB_TRY(mgb_hub_recorder(hub, &recorder));
    if (!recorder)
        return MGB_OK;
    mgb_hub_warn_stopped(hub);
    if (!hub->held)
        MGB_TRY(mgb_recorder_hold(recorder));
    hub->held = true;
    mgb_recorder_get_state(&state, recorder);
    if (state.stopped)
        return mgb_fail(MGB_IO,
                        "the sweep ends here, for its cells cannot be stored: %s; then run the "
                        "same command again: finished cells are skipped",
                        state.message);
    return MGB_OK;
}

void mgb_hub_sweep_release(void *context)
{
    struct mgb_hub *hub = context;
    if (hub->held)
        mgb_recorder_release(hub->recorder);
    hub->held = false;
}

void mgb_hub_warn_stopped(struct mgb_hub *hub)
{
    struct mgb_recorder_state state;
    char line[512 + 80], named[640];
    if (!hub->recorder)
        return;
    mgb_recorder_get_state(&state, hub->recorder);
    if (state.stopped && !hub->stop_told) {
        snprintf(line, sizeof line, "recording has stopped, steps from here on are lost: %s",
                 state.message);
        mgb_remark_write(named, sizeof named, "log", line);
        mgb_hub_tell(hub, "log", named);
    }
    hub->stop_told = state.stopped;
}
