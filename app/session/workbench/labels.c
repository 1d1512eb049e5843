/* Tags and notes: of the run on the bench, and of any other while this program records and no command may write. */
#include "app/session/workbench/commands.h"

#include <mgb/name.h>

static void labelled(struct mgb_workbench *bench, enum mgb_status status, int64_t run,
                     const char *what, const char *text)
{
    if (status == MGB_OK)
        mgb_bench_tell(bench, "%s of run %lld: %s", what, (long long)run, text);
    else
        mgb_bench_complain(bench, mgb_message_get());
}

/* The bench's own where none is named; 0: there is none. */
static int64_t run_needed(struct mgb_workbench *bench, int64_t run)
{
    if (!run)
        run = bench->draft->now.run_id;
    if (!run)
        mgb_bench_complain(bench, "there is no run that is recorded");
    return run;
}

void mgb_bench_tag(struct mgb_workbench *bench, int64_t run, const char *text)
{
    run = run_needed(bench, run);
    if (run)
        labelled(bench, mgb_hub_label(bench->hub, run, text, NULL), run, "tag", text);
}

void mgb_bench_note(struct mgb_workbench *bench, int64_t run, const char *text)
{
    enum mgb_status status = mgb_note_check("note", text);
    run = run_needed(bench, run);
    if (run && status == MGB_OK)
        status = mgb_hub_label(bench->hub, run, NULL, text);
    if (run)
        labelled(bench, status, run, "note", text);
}
