/* Commands that really run something: the hub's services with an open that watches. See job.h. */
#include "app/cli/configuration.h"
#include "app/cli/hub.h"
#include "app/cli/job.h"
#include <stdlib.h>

struct measurement {
    struct mgb_cli_hub hub;
    bool configuration; /* to be printed at the first open */
    const char *tag;    /* for runs that come to their end; NULL: none */
    bool done;          /* the run is whole and stored: what is left is to print it */
    enum mgb_status refused;
};

static void configuration_show(struct measurement *m, const struct script_open_request *request,
                               const struct mgb_run *run)
{
    struct mgb_cli_configuration c = {.request = request,
                                      .backend = mgb_run_backend(run),
                                      .remark = mgb_run_remark(run),
                                      .topology = mgb_run_topology(run),
                                      .effective = mgb_run_effective(run),
                                      .plan = mgb_run_plan(run)};
    mgb_cli_configuration_print(stdout, &c);
    fflush(stdout);
    m->configuration = false;
}

/* Services carry the hub as their context, and a process runs one command. */
static struct measurement *watching;

static enum mgb_status watched_open(void *context, struct script_session **out,
                                    const struct script_open_request *request)
{
    struct measurement *m = watching;
    m->refused = m->hub.services.open(context, out, request);
    if (m->refused == MGB_OK && m->configuration)
        configuration_show(m, request, m->hub.services.engine(*out));
    return m->refused;
}

static enum mgb_status watched_finish(struct script_session *session)
{
    struct measurement *m = watching;
    struct script_figures figures = {0};
    MGB_TRY(m->hub.services.finish(session));
    m->done = true;
    if (!m->tag || !m->hub.services.tag)
        return MGB_OK;
    MGB_TRY(m->hub.services.figures(session, &figures));
    return m->hub.services.tag(m->hub.services.context, figures.run_id, m->tag);
}

static int measurement_code(const struct measurement *m, enum mgb_status status, const char *text)
{
    /* Only the output was cut (| head): the reader had enough, and nothing that was asked for is missing. */
    if (status == MGB_INTERRUPTED && m->done && mgb_interrupt_pipe_closed() &&
        !mgb_interrupt_asked())
        return MGB_EXIT_OK;
    return status == MGB_OK ? MGB_EXIT_OK
                            : mgb_cli_job_complain(m->hub.in, status, m->refused, text);
}

static int measurement_run(struct measurement *m, const char *verb,
                           const struct mgb_cli_settings *settings)
{
    const struct mgb_invocation *in = m->hub.in;
    char *text = NULL;
    struct script_services watched = m->hub.services;
    watched.open = watched_open;
    watched.finish = watched_finish;
    watching = m;
    struct mgb_cli_job job = {.in = in,
                              .services = &watched,
                              .stop = mgb_cli_hub_interrupt,
                              .fail = mgb_cli_hub_fail,
                              .context = &m->hub};
    enum mgb_status status = mgb_cli_job_run(&job, verb, settings, &text, &m->refused);
    int code = measurement_code(m, status, text);
    free(text);
    if (status == MGB_OK)
        mgb_cli_hub_repeat(&m->hub, in->format == MGB_TABLE_TEXT ? stdout : stderr);
    return code;
}

int mgb_cli_job_measure(struct mgb_invocation *in, const char *verb, bool configuration)
{
    struct mgb_cli_settings settings;
    struct measurement m = {.refused = MGB_OK};
    enum mgb_status status = mgb_cli_job_prepare(&settings, in);
    if (status != MGB_OK)
        return mgb_cli_complain(in, mgb_cli_refusal_code(status), "%s", mgb_message_get());
    int code = MGB_EXIT_FAILED;
    if (mgb_cli_hub_open(&m.hub, in, NULL, false) == MGB_OK) {
        m.tag = mgb_cli_find_flag(in, "--tag");
        m.configuration = configuration && in->format == MGB_TABLE_TEXT && !in->quiet;
        code = mgb_cli_hub_close(&m.hub, measurement_run(&m, verb, &settings));
    } else {
        mgb_cli_complain(in, code, "%s", mgb_message_get());
    }
    mgb_cli_settings_done(&settings);
    return code;
}
