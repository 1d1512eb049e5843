/* Ctrl-C: what runs beside the bench or on it is asked to stop; what does not answer is told, and pressed twice it leaves. */
#include "app/tui/screen_private.h"

#include <stdio.h>
#include <string.h>

static const int64_t twice_ns = INT64_C(2000000000), answer_ns = INT64_C(1000000000);

/* Commands alone, if any run: the bench goes on beside them. An expression is on the bench. */
void screen_stop(struct tui_screen *screen)
{
    char line[32]; /* its beginning: there is more to say */
    bool again = screen->stop_ns && screen->now_ns - screen->stop_ns < twice_ns;
    bool busy = screen->snapshot->state == MGB_BENCH_BUSY;
    struct tui_jobs *jobs = screen->options.commands.jobs;
    screen->stop_ns = screen->now_ns ? screen->now_ns : 1;
    if (again) {
        screen->wish = TUI_SCREEN_LEAVE;
        return;
    }
    bool asked = jobs && tui_jobs_stop(jobs, line, sizeof line) > 0;
    if (screen->options.workbench && (busy || !asked))
        mgb_workbench_ask(screen->options.workbench, &(struct mgb_wish){.kind = MGB_WISH_STOP});
    screen->stop_waits = asked || busy;
    if (asked)
        screen_say(screen, MGB_LINE_NOTE, "stopping '%s'; Ctrl-C once more: quit", line);
    else if (busy)
        screen_say(screen, MGB_LINE_NOTE, "stopping %s; Ctrl-C once more: quit",
                   *screen->snapshot->doing ? screen->snapshot->doing : "it");
    else
        screen_say(screen, MGB_LINE_NOTE, "stopped after its step; Ctrl-C once more: quit");
}

bool screen_stop_look(struct tui_screen *screen)
{
    char line[32]; /* its beginning: there is more to say */
    struct tui_jobs *jobs = screen->options.commands.jobs;
    if (!screen->stop_waits || screen->now_ns - screen->stop_ns < answer_ns)
        return false;
    screen->stop_waits = false;
    if (jobs && tui_jobs_stopping(jobs, line, sizeof line) > 0)
        screen_say(screen, MGB_LINE_WARNING,
                   "'%s' does not answer: Ctrl-C once more ends it, twice leaves", line);
    else if (screen->snapshot->state == MGB_BENCH_BUSY)
        screen_say(screen, MGB_LINE_WARNING,
                   "%s does not answer, it is in one long call: Ctrl-C twice leaves",
                   *screen->snapshot->doing ? screen->snapshot->doing : "it");
    else
        return false;
    return true;
}
