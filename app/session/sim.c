/* See sim.h. */
#include "app/session/sim.h"

#include <string.h>

enum mgb_status mgb_session_sim_open(struct mgb_sim **out,
                                     const struct script_open_request *request)
{
    bool wanted = strcmp(request->backend, "sim") == 0,
         open = strcmp(request->backend, "auto") == 0;
    struct mgb_sim_options options = {.seed = request->seed};
    *out = NULL;
    if (!request->machine && !wanted)
        return MGB_OK;
    if (!request->machine)
        return mgb_fail(
            MGB_INVALID,
            "backend \"sim\" plays on a machine that a file describes: name one, as "
            "machine = \"dgx1-p100\" or --machine dgx1-p100 (mgbench machines lists them)");
    if (!wanted && !open)
        return mgb_fail(MGB_INVALID,
                        "machine '%s': backend \"%s\" cannot play on it; leave the backend out, or "
                        "give \"sim\"",
                        request->machine->name, request->backend);
    return mgb_sim_open(out, request->machine, &options);
}

const struct mgb_virtual *mgb_session_sim_virtual(struct mgb_sim *sim)
{
    return sim ? mgb_sim_virtual(sim) : NULL;
}
