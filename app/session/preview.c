/* See preview.h. */
#include "app/session/preview.h"
#include "app/session/sim.h"

static void sim_drop(void *sim)
{
    mgb_sim_close(sim);
}

enum mgb_status mgb_session_preview(struct mgb_preview **out,
                                    const struct script_open_request *request)
{
    struct mgb_sim *sim;
    MGB_TRY(mgb_session_sim_open(&sim, request));
    struct mgb_run_options options = {.graph = request->graph,
                                      .backend = request->backend,
                                      .placement = request->placement,
                                      .fresh = request->fresh,
                                      .optimizer = request->optimizer,
                                      .seed = request->seed,
                                      .play_virtual = mgb_session_sim_virtual(sim)};
    enum mgb_status status = mgb_preview_make(out, &options);
    if (status != MGB_OK)
        mgb_sim_close(sim);
    else if (sim)
        mgb_preview_keep(*out, sim, sim_drop);
    return status;
}
