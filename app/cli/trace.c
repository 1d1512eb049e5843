/* mgbench trace: traced steps of a run as a document for timeline viewers. */
#include "app/cli/commands.h"
#include "app/cli/export.h"
#include "app/cli/hub.h"
#include "app/cli/interrupt.h"
#include "app/cli/stream.h"
#include "app/cli/trace_steps.h"
#include "db/export_file.h"
#include "db/select.h"
#include "db/trace_json.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct tracing {
    const struct mgb_invocation *in;
    const char *database;
    struct mgb_reader *reader;
    struct mgb_selected which;
    struct mgb_trace_list list; /* what is to be shown */
    struct mgb_trace_json writer;
    size_t done;
};

static enum mgb_status steps_write(struct tracing *t)
{
    MGB_TRY(mgb_trace_json_begin(&t->writer, t->reader, t->which.segment));
    for (size_t i = 0; i < t->list.count; i++) {
        struct mgb_trace_step step;
        MGB_TRY(mgb_trace_load(&step, t->reader, t->which.segment, t->list.steps[i]));
        enum mgb_status status =
            mgb_trace_json_step(&t->writer, t->reader, t->which.segment, &step);
        mgb_trace_step_done(&step);
        MGB_TRY(status);
        t->done++;
    }
    return MGB_OK;
}

/* The document is ended whatever happens: what is there can be read. */
static enum mgb_status document_write(struct tracing *t, FILE *out, const char *name)
{
    char message[512];
    t->writer = (struct mgb_trace_json){
        .out = out, .name = name, .program = "mgbench " MGB_VERSION, .stop = mgb_cli_stream_stop};
    enum mgb_status status = steps_write(t);
    snprintf(message, sizeof message, "%s", mgb_message_get());
    enum mgb_status ended = mgb_trace_json_end(&t->writer);
    return status == MGB_OK ? ended : mgb_fail(status, "%s", message);
}

static enum mgb_status file_write(struct tracing *t, const char *path)
{
    struct mgb_export_file file;
    if (mgb_cli_export_is_database(path, t->database))
        return mgb_fail(MGB_INVALID, "--out: %s is the results database itself", path);
    MGB_TRY(mgb_export_file_open(&file, path));
    enum mgb_status status = document_write(t, file.out, path);
    if (status == MGB_OK) {
        status = mgb_export_file_commit(&file);
    } else {
        char message[512];
        snprintf(message, sizeof message, "%s", mgb_message_get());
        bool keep = status == MGB_INTERRUPTED && file.partial && t->done > 0;
        if (mgb_export_file_leave(&file, keep) == MGB_OK && keep)
            snprintf(message, sizeof message,
                     "stopped after %zu of %zu steps: they are in %s, %s is as it was", t->done,
                     t->list.count, file.partial, path);
        mgb_fail(status, "%s", message);
    }
    mgb_export_file_done(&file);
    return status;
}

static void done_tell(const struct tracing *t, const char *path)
{
    char steps[200];
    if (t->in->quiet || !isatty(STDERR_FILENO))
        return;
    mgb_cli_steps_text(steps, sizeof steps, &t->list);
    mgb_cli_complain(t->in, 0, "%s of run %lld in %s: open it at https://ui.perfetto.dev", steps,
                     (long long)t->which.run, path);
}

static enum mgb_status trace_write(struct tracing *t)
{
    const char *path = mgb_cli_find_flag(t->in, "--out");
    MGB_TRY(mgb_reader_open(&t->reader, t->database));
    mgb_reader_watch(t->reader, mgb_cli_stream_stop, NULL);
    MGB_TRY(mgb_select_one(&t->which, t->reader, t->in->words[0]));
    MGB_TRY(mgb_trace_list(&t->list, t->reader, t->which.segment));
    MGB_TRY(mgb_cli_steps_choose(&t->list, mgb_cli_find_flag(t->in, "--steps"), t->which.run));
    if (!path || strcmp(path, "-") == 0)
        return document_write(t, stdout, NULL);
    MGB_TRY(file_write(t, path));
    done_tell(t, path);
    return MGB_OK;
}

static int trace_run(struct mgb_invocation *in)
{
    const char *path = mgb_cli_find_flag(in, "--out");
    if (path && !*path)
        return mgb_cli_complain(in, MGB_EXIT_USAGE, "--out: FILE expected, got an empty text");
    char *database = mgb_cli_database(in);
    struct tracing tracing = {.in = in, .database = database};
    enum mgb_status status = database ? trace_write(&tracing) : mgb_cli_no_database();
    mgb_trace_list_done(&tracing.list);
    mgb_reader_close(tracing.reader);
    free(database);
    if (status == MGB_INTERRUPTED && mgb_interrupt_asked() && in->quiet)
        return MGB_EXIT_INTERRUPTED;
    return mgb_cli_stream_exit(in, status);
}

static const struct mgb_flag flags[] = {
    {"--steps", "LIST", "such as 5-8 or 3,7: timed steps, from 0 (default: all that were traced)",
     false},
    {"--out", "FILE", "instead of standard output", false},
    {NULL, NULL, NULL, false}};

static const struct mgb_example examples[] = {
    {"mgbench run mlp --gpus 2 --steps 10 --trace 5-8", "a run that traces four timed steps"},
    {"mgbench trace last --steps 5-8 --out trace.json", "these steps, for a timeline viewer"},
    {"mgbench trace last --steps=-2 --out warm.json",
     "the step of the warm-up that is always traced"},
    {NULL, NULL}};

const struct mgb_command mgb_command_trace = {
    .name = "trace",
    .usage = "RUN [--steps LIST] [--out FILE]",
    .summary = "traced steps as a Chrome/Perfetto timeline",
    .help = "RUN is " MGB_SELECT_WORDS ",\n"
            "or what else names one run. Every run traces one step of its warm-up, -2 as a rule "
            "(negative numbers\n"
            "count back from the first timed step, 0); mgbench run --trace 5-8 and mgb.run{ "
            "trace_steps = \"5-8\" }\n"
            "trace timed ones.\n"
            "\n"
            "A process is a device and a thread one of its queues; slices nest: step, phase, task. "
            "\"wait\" fills the\n"
            "rest of a compute queue, so that its tasks and waits add up to the step. Arrows lead "
            "from copies to the\n"
            "device they arrive at, counters tell what devices held. Slices with critical_ns are "
            "on the critical path.\n"
            "Open the file at https://ui.perfetto.dev or chrome://tracing.\n"
            "\n"
            "exit codes: 2 a wrong RUN or LIST, 4 no such run, or none of these steps was traced\n",
    .examples = examples,
    .flags = flags,
    .least_words = 1,
    .most_words = 1,
    .run = trace_run,
};
