/* Commands about a model go through the script layer, as a script would: scripts/lib/cli.lua turns their words into a call
 * of mgb.run, mgb.session or mgb.verify, which finds the model, builds it and opens a session by the services it is given. */
#ifndef MGB_APP_CLI_JOB_H
#define MGB_APP_CLI_JOB_H

#include "app/cli/interrupt.h"
#include "app/cli/settings.h"
#include "app/script/services.h"

struct mgb_cli_job {
    const struct mgb_invocation *in;
    const struct script_services *services;
    mgb_interrupt_function
        *stop; /* called with `context` beside ending the script; NULL: nothing more to stop */
    /* Told why the script failed while its sessions are still open; NULL: nobody wants to know. */
    void (*fail)(void *context, const char *message);
    void *context;
};

/* Reads the flags; MGB_INVALID when they or the model's name, the first word, cannot be. */
enum mgb_status mgb_cli_job_prepare(struct mgb_cli_settings *out, const struct mgb_invocation *in);

/* Whether --backend and --machine go together, and the machine can be read. Ctrl-C ends it. */
enum mgb_status mgb_cli_machine_check(const struct mgb_invocation *in);

/* `verb` is "run", "session", "verify" or "predict". `text` receives what to show of a failure (to be freed); *refused is set when what
 * was typed is to blame. */
enum mgb_status mgb_cli_job_run(const struct mgb_cli_job *job, const char *verb,
                                const struct mgb_cli_settings *settings, char **text,
                                enum mgb_status *refused);

/* Tells the user of a failure and gives the exit code. `refused`: the status with which a session was refused, MGB_OK when
 * none was: what was typed is to blame then. */
int mgb_cli_job_complain(const struct mgb_invocation *in, enum mgb_status status,
                         enum mgb_status refused, const char *text);

/* Runs `verb` with the sessions of the hub, which are recorded, and prints a session's configuration when it opens (text
 * only). Returns the exit code. */
int mgb_cli_job_measure(struct mgb_invocation *in, const char *verb, bool configuration);

/* Runs `verb` without any session, for what is only simulated. Returns the exit code. */
int mgb_cli_job_simulate(struct mgb_invocation *in, const char *verb);

struct mgb_preview;

/* What to make of a preview: returns the exit code, and complains by itself. */
typedef int mgb_cli_show(const struct mgb_invocation *in, const struct script_open_request *request,
                         struct mgb_preview *preview);

/* Builds the model and what a run of it would do, and shows that. Nothing is run, nothing recorded. */
int mgb_cli_job_look(struct mgb_invocation *in, mgb_cli_show *show);

/* Whether a run of it would be refused as it was typed (a device that is not there): then it complains and gives the exit
 * code of the commands that run. 0: it would not, or something else is the matter. */
int mgb_cli_job_admit(struct mgb_invocation *in);

#endif
