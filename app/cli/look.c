/* Commands that only look: instead of a session, a preview is made of what the script layer asks for. See job.h. */
#include "app/cli/job.h"
#include "app/cli/progress.h"
#include "app/session/preview.h"
#include <stdlib.h>
#include <unistd.h>

struct look {
    struct mgb_invocation *in;
    mgb_cli_show *show;
    bool only_refusals; /* what else fails is not told */
    bool shown;
    int code;
    enum mgb_status refused;
};

/* Always fails, so that the script ends here. */
static enum mgb_status look_open(void *context, struct script_session **out,
                                 const struct script_open_request *request)
{
    struct look *look = context;
    struct mgb_preview *preview;
    *out = NULL;
    look->refused = mgb_session_preview(&preview, request);
    if (look->refused != MGB_OK)
        return look->refused;
    look->code = look->show(look->in, request, preview);
    look->shown = true;
    mgb_preview_free(preview);
    return mgb_fail(MGB_STATE, "nothing is run");
}

static void look_progress(void *context, const char *line)
{
    (void)context;
    (void)line;
}

static bool look_interrupted(void *context)
{
    (void)context;
    return mgb_interrupt_asked();
}

static int look_at(struct look *look)
{
    struct mgb_invocation *in = look->in;
    struct mgb_cli_settings settings;
    struct script_services services = {.context = look,
                                       .open = look_open,
                                       .progress = look_progress,
                                       .restartable = look_progress,
                                       .interrupted = look_interrupted};
    struct mgb_cli_job job = {.in = in, .services = &services};
    enum mgb_status status = mgb_cli_job_prepare(&settings, in);
    if (status != MGB_OK)
        return mgb_cli_complain(in, mgb_cli_refusal_code(status), "%s", mgb_message_get());
    char *text;
    status = mgb_cli_job_run(&job, "session", &settings, &text, &look->refused);
    bool told = look->shown || (look->only_refusals && look->refused == MGB_OK);
    int code = told ? look->code : mgb_cli_job_complain(in, status, look->refused, text);
    free(text);
    mgb_cli_settings_done(&settings);
    return code;
}

int mgb_cli_job_look(struct mgb_invocation *in, mgb_cli_show *show)
{
    return look_at(&(struct look){.in = in, .show = show});
}

static void terminal_progress(void *context, const char *line)
{
    (void)context;
    mgb_cli_progress_show(line);
}

int mgb_cli_job_simulate(struct mgb_invocation *in, const char *verb)
{
    struct mgb_cli_settings settings;
    bool shows = !in->quiet && isatty(STDERR_FILENO);
    struct script_services services = {.progress = shows ? terminal_progress : look_progress,
                                       .restartable = look_progress,
                                       .interrupted = look_interrupted};
    struct mgb_cli_job job = {.in = in, .services = &services};
    enum mgb_status status = mgb_cli_job_prepare(&settings, in), refused = MGB_OK;
    if (status != MGB_OK)
        return mgb_cli_complain(in, mgb_cli_refusal_code(status), "%s", mgb_message_get());
    char *text;
    status = mgb_cli_job_run(&job, verb, &settings, &text, &refused);
    int code = status == MGB_OK ? MGB_EXIT_OK : mgb_cli_job_complain(in, status, refused, text);
    free(text);
    mgb_cli_settings_done(&settings);
    return code;
}

static int nothing_show(const struct mgb_invocation *in, const struct script_open_request *request,
                        struct mgb_preview *preview)
{
    (void)in;
    (void)request;
    (void)preview;
    return MGB_EXIT_OK;
}

int mgb_cli_job_admit(struct mgb_invocation *in)
{
    return look_at(&(struct look){.in = in, .show = nothing_show, .only_refusals = true});
}
