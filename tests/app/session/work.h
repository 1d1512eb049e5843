/* A hub over a fresh results file, and sessions of a small model on CPU devices, for tests. */
#ifndef TESTS_APP_SESSION_WORK_H
#define TESTS_APP_SESSION_WORK_H

#include "app/session/hub.h"
#include "tests/support/check.h"
#include "tests/support/database.h"
#include "tests/support/model.h"
#include <stdio.h>
#include <string.h>

struct work {
    const char *path;
    struct mgb_hub *hub;
    struct script_services services;
    struct mgb_graph *graph;
    char warnings[2048]; /* a line each */
    int64_t step_timeout_ns;
    const char *quiet; /* names of remarks */
    void (*die)(void *context, const char *message);
};

static void work_warn(void *context, const char *line)
{
    struct work *work = context;
    size_t used = strlen(work->warnings);
    snprintf(work->warnings + used, sizeof work->warnings - used, "%s\n", line);
}

static inline void work_open(struct work *work, const char *path)
{
    struct mgb_hub_options options = {.database = path,
                                      .program_version = "0.0.1",
                                      .step_timeout_ns = work->step_timeout_ns,
                                      .warn = work_warn,
                                      .quiet_remarks = work->quiet,
                                      .die = work->die,
                                      .context = work};
    work->path = path;
    work->graph = model_mlp();
    assert_ok(mgb_hub_open(&work->hub, &options));
    mgb_hub_services(&work->services, work->hub);
}

static inline void work_close(struct work *work)
{
    mgb_hub_close(work->hub);
    mgb_graph_free(work->graph);
}

/* Options of the placement as "name", "value" pairs, NULL at the end. */
static inline struct script_open_request work_request(const struct work *work,
                                                      const char *const *options)
{
    struct script_open_request request = {.graph = work->graph,
                                          .model = "mlp",
                                          .model_options = "{}",
                                          .data = "",
                                          .optimizer = mgb_optimizer_default(MGB_SGD),
                                          .seed = 1,
                                          .backend = "host"};
    mgb_placement_init(&request.placement);
    for (; options[0]; options += 2)
        assert_ok(mgb_placement_set(&request.placement, options[0], options[1]));
    return request;
}

static inline enum mgb_status work_step(struct work *work, struct script_session *session,
                                        int64_t steps, struct script_figures *figures)
{
    struct script_losses losses;
    return work->services.step(session, figures, &losses,
                               &(struct script_step_request){.steps = steps});
}

#define TWO_GPUS ((const char *const[]){"gpus", "2", "batch", "4", NULL})

#endif
