/* See preview.h. */
#include "app/session/preview.h"

#include <string.h>

enum mgb_status mgb_session_backend_check(const struct script_open_request *request)
{
    if (request->machine || strcmp(request->backend, "sim") == 0)
        return mgb_fail(MGB_UNSUPPORTED, "backend \"sim\": this version has no simulator; use "
                                         "\"host\" (CPU devices) or \"cuda\"");
    return MGB_OK;
}

enum mgb_status mgb_session_preview(struct mgb_preview **out,
                                    const struct script_open_request *request)
{
    struct mgb_run_options options = {.graph = request->graph,
                                      .backend = request->backend,
                                      .placement = request->placement,
                                      .fresh = request->fresh,
                                      .optimizer = request->optimizer,
                                      .seed = request->seed};
    MGB_TRY(mgb_session_backend_check(request));
    return mgb_preview_make(out, &options);
}
