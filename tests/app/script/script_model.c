/* A session that is never opened: its services take the graph and refuse the rest. */
#include "tests/app/script/script_model.h"

#include "app/script/services.h"
#include "app/script/state.h"
#include "tests/support/check.h"
#include <stdio.h>
#include <string.h>

struct taken {
    void (*use)(void *context, const struct mgb_graph *graph);
    void *context;
    bool used;
};

static enum mgb_status graph_take(void *context, struct script_session **out,
                                  const struct script_open_request *request)
{
    struct taken *taken = context;
    (void)out;
    taken->used = true;
    taken->use(taken->context, request->graph);
    return mgb_fail(MGB_INTERRUPTED, "taken");
}

void script_model_use(const char *model, int gpus,
                      void (*use)(void *context, const struct mgb_graph *graph), void *context)
{
    struct taken taken = {.use = use, .context = context};
    struct script_services services = {.context = &taken, .open = graph_take};
    struct mgb_script_settings settings = {.services = &services};
    struct mgb_script *script;
    char text[1024];
    snprintf(text, sizeof text, "mgb.session{ model = mgb.model(%s), gpus = %d, batch = 1 }", model,
             gpus);
    assert_ok(mgb_script_make(&script, &settings));
    enum mgb_status status = mgb_script_run_text(script, text);
    if (!taken.used)
        fail_msg("%s: status %d: %s", model, (int)status, mgb_script_error_get(script)->text);
    mgb_script_free(script);
}
