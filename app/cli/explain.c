/* mgbench explain: mgb.explain for the command line. The words are the script layer's. */
#include "app/cli/asking.h"
#include "app/cli/commands.h"
#include "app/cli/hub.h"
#include "app/cli/interrupt.h"
#include "app/script/state.h"
#include "db/select.h"
#include "db/trace.h"

/* Wrong words, unknown runs and untraced ones are told before anything else is opened. */
static enum mgb_status run_find(const struct mgb_invocation *in, struct mgb_reader *reader,
                                int *code)
{
    struct mgb_selected which;
    struct mgb_trace_list list;
    (void)code;
    MGB_TRY(mgb_select_one(&which, reader, in->words[0]));
    MGB_TRY(mgb_trace_list(&list, reader, which.segment));
    bool traced = list.count > 0;
    mgb_trace_list_done(&list);
    return traced ? MGB_OK
                  : mgb_fail(MGB_MISSING,
                             "no step of run %lld was traced; to trace some: mgbench run ... "
                             "--trace 5-8",
                             (long long)which.run);
}

static void script_stop(void *script)
{
    mgb_script_interrupt(script);
}

static int script_run(struct mgb_invocation *in, struct mgb_cli_hub *hub)
{
    static const char text[] = "local _, _, run, form = ...\n"
                               "local e = mgb.explain(run)\n"
                               "if form == 'text' then print(e) print() end\n"
                               "mgb.table(e.rows, e.columns)\n";
    const char *words[] = {in->words[0], in->format == MGB_TABLE_TEXT ? "text" : "rows"};
    struct mgb_script_settings settings = {
        .words = words, .word_count = 2, .services = &hub->services, .format = in->format};
    struct mgb_script *script;
    if (mgb_script_make(&script, &settings) != MGB_OK)
        return mgb_cli_complain(in, MGB_EXIT_FAILED, "%s", mgb_message_get());
    mgb_interrupt_target(script_stop, script);
    enum mgb_status status = mgb_script_run_inner(script, text);
    mgb_interrupt_target(NULL, NULL);
    int code = MGB_EXIT_OK;
    if (status == MGB_INTERRUPTED)
        code = MGB_EXIT_INTERRUPTED;
    else if (status != MGB_OK)
        code = mgb_cli_complain(in, mgb_cli_exit_code(status), "%s",
                                mgb_script_error_get(script)->message);
    mgb_script_free(script);
    return code;
}

static int explain_run(struct mgb_invocation *in)
{
    struct mgb_cli_hub hub;
    int code = mgb_cli_ask(in, run_find);
    if (code != MGB_EXIT_OK)
        return code;
    if (mgb_cli_hub_open(&hub, in, NULL, false) != MGB_OK)
        return mgb_cli_complain(in, MGB_EXIT_FAILED, "%s", mgb_message_get());
    return mgb_cli_hub_close(&hub, script_run(in, &hub));
}

static const struct mgb_example examples[] = {
    {"mgbench explain last", "what bounds a step of the newest run"},
    {"mgbench explain last --csv", "the same by phase and place, for a spreadsheet"},
    {NULL, NULL}};

const struct mgb_command mgb_command_explain = {
    .name = "explain",
    .usage = "RUN",
    .summary = "what bounds a step: the critical path by phase and link",
    .help = "RUN is " MGB_SELECT_WORDS ",\n"
            "or what else names one run. The critical path is the chain of tasks, copies and waits "
            "that nothing could\n"
            "have ended earlier without; its shares add up to the step. It comes from the traced "
            "timed steps (mgbench\n"
            "run --trace 5-8), else from the step of the warm-up that every run traces. Columns: "
            "percent and critical_ms\n"
            "of the path, busy_ms of all such tasks, on the path or not, mb moved a step, gbps "
            "reached (1e9 bytes/s) and\n"
            "link_gbps as measured on the idle link. What a device computes at are the model's "
            "operations (a multiply-add\n"
            "is 2) over its time in forward and backward; peak is what it reached in products of "
            "matrices when the first\n"
            "run on it began.\n"
            "\n"
            "exit codes: 2 a wrong RUN, 4 no such run, or no step of it was traced\n",
    .examples = examples,
    .least_words = 1,
    .most_words = 1,
    .run = explain_run,
};
