/* What an action does where the view in front has nothing of its own for it. */
#include "app/tui/screen_private.h"

#include <stdio.h>
#include <string.h>

/* What is left of the actions moves, shows, or asks for what is refused later. */
bool screen_changes(enum tui_action action)
{
    static const enum tui_action those[] = {
        TUI_ACT_RUN,        TUI_ACT_WEIGHTS,      TUI_ACT_MERGE,         TUI_ACT_STRATEGY,
        TUI_ACT_FEWER_GPUS, TUI_ACT_MORE_GPUS,    TUI_ACT_SMALLER_BATCH, TUI_ACT_LARGER_BATCH,
        TUI_ACT_PEER,       TUI_ACT_UNDO,         TUI_ACT_VERIFY,        TUI_ACT_TRACE,
        TUI_ACT_TURNS,      TUI_ACT_CHOOSE_MODEL, TUI_ACT_CHOOSE_DATA,   TUI_ACT_CHOOSE_BACKEND,
        TUI_ACT_RECORD,     TUI_ACT_END,          TUI_ACT_TAG,           TUI_ACT_NOTE,
        TUI_ACT_BASELINE,   TUI_ACT_DELETE,       TUI_ACT_USE,           TUI_ACT_START_SWEEP};
    for (size_t i = 0; i < sizeof those / sizeof *those; i++)
        if (those[i] == action)
            return true;
    return false;
}

static void ask(struct tui_desk *desk, enum mgb_wish_kind kind, const char *text)
{
    desk->ask(desk, &(struct mgb_wish){.kind = kind, .text = text});
}

static void run_or_pause(struct tui_screen *screen)
{
    const char *doing = *screen->snapshot->doing ? screen->snapshot->doing : "something runs";
    switch (screen->snapshot->state) {
    case MGB_BENCH_OPENING:
    case MGB_BENCH_RUNNING:
        ask(&screen->desk, MGB_WISH_PAUSE, NULL);
        return;
    case MGB_BENCH_SWEEPING:
        screen_say(screen, MGB_LINE_WARNING, "%s: Ctrl-C stops it", doing);
        return;
    case MGB_BENCH_BUSY: /* as every change that is asked for meanwhile */
        screen_say(screen, MGB_LINE_NOTE, "%s: steps run after it; Ctrl-C stops it", doing);
        ask(&screen->desk, MGB_WISH_RUN, NULL);
        return;
    case MGB_BENCH_EMPTY:
    case MGB_BENCH_READY:
    case MGB_BENCH_PAUSED:
    case MGB_BENCH_FAILED:
        ask(&screen->desk, MGB_WISH_RUN, NULL);
        return;
    }
}

static void data_answer(void *context, struct tui_desk *desk, const char *text)
{
    (void)context;
    if (text && *text)
        ask(desk, MGB_WISH_DATA, text);
}

static void machine_answer(void *context, struct tui_desk *desk, const char *text)
{
    (void)context;
    if (text && *text)
        ask(desk, MGB_WISH_MACHINE, text);
}

static void backend_chosen(void *context, struct tui_desk *desk, const char *text)
{
    if (text && *text == '\0')
        desk->prompt(desk, "machine file: ", "", machine_answer, context);
    else if (text)
        ask(desk, MGB_WISH_BACKEND, text);
}

static void record_answer(void *context, struct tui_desk *desk, const char *text)
{
    (void)context;
    if (text && *text)
        ask(desk, MGB_WISH_SAVE, text);
}

static void record(struct tui_screen *screen)
{
    char path[1024];
    const char *folder = screen->record_dir ? screen->record_dir : "";
    snprintf(path, sizeof path, "%s%ssession.lua", folder,
             *folder && folder[strlen(folder) - 1] != '/' ? "/" : "");
    screen->desk.prompt(&screen->desk, "write the session to: ", path, record_answer, NULL);
}

static void backends_choose(struct tui_screen *screen)
{
    static const struct tui_choice choices[] = {
        {.label = "auto", .value = "auto", .note = "CUDA where there is a GPU, else host"},
        {.label = "cuda", .value = "cuda", .note = "GPUs of this machine"},
        {.label = "host", .value = "host", .note = "CPU devices of this machine"},
        {.label = "machine...", .note = "a machine file"}};
    int chosen = 0;
    for (int i = 0; i < 3 && screen->snapshot->facts; i++)
        if (strcmp(choices[i].value, screen->snapshot->facts->backend) == 0)
            chosen = i;
    screen->desk.menu(&screen->desk, "BACKEND", choices, 4, chosen, backend_chosen, NULL);
}

static void data_choose(struct tui_screen *screen)
{
    const struct mgb_facts *facts = screen->snapshot->facts;
    screen->desk.prompt(&screen->desk, "data: ", facts ? facts->data : "", data_answer, NULL);
}

/* Runs and segments as commands name them. */
static void segments_command(struct tui_screen *screen, bool both)
{
    const struct mgb_bench_segment *now = &screen->snapshot->now, *before;
    char line[160];
    before = &screen->snapshot->before;
    if (!now->run_id || !now->number) {
        screen_say(screen, MGB_LINE_WARNING, "nothing is recorded yet: space runs it");
    } else if (both && (!before->run_id || !before->number)) {
        screen_say(screen, MGB_LINE_WARNING,
                   "there is no segment before this one: change something");
    } else {
        if (both)
            snprintf(line, sizeof line, "compare %lld.%d %lld.%d", (long long)before->run_id,
                     before->number, (long long)now->run_id, now->number);
        else
            snprintf(line, sizeof line, "explain %lld.%d", (long long)now->run_id, now->number);
        screen->desk.command(&screen->desk, line);
    }
}

static void quit_answer(void *context, struct tui_desk *desk, const char *text)
{
    struct tui_screen *screen = context;
    (void)desk;
    if (text)
        screen->wish = TUI_SCREEN_QUIT;
}

static void quit(struct tui_screen *screen)
{
    if (screen->snapshot->state == MGB_BENCH_SWEEPING)
        screen->desk.confirm(&screen->desk, "a sweep runs; quit? y/N", quit_answer, screen);
    else
        screen->wish = TUI_SCREEN_QUIT;
}

static void back(struct tui_screen *screen)
{
    struct screen_view *v = &screen->views[screen->at];
    if (*v->filter) {
        *v->filter = '\0';
        if (screen->at == SCREEN_RUNS) {
            struct tui_scene scene = screen_scene(screen);
            tui_runs_filter(v->state, &scene, &screen->desk);
        }
    } else if (screen->at >= SCREEN_TABS) {
        screen_go(screen, screen->from);
    }
}

static void line_open(struct tui_screen *screen, enum screen_prompt is)
{
    const char *filter = screen->views[screen->at].filter;
    tui_prompt_open(&screen->prompt, is == SCREEN_FILTER ? "/" : ":",
                    is == SCREEN_FILTER ? filter : "");
    screen->prompt_is = is;
}

/* Another screen; false: it is not about screens. */
static bool act_go(struct tui_screen *screen, enum tui_action action)
{
    int tab = screen->at < SCREEN_TABS ? screen->at : screen->from;
    if (action >= TUI_ACT_BENCH && action <= TUI_ACT_LOG)
        screen_go(screen, SCREEN_BENCH + (int)(action - TUI_ACT_BENCH));
    else if (action == TUI_ACT_NEXT_SCREEN)
        screen_go(screen, (tab + 1) % SCREEN_TABS);
    else if (action == TUI_ACT_PREVIOUS_SCREEN)
        screen_go(screen, (tab + SCREEN_TABS - 1) % SCREEN_TABS);
    else if (action == TUI_ACT_HELP)
        screen_go(screen, screen->at == SCREEN_HELP ? screen->from : SCREEN_HELP);
    else
        return false;
    return true;
}

static void verify(struct tui_screen *screen)
{
    ask(&screen->desk, MGB_WISH_VERIFY, NULL);
}

static void trace(struct tui_screen *screen)
{
    ask(&screen->desk, MGB_WISH_TRACE, NULL);
    if (screen->snapshot->state == MGB_BENCH_PAUSED || screen->snapshot->state == MGB_BENCH_READY)
        screen_say(screen, MGB_LINE_NOTE, "the next step is traced: space runs");
}

static void turns(struct tui_screen *screen)
{
    ask(&screen->desk, MGB_WISH_TURNS, NULL);
}

static const struct {
    enum tui_action action;
    void (*act)(struct tui_screen *screen);
} plain[] = {
    {TUI_ACT_RUN, run_or_pause},
    {TUI_ACT_VERIFY, verify},
    {TUI_ACT_TRACE, trace},
    {TUI_ACT_TURNS, turns},
    {TUI_ACT_CHOOSE_MODEL, screen_models_choose},
    {TUI_ACT_CHOOSE_DATA, data_choose},
    {TUI_ACT_CHOOSE_BACKEND, backends_choose},
    {TUI_ACT_RECORD, record},
    {TUI_ACT_STOP, screen_stop},
    {TUI_ACT_BACK, back},
    {TUI_ACT_SAVE_LAYOUT, screen_layout_save},
    {TUI_ACT_QUIT, quit},
};

void screen_act_default(struct tui_screen *screen, enum tui_action action)
{
    if (act_go(screen, action))
        return;
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        if (plain[i].action == action)
            plain[i].act(screen);
    if (action == TUI_ACT_COMPARE_SEGMENTS || action == TUI_ACT_EXPLAIN)
        segments_command(screen, action == TUI_ACT_COMPARE_SEGMENTS);
    else if (action == TUI_ACT_COMMAND || action == TUI_ACT_FILTER)
        line_open(screen, action == TUI_ACT_FILTER ? SCREEN_FILTER : SCREEN_COMMAND);
    else if (action == TUI_ACT_REDRAW)
        screen->wish = TUI_SCREEN_REDRAW;
    else if (action == TUI_ACT_SUSPEND)
        screen->wish = TUI_SCREEN_SUSPEND;
}
